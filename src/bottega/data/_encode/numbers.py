"""The columns of a frame that are numbers, as one matrix."""

from collections.abc import Mapping, Sequence

import numpy as np

from bottega.core.typing import FloatArray
from bottega.data import convert
from bottega.data._encode.dates import date_parts
from bottega.data.convert import Frame


def read_numbers(
    frame: Frame,
    chosen: Sequence[tuple[str, str]],
    decimal: Mapping[str, str],
    *,
    in_parts: bool,
    strict: bool,
    day_first: Mapping[str, bool] | None = None,
) -> FloatArray:
    """Return columns, given by name and kind, as floats; infinite numbers are refused if `strict`.

    Dates are days, or `in_parts`; `decimal` has the signs of numbers that are written as text, and
    `day_first` says how dates like 3/1/2026 are read where the frame does not tell.
    """
    if not chosen:
        return np.empty((len(frame), 0))
    if all(kind == "number" for _, kind in chosen):
        wanted = [name for name, _ in chosen]
        part = frame if frame.columns == wanted else frame.select(wanted)
        matrix = part.to_numpy()
        if matrix.dtype.kind in "fiu":  # every column was stored as numbers
            matrix = np.asarray(matrix, dtype=np.float64)
            if not np.isinf(matrix).any():
                return matrix
    columns = []
    for name, kind in chosen:
        values = convert.as_numbers(
            frame[name], kind, decimal.get(name), (day_first or {}).get(name)
        )
        if strict:
            convert.refuse_infinite(values, name)
        values = np.where(np.isinf(values), np.nan, values)
        columns.append(date_parts(values) if kind == "date" and in_parts else values)
    return np.column_stack(columns)
