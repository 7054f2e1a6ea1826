"""What a reader of a table should know before trusting a model of it."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

__all__ = ["Finding"]

_FEW_ROWS = 50
_SMALL_CLASS = 0.1
_FEW_VALUES = 10


@dataclass(frozen=True)
class Finding:
    """One thing noticed about the data: nothing stops, but it should be read.

    Attributes
    ----------
    code : str
        ``"time_order"`` (the rows look as if they were in order of time, and a split by time is
        proposed); ``"id"``, ``"constant"``, ``"empty"``, ``"levels"``, ``"date_format"``,
        ``"unusable"`` (columns left out); ``"text"`` (used, or left out); ``"date"``, ``"mixed"``,
        ``"number_format"``, ``"number_as_text"``, ``"rare_levels"``, ``"precision"``,
        ``"infinite"``, ``"far"``, ``"unit"`` (how columns are read, and what they hold);
        ``"copies"`` (rows equal others, and are kept together), ``"copies_apart"`` (they are not);
        ``"drawn"`` (some rows of a source are in memory), ``"missing_target"``, ``"few_rows"``,
        ``"wide"`` (more inputs than rows), ``"imbalance"``, ``"rare_class"``,
        ``"target_as_number"``, ``"count"`` or ``"leaker"``.
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


def about_gaps(absent: int, n_rows: int, target: str) -> Iterator[Finding]:
    """Report rows without a target."""
    if absent:
        message = f"{absent:,} of {n_rows:,} rows have no value of {target!r} and were left out."
        yield Finding("missing_target", target, message)


def about_size(n_rows: int) -> Iterator[Finding]:
    """Report few rows."""
    if n_rows < _FEW_ROWS:
        yield Finding(
            "few_rows", None, f"There are only {n_rows} rows: every error rate will be uncertain."
        )


def about_width(n_columns: int, n_rows: int) -> Iterator[Finding]:
    """Report more inputs than rows."""
    if n_columns > n_rows:
        yield Finding(
            "wide",
            None,
            f"There are {n_columns:,} input columns (levels of categories and stems counted) and "
            f"{n_rows:,} rows: least squares and backward selection have no unique answer, and "
            "splitting the rows into parts leaves too few of them; use penalised methods and "
            "cross-validation.",
        )


def about_classes(y: np.ndarray, name: str) -> Iterator[Finding]:
    """Report a small class."""
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


def is_count(values: np.ndarray) -> bool:
    """Return True if all values are whole numbers, none below zero."""
    return bool(np.all(values >= 0) and np.all(values == np.round(values)))


def about_numbers(y: np.ndarray, name: str) -> Iterator[Finding]:
    """Report a numeric target that looks like class labels, or like counts."""
    values = np.unique(y)
    if values[0] == 0 and is_count(values):
        yield Finding(
            "count",
            name,
            f"Target {name!r} holds whole numbers from 0 on: if they count something, judge "
            "methods by the measure 'poisson'.",
        )
    if values.size <= _FEW_VALUES and np.all(values == np.round(values)):
        yield Finding(
            "target_as_number",
            name,
            f"Target {name!r} has only {values.size} distinct whole numbers and is taken as a "
            "number; give task='classification' if they are labels.",
        )


def leaker(column: str, target: str) -> Finding:
    """Word the warning about a feature that gives the target away."""
    return Finding(
        "leaker",
        column,
        f"Column {column!r} alone reproduces the target {target!r} almost perfectly: "
        f"leave it out with ignore=[{column!r}] if it is not known before the target is.",
    )
