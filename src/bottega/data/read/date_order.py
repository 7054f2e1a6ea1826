"""Dates like 3/1/2026 in rows that come in chunks: all rows of a column tell how they are read."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import narwhals.stable.v2 as nw

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data._inspect import written_dates
from bottega.data.convert import Frame
from bottega.data.read.rows import FrameRows

__all__ = ["DateOrder"]


class DateOrder:
    """Whether the day comes first in columns of texts, learnt in a pass over those with dates.

    Parameters
    ----------
    source : FrameRows
        The rows.
    columns : sequence of str
        The columns that may hold dates.
    text : sequence of str
        Columns that are read as they are written, as for the other passes.

    Attributes
    ----------
    day_first : dict of str to bool
        Of the columns that tell.

    Raises
    ------
    InputError
        Where a column has dates with the day first beside others with the month first.
    """

    def __init__(self, source: FrameRows, columns: Sequence[str], text: Sequence[str]) -> None:
        first = next(iter(source.frames(None, text)), None)
        dated = [] if first is None else _dated(convert.as_frame(first), columns)
        seen: dict[str, set[bool | None]] = defaultdict(set)
        for frame in source.frames(dated, text) if dated else ():
            rows = convert.as_frame(frame)
            for name in dated:
                if rows[name].dtype == nw.String:
                    texts = {each for each in convert.texts(rows[name]) if each is not None}
                    seen[name] |= {written_dates.day_comes_first([each]) for each in texts}
        self.day_first: dict[str, bool] = {}
        for name, found in seen.items():
            told = found - {None}
            if len(told) > 1:
                raise InputError(
                    f"Column {name!r} holds dates with the day first and others with the month "
                    "first; write them like 2026-01-31."
                )
            for each in told:
                self.day_first[name] = bool(each)

    def read(self, frame: Any) -> Any:
        """Return rows with the dates of such columns written like 2026-01-31."""
        if not self.day_first:
            return frame
        rows = convert.as_frame(frame)
        made = [convert.with_iso_dates(rows[n], first) for n, first in self.day_first.items()]
        return rows.with_columns(*made).to_native()


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
