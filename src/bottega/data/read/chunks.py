"""Read rows chunk by chunk, in their order, without holding them all: files and queries."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bottega.core.errors import InputError, require
from bottega.core.frames import make_frame
from bottega.data import convert
from bottega.data.read.batches import batches, plain_types
from bottega.data.read.duck import WantedRows, fetch_pieces, open_query
from bottega.data.read.files import find_files, frame_or_path, kind_of
from bottega.data.read.layout import TextLayout

__all__ = ["is_query", "read_chunks"]


def read_chunks(
    source: Any,
    *,
    rows: int = 10_000,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
    text: Iterable[str] = (),
    columns: Sequence[str] | None = None,
    where: str | None = None,
    span: tuple[int, int] | None = None,
    errors: str = "strict",
    layout: TextLayout | None = None,
    on_layout: Callable[[TextLayout | None], None] | None = None,
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
    decimal : {".", ","}, optional
        The decimal sign of the numbers in a text file, or written as text; by default it is found
        from the numbers.
    text : iterable of str
        Columns of a CSV file to read as they are written.
    columns : sequence of str, optional
        The columns to read, all by default; the others are not touched in a Parquet file or a
        database.
    where : str, optional
        For files: a condition in SQL that rows must meet, such as ``"year >= 2020"``.
    span : tuple of int, optional
        For one Parquet file: the numbers of the first row to read and of the one after the last.
    errors : {"strict", "replace"}
        Whether bytes of a CSV file that are not of its encoding are refused, or replaced by a sign.
    layout : TextLayout, optional
        For some of several text files: how all of them are written, in the place of `decimal` and
        `text`.
    on_layout : callable, optional
        Called before the first chunk of files that DuckDB reads, with the layout of several text
        files, and with None where there is none.

    Yields
    ------
    frame
        Chunks in the order of the rows. Only one of them is in memory at a time; the types of a
        text file's columns are inferred from all its rows before the first chunk. Dates like
        1/31/2026 come as they are written.

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
    frame, path = frame_or_path(source)
    if frame is None:
        # The names of a text file's columns are those of its header, which DuckDB may change.
        files = find_files(path)
        named = kind_of(files) in ("csv", "tsv") and layout is None
        if layout is not None and columns is None:
            columns = list(layout.types)
        if kind_of(files) == "parquet" and where is None and not (table or query):
            types = plain_types(files, columns)
            if types is not None:
                yield from batches(files, types, rows, span)
                return
        wanted = WantedRows(None if columns is None or named else tuple(columns), where, span)
        how = (encoding, set(text), decimal, wanted, errors, layout)
        with open_query(path, table, query, *how) as result:
            if on_layout is not None:
                on_layout(result.layout)
            for piece in result.pieces(rows):
                if layout is not None:
                    assert columns is not None
                    piece.columns = list(columns)  # the file may write them in another case
                yield piece[list(columns)] if columns is not None and named else piece
        return
    if where is not None:
        raise InputError("where= is a condition on the rows of files; filter a frame beforehand.")
    frame = convert.as_frame(frame)
    if columns is not None:
        frame = frame.select(list(columns))
    for start in range(0, len(frame), rows):
        yield frame[start : start + rows].to_native()


def is_query(source: Any) -> bool:
    """Return True if something is a query whose rows can be fetched."""
    return convert.frame_or_none(source) is None and any(
        callable(getattr(source, name, None))
        for name in ("fetch_df_chunk", "to_arrow_reader", "fetch_record_batch", "fetchmany")
    )


def _of_query(source: Any, rows: int) -> Iterator[Any]:
    if callable(getattr(source, "fetch_df_chunk", None)):  # a DuckDB connection
        yield from fetch_pieces(source, rows)
    elif not callable(getattr(source, "fetchmany", None)) or hasattr(source, "create_view"):
        require("pyarrow", "data")  # a DuckDB relation: older ones call their reader otherwise
        reader = getattr(source, "to_arrow_reader", None) or source.fetch_record_batch
        for batch in reader(rows):
            yield batch.to_pandas()
    else:
        while found := source.fetchmany(rows):
            names = [column[0] for column in source.description]
            yield make_frame(dict(zip(names, map(list, zip(*found, strict=True)), strict=True)))
