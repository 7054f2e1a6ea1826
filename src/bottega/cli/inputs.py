"""What the DATA arguments of a command stand for: one source, or several files of one table."""

from collections.abc import Sequence

from bottega.core.errors import InputError
from bottega.data.read.files import Paths, is_bundled

__all__ = ["one_table"]


def one_table(names: Sequence[str]) -> Paths:
    """Return what to read: a single name as it is given, several as the files of one table.

    A shell turns a pattern such as ``big/*.parquet`` into the names of all files that match.

    Raises
    ------
    InputError
        When one of several names is that of a bundled data set.
    """
    if len(names) == 1:
        return names[0]
    for name in names:
        if is_bundled(name):
            raise InputError(
                f"{name!r} is a data set that comes with scikit-learn, and several names are those "
                "of files of one table: give the data set alone, or files only."
            )
    return tuple(names)
