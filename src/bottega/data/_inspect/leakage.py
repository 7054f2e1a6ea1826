"""Search for columns that give the target away."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bottega.data import convert
from bottega.data.findings import Finding, leaker

if TYPE_CHECKING:
    from bottega.data.table import Table

_ALMOST_ONE = 0.999
_ROWS_EACH = 10  # a perfect rule on fewer rows may be luck


def search_leakers(table: "Table") -> Iterator[Finding]:
    """Report each feature that reproduces the target almost perfectly."""
    if table.y is None or table.target is None:
        return
    classes = table.classes
    codes = np.searchsorted(classes, table.y) if classes is not None else None
    frame = convert.as_frame(table.X)
    for name, kind in table.kinds.items():
        if kind == "text":
            continue
        series = frame[name]
        if classes is None or codes is None:
            found = kind != "category" and tells_number(convert.as_numbers(series, kind), table.y)
        elif kind == "category":
            found = names_classes(_codes(convert.labels(series)), codes)
        else:
            found = cuts_classes(convert.as_numbers(series, kind), codes, classes.size)
        if found:
            yield leaker(name, table.target)


def tells_number(x: np.ndarray, y: np.ndarray) -> bool:
    """Return True if a numeric feature reproduces a numeric target but for scale."""
    seen = ~np.isnan(x)
    if np.count_nonzero(seen) <= _ROWS_EACH:
        return False
    if not seen.all():
        x, y = x[seen], y[seen]
    x, y = _centred(x), _centred(y)
    size = np.sqrt((x @ x) * (y @ y))
    return bool(size > 0 and abs(x @ y) > _ALMOST_ONE * size)


def _centred(values: np.ndarray) -> np.ndarray:
    """Return differences to the mean, in units in which squares do not overflow."""
    shares = values / (np.abs(values).max() or 1.0)
    return np.asarray(shares - shares.mean())


def cuts_classes(x: np.ndarray, codes: np.ndarray, n_classes: int) -> bool:
    """Return True if thresholds on a numeric feature give the class without any error."""
    seen = ~np.isnan(x)
    x, codes = x[seen], codes[seen]
    if np.bincount(codes, minlength=n_classes).min() <= _ROWS_EACH:
        return False
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(n_classes))
    low = np.minimum.reduceat(x[order], starts)
    high = np.maximum.reduceat(x[order], starts)
    rank = np.argsort(low)
    return bool(np.all(high[rank][:-1] < low[rank][1:]))


def names_classes(levels: np.ndarray, codes: np.ndarray) -> bool:
    """Return True if each level of a category (-1: missing) comes with one class only."""
    seen = levels >= 0
    if not seen.any():
        return False
    pairs = np.unique(np.column_stack([levels[seen], codes[seen]]), axis=0, return_counts=True)
    (cells, sizes) = pairs
    one_class_each = np.unique(cells[:, 0]).size == len(cells)
    all_classes = np.unique(cells[:, 1]).size == codes.max() + 1
    return bool(one_class_each and all_classes and sizes.min() > _ROWS_EACH)


def _codes(labels: list[str | None]) -> np.ndarray:
    """Return a number for each label, -1 where missing."""
    known: dict[str | None, int] = {}
    for label in labels:
        if label is not None:
            known.setdefault(label, len(known))
    known[None] = -1
    return np.fromiter(map(known.__getitem__, labels), dtype=np.int64, count=len(labels))
