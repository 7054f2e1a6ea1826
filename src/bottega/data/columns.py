"""What a column holds (its kind) and what it is for (its role)."""

import re
from collections import Counter
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
    """Infer the kind of a column from its values, or say why it has none."""
    stored = convert.storage(series)
    if stored == "string":
        return _profile_text(series)
    missing, distinct = count(series)
    n_rows = len(series)
    if distinct <= 1:
        kind = "constant"
    elif stored in ("boolean", "date"):
        kind = stored
    elif stored == "integer" and _is_key(series, n_rows, distinct):
        kind = "id"
    else:
        kind = "number"
    return Profile(kind, missing, distinct)


def _is_key(series: Series, n_rows: int, distinct: int) -> bool:
    if n_rows < MIN_ID_ROWS or distinct < n_rows:
        return False
    consecutive = int(series.max()) - int(series.min()) == n_rows - 1
    return consecutive or _NAMED_ID.search(series.name) is not None


def _profile_text(series: Series) -> Profile:
    values = convert.texts(series)
    levels = Counter(value for value in values if value is not None)
    missing = len(values) - levels.total()
    present = len(values) - missing
    if len(levels) <= 1:
        return Profile("constant", missing, len(levels))
    if {level.strip().lower() for level in levels} in (
        {"yes", "no"},
        {"true", "false"},
    ):
        return Profile("boolean", missing, len(levels))
    numeric = {level for level in levels if convert.is_number(level)}
    n_numeric = sum(levels[level] for level in numeric)
    if present > n_numeric > present / 2:
        _refuse_mixed(series.name, values, numeric, present - n_numeric, present)
    length = sum(len(level) * times for level, times in levels.items()) / present
    wordy = len(levels) > _TEXT_LEVELS and length >= _TEXT_LENGTH and len(levels) > present / 2
    if len(levels) == len(values) >= MIN_ID_ROWS:
        blanks = sum(" " in level.strip() for level in levels)
        kind = "text" if wordy and blanks > present / 2 else "id"
    else:
        kind = "text" if wordy else "category"
    return Profile(kind, missing, len(levels), numbers_as_text=n_numeric == present)


def _refuse_mixed(
    name: str, values: list[str | None], numeric: set[str], odd: int, present: int
) -> None:
    row = next(i for i, v in enumerate(values) if v is not None and v not in numeric)
    raise InputError(
        f"Column {name!r} mixes numbers and text: {odd:,} of its {present:,} values "
        f"{'is not a number' if odd == 1 else 'are not numbers'}, first "
        f"{convert.short(values[row])} in row {row + 1}; correct them, or give "
        f"kinds={{{name!r}: 'category'}}, or {convert.leave_out(name)}."
    )


def refuse_levels(name: str, distinct: int, what: str = "Column") -> None:
    """Raise when a category has more levels than can be learnt."""
    if distinct > MAX_LEVELS:
        raise InputError(
            f"{what} {name!r} is a category with {distinct:,} levels, and {MAX_LEVELS:,} are the "
            f"most that can be used; group its rare levels, or {convert.leave_out(name)}."
        )
