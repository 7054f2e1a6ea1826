"""Tasks as bytes, the large arrays in them apart: each of those travels once."""

import io
import pickle
from collections.abc import Callable, Mapping
from hashlib import blake2b
from importlib import import_module
from operator import attrgetter
from typing import Any

import cloudpickle
import numpy as np

import bottega
from bottega.core.errors import EngineError, warn_caller
from bottega.scale._engines.working import working

__all__ = ["check_version", "pack", "pack_or_warn", "run_packed", "unpack"]

_TRIES = 20  # to write down a task while others use what is in it
_APART = 1 << 16  # bytes from which on an array travels by itself


def pack(task: Any) -> tuple[bytes, dict[str, np.ndarray]]:
    """Return a task as bytes, and the large arrays in it by what is in them.

    Raises
    ------
    TypeError, pickle.PicklingError
        If it holds what cannot travel, such as a lock.
    """
    for left in reversed(range(_TRIES)):
        stream = io.BytesIO()
        pickler = _Pickler(stream)
        try:
            pickler.dump(task)
            break
        except RuntimeError as error:
            # Another thread has asked an object in the task for a property that is kept in it.
            if not left or "changed size during iteration" not in str(error):
                raise
    return stream.getvalue(), pickler.apart


def pack_or_warn(task: Callable[[], Any]) -> tuple[bytes, dict[str, np.ndarray]] | None:
    """Return a task as `pack` does; None, with a warning, for one that cannot travel."""
    try:
        return pack(task)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        warn_caller(
            f"A task cannot be sent to another process ({error}) and runs in this one: leave out "
            "of the model what cannot be pickled, such as locks, open files and connections.",
            RuntimeWarning,
        )
        return None


def unpack(packed: bytes, apart: Mapping[str, np.ndarray]) -> Any:
    """Return the task again."""
    unpickler = _Unpickler(io.BytesIO(packed))
    unpickler.apart = apart
    return unpickler.load()


def run_packed(packed: bytes, apart: Mapping[str, np.ndarray], version: str) -> Any:
    """Run a task in a process that serves others: with one core, and all its work inside."""
    with working():
        check_version(version)
        task: Callable[[], Any] = unpack(packed, apart)
        return task()


def check_version(version: str) -> None:
    """Refuse work that was sent by another version."""
    if bottega.__version__ != version:
        raise EngineError(
            f"A worker has bottega {bottega.__version__} and this process {version}: install the "
            "same version everywhere."
        )


class _Pickler(cloudpickle.Pickler):
    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self.apart: dict[str, np.ndarray] = {}

    def persistent_id(self, value: Any) -> Any:
        kind = type(value)
        if kind.__module__.startswith("numba") and hasattr(value, "py_func"):
            # A kernel of the package, which is there too: compiled once, and in its own cache.
            function = value.py_func
            if function.__module__ != "__main__" and "<" not in function.__qualname__:
                return function.__module__, function.__qualname__
            return None
        if kind is not np.ndarray or value.nbytes < _APART or value.dtype.hasobject:
            return None
        dense = value if value.flags.forc else np.ascontiguousarray(value)
        order = "F" if dense.flags.f_contiguous and not dense.flags.c_contiguous else "C"
        digest = blake2b(f"{dense.dtype.str}{dense.shape}{order}".encode(), digest_size=16)
        digest.update((dense.T if order == "F" else dense).view(np.uint8).data)
        name = digest.hexdigest()
        self.apart[name] = dense
        return name


class _Unpickler(pickle.Unpickler):
    apart: Mapping[str, np.ndarray] = {}

    def persistent_load(self, name: Any) -> Any:
        if isinstance(name, tuple):
            return attrgetter(name[1])(import_module(name[0]))
        return self.apart[name]
