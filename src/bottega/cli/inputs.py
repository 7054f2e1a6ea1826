"""What the DATA arguments of a command stand for: one source, or several files of one table."""

import os
from collections.abc import Sequence

from bottega.core.errors import InputError
from bottega.data.read.files import Paths, find_files, is_bundled
from bottega.data.table import Table

__all__ = ["expanded", "named", "one_table"]


def one_table(names: Sequence[str]) -> Paths:
    """Return what to read: a single name as it is given, several as the files of one table.

    A shell turns a pattern such as ``big/*.parquet`` into the names of all files that match.

    Raises
    ------
    InputError
        When one of several names is no file, or a bundled data set, or a file is named twice, whose
        rows would be learnt from and judged at the same time.
    """
    if len(names) == 1:
        return names[0]
    for name in names:
        if is_bundled(name):
            raise InputError(
                f"{name!r} is a data set that comes with scikit-learn, and several names are those "
                "of files of one table: give the data set alone, or files only."
            )
    seen: set[str] = set()
    for file in find_files(expanded(tuple(names))):
        if os.path.realpath(file) in seen:
            raise InputError(f"The file {file!r} is named twice; name each file once.")
        seen.add(os.path.realpath(file))
    return tuple(names)


def expanded(data: Paths) -> Paths:
    """Return names with the home folder in the place of ``~``."""
    if isinstance(data, str):
        return os.path.expanduser(data)
    return tuple(map(os.path.expanduser, data))


def named(table: Table, data: Paths) -> Table:
    """Return the table with a name for titles, which several files have without their folders."""
    if not isinstance(data, str):
        first, second, *others = map(os.path.basename, map(os.path.normpath, data))
        table.source = f"{first}, {second}" + f" and {len(others):,} more" * bool(others)
    return table
