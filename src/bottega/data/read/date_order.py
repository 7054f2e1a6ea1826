"""Dates like 3/1/2026 in rows that come in chunks: all rows of a column tell how they are read."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import narwhals.stable.v2 as nw

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data._inspect import written_dates
from bottega.data.convert import Frame
from bottega.data.read.rows import FrameRows

__all__ = ["dated_frames"]


def dated_frames(
    source: FrameRows, columns: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[Any, Any]]:
    """Yield frames of the rows as they are stored, and the same with dates like 2026-01-31.

    Dates stay as they are written where no row of their column tells whether the day or the month
    comes first. Another pass, over texts that may be dates alone, finds that out.

    Parameters
    ----------
    source : FrameRows
        The rows.
    columns : sequence of str
        The columns that may hold dates.
    text : sequence of str
        Columns of text files to read as they are written.

    Raises
    ------
    InputError
        Where a column has dates with the day first beside others with the month first.
    """
    frames = source.frames(None, text)
    first = next(frames, None)
    if first is None:
        return
    dated = _dated(convert.as_frame(first), columns)
    orders = _orders(source, dated, text) if dated else {}
    for stored in chain([first], frames):
        if not orders:
            yield stored, stored
            continue
        rows = convert.as_frame(stored)
        made = [convert.with_iso_dates(rows[name], order) for name, order in orders.items()]
        yield stored, rows.with_columns(*made).to_native()


def _dated(frame: Frame, columns: Sequence[str]) -> list[str]:
    """Return the columns of texts whose first value is a date, or that have none yet."""
    found = []
    for name in columns:
        if name not in frame.columns or frame[name].dtype not in (nw.String, nw.Object):
            continue
        texts = (each for each in convert.texts(frame[name]) if isinstance(each, str))
        value = next(texts, None)
        if value is None or written_dates.has_slashes(value) or written_dates.is_date(value):
            found.append(name)
    return found


def _orders(source: FrameRows, dated: Sequence[str], text: Sequence[str]) -> dict[str, bool]:
    """Return whether the day comes first, of the columns that tell."""
    seen: dict[str, set[bool]] = defaultdict(set)
    for frame in source.frames(dated, text):
        rows = convert.as_frame(frame)
        for name in dated:
            if rows[name].dtype == nw.String:
                texts = {each for each in convert.texts(rows[name]) if each is not None}
                found = {written_dates.day_comes_first([each]) for each in texts}
                seen[name] |= {each for each in found if each is not None}
    for name, told in seen.items():
        if len(told) > 1:
            raise InputError(
                f"Column {name!r} holds dates with the day first and others with the month first; "
                "write them like 2026-01-31."
            )
    return {name: each for name, told in seen.items() for each in told}
