"""Data files and databases through DuckDB: with `scan` and `layout`, all that knows it."""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean, require
from bottega.core.parallel import spare_threads
from bottega.data.convert import EXACT
from bottega.data.read import text as text_files
from bottega.data.read.files import Paths, find_files, kind_of
from bottega.data.read.layout import TextLayout, layout_of
from bottega.data.read.scan import layout_query, literal, scan_query
from bottega.data.read.text import File
from bottega.data.read.time_limit import TimeLimit

_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
# A query may not touch other files, nor what Python holds, nor allow itself to.
_CLOSED = _SETTINGS | {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "lock_configuration": "true",
}
_VECTOR = 2048  # rows that DuckDB hands over at once
_DATES = ("DATE", "DATETIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_UNLIMITED: AbstractContextManager[Any] = nullcontext()


@dataclass(frozen=True)
class QueryResult:
    """An executed query whose rows can be fetched, all at once or piece by piece."""

    connection: Any
    files: list[File]
    kind: str
    limit: AbstractContextManager[Any] = _UNLIMITED  # the work of the database is done inside
    layout: TextLayout | None = None  # of several text files
    header: list[str] | None = None  # of a single CSV file, as it is written

    def whole(self) -> Any:
        """Return all rows as one frame."""
        with self.limit:
            found = self.connection.df()
        return self._named(plain_integers(found))

    def pieces(self, rows: int) -> Iterator[Any]:
        """Yield frames of about `rows` rows."""
        for frame in fetch_pieces(self.connection, rows, self.limit):
            yield self._named(frame)

    def _named(self, frame: Any) -> Any:
        """Give the columns of a CSV file the names in its header."""
        if self.header is not None and len(self.header) == len(frame.columns):
            # DuckDB takes X and x for the same name and renames one; blanks around a name do not
            # count.
            frame.columns = [w or own for w, own in zip(self.header, frame.columns, strict=True)]
        return frame


@dataclass(frozen=True)
class WantedRows:
    """What of the rows is read: some columns, those that meet a condition, those of a span."""

    columns: tuple[str, ...] | None = None
    where: str | None = None
    span: tuple[int, int] | None = None

    def of(self, duckdb: Any, sql: str) -> str:
        """Return a query for what is wanted of the answer to another."""
        if self == EVERYTHING:
            return sql
        listed = "*"
        if self.columns is not None:
            listed = ", ".join('"' + name.replace('"', '""') + '"' for name in self.columns)
        conditions = []
        if self.where is not None:
            conditions.append(f"(\n{_condition(duckdb, self.where)}\n)")
        if self.span is not None:
            start, end = self.span
            conditions.append(f"(file_row_number >= {start} AND file_row_number < {end})")
            listed = "* EXCLUDE (file_row_number)" if listed == "*" else listed
        found = f"SELECT {listed} FROM (\n{sql.rstrip('; ')}\n)"
        if conditions:
            found += f" WHERE {' AND '.join(conditions)}"
        return found


EVERYTHING = WantedRows()


def _condition(duckdb: Any, where: Any) -> str:
    """Return what is one condition on rows, by itself and in parentheses; refuse anything else."""
    if not isinstance(where, str) or not where.strip():
        raise InputError(f"where={where!r} is not a condition; give one such as 'year >= 2020'.")
    for sql in (f"SELECT 1 WHERE {where}\n", f"SELECT 1 WHERE (\n{where}\n)"):
        try:
            statements = duckdb.extract_statements(sql)
        except duckdb.Error as error:
            raise InputError(
                f"where={where!r} is not a condition: {sentence(str(error))}."
            ) from error
        if [each.type for each in statements] != [duckdb.StatementType.SELECT]:
            raise InputError(f"where={where!r} is not one condition on the rows.")
        if statements[0].named_parameters:
            raise InputError(
                f"where={where!r} has a parameter (? or $), and there is nothing to put in its "
                "place; write the value."
            )
    return where


def _close(connection: Any, files: list[File]) -> None:
    """Let a connection read these files and nothing else: a condition may hold a query."""
    paths = [os.path.abspath(file.path) for file in files]
    # DuckDB compares names as they stand in the query, where signs of patterns are escaped.
    connection.execute("SET allowed_paths = ?", [[*paths, *map(literal, paths)]])
    for name in ("python_enable_replacements", "enable_external_access"):
        connection.execute(f"SET {name} = false")
    connection.execute("SET lock_configuration = true")


@contextmanager
def opened() -> Iterator[tuple[Any, Any]]:
    """Give DuckDB and a connection in memory, which is closed after the block."""
    duckdb = require("duckdb", "data")
    connection = duckdb.connect(":memory:", config=_with_threads(_SETTINGS))
    try:
        yield duckdb, connection
    finally:
        connection.close()


@contextmanager
def open_query(
    path: Paths,
    table: str | None,
    query: str | None,
    encoding: str,
    text: set[str],
    decimal: str | None = None,
    wanted: WantedRows = EVERYTHING,
    errors: str = "strict",
    layout: TextLayout | None = None,
) -> Iterator[QueryResult]:
    """Open the answer to a query on a database, or the rows of data files.

    Columns of a CSV file named in `text` are read as they are written. `decimal` is the decimal
    sign of its numbers, found from them if it is not given. Dates like 1/31/2026 come as text: only
    all rows of a column tell whether the day or the month comes first. `errors` is as in `as_utf8`.
    With the `layout` of several text files some of them are read as they are read among all.
    """
    if decimal not in (None, ".", ","):
        raise InputError(f"decimal is '.' or ',', not {decimal!r}.")
    paths = find_files(path)
    kind = kind_of(paths)
    duckdb = require("duckdb", "data")
    require("pandas", "data")  # what DuckDB hands its answer over as
    if kind == "duckdb":
        if len(paths) > 1:
            raise InputError("Read one DuckDB file at a time.")
        connection = _open_database(duckdb, paths[0], table, query)
        limit = TimeLimit(connection.interrupt)
        try:
            if query is None:
                sql = f"SELECT * FROM {_table_name(connection, paths[0], table)}"
            else:
                sql = _checked(duckdb, query)
            with limit:
                result = connection.execute(wanted.of(duckdb, sql))
            yield QueryResult(result, [], kind, limit)
        except (duckdb.Error, RuntimeError) as error:  # the latter where it was interrupted
            if limit.passed:
                raise InputError(limit.in_words(f"The query on {paths[0]!r}")) from error
            if not isinstance(error, duckdb.Error):
                raise
            raise InputError(_refusal(duckdb, error, paths[0])) from error
        finally:
            connection.close()
        return
    if table or query:
        raise InputError("table= and query= are for DuckDB files (.duckdb, .db) only.")
    for each in paths:
        text_files.check_readable(each)
    files = [File(each, each) for each in paths]
    with tempfile.TemporaryDirectory() as folder:
        if kind in ("csv", "tsv"):
            files = text_files.as_utf8(files, encoding, folder, errors)
            text_files.check_headers(files, kind)
        connection = duckdb.connect(":memory:", config=_with_threads(_SETTINGS))
        try:
            unseen: set[str] = set()
            if layout is None:
                habits = [text_files.date_habits(f, kind) for f in files if kind in ("csv", "tsv")]
                text = text.union(*(each.unclear for each in habits))
                unseen = unseen.union(*(each.unseen for each in habits)) - text
                sql, options = scan_query(connection, files, kind, text, decimal)
            else:
                sql, options = layout_query(files, kind, layout)
            if wanted.span is not None:
                sql = sql.replace("union_by_name=true", "file_row_number=true")
            if wanted.where is not None:
                _close(connection, files)
            found = connection.execute(wanted.of(duckdb, sql), options)
            late = {name for name, kind, *_ in found.description if str(kind) in _DATES} & unseen
            if late:  # dates of which the first lines do not show how they are written
                sql, options = scan_query(connection, files, kind, text | late, decimal)
                found = connection.execute(wanted.of(duckdb, sql), options)
            if layout is None and len(files) > 1 and kind != "parquet":
                types = [(name, str(each)) for name, each, *_ in found.description]
                layout = layout_of(files, kind, types, options[1:3])
            header = None
            if kind in ("csv", "tsv") and len(files) == 1 and layout is None:
                header, _ = text_files.header(files[0], kind)
            yield QueryResult(found, files, kind, layout=layout, header=header)
        except duckdb.Error as error:
            if wanted.where is not None and isinstance(error, _of_words(duckdb)):
                raise InputError(
                    f"where={wanted.where!r} cannot be used: {sentence(str(error))}."
                ) from error
            raise InputError(_explain(error, files, kind)) from error
        finally:
            connection.close()


def _with_threads(settings: dict[str, str]) -> dict[str, str]:
    """Return settings that keep a connection to the threads that are to spare here."""
    return settings | {"threads": str(spare_threads())}


def fetch_pieces(
    connection: Any, rows: int, limit: AbstractContextManager[Any] = _UNLIMITED
) -> Iterator[Any]:
    """Yield what an executed DuckDB query gives, in whole vectors."""
    while True:
        with limit:
            frame = connection.fetch_df_chunk(-(-rows // _VECTOR))
        if not len(frame):
            return
        yield plain_integers(frame)


def _of_words(duckdb: Any) -> tuple[Any, ...]:
    """Return the errors that are about the words of a query, and not about a file."""
    return duckdb.BinderException, duckdb.CatalogException, duckdb.PermissionException


def _checked(duckdb: Any, query: str) -> str:
    """Return a query that is one SELECT statement; refuse any other."""
    found = duckdb.extract_statements(query)
    if [each.type for each in found] == [duckdb.StatementType.SELECT]:
        with suppress(duckdb.Error):  # some versions take a PRAGMA for a SELECT, but not inside one
            duckdb.extract_statements("SELECT * FROM (\n" + query.rstrip("; \n") + "\n)")
            return query
    raise InputError(
        "query= takes one SELECT statement, which reads from the file and nothing else."
    )


def _explain(error: Exception, files: list[File], kind: str) -> str:
    """Return in one sentence what DuckDB reported in many."""
    text = str(error)
    if kind in ("csv", "tsv"):
        for file in files:
            odd = text_files.odd_line(file, kind)
            if odd:
                return odd
    where = repr(files[0].name) if len(files) == 1 else f"one of the {len(files)} files"
    line = re.search(r"CSV Error on Line: (\d+)", text)
    if line:
        named = re.search(r"^ *file = (.+)$", text, re.MULTILINE)
        where = next(
            (repr(f.name) for f in files if named and os.path.abspath(f.path) == named[1]), where
        )
        column = re.search(r'converting column "(.+)"\. ', text)
        cure = f" If it holds labels, give kinds={{{column[1]!r}: 'category'}}." if column else ""
        return f"Line {line[1]} of {where} cannot be read: {sentence(text, 2)}.{cure}"
    return f"The contents of {where} are not valid {kind}: {sentence(text)}."


def sentence(text: str, number: int = 0) -> str:
    """Return one line of what DuckDB reported, without the name of the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[min(number, len(lines) - 1)] if lines else "no reason given"
    return re.sub(r"^[A-Z]\w*( [A-Z]\w*)* Error: ", "", line).rstrip(".!")


def _open_database(duckdb: Any, path: str, table: str | None, query: str | None) -> Any:
    if table and query:
        raise InputError("Give table= or query=, not both.")
    text_files.check_readable(path)
    try:
        # An absolute path: ':memory:' and the like cannot be meant.
        return duckdb.connect(
            str(Path(path).absolute()), read_only=True, config=_with_threads(_CLOSED)
        )
    except duckdb.Error as error:
        raise InputError(
            f"The file {path!r} cannot be opened as a DuckDB database: {sentence(str(error))}."
        ) from error


def _table_name(connection: Any, path: str, table: str | None) -> str:
    rows = connection.execute(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal UNION ALL "
        "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"
    ).fetchall()
    known = {
        name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in rows
    }
    if not known:
        raise InputError(f"The database {path!r} holds no tables.")
    listed = ", ".join(repr(name) for name in list(known)[:8])
    if table is None:
        if len(known) > 1:
            raise InputError(
                f"The database {path!r} holds {len(known)} tables; give table= one of {listed}, "
                "or query=."
            )
        (table,) = known
    if table not in known:
        raise InputError(
            f"There is no table {table!r} in {path!r}.{did_you_mean(table, known)} "
            f"The tables are {listed}."
        )
    return ".".join('"' + part.replace('"', '""') + '"' for part in known[table])


def plain_integers(frame: Any) -> Any:
    """Turn pandas' nullable integers, which few libraries take, into floats.

    Those that floats cannot tell apart become Python's own integers.
    """
    if all(isinstance(dtype, np.dtype) for dtype in frame.dtypes):  # the usual case, at once
        return frame
    data = nw.from_native(frame, eager_only=True)
    gaps = [
        name
        for name, dtype in data.schema.items()
        if dtype.is_integer() and str(frame.dtypes[name])[0] in "IU"
    ]
    if not gaps:
        return frame
    kinds = {name: "object" if _beyond_floats(frame[name]) else "float64" for name in gaps}
    return frame.astype(kinds)


def _beyond_floats(column: Any) -> bool:
    return bool(column.count()) and max(abs(int(column.max())), abs(int(column.min()))) >= EXACT


def _refusal(duckdb: Any, error: Exception, path: str) -> str:
    """Say why a query failed."""
    if isinstance(error, duckdb.PermissionException):
        return (
            f"The query on {path!r} reads or writes outside this file, directly or through a view, "
            "which is not allowed; copy what it needs into a table of the file."
        )
    return f"The query on {path!r} failed: {sentence(str(error))}."
