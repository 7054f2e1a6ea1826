"""From a column of any data frame library to arrays: one reading for pandas, polars and pyarrow.

Missing means null or NaN, everywhere. Row numbers in messages count from 1, as a reader would.
"""

import datetime as dt
import math
import numbers as abstract
from collections import Counter
from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from bottega.core.errors import InputError
from bottega.data._inspect import written, written_dates

Series = nw.Series[Any]
Frame = nw.DataFrame[Any]
MICROSECONDS_A_DAY = 86_400_000_000
_FAMILIES = ("number", "boolean", "date", "string")
EXACT = 2.0**53  # whole numbers below it are floating-point numbers, those beyond only in part
TRUTH = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


def as_frame(data: Any) -> Frame:
    """Wrap a frame; its column names are made text and must differ from one another."""
    frame = frame_or_none(data)
    if frame is None:
        raise InputError(
            f"A data frame (pandas, polars or pyarrow) is needed here, not {type(data).__name__}."
        )
    return frame


def frame_or_none(data: Any) -> Frame | None:
    """Wrap a frame as `as_frame` does; None if it is none."""
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except DuplicateError as error:
        arrow = type(data).__module__.startswith("pyarrow")
        names = data.column_names if arrow else data.columns
        raise InputError(_repeated([str(name) for name in names])) from error
    if not isinstance(frame, nw.DataFrame):
        return None
    given = list(frame.columns)
    if len(set(given)) == len(given) and all(type(name) is str for name in given):
        return frame
    names = [" ".join(map(str, name)) if type(name) is tuple else str(name) for name in given]
    if len(set(names)) < len(names):  # 1 beside "1"
        raise InputError(_repeated(names))
    if any(type(name) is tuple for name in given):  # columns of pandas with several levels of names
        return nw.from_native(data.set_axis(names, axis=1), eager_only=True)
    return frame.rename(dict(zip(given, names, strict=True)))


def _repeated(names: list[str]) -> str:
    name, times = Counter(names).most_common(1)[0]
    return (
        f"The column name {name!r} stands {times} times in the data; give every column a name of "
        "its own."
    )


def storage(series: Series) -> str:
    """Return how values are stored: integer, number, boolean, date, string, mixed or empty."""
    dtype = series.dtype
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "number"
    if dtype == nw.Boolean:
        return "boolean"
    if dtype == nw.Date or dtype == nw.Datetime:
        return "date"
    if dtype == nw.String or dtype == nw.Categorical or dtype == nw.Enum:
        return "string"
    return _storage_of_objects(series)


def _storage_of_objects(series: Series) -> str:
    values = texts(series)
    found = Counter(_family(value) for value in values if value is not None)
    if not found:
        return "empty"
    foreign = next((name for name in found if name not in _FAMILIES), None)
    if foreign is not None:
        raise InputError(
            f"Column {series.name!r} holds values of type {foreign}, which no method can use; "
            f"{leave_out(series.name)}."
        )
    return found.most_common(1)[0][0] if len(found) == 1 else "mixed"


def _family(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, abstract.Number) and not isinstance(value, complex):
        return "number"
    if type(value).__name__ == "Decimal":
        return "number"
    if isinstance(value, dt.date | np.datetime64):
        return "date"
    if isinstance(value, str):
        return "string"
    return type(value).__name__


def leave_out(name: str) -> str:
    """Write the advice to leave a column out."""
    return f"leave it out with ignore=[{name!r}]"


def short(value: Any) -> str:
    """Write a value for a message, the end of a long one cut off."""
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def missing(series: Series) -> np.ndarray:
    """Mark the missing values: null or NaN."""
    mask = np.array(series.is_null().to_numpy(), dtype=bool)
    if series.dtype.is_float():
        mask |= np.isnan(series.to_numpy())
    return mask


def texts(series: Series) -> list[Any]:
    """Return the values of a column of texts or objects, None where missing."""
    values = series.to_list()
    if series.null_count():
        absent = series.is_null().to_numpy()
        values = [None if gone else v for v, gone in zip(values, absent, strict=True)]
    if series.dtype == nw.Categorical or series.dtype == nw.Enum:  # of numbers, of intervals
        named = {v: name_of_number(v) if isinstance(v, float) else str(v) for v in set(values)}
        return [None if v is None else named[v] for v in values]
    return values


