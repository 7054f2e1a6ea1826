"""Signs that the rows are in order of time, so that neighbouring rows depend on each other."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import hypergeom

from bottega.core.typing import Array, BoolArray, FloatArray
from bottega.data import convert
from bottega.data.encoder import Encoder
from bottega.data.findings import Finding

if TYPE_CHECKING:
    from bottega.data.table import Table

FALSE_ALARM = 0.001
_FEW_ROWS = 20
_MANY_ROWS = 5000
_KINKS = 8
_FEW_TIMES = 10  # as many distinct times are sorted by chance in one table of 1.8 million
_NAMED_TIME = re.compile(
    r"(?:^|[^a-z])(?:date|time|year|month|week|day|quarter|period|timestamp|datetime)(?:$|[^a-z])",
    re.IGNORECASE,
)


def about_order(table: "Table") -> Iterator[Finding]:
    """Report rows that look as if they were in order of time.

    Either a column of dates (or of numbers named like a time) sorts the rows, or neighbouring rows
    are more alike than chance allows in what the features leave unexplained of the target: the runs
    test, which in rows of no order raises a false alarm in at most one table of a thousand. Rows
    sorted by the target itself do not count, and of many rows the first 5,000 are looked at.
    """
    if table.y is None or table.time is not None or table.groups is not None:
        return
    column = _sorting_column(table)
    part = table if table.n_rows <= _MANY_ROWS else table.take(np.arange(_MANY_ROWS))
    assert part.y is not None
    alike = chance_of_order(part.y, part.classes, smooth_basis(part)) < FALSE_ALARM
    if column is None and not alike:
        return
    if column is None:
        column = _counting_column(table)
    words = (
        f"neighbouring rows are alike in {table.target!r} beyond what the other columns explain, "
        f"as by chance in fewer than one table of {round(1 / FALSE_ALARM):,}"
    )
    if column is None:
        seen = f"{words[0].upper()}{words[1:]}"
        cure = (
            "give time='COLUMN' if they are in order of time, group='COLUMN' if they come in "
            "blocks, and leave it at that if neither is so"
        )
    else:
        seen = f"The rows are in order of {column!r}" + (f", and {words}" if alike else "")
        cure = f"give time={column!r} unless their order means nothing"
    yield Finding(
        "time_order",
        column,
        f"{seen}. Rows held out at random then lie between rows learnt from, and the error comes "
        f"out too low for predicting what comes next: {cure}.",
    )


def chance_of_order(y: Array, classes: Array | None, basis: FloatArray | None) -> float:
    """Return how often rows of no order are as alike as neighbouring rows are here.

    A combination of the columns of `basis` is taken off the target first: rows sorted by a feature
    are alike for that reason. Rows of no order stay rows of no order under it, so the answer keeps
    its meaning. It is 1 for rows sorted by the target, for few rows, and without a basis.
    """
    if len(y) < _FEW_ROWS or basis is None:
        return 1.0
    if classes is None:
        targets = [np.asarray(y, dtype=np.float64)]
        if _is_sorted(targets[0]):
            return 1.0
    else:
        targets = [np.asarray(y == label, dtype=np.float64) for label in classes]
        if sum(count_runs(target > 0) for target in targets) <= len(targets):
            return 1.0
        targets = targets[:1] if len(targets) == 2 else targets
    chances = [runs_test(_residual(basis, target)) for target in targets]
    return min(1.0, len(chances) * min(chances))


def smooth_basis(table: "Table") -> FloatArray | None:
    """Return the features as numbers, with kinks at quantiles; None if they are too many."""
    n = table.n_rows
    policy: dict[str, Any] = {"dates": "parts", "min_frequency": 2, "handle_unknown": "ignore"}
    X = Encoder(kinds=table.kinds, decimal=table.decimal, **policy).fit_transform(table.X)
    curved = [x for x in X.T if np.unique(x).size > _KINKS]
    room = n // 3 - X.shape[1]
    kinks = 0 if not curved else min(_KINKS, room // len(curved))
    if room < 0:
        return None
    quantiles = np.arange(1, kinks + 1) / (kinks + 1)
    bent = [np.maximum(x - q, 0) for x in curved for q in np.quantile(x, quantiles)]
    return np.column_stack([np.ones(n), X, *bent])


def _residual(basis: FloatArray, y: FloatArray) -> FloatArray:
    """Return what least squares, with a breath of ridge, leave of y."""
    size = np.abs(y).max()
    y = y / size if size > 0 else y
    gram = basis.T @ basis
    gram[np.diag_indices_from(gram)] += 1e-8 * np.trace(gram) / len(gram)
    return np.asarray(y - basis @ np.linalg.solve(gram, basis.T @ y))


def _sorting_column(table: "Table") -> str | None:
    """Return the first column of times whose order is that of the rows."""
    for name in table.features:
        kind = table.kinds[name]
        if kind == "date" or (kind == "number" and _NAMED_TIME.search(name)):
            values = convert.as_numbers(table.series(name), kind)
            values = values[~np.isnan(values)]
            if np.unique(values).size >= _FEW_TIMES and _is_sorted(values):
                return name
    return None


def _counting_column(table: "Table") -> str | None:
    """Return a column of whole numbers that goes up from row to row, as numbers of moments do."""
    for column in table.columns:
        if column.kind in ("id", "number") and column.role in ("feature", "ignore"):
            series = table.series(column.name)
            if series.dtype.is_integer() and np.all(np.diff(series.to_numpy()) > 0):
                return column.name
    return None


def _is_sorted(values: Array) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps >= 0) or np.all(steps <= 0))


def runs_test(values: FloatArray) -> float:
    """Return how often, in an order of no meaning, values stay above their median in so few runs.

    The number of runs of k marked values among n has a hypergeometric distribution, so the answer
    is exact, whatever the values are.

    Examples
    --------
    >>> y = np.random.default_rng(0).normal(size=200)
    >>> bool(runs_test(y) > 0.01), bool(runs_test(np.cumsum(y)) < 1e-6)
    (True, True)
    """
    middle = np.median(values)
    high = values > middle
    mark = high if high.any() else values < middle
    n, k = len(mark), int(np.count_nonzero(mark))
    if k == 0:
        return 1.0
    return float(hypergeom.cdf(count_runs(mark), n, n - k + 1, k))


def count_runs(mark: BoolArray) -> int:
    """Return the number of stretches of marked rows."""
    return int(mark[0]) + int(np.count_nonzero(mark[1:] & ~mark[:-1]))
