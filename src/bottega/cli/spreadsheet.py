"""CSV that a spreadsheet reads as data: a label such as ``=CMD()`` is text, never a formula."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.frames import make_frame
from bottega.core.missing import is_missing

__all__ = ["as_csv", "safe"]

# What makes a spreadsheet compute, its wide forms, and the blanks that it skips on the way.
_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def safe(value: Any) -> Any:
    """Return a value that no spreadsheet takes for a formula: such a text gets an apostrophe.

    Examples
    --------
    >>> [safe(value) for value in ("=1+1", "-5 to 0", "-5", "+1.5e3", "-", "plain", -5)]
    ["'=1+1", "'-5 to 0", '-5', '+1.5e3', '-', 'plain', -5]
    """
    if not isinstance(value, str) or len(value) < 2 or not value.startswith(_STARTS):
        return value
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value.strip()  # a number, perhaps with blanks around it


def as_csv(columns: Mapping[str, Any]) -> tuple[str, int]:
    """Return columns as the text of a CSV file, and how many labels were made safe in it.

    Columns of numbers stay as they are; missing values are empty.
    """
    changed: set[Any] = set()
    made: dict[str, Any] = {}
    for name, values in columns.items():
        array = np.asarray(values)
        column: Any = array
        if array.dtype.kind not in "biuf":
            dates = array.dtype.kind == "M"
            listed = (
                [None if each == "NaT" else each for each in array.astype(str).tolist()]
                if dates
                else [None if is_missing(each) else each for each in _listed(values)]
            )
            column = [safe(value) for value in listed]
            changed.update(old for old, new in zip(listed, column, strict=True) if old is not new)
        title = safe(name)
        changed.update({name} if title is not name else ())
        made[title] = column
    return nw.from_native(make_frame(made), eager_only=True).write_csv(), len(changed)


def _listed(values: Any) -> list[Any]:
    """Return values as they are: an array of texts would make the word "nan" of a missing one."""
    return list(values) if isinstance(values, list) else np.asarray(values).tolist()
