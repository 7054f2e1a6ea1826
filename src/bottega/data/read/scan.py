"""The queries by which DuckDB reads data files."""

import os
import re
from typing import Any

from bottega.core.errors import InputError
from bottega.data.read import text as text_files
from bottega.data.read.layout import TextLayout
from bottega.data.read.text import File

__all__ = ["layout_query", "literal", "scan_query"]

_THOUSANDS = r"\s*[+-]?[1-9]\d{0,2}(,\d{3})+\s*"
_BUFFER = 32_000_000  # bytes of a text file at once, as DuckDB has it by itself
_READ_CSV = (
    "read_csv(?, delim=?, decimal_separator=?, nullstr=?, header=true, skip=0, "
    "sample_size=-1, quote='\"', escape='\"', union_by_name=true, "
    f"max_line_size={text_files.LONGEST_LINE}, buffer_size={_BUFFER}"
    "{})"
)


def scan_query(
    connection: Any, files: list[File], kind: str, text: set[str], decimal: str | None
) -> tuple[str, list[Any]]:
    """Return the query that reads the files; names and options travel as its parameters."""
    paths = [literal(file.path) for file in files]
    if kind == "parquet":
        return "SELECT * FROM read_parquet(?, union_by_name=true)", [paths]
    if kind == "json":
        return "SELECT * FROM read_json(?, union_by_name=true, sample_size=-1)", [paths]
    headers = [text_files.header(file, kind) for file in files]
    separator = headers[0][1]
    for file, (_, other) in zip(files, headers, strict=True):
        if other != separator:
            raise InputError(
                f"{files[0].name!r} has {separator!r} between fields and {file.name!r} has "
                f"{other!r}: save them all with the same separator."
            )
    options: list[Any] = [paths, separator, ".", list(text_files.MISSING_MARKERS)]
    if decimal is None:
        habits = [text_files.number_habits(file, kind) for file in files]
        text = text.union(*(each.pointed for each in habits))
        if {each.sign for each in habits} == {","}:
            options[2] = ","
            # Commas that may part thousands are not for DuckDB: those columns come as text.
            parted = _parted_columns(connection, _READ_CSV.format(", all_varchar=true"), options)
            text |= parted.difference(*(each.commas for each in habits))
    elif options[1] != ",":
        options[2] = decimal
    named = text & {name for header, _ in headers for name in header}
    if named:
        options.append(dict.fromkeys(named, "VARCHAR"))
    return f"SELECT * FROM {_READ_CSV.format(', types=?' if named else '')}", options


def layout_query(files: list[File], kind: str, layout: TextLayout) -> tuple[str, list[Any]]:
    """Return the query that reads files of a layout, and its parameters."""
    paths, types = [literal(file.path) for file in files], dict(layout.types)
    if kind == "json":
        return "SELECT * FROM read_json(?, columns=?)", [paths, types]
    signs = [layout.separator, layout.decimal, list(text_files.MISSING_MARKERS)]
    return f"SELECT * FROM {_READ_CSV.format(', types=?')}", [paths, *signs, types]


def _parted_columns(connection: Any, call: str, options: list[Any]) -> set[str]:
    """Return the columns of a text file some value of which may have commas between thousands."""
    some = f"bool_or(coalesce(regexp_full_match(COLUMNS(*), '{_THOUSANDS}'), false))"
    result = connection.execute(f"SELECT {some} FROM {call}", options)
    names = [column[0] for column in result.description]
    return {name for name, found in zip(names, result.fetchone(), strict=True) if found}


def literal(path: str) -> str:
    """Escape the signs that DuckDB would take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))
