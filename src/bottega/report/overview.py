"""The columns of a table as a report lists them."""

from typing import Any

import narwhals.stable.v2 as nw

from bottega.plot.theme import number
from bottega.report.words import percent

__all__ = ["column_rows"]

_MOST_COLUMNS = 200


def column_rows(table: Any) -> tuple[list[dict[str, str]], int]:
    """Return one row per column, what it holds and what it is for, and how many are left out."""
    overview = list(nw.from_native(table.overview(), eager_only=True).iter_rows(named=True))
    rows = [
        {
            "column": row["column"],
            "kind": row["kind"],
            "role": row["role"],
            "missing": f"{row['missing']:,}"
            + (f" ({percent(row['missing_share'])})" if row["missing"] else ""),
            "distinct": f"{row['distinct']:,}",
            "values": _values_of(row),
        }
        for row in overview[:_MOST_COLUMNS]
    ]
    return rows, len(overview) - len(rows)


def _values_of(row: dict[str, Any]) -> str:
    """Say what a column holds: its range, or its most common label."""
    if row["low"] == "":
        return f"most often {row['most_common']}" if row["most_common"] != "" else ""
    low, high = row["low"], row["high"]
    if row["kind"] == "number":
        low, high = number(float(low)), number(float(high))
    return f"{low} to {high}"
