"""A file from which a training that was killed goes on, with the same result."""

from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path as FilePath
from time import perf_counter
from typing import Any
from zipfile import BadZipFile

import numpy as np

from bottega.core.errors import InputError, warn_caller
from bottega.core.files import write_atomically
from bottega.core.typing import Array

__all__ = ["Checkpoint", "fingerprint"]

EVERY = 5.0  # seconds between two writings


def fingerprint(words: Any, arrays: Any) -> str:
    """Return what tells apart trainings: a digest of their settings and of their rows."""
    digest = sha256(repr(words).encode())
    for each in arrays:
        digest.update(np.ascontiguousarray(each).data)
    return digest.hexdigest()


class Checkpoint:
    """Arrays in one file, which is replaced whole.

    Parameters
    ----------
    path : str or None
        None keeps nothing.
    of : str
        Fingerprint of the training; a file of another training is refused.
    """

    def __init__(self, path: str | None, of: str) -> None:
        self.path = None if path is None else FilePath(path)
        self.of = of
        self._last = perf_counter()
        self._written = False

    def begin(self) -> dict[str, Array]:
        """Return the arrays of the file; where there is none yet, make it, or say why not."""
        found = self.read()
        if not found:
            self.write({})
        self._written = True
        return found

    def read(self) -> dict[str, Array]:
        """Return the arrays of the file; none where there is no file."""
        if self.path is None or not self.path.exists():
            return {}
        try:
            with self.path.open("rb") as content, np.load(content, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
            told = str(found.pop("fingerprint"))
        except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise InputError(
                f"{str(self.path)!r} is no checkpoint of a training ({error}); give another file, "
                "or remove it."
            ) from error
        if told != self.of:
            raise InputError(
                f"{str(self.path)!r} is the checkpoint of a training on other rows, or with other "
                "parameters; give another file, or remove it."
            )
        return found

    def due(self) -> bool:
        """Return whether it is time to write again."""
        return self.path is not None and perf_counter() - self._last >= EVERY

    def write(self, arrays: Mapping[str, Array]) -> None:
        """Write the arrays, whole or not at all.

        Once the training has begun, a file that cannot be renewed does not end it.
        """
        if self.path is None:
            return
        content = BytesIO()
        named: dict[str, Any] = {"fingerprint": np.array(self.of), **arrays}
        np.savez(content, **named)
        self._last = perf_counter()
        try:
            write_atomically(self.path, content.getvalue())
        except InputError as error:
            if not self._written:
                raise
            warn_caller(
                f"The training goes on, and its checkpoint stays as it was before: {error}",
                RuntimeWarning,
            )
