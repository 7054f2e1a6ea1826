"""What a column holds (its kind) and what it is for (its role)."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data._inspect import written_dates
from bottega.data._inspect.written import Writing, is_gap, writing
from bottega.data.convert import Series

__all__ = ["KINDS", "MAX_LEVELS", "ROLES", "Column"]

KINDS = ("number", "category", "boolean", "date", "text", "id", "constant")
ROLES = ("target", "feature", "weight", "group", "time", "ignore")
FOREIGN = "foreign"  # what no method can use: lists, times of day, pictures
DATELIKE = "dates?"  # texts that look like dates, but may be read in two ways
UNUSABLE = ("id", "constant", FOREIGN, DATELIKE)
MAX_LEVELS = 1000  # one-hot columns beyond this are noise, and memory
MIN_ID_ROWS = 20  # fewer rows are often all distinct by chance
EXACT = 2.0**53  # whole numbers beyond this have no floating-point number of their own
_ALIKE = 1e-10
_FEW_NUMBERS = 20  # as many distinct numbers, written as text, may be labels
_FEW_WORDS = 0.1  # share of words among many numbers that are taken for missing values
_SLIPS = 0.005  # and among few
_DATELIKE = re.compile(
    r"(\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}/\d{1,2}/\d{2})"
    r"([ T].*)?"
)
_MANY_DATES = 50  # fewer distinct ones beside other words may be labels
_TEXT_LEVELS = 50
_TEXT_LENGTH = 20
FEW_TEXTS = 20  # as many distinct sentences are texts, too
_SENTENCE = 5  # words
_NAMED_ID = re.compile(r"(?:^|[^A-Za-z])(?:id|ID|Id|uuid|guid)(?:$|[^A-Za-z])|[a-z]I[Dd]$")


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        What it holds; the first rule that applies decides:

        - ``"constant"``: at most one distinct value beside missing ones.
        - ``"boolean"``: stored as booleans, or as the texts yes/no or true/false.
        - ``"date"``: stored as dates or times of a calendar, or as texts like 2026-01-31 or
          31.1.2026, or 1/31/2026 where some value tells whether the day or the month comes first.
        - ``"number"``: texts that are all numbers, some with a currency, a percent sign, parted
          thousands or a decimal comma; plain numbers as text if over 20 differ and none begins
          with a zero as codes do; either also with words among them, which are missing values
          then: up to one text in ten if over 20 numbers differ, one in 200 if fewer do, and any
          share of words that mean missing in spreadsheets (``-``, ``n/a``, ``unknown``, ...).
        - ``"id"``: texts or whole numbers, none missing, all distinct in 20 rows or more; whole
          numbers must also be consecutive once sorted, or be named like ``id`` or ``user_id``.
          Fractions are never ids, nor are numbers written as text.
        - ``"text"``: more than 50 distinct texts of 20 characters or more on average (or 20 of 5
          words or more), over half of them distinct (and most of them written with blanks, when all
          are distinct).
        - ``"number"``: any other number; ``"category"``: any other text.
    role : str
        What it is for: ``"target"``, ``"feature"``, ``"weight"``, ``"group"``, ``"time"`` or
        ``"ignore"``.
    missing : int
        How many values are missing.
    distinct : int
        How many distinct values there are beside the missing ones.

    Examples
    --------
    >>> Column("price", "number", "feature", missing=0, distinct=12).kind
    'number'
    """

    name: str
    kind: str
    role: str
    missing: int
    distinct: int


@dataclass(frozen=True)
class Profile:
    """What one look at a column's values tells.

    Attributes
    ----------
    kind, missing, distinct
        As in `Column`.
    writing : Writing, optional
        How the numbers among texts are written.
    words : tuple of (str, int, int), optional
        Where numbers and words are mixed: the first word, its row (-1: not known), and how many
        values are words.
    single : int
        How many levels of a category have one row only.
    gaps_only : bool
        Whether all these words mean a missing value.
    rounded : bool
        Whether distinct numbers become equal as floating-point numbers.
    infinite : int
        How many values are infinite.
    day_first : bool, optional
        Whether the day comes first in dates like 31/1/2026.
    far : tuple of (float, int, float, float), optional
        The number farthest from the others, where it is out of all proportion; how many such there
        are; and the quartiles.
    """

    kind: str
    missing: int
    distinct: int
    writing: Writing | None = None
    words: tuple[str, int, int] | None = None
    single: int = 0
    gaps_only: bool = False
    rounded: bool = False
    infinite: int = 0
    day_first: bool | None = None
    far: tuple[float, int, float, float] | None = None

    @property
    def decimal(self) -> str | None:
        """The decimal sign of texts that are read as numbers."""
        return self.writing.decimal if self.writing and self.kind == "number" else None


def count(series: Series) -> tuple[int, int]:
    """Count the missing and the distinct values of a column that may hold anything."""
    try:
        stored = convert.storage(series)
    except InputError:  # of a type that no method can use
        stored = "string"
    if stored in ("integer", "number", "boolean"):
        values = convert.numbers(series)
    elif stored == "date":
        values = convert.days(series)
    else:
        seen = set(convert.labels(series))
        return int(series.null_count()), len(seen - {None})
    missing = int(np.isnan(values).sum())
    if stored == "date" or not series.dtype.is_numeric():
        return missing, np.unique(values[~np.isnan(values)]).size
    nulls = series.null_count()
    # Hashing in the frame's own library beats a sort; null and NaN each count as one value there.
    return missing, int(series.n_unique()) - (nulls > 0) - (missing > nulls)


