"""What the footers of Parquet files say about columns of numbers, before any row is read."""

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, BinaryIO

__all__ = [
    "NumberFooter",
    "Span",
    "column_names",
    "footer_of",
    "groups_of",
    "have_one_schema",
    "number_footers",
    "rows_in",
    "schema_of",
]

Span = tuple[int, int]


@dataclass
class NumberFooter:
    """Counts and range of a column; numbers that are NaN are not counted as missing."""

    rows: int = 0
    missing: int = 0
    low: float = math.inf
    high: float = -math.inf


def column_names(file: str) -> list[str]:
    """Return the columns of a Parquet file, or none where it cannot be read."""
    schema = schema_of(file)
    return [] if schema is None else list(schema.names)


def have_one_schema(files: Sequence[str]) -> bool:
    """Return True if Parquet files have the same columns of the same types, in the same order."""
    first = schema_of(files[0])
    others = (schema_of(file) for file in files[1:])
    return first is not None and all(each is not None and each.equals(first) for each in others)


def rows_in(file: str) -> int | None:
    """Return how many rows a Parquet file has; None where it cannot be read here."""
    metadata = footer_of(file)[0]
    return None if metadata is None else int(metadata.num_rows)


def schema_of(file: str) -> Any:
    """Return the columns of a Parquet file as Arrow has them; None where it cannot be read here."""
    return footer_of(file)[1]


def footer_of(file: str, opened: BinaryIO | None = None) -> tuple[Any, Any]:
    """Return footer and schema of a file, as it is where it was opened; None where Arrow cannot."""
    try:
        now = os.stat(file) if opened is None else os.fstat(opened.fileno())
    except OSError:
        return None, None
    return _footer_of(file, now.st_ino, now.st_size, now.st_mtime_ns)


@lru_cache(maxsize=256)
def _footer_of(file: str, *state: int) -> tuple[Any, Any]:  # noqa: ARG001
    """Return footer and schema of a file in some state: a fit asks for them several times."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        return None, None
    try:
        metadata = pq.read_metadata(file)
        groups = range(metadata.num_row_groups)
        if metadata.num_rows != sum(metadata.row_group(number).num_rows for number in groups):
            return None, None  # Arrow and DuckDB read such a file, or refuse it
        return metadata, metadata.schema.to_arrow_schema()
    except (OSError, ValueError, pa.ArrowException):
        return None, None


def groups_of(metadata: Any, span: Span | None) -> tuple[list[int], int]:
    """Return the groups of rows that a span touches, and the number of their first row."""
    start, end = span or (0, metadata.num_rows)
    groups: list[int] = []
    place = first = 0
    for number in range(metadata.num_row_groups):
        size = metadata.row_group(number).num_rows
        if place < end and place + size > start:
            first = first if groups else place
            groups.append(number)
        place += size
    return groups, first


def number_footers(
    files: Sequence[str], columns: Sequence[str], within: Sequence[str]
) -> dict[str, NumberFooter] | None:
    """Return what the footers say about columns; None where one of them does not say it all.

    `within` are all columns of the files, in their order.
    """
    found = {name: NumberFooter() for name in columns}
    place = {name: j for j, name in enumerate(within)}
    for file in files:
        metadata = footer_of(file)[0]
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
