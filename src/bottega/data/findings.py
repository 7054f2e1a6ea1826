"""What a reader of a table should know before trusting a model of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["Finding"]

_FEW_ROWS = 50
_SMALL_CLASS = 0.1
_FEW_VALUES = 10
_ALMOST_ONE = 0.999
_ROWS_EACH = 10  # a perfect rule on fewer rows may be luck


@dataclass(frozen=True)
class Finding:
    """One thing noticed about the data: nothing stops, but it should be read.

    Attributes
    ----------
    code : str
        ``"id"``, ``"constant"``, ``"text"`` (columns left out), ``"number_as_text"``,
        ``"missing_target"``, ``"few_rows"``, ``"imbalance"``, ``"rare_class"``,
        ``"target_as_number"`` or ``"leaker"``.
    column : str or None
        The column it is about, if it is about one.
    message : str
        One sentence: what was seen and what to do.
    """

    code: str
    column: str | None
    message: str

    def __str__(self) -> str:
        return self.message


def about_size(n_rows: int) -> Iterator[Finding]:
    """Say when there are few rows."""
    if n_rows < _FEW_ROWS:
        yield Finding(
            "few_rows", None, f"There are only {n_rows} rows: every error rate will be uncertain."
        )


def about_classes(y: np.ndarray, name: str) -> Iterator[Finding]:
    """Say when a class is small."""
    classes, sizes = np.unique(y, return_counts=True)
    least = int(np.argmin(sizes))
    label, size = classes[least].item(), int(sizes[least])
    if sizes[least] < _SMALL_CLASS * y.size:
        yield Finding(
            "imbalance",
            name,
            f"Class {label!r} of {name!r} has only {size:,} of {y.size:,} rows "
            f"({size / y.size:.1%}): judge a method by more than its error rate.",
        )
    if size == 1:
        yield Finding(
            "rare_class",
            name,
            f"Class {label!r} of {name!r} has one row: no split can hold it in two parts.",
        )


def about_numbers(y: np.ndarray, name: str) -> Iterator[Finding]:
    """Say when a numeric target looks like class labels."""
    values = np.unique(y)
    if values.size <= _FEW_VALUES and np.all(values == np.round(values)):
        yield Finding(
            "target_as_number",
            name,
            f"Target {name!r} has only {values.size} distinct whole numbers and is taken as a "
            "number; give task='classification' if they are labels.",
        )


def tells_number(x: np.ndarray, y: np.ndarray) -> bool:
    """Tell whether a numeric feature reproduces a numeric target but for scale."""
    seen = ~np.isnan(x)
    if np.count_nonzero(seen) <= _ROWS_EACH:
        return False
    if not seen.all():
        x, y = x[seen], y[seen]
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return bool(size > 0 and abs(x @ y) > _ALMOST_ONE * size)


def cuts_classes(x: np.ndarray, codes: np.ndarray, n_classes: int) -> bool:
    """Tell whether thresholds on a numeric feature give the class without any error."""
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
    """Tell whether each level of a category (-1: missing) comes with one class only."""
    seen = levels >= 0
    if not seen.any():
        return False
    pairs = np.unique(np.column_stack([levels[seen], codes[seen]]), axis=0, return_counts=True)
    (cells, sizes) = pairs
    one_class_each = np.unique(cells[:, 0]).size == len(cells)
    all_classes = np.unique(cells[:, 1]).size == codes.max() + 1
    return bool(one_class_each and all_classes and sizes.min() > _ROWS_EACH)


def leaker(column: str, target: str) -> Finding:
    """Word the warning about a feature that gives the target away."""
    return Finding(
        "leaker",
        column,
        f"Column {column!r} alone reproduces the target {target!r} almost perfectly: "
        f"leave it out with ignore=[{column!r}] if it is not known before the target is.",
    )
