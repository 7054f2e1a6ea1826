"""The machine code of kernels on disk.

Where nothing can be written, kernels are compiled in every process.
"""

import contextlib
import functools
import hashlib
import os
import pickle
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # not on Windows: two processes may then compile the same kernel
    fcntl = None  # type: ignore[assignment]

__all__ = ["enable_cache"]

_UNUSED_DAYS = 90  # a folder of superseded sources is removed when unused for so long
_PATIENCE = 120  # seconds; another process that takes longer to compile a kernel is stuck


def enable_cache(dispatcher: Any, folder: Path | None) -> Any:
    """Let a dispatcher keep its machine code; return its files, None if numba looks after them."""
    if KernelFiles is not None and folder is not None:
        _tidy(folder)
        dispatcher._cache = files = KernelFiles(dispatcher.py_func, folder)
        return files
    with contextlib.suppress(RuntimeError):  # numba finds no folder that it may write to
        dispatcher.enable_caching()
    return None


@functools.cache
def _tidy(folder: Path) -> None:
    """Mark a folder as used; remove those of superseded sources that nobody has used for long."""
    with contextlib.suppress(OSError):
        if folder.exists():
            os.utime(folder)
            return
        oldest = time.time() - _UNUSED_DAYS * 86400
        for other in folder.parent.glob(folder.name.rpartition("-")[0] + "-*"):
            if other.stat().st_mtime < oldest:
                shutil.rmtree(other, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock on a file, unless it cannot be had."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            if fcntl is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                file = stack.enter_context(open(path, "w"))
                _wait_for(file)
                # Who still waits for this file, and who makes a new one, find the machine code.
                stack.callback(path.unlink, missing_ok=True)
        yield


def _wait_for(file: Any) -> None:
    for _ in range(_PATIENCE * 50):
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(0.02)
        else:
            return


KernelFiles: Any = None
try:
    from numba.core.caching import _Cache as _Interface
    from numba.core.compiler import CompileResult as _Result
    from numba.core.serialize import dumps as _dumps

    _names = {"cache_path", "load_overload", "save_overload", "enable", "disable", "flush"}
    _as_expected = _Interface.__abstractmethods__ == _names and all(
        hasattr(_Result, name)
        for name in ("_reduce", "_rebuild", "_replace", "codegen", "lifted", "library")
    )
except (ImportError, AttributeError):  # pragma: no cover
    _as_expected = False

if _as_expected:

    class _KernelFiles(_Interface):
        """The machine code of one kernel in a folder that belongs to its sources.

        There is one file per signature, processor and version of Python: the seconds that it took,
        the key and the machine code. numba's own cache numbers its files in an index, which two
        processes that compile two signatures at once can spoil.
        """

        def __init__(self, function: Any, folder: Path) -> None:
            self._code = hashlib.sha256(function.__code__.co_code).hexdigest()
            self._folder = folder
            self._name = function.__qualname__.replace("<", "").replace(">", "")
            self._since = 0.0  # when compiling began, in seconds of this thread

        @property
        def cache_path(self) -> str:
            return str(self._folder)

        def _key(self, types: Any, codegen: Any) -> tuple[Any, ...]:
            return types, codegen.magic_tuple(), sys.implementation.cache_tag, self._code

        def _file(self, key: tuple[Any, ...]) -> Path:
            digest = hashlib.sha256(repr(key).encode()).hexdigest()[:20]
            return self._folder / f"{self._name}-{digest}.nbc"

        def holds(self, types: Any, target_context: Any) -> bool:
            """Return True if there is machine code for a signature."""
            return self._file(self._key(types, target_context.codegen())).exists()

        @property
        def can_be_written(self) -> bool:
            """Whether machine code can be kept; if not, only this process can use what it makes."""
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                return os.access(self._folder, os.W_OK)
            return False

        def alone(self, types: Any, target_context: Any) -> contextlib.AbstractContextManager[None]:
            """Let one process at a time compile a signature; the others load what it made."""
            file = self._file(self._key(types, target_context.codegen()))
            return _locked(file.with_suffix(".lock"))

        def load_overload(self, types: Any, target_context: Any) -> Any:
            target_context.refresh()
            key = self._key(types, target_context.codegen())
            # Not there, not readable or damaged: whatever it is, compiling is the cure.
            with contextlib.suppress(Exception):
                with self._file(key).open("rb") as file:
                    pickle.load(file)  # the seconds
                    stored_key, result = pickle.load(file)
                if stored_key == key:
                    return _Result._rebuild(target_context, *result)
            self._since = time.thread_time()
            return None

        def save_overload(self, types: Any, result: Any) -> None:
            if result.lifted or result.library.has_dynamic_globals:
                warnings.warn(f"kernel {self._name} cannot be cached on disk", stacklevel=2)
                return
            seconds = time.thread_time() - self._since
            key = self._key(types, result.codegen)
            file = self._file(key)
            part = file.with_suffix(f".{uuid.uuid4().hex}")
            with contextlib.suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                try:
                    # The annotated source is for readers, and takes time to write.
                    stored = result._replace(type_annotation="")._reduce()
                    part.write_bytes(_dumps(seconds) + _dumps((key, stored)))
                    part.replace(file)  # at once: another process sees the whole file or none
                finally:
                    part.unlink(missing_ok=True)

        def enable(self) -> None: ...

        def disable(self) -> None: ...

        def flush(self) -> None:
            for file in self._folder.glob(f"{self._name}-*.nbc"):
                file.unlink(missing_ok=True)

    KernelFiles = _KernelFiles
