"""One look at each column of a new table: its role, its kind, and whether it can be used."""

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.data._inspect import convert
from bottega.data._inspect.convert import Frame, Series
from bottega.data.columns import KINDS, UNUSABLE, Profile, count, profile, refuse_levels
from bottega.data.findings import Finding


def assign_roles(
    data: Frame,
    target: str | None,
    weight: str | None,
    group: str | None,
    time: str | None,
    ignore: set[str],
) -> dict[str, str]:
    """Give each column its role, or say which name is wrong."""
    roles = dict.fromkeys(data.columns, "feature")
    wanted = [("target", target), ("weight", weight), ("group", group), ("time", time)]
    wanted += [("ignore", name) for name in sorted(ignore, key=str)]
    for role, name in wanted:
        if name is None:
            continue
        if name not in roles:
            known = ", ".join(repr(column) for column in data.columns[:8])
            more = ", ..." if len(data.columns) > 8 else ""
            raise InputError(
                f"There is no column {name!r} to use as {role}.{did_you_mean(name, roles)} "
                f"The columns are {known}{more}."
            )
        if roles[name] != "feature":
            raise InputError(
                f"Column {name!r} cannot be both {roles[name]} and {role}; give it one role."
            )
        roles[name] = role
    return roles


def check_kinds(kinds: Mapping[str, str], names: list[str]) -> None:
    """Raise when a kind given by the user names no column, or is none."""
    for name, kind in kinds.items():
        if name not in names:
            raise InputError(
                f"kinds names a column {name!r} that is not there.{did_you_mean(name, names)}"
            )
        if kind not in KINDS:
            raise ParameterError(
                f"Column {name!r} cannot be of kind {kind!r}.{did_you_mean(kind, KINDS)} "
                f"The kinds are {', '.join(KINDS)}."
            )


def choose_kinds(frame: Frame, kinds: Mapping[str, str] | None) -> list[str]:
    """Return the kind of each column to encode: as given, or inferred; raise where it has none."""
    given = {str(name): kind for name, kind in (kinds or {}).items()}
    check_kinds(given, frame.columns)
    chosen = []
    for name, dtype in frame.schema.items():
        kind = given.get(name)
        if kind is None:
            kind = "number" if dtype.is_numeric() else _infer(frame[name])
        if kind in UNUSABLE:
            raise InputError(
                f"Column {name!r} is of kind {kind}, which cannot be encoded; drop it, or give "
                f"kinds={{{name!r}: 'category'}}."
            )
        chosen.append(kind)
    return chosen


def _infer(series: Series) -> str:
    """Infer the kind of a column that is not stored as numbers.

    A part of a table may lack what the whole has: a column constant in it is no reason to stop.
    """
    stored = convert.storage(series)
    if stored != "string":
        return "number" if stored in ("empty", "integer") else stored
    levels = {text.strip().lower() for text in convert.texts(series) if text is not None}
    if levels and (levels <= {"yes", "no"} or levels <= {"true", "false"}):
        return "boolean"
    kind = profile(series).kind
    return "category" if kind == "constant" else kind


def examine(series: Series, role: str, kind: str | None) -> tuple[Series | None, Profile]:
    """Return the converted column (None: it stays as it is) and what it holds."""
    if role == "ignore":
        try:
            return None, profile(series)
        except InputError:  # it is left out: what is wrong with it does not matter
            return None, Profile(kind or "text", *count(series))
    converted = None
    if kind is not None or role == "group":
        seen = Profile(kind or "category", *count(series))
    else:
        seen = profile(series)
        if role != "feature" and seen.kind in ("id", "constant"):
            # Only a feature can be useless for being constant or all distinct.
            text = convert.storage(series) == "string"
            seen = Profile("category" if text else "number", seen.missing, seen.distinct)
    if seen.distinct == 0 and role != "target":
        raise InputError(
            f"Column {series.name!r} is missing in every row; {convert.leave_out(series.name)}."
        )
    if kind is not None:
        converted = _convert(series, role, kind)
    elif series.dtype == nw.Object and seen.kind == "number":
        converted = _replace(series, convert.numbers(series), nw.Float64)
    if seen.kind in ("number", "boolean"):
        convert.refuse_infinite(as_numbers(series, seen.kind), series.name)
    if seen.kind == "category" and role == "feature":
        refuse_levels(series.name, seen.distinct)
    return converted, seen