def profile(series: Series, decimal: str | None = None, usual: str | None = None) -> Profile:
    """Infer the kind of a column from its values, or raise for one that has none.

    `decimal` is the decimal sign of numbers written as text where it is known, and `usual` that of
    the other columns, see `writing`.
    """
    stored = convert.storage(series)
    if stored in ("string", "mixed"):
        texts = convert.labels(series)
        levels = Counter(text for text in texts if text is not None)
        return text_profile(levels, len(texts), texts.index, decimal, usual)
    missing, distinct = count(series)
    n_rows = len(series)
    rounded = _is_rounded(series, stored)
    if distinct <= 1:
        kind = "constant"
    elif stored in ("boolean", "date"):
        kind = stored
    elif (
        stored == "integer"
        and distinct == n_rows
        and is_key(series.name, n_rows, int(series.min()), int(series.max()))
    ):
        kind = "id"
    else:
        kind = "number"
    return Profile(kind, missing, distinct, rounded=rounded)


def _is_rounded(series: Series, stored: str) -> bool:
    """Return True if distinct numbers become equal as floating-point numbers."""
    if stored not in ("integer", "number") or not len(series):
        return False
    values = convert.numbers(series)
    if not np.any(np.abs(values) > EXACT):
        return False
    if series.dtype.is_float():  # what was lost was lost before: large and all alike is suspicious
        low, high = np.nanmin(values), np.nanmax(values)
        return bool(np.isfinite(high - low) and high - low < _ALIKE * np.nanmin(np.abs(values)))
    exact = {value for value in convert.texts(series) if value is not None}
    return len(exact) > np.unique(values[~np.isnan(values)]).size


def is_key(name: str, n_rows: int, low: int, high: int) -> bool:
    """Return True if whole numbers that are all distinct look like a key."""
    consecutive = high - low == n_rows - 1
    return n_rows >= MIN_ID_ROWS and (consecutive or _NAMED_ID.search(name) is not None)


def text_profile(
    levels: Counter[str],
    n_values: int,
    row_of: Callable[[str], int] | None = None,
    decimal: str | None = None,
    usual: str | None = None,
) -> Profile:
    """Infer the kind of a column of texts from how often each occurs, in the order they came.

    `n_values` includes the missing ones; `row_of` finds where a text came first; `decimal` and
    `usual` are decimal signs as in `profile`.
    """
    present = levels.total()
    missing = n_values - present
    if len(levels) <= 1:
        return Profile("constant", missing, len(levels))
    if {level.strip().lower() for level in levels} in ({"yes", "no"}, {"true", "false"}):
        return Profile("boolean", missing, len(levels))
    days = [level for level in levels if not is_gap(level)]
    day_first = written_dates.day_comes_first(days)
    if days and all(written_dates.is_date(level, day_first) for level in days):
        missing = n_values - sum(levels[level] for level in days)
        kind = "date" if len(days) > 1 else "constant"
        return Profile(kind, missing, len(days), day_first=day_first)
    found = writing(levels, decimal, usual)
    odd = next((level for level in levels if level not in found.values), None)
    n_odd = present - sum(levels[level] for level in found.values)
    words = None
    gaps_only = all(level in found.values or is_gap(level) for level in levels)
    if odd is not None and (n_odd < present / 2 or (gaps_only and len(found.values) > 1)):
        words = odd, -1 if row_of is None else row_of(odd), n_odd
    many = len(found.values) > _FEW_NUMBERS and not found.codes
    slip = words is not None and not found.codes and (gaps_only or n_odd <= _SLIPS * present)
    if many or not found.plain if odd is None else slip or (many and n_odd <= _FEW_WORDS * present):
        missing += n_odd
        distinct = len(set(found.values.values()))
        kind = "number" if distinct > 1 else "constant"
        return Profile(kind, missing, distinct, found, words, gaps_only=gaps_only)
    if _are_mostly_dates(days):
        return Profile(DATELIKE, missing, len(levels))
    length = sum(len(level) * times for level, times in levels.items()) / present
    wordy = len(levels) > _TEXT_LEVELS and length >= _TEXT_LENGTH
    if not wordy and len(levels) >= FEW_TEXTS:
        n_words = sum(len(level.split()) * times for level, times in levels.items())
        wordy = n_words >= _SENTENCE * present
    wordy = wordy and len(levels) > present / 2
    if len(levels) == n_values >= MIN_ID_ROWS:
        blanks = sum(" " in level.strip() for level in levels)
        kind = "text" if wordy and blanks > present / 2 else "id"
    else:
        kind = "text" if wordy else "category"
    single = sum(times == 1 for times in levels.values())
    as_text = found if odd is None else None
    return Profile(kind, missing, len(levels), as_text, words, single)


def _are_mostly_dates(levels: list[str]) -> bool:
    """Return True for dates in formats that cannot be read, and for many among other words."""
    found = sum(_DATELIKE.fullmatch(level.strip()) is not None for level in levels)
    return 0 < len(levels) == found or (found > _MANY_DATES and 2 * found > len(levels))


def refuse_levels(name: str, distinct: int, what: str = "Column") -> None:
    """Raise when a category has more levels than can be learnt."""
    if distinct > MAX_LEVELS:
        raise InputError(
            f"{what} {name!r} is a category with {distinct:,} levels, and {MAX_LEVELS:,} are the "
            f"most that can be used; group its rare levels, or {convert.leave_out(name)}."
        )
