"""What a column holds (its kind) and what it is for (its role)."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.data._inspect import convert
from bottega.data._inspect.convert import Series

__all__ = ["KINDS", "MAX_LEVELS", "ROLES", "Column"]

KINDS = ("number", "category", "boolean", "date", "text", "id", "constant")
ROLES = ("target", "feature", "weight", "group", "time", "ignore")
UNUSABLE = ("text", "id", "constant")
MAX_LEVELS = 1000  # one-hot columns beyond this are noise, and memory
MIN_ID_ROWS = 20  # fewer rows are often all distinct by chance
_TEXT_LEVELS = 50
_TEXT_LENGTH = 20
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
        - ``"date"``: stored as dates or times of a calendar.
        - ``"id"``: texts or whole numbers, none missing, all distinct in 20 rows or more; whole
          numbers must also be consecutive once sorted, or be named like ``id`` or ``user_id``.
          Fractions are never ids.
        - ``"text"``: more than 50 distinct texts of 20 characters or more on average, over half of
          them distinct (and written with blanks, when all are distinct).
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
    """What one look at a column's values tells."""

    kind: str
    missing: int
    distinct: int
    numbers_as_text: bool = False


def count(series: Series) -> tuple[int, int]:
    """Count the missing and the distinct values of a column that may hold anything."""
    try:
        stored = convert.storage(series)
    except InputError:
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


def profile(series: Series) -> Profile:
    """Infer the kind of a column from its values, or raise for one that has none."""
    stored = convert.storage(series)
    if stored == "string":
        texts = convert.texts(series)
        levels = Counter(text for text in texts if text is not None)
        return text_profile(series.name, levels, len(texts), texts.index)
    missing, distinct = count(series)
    n_rows = len(series)
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
    return Profile(kind, missing, distinct)


def is_key(name: str, n_rows: int, low: int, high: int) -> bool:
    """Return True if whole numbers that are all distinct look like a key."""
    consecutive = high - low == n_rows - 1
    return n_rows >= MIN_ID_ROWS and (consecutive or _NAMED_ID.search(name) is not None)


def text_profile(
    name: str, levels: Counter[str], n_values: int, row_of: Callable[[str], int] | None = None
) -> Profile:
    """Infer the kind of a column of texts from how often each occurs, in the order they came.

    `n_values` includes the missing ones; `row_of` finds for messages where a text came first.
    """
    present = levels.total()
    missing = n_values - present
    if len(levels) <= 1:
        return Profile("constant", missing, len(levels))
    if {level.strip().lower() for level in levels} in ({"yes", "no"}, {"true", "false"}):
        return Profile("boolean", missing, len(levels))
    odd = [level for level in levels if not convert.is_number(level)]
    n_odd = sum(levels[level] for level in odd)
    if 0 < n_odd < present / 2:
        where = "" if row_of is None else f" in row {row_of(odd[0]) + 1}"
        raise InputError(
            f"Column {name!r} mixes numbers and text: {n_odd:,} of its {present:,} values "
            f"{'is not a number' if n_odd == 1 else 'are not numbers'}, first "
            f"{convert.short(odd[0])}{where}; correct them, or give "
            f"kinds={{{name!r}: 'category'}}, or {convert.leave_out(name)}."
        )
    length = sum(len(level) * times for level, times in levels.items()) / present
    wordy = len(levels) > _TEXT_LEVELS and length >= _TEXT_LENGTH and len(levels) > present / 2
    if len(levels) == n_values >= MIN_ID_ROWS:
        blanks = sum(" " in level.strip() for level in levels)
        kind = "text" if wordy and blanks > present / 2 else "id"
    else:
        kind = "text" if wordy else "category"
    return Profile(kind, missing, len(levels), numbers_as_text=n_odd == 0)


def refuse_levels(name: str, distinct: int, what: str = "Column") -> None:
    """Raise when a category has more levels than can be learnt."""
    if distinct > MAX_LEVELS:
        raise InputError(
            f"{what} {name!r} is a category with {distinct:,} levels, and {MAX_LEVELS:,} are the "
            f"most that can be used; group its rare levels, or {convert.leave_out(name)}."
        )
