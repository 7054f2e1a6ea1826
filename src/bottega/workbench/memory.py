"""Whether files are too large to be read into memory and compared there."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from bottega.data.read.files import expanded, find_files, format_of, is_bundled, path_of

__all__ = ["is_larger_than_memory", "memory_of_process"]

# Bytes in memory of a byte in a file, about: Parquet is packed, and texts take more than numbers.
_UNPACKED = {"parquet": 6, "duckdb": 4}
_TEXT, _ZIPPED = 2, 10
_COPIES = 4  # of a table that a comparison holds: folds, encodings, models
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def is_larger_than_memory(path: Any) -> bool:
    """Return True if a comparison of the rows of files in memory might not have room.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder or a pattern, as `bottega.read` takes them, or several of them; the name of
        a bundled data set is none.
    """
    names, memory = expanded(path_of(path)), memory_of_process()
    if memory is None or (isinstance(names, str) and is_bundled(names)):
        return False
    return _COPIES * sum(map(_unpacked, find_files(names))) > memory


def _unpacked(file: str) -> int:
    """Return about how many bytes of memory a file takes."""
    times = _ZIPPED if file.lower().endswith(".gz") else _UNPACKED.get(str(format_of(file)), _TEXT)
    return times * os.path.getsize(file)


def memory_of_process() -> int | None:
    """Return the bytes of memory of the machine, or fewer where this process may use fewer.

    None where the system does not tell.
    """
    found = []
    with suppress(AttributeError, ValueError, OSError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    with suppress(ImportError, ValueError, OSError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        found += [limit] * (limit != resource.RLIM_INFINITY)
    for file in _LIMITS:
        with suppress(OSError, ValueError):  # "max": no limit
            found.append(int(Path(file).read_text()))
    return min((each for each in found if each > 0), default=None)
