"""One column of the rows as numbers or levels, whatever library holds it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import rankdata

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, FloatArray
from bottega.data import convert
from bottega.data.columns import FEW_TEXTS

ASSOCIATED = 0.7  # columns whose association is at least this strong can stand in for one another
_MOST_LEVELS = 10
_MOST_COLUMNS = 300  # of more columns no pairs are looked at


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """The values of a column: numbers, days since 1970-01-01, or codes of levels."""

    name: str
    kind: str  # "number", "date" or "category"
    values: FloatArray  # NaN where missing
    levels: tuple[str, ...] = ()  # the most frequent first

    @property
    def present(self) -> BoolArray:
        """Which rows have a value."""
        return ~np.isnan(self.values)

    @property
    def is_text(self) -> bool:
        """Whether most values differ, as texts do: their order and their levels mean nothing."""
        many = len(self.levels)
        return many >= FEW_TEXTS and many > self.present.sum() / 2


def read_column(series: Any, name: str) -> ColumnValues:
    """Return a column of an array or of a frame."""
    if isinstance(series, np.ndarray):
        return ColumnValues(name, "number", np.asarray(series, dtype=np.float64))
    try:
        stored = convert.storage(series)
    except InputError:  # of several types: each prints itself
        stored = "string"
    if stored in ("integer", "number"):
        return ColumnValues(name, "number", convert.numbers(series))
    if stored == "date":
        return ColumnValues(name, "date", convert.days(series))
    given = convert.labels(series)
    labels = np.array(["" if each is None else each for each in given])
    absent = np.array([each is None for each in given], dtype=bool)
    levels, code, size = np.unique(labels[~absent], return_inverse=True, return_counts=True)
    order = np.argsort(-size, kind="stable")
    place = np.empty(len(levels))
    place[order] = np.arange(len(levels))
    values = np.full(len(labels), np.nan)
    values[~absent] = place[code]
    return ColumnValues(name, "category", values, tuple(levels[order].tolist()))


def go_together(columns: list[ColumnValues]) -> list[tuple[str, ...]]:
    """Return the groups of columns that are strongly associated, each with each.

    Numbers are compared by their ranks, levels by whether a row has them; the association of two
    columns is the largest correlation, in size, between what they are made of.
    """
    if not 1 < len(columns) <= _MOST_COLUMNS:
        return []
    parts = [_parts(column) for column in columns]
    matrix = np.concatenate(parts, axis=1)
    spread = matrix.std(axis=0)
    matrix = (matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    size = np.abs(matrix.T @ matrix) / len(matrix)
    starts = np.cumsum([0, *(part.shape[1] for part in parts)])[:-1]
    strongest = np.maximum.reduceat(np.maximum.reduceat(size, starts, axis=0), starts, axis=1)
    apart = np.clip(1 - strongest, 0.0, None)
    np.fill_diagonal(apart, 0.0)
    cluster = fcluster(
        linkage(squareform(apart, checks=False), "complete"), 1 - ASSOCIATED, "distance"
    )
    groups = [
        tuple(columns[j].name for j in np.flatnonzero(cluster == c)) for c in np.unique(cluster)
    ]
    return [group for group in groups if len(group) > 1]


def _parts(column: ColumnValues) -> FloatArray:
    """Return the ranks of numbers (missing ones in the middle), or marks of the common levels."""
    present = column.present
    if column.kind == "category":
        count = max(min(len(column.levels), _MOST_LEVELS), 1)
        return (column.values[:, None] == np.arange(count)).astype(np.float64)
    ranks = np.full(len(present), (present.sum() + 1) / 2)
    ranks[present] = rankdata(column.values[present])
    return ranks[:, None]