def _convert(series: Series, role: str, kind: str) -> Series | None:
    """Make a column be of the kind the user asked for, or say why it cannot be."""
    stored = "mixed"
    if kind not in (*UNUSABLE, "category"):
        stored = convert.storage(series)
    if kind == "number":
        values = convert.numbers(series)
        return None if stored in ("number", "integer") else _replace(series, values, nw.Float64)
    if kind == "boolean":
        convert.truths(series)
    elif kind == "date":
        stamps = convert.days(series)
        if stored == "string":
            micros = np.round(stamps * convert.MICROSECONDS_A_DAY)
            whole = np.where(np.isnan(stamps), 0, micros).astype(np.int64)
            dates = whole.astype("datetime64[us]")
            dates[np.isnan(stamps)] = np.datetime64("NaT")
            return _replace(series, dates, nw.Datetime("us"))
    elif kind == "category" and role == "feature" and series.dtype != nw.String:
        return _replace(series, convert.labels(series), nw.String)
    return None


def _replace(series: Series, values: Any, dtype: Any) -> Series:
    return nw.new_series(series.name, values, dtype, backend=series.implementation)


def as_numbers(series: Series, kind: str) -> np.ndarray:
    """Read a column of kind number, boolean or date as float64."""
    read = {"boolean": convert.truths, "date": convert.days}.get(kind, convert.numbers)
    return read(series)


def class_labels(series: Series) -> np.ndarray:
    """Return labels as the user wrote them: text, booleans or numbers (whole ones as int)."""
    try:
        stored = convert.storage(series)
    except InputError:  # of several types, and the user called it a category: labels are text
        return np.array(convert.labels(series))
    if stored == "string":
        return np.array(convert.texts(series))
    values = convert.numbers(series)
    if stored == "boolean":
        return values.astype(bool)
    convert.refuse_infinite(values, series.name)
    return values.astype(np.int64) if np.all(values == np.round(values)) else values


def about_feature(name: str, seen: Profile, *, chosen: bool) -> Iterable[Finding]:
    """Say why a feature is left out, or may be misread."""
    if seen.numbers_as_text:
        yield Finding(
            "number_as_text",
            name,
            f"Column {name!r} holds numbers written as text and is not used as a number; give "
            f"kinds={{{name!r}: 'number'}} if it should be.",
        )
    if chosen or seen.kind not in UNUSABLE:
        return
    reason = {
        "id": "has a different value in every row, like a key,",
        "constant": "has the same value in every row",
        "text": "holds free text",
    }[seen.kind]
    cure = "" if seen.kind == "constant" else f"; give kinds={{{name!r}: ...}} to use it"
    yield Finding(seen.kind, name, f"Column {name!r} {reason} and is left out{cure}.")


def extent(series: Series, kind: str) -> tuple[str, str, str]:
    """Return lowest and highest value and the commonest label, as text."""
    if kind in ("number", "date") and count(series)[1]:
        values = as_numbers(series, kind)
        low, high = np.nanmin(values), np.nanmax(values)
        if kind == "date":
            return convert.name_of_day(float(low)), convert.name_of_day(float(high)), ""
        return f"{low:.6g}", f"{high:.6g}", ""
    if kind in ("category", "boolean", "constant"):
        labels = [label for label in convert.labels(series) if label is not None]
        if labels:
            levels, times = np.unique(np.array(labels), return_counts=True)
            return "", "", str(levels[np.argmax(times)])
    return "", "", ""