def numbers(
    series: Series, decimal: str | None = None, *, slips: list[str] | None = None
) -> np.ndarray:
    """Read a column as float64, NaN where missing; numbers written as text are understood.

    With the `decimal` sign of a column, words are missing values; what is a number with the other
    decimal sign only is refused. Without it the texts tell the sign, as they do in a table, or are
    refused. With a list `slips`, words are missing values in any column, and a sentence on them,
    and one on numbers with signs beside their digits, is added to the list.
    """
    stored = storage(series)
    if stored in ("integer", "number", "boolean"):
        whole = series.dtype == nw.Boolean and not series.null_count()
        if whole or (series.dtype.is_numeric() and not series.dtype.is_decimal()):
            return np.asarray(series.to_numpy(), dtype=np.float64)
        floats = (math.nan if value is None else _float(value) for value in texts(series))
        return np.fromiter(floats, dtype=np.float64, count=len(series))
    if stored == "empty":
        return np.full(len(series), np.nan)
    if stored == "date":
        raise InputError(f"Column {series.name!r} holds dates where numbers are needed.")
    if decimal is None:
        return _lookup(series, _number_parser(series, slips), "a number", slips)

    other = "," if decimal == "." else "."

    def parse(text: str) -> float | None:
        value = written.number(text, decimal)
        return math.nan if value is None and written.number(text, other) is None else value

    return _lookup(series, parse, f"a number with the decimal sign {decimal!r}")


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond 1e308
        return math.inf if value > 0 else -math.inf


def days(
    series: Series, *, slips: list[str] | None = None, day_first: bool | None = None
) -> np.ndarray:
    """Read a column of dates as days since 1970-01-01, NaN where missing; texts will do.

    With a list `slips`, other texts are missing values, as in `numbers`. `day_first` is how dates
    like 3/1/2026 are read where the column does not tell.
    """
    stored = storage(series)
    if stored == "empty":
        return np.full(len(series), np.nan)
    if stored in ("string", "mixed"):
        written_so = {text for text in labels(series) if text is not None}
        first = day_order(series.name, written_so, day_first)
        parse = partial(written_dates.day_of_text, day_first=first)
        return _lookup(series, parse, "a date like 2026-01-31", slips)
    if stored != "date":
        raise InputError(f"Column {series.name!r} holds {stored} values where dates are needed.")
    values = series.to_numpy()
    if values.dtype == object:
        values = np.array(
            [written_dates.in_utc(v) for v in series.to_list()], dtype="datetime64[us]"
        )
    stamps = values.astype("datetime64[us]")
    result = stamps.astype(np.int64) / MICROSECONDS_A_DAY
    result[np.isnat(stamps)] = np.nan
    return result


def day_order(name: str, written_so: Collection[str], day_first: bool | None = None) -> bool | None:
    """Return whether the day comes first in the dates of a column, None where it has none such.

    Where the texts do not tell it is `day_first`; texts that can be read in two ways are refused.
    """
    found = written_dates.day_comes_first(written_so)
    found = day_first if found is None else found
    if found is None:
        unclear = min(filter(written_dates.has_slashes, written_so), default=None)
        if unclear is not None:
            raise InputError(
                f"Column {name!r} holds dates such as {short(unclear)}, and it is not clear "
                "whether the day or the month comes first; write them like 2026-01-31."
            )
    return found


def with_iso_dates(series: Series, day_first: bool) -> Series:
    """Return a column of texts in which dates like 3/1/2026 are written like 2026-01-03."""
    if series.dtype != nw.String:
        return series
    values = texts(series)
    known: dict[Any, Any] = {
        text: written_dates.iso(text, day_first) for text in set(values) - {None}
    }
    made = [known.get(text) for text in values]
    return nw.new_series(series.name, made, nw.String, backend=series.implementation)


def as_numbers(
    series: Series, kind: str, decimal: str | None = None, day_first: bool | None = None
) -> np.ndarray:
    """Read a column of kind number, boolean or date as float64."""
    if kind == "number":
        return numbers(series, decimal)
    return truths(series) if kind == "boolean" else days(series, day_first=day_first)


def truths(series: Series) -> np.ndarray:
    """Read a column of two values as 0 and 1, NaN where missing: bool, 0/1, yes/no, true/false."""
    stored = storage(series)
    if stored in ("string", "mixed"):
        return _lookup(series, lambda text: TRUTH.get(text.strip().lower()), "yes, no, true, false")
    values = numbers(series)
    wrong = np.flatnonzero(~np.isnan(values) & (values != 0) & (values != 1))
    if wrong.size:
        raise InputError(
            f"Column {series.name!r} should hold only 0 and 1, but {wrong.size:,} values differ, "
            f"first {values[wrong[0]]:g} in row {wrong[0] + 1}."
        )
    return values


