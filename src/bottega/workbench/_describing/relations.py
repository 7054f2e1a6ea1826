"""Columns that repeat one another, and rows that do."""

from dataclasses import dataclass, field
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.interruption import raise_if_pressed
from bottega.core.typing import FloatArray, IntArray
from bottega.data import convert
from bottega.workbench._describing.inputs import DescribedInputs

__all__ = ["ColumnPair", "FoundRelations", "find_relations"]

_STRONG = 0.8  # correlation from which on two columns are told
_MOST_COLUMNS = 60  # categories that are looked at pair by pair
_MOST_LEVELS = 50
_MOST_PAIRS = 100


@dataclass(frozen=True)
class ColumnPair:
    """Two columns that say nearly the same.

    Attributes
    ----------
    first, second : str
        Their names.
    kind : {"equal", "correlation", "association", "means"}
        Equal values; ranks correlate; levels go together (Cramér's V); the means of the number
        differ between the levels (correlation ratio).
    strength : float
        Between -1 and 1.
    """

    first: str
    second: str
    kind: str
    strength: float


@dataclass(frozen=True)
class FoundRelations:
    """Pairs of columns with a strong relation, the strongest first, and rows that are repeated.

    Attributes
    ----------
    pairs : tuple of ColumnPair
        At most 100.
    names : tuple of str
        Number columns of `correlations`.
    correlations : ndarray
        Rank correlations of the numbers.
    repeated_rows : int
        Rows that are the same as an earlier one in every column but keys.
    """

    pairs: tuple[ColumnPair, ...]
    names: tuple[str, ...]
    correlations: FloatArray = field(repr=False)
    repeated_rows: int


def find_relations(inputs: DescribedInputs, rows: IntArray) -> FoundRelations:
    """Look at all pairs of columns, in some of the rows."""
    numbers = list(inputs.raw)
    table = inputs.table
    pairs: list[ColumnPair] = []
    values = {name: inputs.raw[name][rows] for name in numbers}
    ranks = {name: _ranks(values[name]) for name in numbers}
    correlations = np.eye(len(numbers))
    for i, first in enumerate(numbers):
        raise_if_pressed()
        for j, second in enumerate(numbers[:i]):
            r = _correlation(ranks[first], ranks[second])
            correlations[i, j] = correlations[j, i] = r
            whole = inputs.raw[first], inputs.raw[second]
            if abs(r) > 0.999 and np.array_equal(*whole, equal_nan=True):
                pairs.append(ColumnPair(second, first, "equal", 1.0))
            elif abs(r) >= _STRONG:
                pairs.append(ColumnPair(second, first, "correlation", r))
    levels = {
        block.name: _codes(table, block.name)
        for block in [each for each in inputs.blocks if each.scale is None][:_MOST_COLUMNS]
    }
    levels = {name: codes[rows] for name, codes in levels.items()}
    named = list(levels)
    for i, first in enumerate(named):
        raise_if_pressed()
        for second in named[:i]:
            if np.array_equal(levels[first], levels[second]):
                pairs.append(ColumnPair(second, first, "equal", 1.0))
                continue
            v = _cramer(levels[first], levels[second])
            if v >= _STRONG:
                pairs.append(ColumnPair(second, first, "association", v))
        for second in numbers:
            eta = _ratio(levels[first], values[second])
            if eta >= _STRONG:
                pairs.append(ColumnPair(first, second, "means", eta))
    pairs.sort(key=lambda pair: (pair.kind != "equal", -abs(pair.strength), pair.first))
    return FoundRelations(
        tuple(pairs[:_MOST_PAIRS]), tuple(numbers), correlations, _repeated(table)
    )


def _ranks(values: FloatArray) -> FloatArray:
    """Return mean ranks; NaN where a value is missing."""
    found = np.full(len(values), np.nan)
    known = ~np.isnan(values)
    _, codes, counts = np.unique(values[known], return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    found[known] = (ends - (counts - 1) / 2)[codes]
    return found


def _correlation(a: FloatArray, b: FloatArray) -> float:
    both = ~(np.isnan(a) | np.isnan(b))
    if both.sum() < 10:
        return 0.0
    a, b = a[both] - a[both].mean(), b[both] - b[both].mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(np.clip(a @ b / size, -1.0, 1.0)) if size > 0 else 0.0


def _codes(table: Any, name: str) -> IntArray:
    """Return the levels of a column as numbers, -1 where missing; rare ones beyond 50 are one."""
    labels = np.array(
        ["" if each is None else f"={each}" for each in convert.labels(table.series(name))]
    )
    levels, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    codes = codes.ravel()
    if len(levels) > _MOST_LEVELS:
        frequent = np.argsort(-counts, kind="stable")[:_MOST_LEVELS]
        place = np.full(len(levels), _MOST_LEVELS)
        place[frequent] = np.arange(_MOST_LEVELS)
        found = place[codes]
    else:
        found = codes
    return np.where(labels == "", -1, found)


def _cramer(a: IntArray, b: IntArray) -> float:
    """Return Cramér's V, corrected for the bias of small tables."""
    both = (a >= 0) & (b >= 0)
    if both.sum() < 10:
        return 0.0
    _, a = np.unique(a[both], return_inverse=True)
    _, b = np.unique(b[both], return_inverse=True)
    r, c = a.max() + 1, b.max() + 1
    n = len(a)
    if min(r, c) < 2:
        return 0.0
    table = np.bincount(a * c + b, minlength=r * c).reshape(r, c)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = max(
        float(np.sum((table - expected) ** 2 / expected)) / n - (r - 1) * (c - 1) / (n - 1), 0
    )
    r_, c_ = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    least = min(r_, c_) - 1
    return float(min(np.sqrt(phi / least), 1.0)) if least > 0 else 0.0


def _ratio(codes: IntArray, values: FloatArray) -> float:
    """Return the correlation ratio of a number and the levels of a category, bias removed."""
    both = (codes >= 0) & ~np.isnan(values)
    _, groups = np.unique(codes[both], return_inverse=True)
    n, k = int(both.sum()), int(groups.max(initial=-1)) + 1
    if n < 10 or k < 2 or n <= 2 * k:
        return 0.0
    known = values[both] / (np.max(np.abs(values[both])) or 1.0)
    known = known - known.mean()
    total = float(known @ known)
    means = np.bincount(groups, known) / np.bincount(groups)
    inside = float(np.sum((known - means[groups]) ** 2))
    share = 1 - (inside / (n - k)) / (total / (n - 1)) if total > 0 else 0.0
    return float(np.sqrt(max(share, 0.0)))


def _repeated(table: Any) -> int:
    """Return how many rows repeat an earlier one in all columns but keys and unknown types."""
    names = [column.name for column in table.columns if column.kind not in ("id", "foreign")]
    data = nw.from_native(table.frame, eager_only=True).select(names)
    return int(len(data) - len(data.unique()))
