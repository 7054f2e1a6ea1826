"""Which files a path, a folder or a pattern means, and what is in them."""

import glob
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v2 as nw

from bottega.core.errors import InputError, require
from bottega.data import convert

BUNDLED = ("breast_cancer", "diabetes", "iris", "wine")
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


def is_bundled(name: str) -> bool:
    """Return True if a name is that of a data set of scikit-learn, and of no file."""
    return name in BUNDLED and not os.path.exists(name)


def load_bundled(name: str) -> Any:
    """Return a data set of scikit-learn as a frame."""
    require("pandas", "data")
    from sklearn import datasets

    bunch = getattr(datasets, f"load_{name}")(as_frame=True)
    frame = bunch.frame
    if name != "diabetes":
        frame = frame.assign(target=bunch.target_names.astype(str)[bunch.target.to_numpy()])
    return frame


def is_boolean(frame: Any, name: str) -> bool:
    """Return True if a frame has a column of this name that is stored as truth values."""
    data = convert.frame_or_none(frame)
    return data is not None and name in data.columns and data[name].dtype == nw.Boolean


FileState = tuple[int, int | None]  # size, and when it was written, if that is to be kept
Paths = str | tuple[str, ...]


def is_path(source: Any) -> bool:
    """Return True for a path, and for a list of paths."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(each, str | os.PathLike) for each in source)
    return isinstance(source, str | os.PathLike)


def path_of(source: Any) -> Paths:
    """Return a path, or each of several, as text."""
    if isinstance(source, list | tuple):
        return tuple(os.fspath(each) for each in source)
    return os.fspath(source)


def expanded(path: Paths) -> Paths:
    """Return a path, or several, with the home folder in the place of ``~``."""
    if isinstance(path, str):
        return os.path.expanduser(path)
    return tuple(map(os.path.expanduser, path))


def path_in_words(path: Paths) -> str:
    """Write a path, or several, for a message."""
    return repr(path) if isinstance(path, str) else _listed(path, repr)


def short_name(path: Paths) -> str:
    """Return a path as it was given, or the names of several without their folders."""
    if isinstance(path, str):
        return path
    return _listed(path, lambda each: os.path.basename(os.path.normpath(each)))


def _listed(paths: Sequence[str], written: Callable[[str], str]) -> str:
    more = f" and {len(paths) - 2:,} more" if len(paths) > 2 else ""
    return ", ".join(map(written, paths[:2])) + more


def frame_or_path(source: Any) -> tuple[Any, Paths]:
    """Return a frame, given or of a bundled data set; or None, and the path of files to read."""
    if convert.frame_or_none(source) is not None:
        return source, ""
    if isinstance(source, list | tuple) and is_path(source):
        return None, expanded(path_of(source))
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "A path, a data frame (pandas, polars or pyarrow), the name of a bundled data set or "
            f"(for chunks) an executed query is needed, not {type(source).__name__}."
        )
    path = os.fspath(source)
    return (load_bundled(path) if is_bundled(path) else None), expanded(path)


def find_files(path: Paths) -> list[str]:
    """Return the files meant by a path, a folder or a pattern, in order of name, or by several.

    Several must not name a file twice: its rows would be learnt from and judged at the same time.
    """
    if not isinstance(path, str):
        found = [file for each in path for file in find_files(each)]
        seen: set[str] = set()
        for file in found:
            if os.path.realpath(file) in seen:
                raise InputError(f"The file {file!r} is named twice; name each file once.")
            seen.add(os.path.realpath(file))
        return found
    if os.path.isdir(path):
        found = [os.path.join(path, name) for name in sorted(os.listdir(path))]
        found = [f for f in found if os.path.isfile(f) and format_of(f) not in (None, "duckdb")]
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


def file_states(path: Paths) -> dict[str, FileState]:
    """Return the state of each file meant by a path; that of a database, which may grow, as zeros.

    A file that goes meanwhile is left out.
    """
    found: dict[str, FileState] = {}
    for file in find_files(path):
        with suppress(OSError):
            now = os.stat(file)
            found[file] = (0, 0) if is_database(file) else (now.st_size, now.st_mtime_ns)
    return found


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


def format_of(path: str) -> str | None:
    """Return the format that the name of a file stands for, None if it is not known."""
    name = path.lower()
    if name.endswith(".gz"):
        kind = _FORMATS.get(os.path.splitext(name[:-3])[1])
        return kind if kind in ("csv", "tsv", "json") else None
    return _FORMATS.get(os.path.splitext(name)[1])


def is_database(path: str | os.PathLike[str]) -> bool:
    """Return True if a path is that of a DuckDB file."""
    return format_of(os.fspath(path)) == "duckdb"


def kind_of(files: list[str]) -> str:
    """Return the one format of several files, or raise."""
    kinds = Counter(format_of(file) for file in files)
    if None in kinds:
        unknown = next(file for file in files if format_of(file) is None)
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
