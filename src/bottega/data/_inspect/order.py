"""Signs that the rows are in order of time, so that neighbouring rows depend on each other."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import hypergeom

from bottega.core.typing import Array, BoolArray
from bottega.data._inspect.examine import as_numbers
from bottega.data.findings import Finding

if TYPE_CHECKING:
    from bottega.data.table import Table

FALSE_ALARM = 0.001
_FEW_ROWS = 20
_FEW_TIMES = 10  # as many distinct times are sorted by chance in one table of 1.8 million
_NAMED_TIME = re.compile(
    r"(?:^|[^a-z])(?:date|time|year|month|week|day|quarter|period|timestamp|datetime)(?:$|[^a-z])",
    re.IGNORECASE,
)


def about_order(table: "Table") -> Iterator[Finding]:
    """Report rows that look as if they were in order of time.

    Either a column of dates (or of numbers named like a time) sorts the rows, or neighbouring rows
    are more alike in the target than chance allows: the runs test, which in rows of no order raises
    a false alarm in at most one table of a thousand. Rows sorted by the target itself do not count.
    """
    if table.y is None or table.time is not None or table.groups is not None:
        return
    column = _sorting_column(table)
    p_value = runs_test(table.y, table.classes)
    if column is None and not p_value < FALSE_ALARM:
        return
    alike = (
        f"neighbouring rows are alike in {table.target!r}, as by chance in fewer than one table of "
        f"{round(1 / FALSE_ALARM):,}"
    )
    if column is None:
        seen = f"{alike[0].upper()}{alike[1:]}"
        cure = (
            "if they are in order of time give time=..., if they come in blocks group=..., and if "
            "neither is so, leave it at that"
        )
    else:
        also = f", and {alike}" if p_value < FALSE_ALARM else ""
        seen = f"The rows are in order of {column!r}{also}"
        cure = f"give time={column!r} unless their order means nothing"
    yield Finding(
        "time_order",
        column,
        f"{seen}. Rows held out at random then lie between rows learnt from, and the error comes "
        f"out too low for predicting what comes next: {cure}.",
    )


def _sorting_column(table: "Table") -> str | None:
    """Return the first column of times whose order is that of the rows."""
    for name in table.features:
        kind = table.kinds[name]
        if kind == "date" or (kind == "number" and _NAMED_TIME.search(name)):
            values = as_numbers(table.series(name), kind)
            values = values[~np.isnan(values)]
            if np.unique(values).size >= _FEW_TIMES and _is_sorted(values):
                return name
    return None


def _is_sorted(values: Array) -> bool:
    steps = np.diff(values)
    return bool(np.all(steps >= 0) or np.all(steps <= 0))


def runs_test(y: Array, classes: Array | None = None) -> float:
    """Return how often, in rows of no order, the target has so few runs; 1 if it is sorted.

    A run is a stretch of rows above the median, or of one class; of several classes the smallest
    of the answers counts, times their number. The number of runs of k marked rows among n has a
    hypergeometric distribution, so the answer is exact.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=200)
    >>> bool(runs_test(y) > 0.01), bool(runs_test(np.cumsum(y)) < 1e-6)
    (True, True)
    """
    if len(y) < _FEW_ROWS:
        return 1.0
    if classes is None:
        middle = np.median(y)
        marks = [y > middle if np.any(y > middle) else y < middle]
        if _is_sorted(y):
            return 1.0
    else:
        marks = [y == label for label in classes]
        if sum(_runs(mark) for mark in marks) <= len(classes):
            return 1.0
        marks = marks[:1] if len(marks) == 2 else marks
    found = [_chance_of_so_few(mark) for mark in marks]
    return min(1.0, len(found) * min(found))


def _runs(mark: BoolArray) -> int:
    """Return the number of stretches of marked rows."""
    return int(mark[0]) + int(np.count_nonzero(mark[1:] & ~mark[:-1]))


def _chance_of_so_few(mark: BoolArray) -> float:
    n, k = len(mark), int(np.count_nonzero(mark))
    if k == 0:
        return 1.0
    return float(hypergeom.cdf(_runs(mark), n, n - k + 1, k))
