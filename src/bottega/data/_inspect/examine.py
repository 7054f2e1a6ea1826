"""One look at each column of a new table: its kind, and its values as that kind asks for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.data import convert
from bottega.data._inspect import written_dates
from bottega.data._inspect.written import usual_sign, writing
from bottega.data.columns import FOREIGN, KINDS, UNUSABLE, Profile, count, profile, refuse_levels
from bottega.data.convert import Frame, Series

_FEW = 20  # numbers, of which none can be told to be far from the others


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


def choose_kinds(
    frame: Frame, kinds: Mapping[str, str] | None, decimal: Mapping[str, str] | None
) -> tuple[list[str], dict[str, str]]:
    """Return the kind of each column to encode, and the decimal signs of numbers that are texts.

    They are as given, or inferred; a column that has no kind is refused.
    """
    given = {str(name): kind for name, kind in (kinds or {}).items()}
    signs = {str(name): sign for name, sign in (decimal or {}).items()}
    check_kinds(given, frame.columns)
    chosen = []
    for name, dtype in frame.schema.items():
        kind = given.get(name)
        if kind is None:
            kind = "number" if dtype.is_numeric() else _infer(frame[name], signs)
        if kind in UNUSABLE:
            raise InputError(
                f"Column {name!r} is of kind {kind}, which cannot be encoded; drop it, or give "
                f"kinds={{{name!r}: 'category'}}."
            )
        chosen.append(kind)
    return chosen, signs


def _infer(series: Series, signs: dict[str, str]) -> str:
    """Infer the kind of a column that is not stored as numbers; add its decimal sign to `signs`.

    A part of a table may lack what the whole has: a column constant in it is no reason to stop.
    """
    stored = convert.storage(series)
    if stored not in ("string", "mixed"):
        return "number" if stored in ("empty", "integer") else stored
    levels = {text.strip().lower() for text in convert.labels(series) if text is not None}
    if levels and (levels <= {"yes", "no"} or levels <= {"true", "false"}):
        return "boolean"
    seen = profile(series, signs.get(series.name))
    if seen.decimal is not None:
        signs[series.name] = seen.decimal
    return "category" if seen.kind == "constant" else seen.kind


def examine_all(
    data: Frame, roles: Mapping[str, str], kinds: Mapping[str, str], decimal: str | None
) -> tuple[Frame, dict[str, Profile]]:
    """Return the data with converted columns, and what each column holds.

    Numbers written as text that can be read with either decimal sign are read with that of the
    other columns.
    """
    usual = None
    profiles: dict[str, Profile] = {}
    converted: list[Series] = []
    unsure: list[str] = []
    for name in data.columns:
        series, seen = examine(data[name], roles[name], kinds.get(name), decimal)
        profiles[name] = seen
        if seen.decimal is not None and seen.writing is not None and not seen.writing.sure:
            unsure.append(name)
        elif series is not None:
            converted.append(series)
    if unsure:
        others = (convert.labels(data[name]) for name in profiles if profiles[name].decimal)
        usual = usual_sign({text for text in texts if text is not None} for texts in others)
    for name in unsure:
        series, profiles[name] = examine(data[name], roles[name], kinds.get(name), decimal, usual)
        if series is not None:
            converted.append(series)
    return (data.with_columns(*converted) if converted else data), profiles


def examine(
    series: Series,
    role: str,
    kind: str | None,
    decimal: str | None = None,
    usual: str | None = None,
) -> tuple[Series | None, Profile]:
    """Return the converted column (None: it stays as it is) and what it holds."""
    if role == "ignore":
        try:
            return None, profile(series)
        except InputError:  # it is left out: what is wrong with it does not matter
            return None, Profile(kind or "text", *count(series))
    if kind is not None or role == "group":
        seen = _asked_for(series, kind or "category", decimal, usual)
    else:
        seen = _inferred(series, role, decimal, usual)
    if seen.distinct == 0 and role not in ("target", "feature"):
        raise InputError(
            f"Column {series.name!r} is missing in every row; {convert.leave_out(series.name)}."
        )
    if seen.distinct == 0 or (seen.kind in UNUSABLE and kind is None):
        return None, seen
    converted = _convert(series, role, seen, asked=kind is not None)
    if seen.kind == "number":
        values = convert.numbers(series if converted is None else converted)
        infinite = int(np.isinf(values).sum())
        if infinite and role == "feature":
            values = np.where(np.isinf(values), np.nan, values)
            return _replace(series, values, nw.Float64), _without_infinite(seen, values, infinite)
        convert.refuse_infinite(values, series.name)
        if role == "feature":
            seen = replace(seen, far=_far(values))
    if seen.kind == "category" and role == "feature" and kind is not None:
        refuse_levels(series.name, seen.distinct)
    return converted, seen


def _far(values: np.ndarray) -> tuple[float, int, float, float] | None:
    """Return the number farthest from the others, how many are far, and the quartiles.

    Far is a thousand times the distance of the quartiles, and not more than one row in a hundred.
    """
    known = values[~np.isnan(values)]
    if known.size < _FEW:
        return None
    low, high = np.quantile(known, [0.25, 0.75])
    away = np.maximum(low - known, known - high)
    many = int(np.sum(away / 1000 > high - low))
    if high == low or not 0 < many <= known.size / 100:
        return None
    return float(known[np.argmax(away)]), many, float(low), float(high)


def _without_infinite(seen: Profile, values: np.ndarray, infinite: int) -> Profile:
    distinct = np.unique(values[~np.isnan(values)]).size
    kind = seen.kind if distinct > 1 else "constant"
    missing = seen.missing + infinite
    return replace(seen, kind=kind, missing=missing, distinct=distinct, infinite=infinite)


def _asked_for(series: Series, kind: str, decimal: str | None, usual: str | None) -> Profile:
    """Return what is in a column of a kind that the user chose."""
    seen = Profile(kind, *count(series))
    if kind not in ("number", "date") or convert.storage(series) not in ("string", "mixed"):
        return seen
    texts = {text for text in convert.labels(series) if text is not None}
    if kind == "date":
        return replace(seen, day_first=written_dates.day_comes_first(texts))
    found = writing(sorted(texts), decimal, usual)
    if len(found.values) < len(texts):
        return seen  # and the conversion says what is wrong
    return Profile(kind, seen.missing, len(set(found.values.values())), found)


def _inferred(series: Series, role: str, decimal: str | None, usual: str | None) -> Profile:
    """Return what is in a column; only a feature may hold what cannot be used."""
    try:
        seen = profile(series, decimal, usual)
    except InputError:
        if role != "feature":
            raise
        return Profile(FOREIGN, *count(series))
    if role == "feature":
        return seen
    if role == "target" and seen.words is not None and not seen.gaps_only:
        word, row, n_words = seen.words
        raise InputError(
            f"Column {series.name!r} mixes numbers and text: {n_words:,} of its "
            f"{len(series) - series.null_count():,} values "
            f"{'is not a number' if n_words == 1 else 'are not numbers'}, first "
            f"{convert.short(word)} in row {row + 1}; correct them, or give "
            f"kinds={{{series.name!r}: 'category'}} if they are labels."
        )
    if seen.kind in ("id", "constant"):
        # Only a feature can be useless for being constant or all distinct.
        text = convert.storage(series) in ("string", "mixed")
        return replace(seen, kind="category" if text else "number")
    return seen


def _convert(series: Series, role: str, seen: Profile, *, asked: bool) -> Series | None:
    """Make a column be of its kind, or say why it cannot be."""
    kind = seen.kind
    stored = "mixed"
    if kind not in (*UNUSABLE, "category", "text"):
        stored = convert.storage(series)
    if kind == "number":
        if seen.writing is not None:
            known = seen.writing.values
            floats = [known.get(text or "", np.nan) for text in convert.labels(series)]
            return _replace(series, np.array(floats), nw.Float64)
        if stored in ("number", "integer") and series.dtype != nw.Object:
            return None
        return _replace(series, convert.numbers(series), nw.Float64)
    if kind == "boolean":
        convert.truths(series)
    elif kind == "date":
        days = convert.days(series)
        if stored == "string":
            return _replace(series, dates_of(days), nw.Datetime("us"))
    elif kind == "category" and role == "feature" and series.dtype != nw.String:
        keep = not asked and convert.storage(series) != "mixed"
        return None if keep else _replace(series, convert.labels(series), nw.String)
    elif kind == "text" and series.dtype != nw.String:
        return _replace(series, convert.labels(series), nw.String)
    return None


def dates_of(days: np.ndarray) -> np.ndarray:
    """Return days since 1970-01-01 as moments, none where the day is missing."""
    micros = np.round(days * convert.MICROSECONDS_A_DAY)
    dates = np.where(np.isnan(days), 0, micros).astype(np.int64).astype("datetime64[us]")
    dates[np.isnan(days)] = np.datetime64("NaT")
    return dates


def _replace(series: Series, values: Any, dtype: Any) -> Series:
    return nw.new_series(series.name, values, dtype, backend=series.implementation)


def extent(series: Series, kind: str) -> tuple[str, str, str]:
    """Return lowest and highest value and the commonest label, as text."""
    if kind in ("number", "date") and count(series)[1]:
        values = convert.as_numbers(series, kind)
        low, high = np.nanmin(values), np.nanmax(values)
        if kind == "date":
            return written_dates.text_of_day(float(low)), written_dates.text_of_day(float(high)), ""
        return f"{low:.6g}", f"{high:.6g}", ""
    if kind in ("category", "boolean", "constant"):
        labels = [label for label in convert.labels(series) if label is not None]
        if labels:
            levels, times = np.unique(np.array(labels), return_counts=True)
            return "", "", str(levels[np.argmax(times)])
    return "", "", ""
