"""What the footers of Parquet files tell: how many rows they have, and which columns."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bottega.core.errors import InputError
from bottega.data.read.duck import opened, sentence
from bottega.data.read.footers import have_one_schema, rows_in

__all__ = ["check_alike", "parquet_rows"]

# Types that go together.
_NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL(\(.*\))?")


def parquet_rows(files: list[str]) -> list[int]:
    """Return how many rows each of some Parquet files has."""
    told = [rows_in(file) for file in files]
    if None not in told:
        return [int(each or 0) for each in told]
    found = []
    with opened() as (duckdb, connection):
        for file in files:
            with _named(duckdb, file):
                sql = "SELECT sum(num_rows) FROM parquet_file_metadata(?)"
                found.append(int(connection.execute(sql, [file]).fetchone()[0]))
    return found


def check_alike(files: list[str]) -> None:
    """Refuse Parquet files whose columns, or their types, are not those of the first one."""
    if have_one_schema(files):
        return
    first: dict[str, str] = {}
    with opened() as (duckdb, connection):
        for file in files:
            with _named(duckdb, file):
                sql = "DESCRIBE SELECT * FROM read_parquet(?)"
                types = {row[0]: row[1] for row in connection.execute(sql, [file]).fetchall()}
            first = first or types
            _compare(file, types, files[0], first)
            # A column that is missing in all rows of a file has a type in another one.
            first |= {name: kind for name, kind in types.items() if _is_empty(first[name])}


def _compare(file: str, types: dict[str, str], other: str, first: dict[str, str]) -> None:
    absent = [name for name in first if name not in types]
    strange = [name for name in types if name not in first]
    if absent or strange:
        what = f"lacks {absent[0]!r}" if absent else f"has {strange[0]!r} besides"
        raise InputError(
            f"The file {file!r} has other columns than {other!r}: it {what}. Give all files the "
            "same columns."
        )
    for name, kind in types.items():
        if _is_empty(kind) or _is_empty(first[name]):
            continue
        if kind != first[name] and not (_is_number(kind) and _is_number(first[name])):
            raise InputError(
                f"The file {file!r} has the column {name!r} as {kind}, and {other!r} has it as "
                f"{first[name]}; write both with the same type."
            )


def _is_empty(kind: str) -> bool:
    return kind.strip('"') == "NULL"


def _is_number(kind: str) -> bool:
    return _NUMBER.fullmatch(kind) is not None


@contextmanager
def _named(duckdb: Any, file: str) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as error:
        raise InputError(f"{file!r} is not valid parquet: {sentence(str(error))}.") from error
