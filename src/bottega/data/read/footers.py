"""What the footers of Parquet files say about columns of numbers, before any row is read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["NumberFooter", "column_names", "number_footers"]


@dataclass
class NumberFooter:
    """Counts and range of a column; numbers that are NaN are not counted as missing."""

    rows: int = 0
    missing: int = 0
    low: float = math.inf
    high: float = -math.inf


def column_names(file: str) -> list[str]:
    """Return the columns of a Parquet file, or none where it cannot be read."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return []
    try:
        return list(pq.read_schema(file).names)
    except (OSError, ValueError, pa.ArrowException):
        return []


def number_footers(
    files: Sequence[str], columns: Sequence[str], within: Sequence[str]
) -> dict[str, NumberFooter] | None:
    """Return what the footers say about columns; None where one of them does not say it all.

    `within` are all columns of the files, in their order.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {name: NumberFooter() for name in columns}
    place = {name: j for j, name in enumerate(within)}
    for file in files:
        try:
            metadata = pq.read_metadata(file)
        except (OSError, ValueError, pa.ArrowException):
            return None
        if metadata.num_columns != len(within):  # nested columns
            return None
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            for name, footer in found.items():
                if not _take(footer, group.column(place[name]).statistics, group.num_rows):
                    return None
    return found


def _take(footer: NumberFooter, said: Any, rows: int) -> bool:
    """Add what is said about a group of rows; return False where too little is said."""
    if said is None or not (said.has_null_count and said.has_min_max):
        return False
    footer.rows += rows
    footer.missing += said.null_count
    footer.low, footer.high = min(footer.low, said.min), max(footer.high, said.max)
    return True
