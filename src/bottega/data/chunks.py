"""Read rows chunk by chunk, in their order, without holding them all: files and queries."""

import os
import tempfile
from collections.abc import Iterator
from typing import Any

import narwhals.stable.v2 as nw

from bottega.core.errors import InputError, require
from bottega.core.frames import make_frame
from bottega.data import _text, _values
from bottega.data.read import (
    _SETTINGS,
    _bundled,
    _explain,
    _find,
    _is_bundled,
    _kind_of,
    _named_as_written,
    _open_database,
    _plain,
    _scan_query,
    _sentence,
    _table_name,
)

__all__ = ["is_query", "read_chunks"]

_VECTOR = 2048  # rows that DuckDB hands over at once


def read_chunks(
    source: Any,
    *,
    rows: int = 10_000,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Any]:
    """Yield the rows of a file, a query or a frame as frames of about `rows` rows each.

    Parameters
    ----------
    source : path, frame, name or query
        What `read` takes; or a query that was executed: a DuckDB relation
        (``duckdb.sql("SELECT ...")``), or a DuckDB connection or any other database cursor after
        ``execute``.
    rows : int
        Rows of a chunk, up to the size of the pieces in which they come.
    table, query : str, optional
        For a DuckDB file: the table to read, or the query to run. The file is opened read-only.
    encoding : str
        The encoding of a text file.

    Yields
    ------
    frame
        Chunks in the order of the rows. Only one of them is in memory at a time; the types of a
        text file's columns are inferred from all its rows before the first chunk.

    Examples
    --------
    >>> [len(chunk) for chunk in read_chunks("iris", rows=100)]
    [100, 50]
    """
    if not (isinstance(rows, int) and rows > 0):
        raise InputError(f"rows={rows!r} is not allowed; give an integer above 0.")
    if is_query(source):
        yield from _of_query(source, rows)
        return
    frame = _values.frame_or_none(source)
    if frame is None:
        if not isinstance(source, str | os.PathLike):
            raise InputError(
                "A path, a data frame, an executed query or the name of a bundled data set is "
                f"needed, not {type(source).__name__}."
            )
        path = os.path.expanduser(os.fspath(source))
        if not _is_bundled(path):
            yield from _of_files(path, rows, table, query, encoding)
            return
        frame = nw.from_native(_bundled(path), eager_only=True)
    for start in range(0, len(frame), rows):
        yield frame[start : start + rows].to_native()


def is_query(source: Any) -> bool:
    """Tell whether something is a query whose rows can be fetched."""
    return _values.frame_or_none(source) is None and any(
        callable(getattr(source, name, None))
        for name in ("fetch_df_chunk", "to_arrow_reader", "fetch_record_batch", "fetchmany")
    )


def _of_query(source: Any, rows: int) -> Iterator[Any]:
    if callable(getattr(source, "fetch_df_chunk", None)):  # a DuckDB connection
        yield from _fetched(source, rows)
    elif not callable(getattr(source, "fetchmany", None)) or hasattr(source, "create_view"):
        require("pyarrow", "data")  # a DuckDB relation: older ones call their reader otherwise
        reader = getattr(source, "to_arrow_reader", None) or source.fetch_record_batch
        for batch in reader(rows):
            yield batch.to_pandas()
    else:
        while found := source.fetchmany(rows):
            names = [column[0] for column in source.description]
            yield make_frame(dict(zip(names, map(list, zip(*found, strict=True)), strict=True)))


def _of_files(
    path: str, rows: int, table: str | None, query: str | None, encoding: str
) -> Iterator[Any]:
    paths = _find(path)
    kind = _kind_of(paths)
    duckdb = require("duckdb", "data")
    require("pandas", "data")  # what DuckDB hands its chunks over as
    if kind == "duckdb":
        if len(paths) > 1:
            raise InputError("Read one DuckDB file at a time.")
        connection = _open_database(duckdb, paths[0], table, query)
        try:
            sql = query or f"SELECT * FROM {_table_name(connection, paths[0], table)}"
            yield from _fetched(connection.execute(sql), rows)
        except duckdb.Error as error:
            raise InputError(f"The query on {path!r} failed: {_sentence(str(error))}.") from error
        finally:
            connection.close()
        return
    if table or query:
        raise InputError("table= and query= are for DuckDB files (.duckdb, .db) only.")
    for each in paths:
        _text.check_readable(each)
    files = [_text.File(each, each) for each in paths]
    with tempfile.TemporaryDirectory() as folder:
        if kind in ("csv", "tsv"):
            files = _text.as_utf8(files, encoding, folder)
            _text.check_headers(files, kind)
        connection = duckdb.connect(":memory:", config=_SETTINGS)
        try:
            for frame in _fetched(connection.execute(*_scan_query(files, kind, set())), rows):
                yield _named_as_written(frame, files, kind)
        except duckdb.Error as error:
            raise InputError(_explain(error, files, kind)) from error
        finally:
            connection.close()


def _fetched(connection: Any, rows: int) -> Iterator[Any]:
    """Yield what an executed DuckDB query gives, in whole vectors."""
    while True:
        frame = connection.fetch_df_chunk(-(-rows // _VECTOR))
        if not len(frame):
            return
        yield _plain(frame)
