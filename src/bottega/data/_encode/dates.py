"""Dates as numbers: the day itself, and the parts of it that come round again."""

import numpy as np

from bottega.core.typing import FloatArray

PARTS = ("day", "year", "month", "weekday", "hour")


def date_parts(days: FloatArray) -> FloatArray:
    """Return a column for each of `PARTS`, NaN where the date is missing.

    `days` counts from 1970-01-01, a Thursday; weekdays count from 0 for Monday.

    Examples
    --------
    >>> date_parts(np.array([0.0, 18321.75])).tolist()
    [[0.0, 1970.0, 1.0, 3.0, 0.0], [18321.75, 2020.0, 2.0, 5.0, 18.0]]
    """
    present = ~np.isnan(days)
    found = np.full((len(days), len(PARTS)), np.nan)
    day = days[present]
    whole = np.floor(day)
    date = whole.astype(np.int64).astype("datetime64[D]")
    months = date.astype("datetime64[M]").astype(np.int64)
    years = date.astype("datetime64[Y]").astype(np.int64)
    # An hour is no exact fraction of a day: a hair is added, far less than a second.
    hour = np.minimum(np.floor(24 * (day - whole) + 1e-6), 23)
    found[present] = np.column_stack(
        [day, years + 1970, months - 12 * years + 1, (whole + 3) % 7, hour]
    )
    return found


def part_names(name: str, parts: list[str], taken: list[str]) -> list[str]:
    """Return the names of the columns that a date becomes; those of other columns are taken."""
    found = []
    for part in parts:
        title = name if part == "day" else f"{name} ({part})"
        while title != name and title in taken:
            title += "'"
        found.append(title)
    return found
