"""Read a file, a folder, a database table or a bundled data set into a table."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from bottega.core.errors import InputError
from bottega.data.read.duck import open_query
from bottega.data.read.files import (
    frame_or_path,
    is_boolean,
    is_bundled,
    is_database,
    is_path,
    path_in_words,
    path_of,
    short_name,
)
from bottega.data.table import Table

__all__ = ["read", "read_frame"]


def read(
    source: Any,
    *,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    weight: Any = None,
    group: Any = None,
    time: Any = None,
    ignore: str | Iterable[str] = (),
    task: str | None = None,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
) -> Table:
    """Read data from wherever they are into a `Table`.

    Types are inferred from every row, not from a sample. Missing values stay missing; in CSV files
    the marks ``NA``, ``NaN``, ``null``, ``?`` and the empty field are missing values, and among
    numbers and dates other words too (``None``, ``-``, ``unknown``, ...), which may be labels else.
    Labels of the target stay as they are written.
    Columns may be separated by commas, semicolons, tabs or bars, and numbers may be written as
    people write them: with a decimal comma, thousands parted, a currency or a percent sign.
    The whole answer is held in memory: larger data are for `bottega.data.chunks`.

    Parameters
    ----------
    source : path, frame or name
        A file (.csv, .tsv, .txt, .csv.gz, .parquet, .jsonl, .ndjson, .json), a list of files of one
        format, a folder or a pattern such as ``data/*.csv`` (files of one format, columns united by
        name), a DuckDB file (.duckdb, .db), a pandas, polars or pyarrow frame, or the name of a
        data set that comes with scikit-learn: ``"breast_cancer"``, ``"diabetes"``, ``"iris"``,
        ``"wine"``.
    target, kinds, weight, group, time, ignore, task
        As in `Table`.
    table, query : str, optional
        For a DuckDB file: the table to read, or the query to run. The file is opened read-only.
    encoding : str
        The encoding of a text file.
    decimal : {".", ","}, optional
        The decimal sign of the numbers in a text file, or written as text; by default it is found
        from the numbers.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        When the source cannot be read; the message says where and what to do.

    Examples
    --------
    >>> read("iris").classes.tolist()
    ['setosa', 'versicolor', 'virginica']
    """
    if isinstance(source, str) and is_bundled(source):
        target = target or "target"
    labels = [name for name, kind in (kinds or {}).items() if kind in ("category", "text", "id")]
    options: dict[str, Any] = {
        "table": table, "query": query, "encoding": encoding, "decimal": decimal,
    }  # fmt: skip
    frame = read_frame(source, text=labels, **options)
    if target is not None and is_boolean(frame, target):
        # Labels stay as they are written: Yes and No in a text file were taken for truth values.
        frame = read_frame(source, text=[*labels, target], **options)
    return Table(
        frame,
        target=target,
        kinds=kinds,
        weight=weight,
        group=group,
        time=time,
        ignore=ignore,
        task=task,
        decimal=decimal,
        source=_name_of(source),
    )


def read_frame(
    source: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
    decimal: str | None = None,
    text: Iterable[str] = (),
) -> Any:
    """Read data as a plain frame, without kinds and roles: rows to predict, for instance.

    Parameters
    ----------
    source, table, query, encoding
        As in `read`.
    text : iterable of str
        Columns of a CSV file to read as they are written, so that a code such as 007 stays one and
        a column that happens to hold only "no" does not become a truth value.

    Returns
    -------
    frame
        The frame given, or a pandas frame; it has at least one row.

    Examples
    --------
    >>> read_frame("wine").shape
    (178, 14)
    """
    if (table or query) and not (isinstance(source, str | os.PathLike) and is_database(source)):
        raise InputError("table= and query= are for DuckDB files (.duckdb, .db) only.")
    frame, path = frame_or_path(source)
    if frame is not None:
        return frame
    with open_query(path, table, query, encoding, set(text), decimal) as result:
        frame = result.whole()
    if not len(frame):
        raise InputError(
            f"The data in {path_in_words(path_of(source))} have column names but no rows."
        )
    return frame


def _name_of(source: Any) -> str:
    if not is_path(source):
        return "a data frame"
    return short_name(path_of(source))
