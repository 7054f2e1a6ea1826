"""Read a file, a folder, a database table or a bundled data set into a Table, through DuckDB."""

import glob
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw

from bottega.core.errors import InputError, did_you_mean, require
from bottega.data import _text, _values
from bottega.data.table import Table

__all__ = ["read", "read_frame"]

BUNDLED = ("breast_cancer", "diabetes", "iris", "wine")
MISSING_MARKERS = ("", "NA", "NaN", "null", "None", "?")
_FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".duckdb": "duckdb",
    ".db": "duckdb",
}
_SETTINGS = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def read(
    source: Any,
    *,
    target: str | None = None,
    kinds: Mapping[str, str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    ignore: str | Iterable[str] = (),
    task: str | None = None,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
) -> Table:
    """Read data from wherever they are into a `Table`.

    Types are inferred from every row, not from a sample. Missing values stay missing; in CSV files
    the marks ``NA``, ``NaN``, ``null``, ``None``, ``?`` and the empty field are missing values.
    Columns may be separated by commas, semicolons, tabs or bars, and with any but the first numbers
    may have a decimal comma.
    The whole answer is held in memory: larger data are for `bottega.scale`.

    Parameters
    ----------
    source : path, frame or name
        A file (.csv, .tsv, .txt, .csv.gz, .parquet, .jsonl, .ndjson, .json), a folder or a pattern
        such as ``data/*.csv`` (files of one format, columns united by name), a DuckDB file
        (.duckdb, .db), a pandas, polars or pyarrow frame, or the name of a data set that comes with
        scikit-learn: ``"breast_cancer"``, ``"diabetes"``, ``"iris"``, ``"wine"``.
    target, kinds, weight, group, time, ignore, task
        As in `Table`.
    table, query : str, optional
        For a DuckDB file: the table to read, or the query to run. The file is opened read-only.
    encoding : str
        The encoding of a text file.

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
    if isinstance(source, str) and _is_bundled(source):
        target = target or "target"
    labels = [name for name, kind in (kinds or {}).items() if kind in ("category", "text", "id")]
    frame = read_frame(source, table=table, query=query, encoding=encoding, text=labels)
    return Table(
        frame,
        target=target,
        kinds=kinds,
        weight=weight,
        group=group,
        time=time,
        ignore=ignore,
        task=task,
        source=os.fspath(source) if isinstance(source, str | os.PathLike) else "a data frame",
    )


def read_frame(
    source: Any,
    *,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
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
    if (table or query) and not (isinstance(source, str | os.PathLike) and _is_database(source)):
        raise InputError("table= and query= are for DuckDB files (.duckdb, .db) only.")
    if _values.frame_or_none(source) is not None:
        return source
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "A path, a data frame (pandas, polars or pyarrow) or the name of a bundled data set is "
            f"needed, not {type(source).__name__}."
        )
    path = os.fspath(source)
    if _is_bundled(path):
        return _bundled(path)
    frame = _load(os.path.expanduser(path), table, query, encoding, set(text))
    if not len(frame):
        raise InputError(f"The data in {path!r} have column names but no rows.")
    return frame


def _is_bundled(name: str) -> bool:
    return name in BUNDLED and not os.path.exists(name)


def _bundled(name: str) -> Any:
    require("pandas", "data")
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bunch.frame
    if name != "diabetes":
        frame = frame.assign(target=bunch.target_names.astype(str)[bunch.target.to_numpy()])
    return frame


def _load(path: str, table: str | None, query: str | None, encoding: str, text: set[str]) -> Any:
    paths = _find(path)
    kind = _kind_of(paths)
    duckdb = require("duckdb", "data")
    require("pandas", "data")  # what DuckDB hands its answer over as
    if kind == "duckdb":
        return _from_database(duckdb, paths, table, query)
    for path in paths:
        _text.check_readable(path)
    files = [_text.File(path, path) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        if kind in ("csv", "tsv"):
            files = _text.as_utf8(files, encoding, folder)
            _text.check_headers(files, kind)
        return _scan(duckdb, files, kind, text)


def _find(path: str) -> list[str]:
    """Return the files meant by a path, a folder or a pattern, in order of name."""
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        found = [f for f in found if os.path.isfile(f) and _format(f) not in (None, "duckdb")]
        if not found:
            raise InputError(
                f"The folder {path!r} holds no data files (.csv, .tsv, .parquet, .jsonl ...)."
            )
        return found
    if os.path.exists(path):
        return [path]
    if glob.has_magic(path):
        found = sorted(f for f in glob.glob(path, recursive=True) if os.path.isfile(f))
        if found:
            return found
        raise InputError(f"No file matches the pattern {path!r}.")
    raise InputError(f"There is no file {path!r}.{_near_names(path)}")


def _near_names(path: str) -> str:
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f" The folder {folder!r} does not exist either."
    try:
        names = os.listdir(folder or ".")
    except OSError:
        names = []
    near = get_close_matches(name, [*names, *BUNDLED], n=1, cutoff=0.6)
    return f" Did you mean {near[0]!r}?" if near else ""


def _format(path: str) -> str | None:
    name = path.lower()
    if name.endswith(".gz"):
        kind = _FORMATS.get(os.path.splitext(name[:-3])[1])
        return kind if kind in ("csv", "tsv", "json") else None
    return _FORMATS.get(os.path.splitext(name)[1])


def _is_database(path: str | os.PathLike[str]) -> bool:
    return _format(os.fspath(path)) == "duckdb"


def _kind_of(files: list[str]) -> str:
    kinds = Counter(_format(file) for file in files)
    if None in kinds:
        unknown = next(file for file in files if _format(file) is None)
        raise InputError(
            f"The format of {unknown!r} is not known from its name; known are "
            f"{', '.join(_FORMATS)} and .csv.gz."
        )
    if len(kinds) > 1:
        several = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        raise InputError(
            f"The files are of several formats ({several}); choose one with a pattern such as "
            "'*.csv'."
        )
    (kind,) = kinds
    assert kind is not None
    return kind


def _scan(duckdb: Any, files: list[_text.File], kind: str, text: set[str]) -> Any:
    """Let DuckDB read the files; names and options travel as parameters, never as SQL text."""
    query, options = _scan_query(files, kind, text)
    connection = duckdb.connect(":memory:", config=_SETTINGS)
    try:
        frame = _plain(connection.execute(query, options).df())
    except duckdb.Error as error:
        raise InputError(_explain(error, files, kind)) from error
    finally:
        connection.close()
    return _named_as_written(frame, files, kind)


def _scan_query(files: list[_text.File], kind: str, text: set[str]) -> tuple[str, list[Any]]:
    """Return the query that reads the files, and its parameters."""
    options: list[Any] = [[_literal(file.path) for file in files]]
    if kind == "parquet":
        call = "read_parquet(?, union_by_name=true)"
    elif kind == "json":
        call = "read_json(?, union_by_name=true, sample_size=-1)"
    else:
        separators = {_text.header(file, kind)[1] for file in files}
        if len(separators) > 1:
            raise InputError("The files use different separators; save them all with commas.")
        call = (
            "read_csv(?, delim=?, decimal_separator=?, nullstr=?, header=true, skip=0, "
            "sample_size=-1, quote='\"', escape='\"', union_by_name=true)"
        )
        separator = separators.pop()
        decimals = {_text.decimal_sign(file, separator) for file in files}
        options += [separator, "," if decimals == {","} else ".", list(MISSING_MARKERS)]
        named = {name for file in files for name in _text.header(file, kind)[0]}
        if text & named:
            call = call[:-1] + ", types=?)"
            options.append(dict.fromkeys(text & named, "VARCHAR"))
    return f"SELECT * FROM {call}", options


def _named_as_written(frame: Any, files: list[_text.File], kind: str) -> Any:
    """Give the columns of a CSV file the names in its header."""
    if kind in ("csv", "tsv") and len(files) == 1:
        # DuckDB takes X and x for the same name and renames one; blanks around a name do not count.
        written, _ = _text.header(files[0], kind)
        if len(written) == len(frame.columns):
            frame.columns = [w or own for w, own in zip(written, frame.columns, strict=True)]
    return frame


def _literal(path: str) -> str:
    """Escape the signs that DuckDB would take for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", os.path.abspath(path))


def _explain(error: Exception, files: list[_text.File], kind: str) -> str:
    """Say in one sentence what DuckDB said in many."""
    text = str(error)
    if kind in ("csv", "tsv"):
        for file in files:
            odd = _text.odd_line(file, kind)
            if odd:
                return odd
    where = repr(files[0].name) if len(files) == 1 else f"one of the {len(files)} files"
    line = re.search(r"CSV Error on Line: (\d+)", text)
    if line:
        return f"Line {line[1]} of {where} cannot be read: {_sentence(text, 2)}."
    return f"The contents of {where} are not valid {kind}: {_sentence(text)}."


def _sentence(text: str, number: int = 0) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = lines[min(number, len(lines) - 1)] if lines else "no reason given"
    return re.sub(r"^[A-Z]\w*( [A-Z]\w*)* Error: ", "", line).rstrip(".!")


def _from_database(duckdb: Any, files: list[str], table: str | None, query: str | None) -> Any:
    if len(files) > 1:
        raise InputError("Read one DuckDB file at a time.")
    (path,) = files
    connection = _open_database(duckdb, path, table, query)
    try:
        sql = query or f"SELECT * FROM {_table_name(connection, path, table)}"
        return _plain(connection.execute(sql).df())
    except duckdb.Error as error:
        raise InputError(f"The query on {path!r} failed: {_sentence(str(error))}.") from error
    finally:
        connection.close()


def _open_database(duckdb: Any, path: str, table: str | None, query: str | None) -> Any:
    if table and query:
        raise InputError("Give table= or query=, not both.")
    _text.check_readable(path)
    try:
        # An absolute path: ':memory:' and the like cannot be meant.
        return duckdb.connect(str(Path(path).absolute()), read_only=True, config=_SETTINGS)
    except duckdb.Error as error:
        raise InputError(
            f"The file {path!r} cannot be opened as a DuckDB database: {_sentence(str(error))}."
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


def _plain(frame: Any) -> Any:
    """Turn pandas' nullable integers, which few libraries take, into floats."""
    data = nw.from_native(frame, eager_only=True)
    gaps = [
        name
        for name, dtype in data.schema.items()
        if dtype.is_integer() and str(frame.dtypes[name])[0] in "IU"
    ]
    return frame.astype(dict.fromkeys(gaps, "float64")) if gaps else frame
