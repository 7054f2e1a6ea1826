"""Files written whole or not at all."""

import os
import tempfile
from pathlib import Path as FilePath

from bottega.core.errors import InputError

__all__ = ["write_atomically"]


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


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
