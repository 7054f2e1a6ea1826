"""Columns of rows as they are stored, read for what they are: responses, groups, an order."""

from collections.abc import Iterable, Iterator

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray
from bottega.data import convert
from bottega.data.convert import Frame, Series

__all__ = [
    "class_labels",
    "exact_integers",
    "group_labels",
    "order_values",
    "whole_numbers",
    "with_target",
]


def with_target(frames: Iterable[Frame], target: str | None) -> Iterator[Frame]:
    """Yield the rows that have a target; all of them where there is none."""
    for frame in frames:
        if target is not None:
            absent = convert.missing(frame[target])
            if absent.any():
                frame = frame[np.flatnonzero(~absent), :]
        if len(frame):
            yield frame


def class_labels(series: Series) -> np.ndarray:
    """Return labels as the user wrote them: text, booleans or numbers (whole ones as int)."""
    try:
        stored = convert.storage(series)
    except InputError:  # of any type, and the user called it a category: labels are text
        stored = "mixed"
    if stored in ("string", "mixed"):
        return np.array(convert.labels(series))
    exact = exact_integers(series)
    if exact is not None:
        return exact
    values = convert.numbers(series)
    if stored == "boolean":
        return values.astype(bool)
    convert.refuse_infinite(values, series.name)
    return values.astype(np.int64) if np.all(values == np.round(values)) else values


def exact_integers(series: Series) -> Array | None:
    """Return a column of Python's integers, which floats might not tell apart; None for others."""
    if series.dtype != nw.Object:
        return None
    values = series.to_list()
    if not all(type(each) is int for each in values):
        return None
    found = np.array(values)
    return found if found.dtype.kind in "iu" else None


def whole_numbers(values: FloatArray) -> Array:
    """Return numbers as integers where all are whole, as labels are; as they are otherwise."""
    if not values.size or values[0] != np.round(values[0]):  # as in most responses
        return values
    if np.max(np.abs(values)) >= convert.EXACT or np.any(values != np.round(values)):
        return values
    return values.astype(np.int64)


def group_labels(series: Series) -> np.ndarray:
    """Return the groups of rows as text; those without one are a group of their own."""
    return np.array(convert.labels(series), dtype=object).astype(str)


def order_values(series: Series) -> FloatArray:
    """Return a column as numbers to order rows by: dates as days, NaN where a value is missing."""
    dated = convert.storage(series) in ("date", "string")
    return convert.days(series) if dated else convert.numbers(series)
