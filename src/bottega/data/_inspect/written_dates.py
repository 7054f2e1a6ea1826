"""Dates as people write them: 2026-01-31, 31.1.2026, 1/31/2026, with or without a time of day.

A text with slashes is read once it is known whether the day comes first, which a column tells by
its texts: ``31/1/2026`` has the day first, ``1/31/2026`` the month, and ``3/1/2026`` either.
"""

import datetime as dt
import math
import re
from collections.abc import Iterable
from typing import Any

from bottega.data._inspect import written

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:.*)?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})([T ]\d{2}:.*)?")  # the day first, always
_SLASHED = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})([T ]\d{2}:[\d:.]*)?")
_UNCLEAR = re.compile(r"\d{1,2}(?:([/-])\d{1,2}\1(?:\d{4}|\d{2})|\.\d{1,2}\.\d{2})(?:[T ].*)?")


def is_date(text: str, day_first: bool | None = None) -> bool:
    """Return True for a date like 2026-01-31 or 31.1.2026, with or without a time of day.

    Where it is known whether the day or the month comes first, 1/31/2026 is a date, too.
    """
    found = _DATE.fullmatch(iso(text, day_first)) is not None
    return found and day_of_text(text, day_first) is not None


def has_slashes(text: str) -> bool:
    """Return True for a text like 1/31/2026 or 31-01-2026."""
    return _SLASHED.fullmatch(text.strip()) is not None


def may_be_read_in_two_ways(text: str) -> bool:
    """Return True for a text like 1/31/2026, and for one with two digits of the year.

    Examples
    --------
    >>> [may_be_read_in_two_ways(text) for text in ("1/2/2026", "01.02.26", "1.2.2026")]
    [True, True, False]
    """
    return _UNCLEAR.fullmatch(text.strip()) is not None


def day_comes_first(texts: Iterable[str]) -> bool | None:
    """Return whether the day comes first in dates like 31/1/2026; None where they do not tell.

    Examples
    --------
    >>> day_comes_first(["3/1/2026", "3/31/2026"]), day_comes_first(["3/1/2026"])
    (False, None)
    """
    found = [match for text in texts if (match := _SLASHED.fullmatch(text.strip()))]
    day_first, month_first = (any(int(each[i]) > 12 for each in found) for i in (1, 3))
    return None if day_first == month_first else day_first


def iso(text: str, day_first: bool | None = None) -> str:
    """Return a text without blanks around it, a date as the standard writes it.

    Examples
    --------
    >>> iso("3/1/2026", day_first=True), iso("3/1/2026"), iso(" -")
    ('2026-01-03', '3/1/2026', '-')
    """
    bare = text.strip()
    found = _DOTTED.fullmatch(bare)
    if found is not None:
        day, month, year, rest = found.groups(default="")
    else:
        found = None if day_first is None else _SLASHED.fullmatch(bare)
        if found is None:
            return bare
        day, _, month, year, rest = found.groups(default="")
        day, month = (day, month) if day_first else (month, day)
    return f"{year}-{month:0>2}-{day:0>2}{rest}"


def in_utc(value: Any) -> Any:
    """Return a moment without its time zone, in that of Greenwich."""
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC).replace(tzinfo=None)
    return value


def text_of_day(value: float) -> str:
    """Write days since 1970-01-01 as a label."""
    stamp = dt.datetime(1970, 1, 1) + dt.timedelta(days=value)
    if stamp.time() == dt.time():
        return stamp.date().isoformat()
    return stamp.isoformat(sep=" ")


def day_of_text(text: str, day_first: bool | None = None) -> float | None:
    """Return days since 1970-01-01: NaN of a gap, None of what is no date."""
    if written.is_gap(text):
        return math.nan
    try:
        stamp = in_utc(dt.datetime.fromisoformat(iso(text, day_first)))
    except ValueError:
        return None
    return float((stamp - dt.datetime(1970, 1, 1)) / dt.timedelta(days=1))
