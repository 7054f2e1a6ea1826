"""Files written whole or not at all, and the folders that belong to a user."""

import os
import sys
import tempfile
from pathlib import Path as FilePath

from bottega.core.errors import InputError

__all__ = ["user_folder", "write_atomically"]

# Where a user's programs keep what they can make again, and what they must remember.
_FOLDERS = {"cache": ("XDG_CACHE_HOME", ".cache"), "state": ("XDG_STATE_HOME", ".local/state")}


def write_atomically(path: str | os.PathLike[str], content: bytes) -> FilePath:
    """Write a file whole or not at all; an older one stays until the new one is complete."""
    path = FilePath(path)
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; give the name of a file.")
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(
            f"Cannot write {str(path)!r}: {error.strerror or error}. Choose a folder that exists "
            "and can be written to."
        ) from error
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except OSError as error:
        os.unlink(temporary)
        raise InputError(f"Cannot write {str(path)!r}: {error.strerror or error}.") from error
    except BaseException:
        os.unlink(temporary)
        raise
    return path


def user_folder(kind: str) -> FilePath | None:
    """Return the user's folder for bottega's files; None where there is no home folder.

    Parameters
    ----------
    kind : {"cache", "state"}
        For what can be made again, or for what must be remembered.
    """
    variable, default = _FOLDERS[kind]
    if sys.platform == "win32":
        variable, default = "LOCALAPPDATA", "AppData/Local"
    elif sys.platform == "darwin":
        default = "Library/Caches" if kind == "cache" else "Library/Application Support"
    given = os.environ.get(variable, "")
    try:  # a relative folder would be another one in each place
        base = FilePath(given) if os.path.isabs(given) else FilePath.home() / default
    except RuntimeError:
        return None
    return base / "bottega"


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