def labels(series: Series) -> list[str | None]:
    """Read any column as text labels, None where missing; 3 and 3.0 are both '3'.

    Blanks around a text do not count.
    """
    try:
        stored = storage(series)
    except InputError:  # of any type: the user asked for a category, so each prints itself
        stored = "mixed"
    if stored == "mixed":
        return [None if value is None else str(value) for value in texts(series)]
    if stored == "string":
        return _trimmed(texts(series))
    if stored == "empty":
        return [None] * len(series)
    values = days(series) if stored == "date" else numbers(series)
    if stored in ("integer", "number") and np.nanmax(np.abs(values), initial=0.0) >= EXACT:
        return [None if value is None else _exact_name(value) for value in texts(series)]
    levels, code = np.unique(values, return_inverse=True)
    name = {"date": written_dates.text_of_day, "boolean": lambda value: str(bool(value))}.get(
        stored, name_of_number
    )
    names = [None if math.isnan(level) else name(level) for level in levels.tolist()]
    return [names[i] for i in code.tolist()]


def _trimmed(values: list[str | None]) -> list[str | None]:
    bare = {value: value.strip() for value in set(values) if value is not None}
    if all(value == stripped for value, stripped in bare.items()):
        return values
    return [None if value is None else bare[value] for value in values]


def _exact_name(value: Any) -> str | None:
    """Write a number of any type as a label, with all digits that it has."""
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else name_of_number(float(value))
    return str(int(value)) if value == int(value) else repr(float(value))


def name_of_number(value: float) -> str:
    """Write a number as a label."""
    return str(int(value)) if value.is_integer() else repr(value)


def _number_parser(series: Series, slips: list[str] | None) -> Callable[[str], float | None]:
    """Return what reads the texts of a column: as plain numbers, or as people write them."""
    distinct = [text for text in dict.fromkeys(labels(series)) if text is not None]
    found = [text for text in distinct if not written.is_gap(text)]
    if all(map(written.is_number, found)):
        return _parse_number
    seen = written.writing(found)
    if not seen.sure:
        unclear = next(t for t in seen.values if written.number(t, ".") != written.number(t, ","))
        raise InputError(
            f"Column {series.name!r} holds numbers such as {short(unclear)}, and it is not clear "
            "which sign parts decimals; write them with a decimal point and nothing between "
            "thousands."
        )
    if slips is not None and not written.is_number(seen.example) and seen.values:
        slips.append(
            f"Column {series.name!r}: numbers written as text are read as numbers "
            f"({short(seen.example)} is {seen.values[seen.example]:.12g})."
        )

    def parse(text: str) -> float | None:
        return seen.values[text] if text in seen.values else _parse_number(text)

    return parse


def _parse_number(text: str) -> float | None:
    if written.is_gap(text):
        return math.nan
    return float(text) if written.is_number(text) else None


def _lookup(series: Series, parse: Any, wanted: str, slips: list[str] | None = None) -> np.ndarray:
    """Translate each distinct text once, then spread the answers over the rows.

    Texts that have no translation are refused; with a list `slips` they are missing values and
    told there, unless nothing else is in the column.
    """
    values = labels(series)
    known: dict[str | None, Any] = {text: parse(text) for text in set(values) if text is not None}
    bad = {text for text, value in known.items() if value is None}
    if bad:
        rows = [i for i, text in enumerate(values) if text in bad]
        first = f"first {short(values[rows[0]])} in row {rows[0] + 1}"
        if slips is None:
            raise InputError(
                f"Column {series.name!r} cannot be read as asked: {len(rows):,} of its values are "
                f"not {wanted}, {first}; correct them, or give the column another kind."
            )
        if len(rows) > 1 and bad == set(known):
            raise InputError(
                f"Column {series.name!r} cannot be read: none of its {len(rows):,} values is "
                f"{wanted}, {first}; correct them."
            )
        slips.append(
            f"Column {series.name!r}: {len(rows):,} value{'s are' if len(rows) > 1 else ' is'} not "
            f"{wanted} and counted as missing, {first}."
        )
        known |= dict.fromkeys(bad, math.nan)
    known[None] = math.nan
    return np.fromiter(map(known.__getitem__, values), dtype=np.float64, count=len(values))


def refuse_infinite(values: np.ndarray, name: str) -> None:
    """Raise when a column holds infinite values."""
    rows = np.flatnonzero(np.isinf(values))
    if rows.size:
        raise InputError(
            f"Column {name!r} holds {rows.size:,} infinite value{'s' if rows.size > 1 else ''}, "
            f"first in row {rows[0] + 1}; replace them by numbers or by missing values, or "
            f"{leave_out(name)}."
        )


def joined_frames(frames: list[Any]) -> Any:
    """Return frames of the same columns as one, row after row."""
    if len(frames) == 1:
        return frames[0]
    return nw.concat([as_frame(each) for each in frames]).to_native()
