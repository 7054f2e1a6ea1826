"""What the footers of Parquet files say about columns of numbers, before any row is read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["NumberFooter", "column_names", "have_one_schema", "number_footers", "rows_in"]


@dataclass
class NumberFooter:
    """Counts and range of a column; numbers that are NaN are not counted as missing."""

    rows: int = 0
    missing: int = 0
    low: float = math.inf
    high: float = -math.inf


def column_names(file: str) -> list[str]:
    """Return the columns of a Parquet file, or none where it cannot be read."""
    schema = _schema(file)
    return [] if schema is None else list(schema.names)


def have_one_schema(files: Sequence[str]) -> bool:
    """Return True if Parquet files have the same columns of the same types, in the same order."""
    first = _schema(files[0])
    others = (_schema(file) for file in files[1:])
    return first is not None and all(each is not None and each.equals(first) for each in others)


def rows_in(file: str) -> int | None:
    """Return how many rows a Parquet file has; None where it cannot be read here."""
    metadata = _read("read_metadata", file)
    return None if metadata is None else int(metadata.num_rows)


def _schema(file: str) -> Any:
    return _read("read_schema", file)


def _read(what: str, file: str) -> Any:
    """Return what a function of Arrow reads of a file; None where it cannot."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None
    try:
        return getattr(pq, what)(file)
    except (OSError, ValueError, pa.ArrowException):
        return None


def number_footers(
    files: Sequence[str], columns: Sequence[str], within: Sequence[str]
) -> dict[str, NumberFooter] | None:
    """Return what the footers say about columns; None where one of them does not say it all.

    `within` are all columns of the files, in their order.
    """
    found = {name: NumberFooter() for name in columns}
    place = {name: j for j, name in enumerate(within)}
    for file in files:
        metadata = _read("read_metadata", file)
        if metadata is None:
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
