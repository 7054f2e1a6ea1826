"""Other processes of this machine; they map large arrays into memory instead of copying them."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from joblib.externals.loky import get_reusable_executor

import bottega
from bottega.core.errors import EngineError
from bottega.core.parallel import one_core, run_tasks
from bottega.core.parts import merged
from bottega.core.progress import PARTS
from bottega.scale._engines.packing import pack_or_warn, run_packed

__all__ = ["ProcessEngine"]

_TRIES = 3  # of a task whose process died
_IDLE = 120  # seconds after which a process without work ends
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class ProcessEngine:
    """Some processes of this machine, started when there is work; they wait for more of it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._lock = Lock()
        self._folder: Path | None = None

    def call(self, task: Callable[[], Any]) -> Any:
        """Run a task in another process; what cannot travel runs here, with a warning."""
        found = pack_or_warn(task)
        if found is None:
            with one_core():
                return task()
        packed, apart = found
        paths = {name: self._file(name, array) for name, array in apart.items()}
        for _ in range(_TRIES):  # the executor replaces a pool that broke
            with suppress(BrokenProcessPool):
                pool = self._pool()
                return pool.submit(_run, packed, paths, bottega.__version__, sys.path).result()
        raise EngineError(
            f"The process of a task died {_TRIES} times, perhaps for want of memory: give fewer "
            "processes, or fewer rows at a time."
        )

    def cancel(self) -> None:
        """End the processes; others start when there is work again."""
        self._pool().shutdown(wait=False, kill_workers=True)

    def share_out(self, parts: Sequence[Any]) -> "ProcessParts":
        """Return parts that are sent in every pass, to whichever process is free."""
        return ProcessParts(self, parts)

    def close(self) -> None:
        """Remove the files that the processes shared."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _pool(self) -> Any:
        with self._lock:
            return get_reusable_executor(self.workers, timeout=_IDLE, env=_ONE_THREAD)

    def _file(self, name: str, array: np.ndarray) -> str:
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="bottega-"))
            path = self._folder / f"{name}.npy"
            if not path.exists():
                try:
                    np.save(path, array)
                except OSError as error:
                    path.unlink(missing_ok=True)
                    raise EngineError(
                        f"The rows cannot be shared with other processes: {error.strerror} "
                        f"({self._folder}). Set TMPDIR to a folder with more room."
                    ) from error
        return str(path)


def _run(packed: bytes, paths: Mapping[str, str], version: str, path: list[str]) -> Any:
    sys.path[:] = [*sys.path, *(each for each in path if each not in sys.path)]
    return run_packed(packed, {name: _mapped(file) for name, file in paths.items()}, version)


@cache
def _mapped(path: str) -> np.ndarray:
    """Return an array of a file; what a task writes to it stays its own."""
    return np.load(path, mmap_mode="c").view(np.ndarray)


class ProcessParts:
    """Parts that are read again in every pass: one that another process keeps is of no use here."""

    def __init__(
        self, engine: ProcessEngine, parts: Sequence[Any], steps: tuple[Any, ...] = ()
    ) -> None:
        self._engine, self._parts, self._steps = engine, parts, steps

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return what a function gives for every part, in order."""
        extra: Iterable[tuple[Any, ...]] = [()] * len(self._parts) if each is None else zip(each)
        tasks = [
            (i, partial(self._engine.call, partial(_applied, function, self._steps, part, more)))
            for i, (part, more) in enumerate(zip(self._parts, extra, strict=True))
        ]
        answers, complete = run_tasks(tasks, stage=PARTS, leave=True, waiting=True)
        if not complete:
            raise KeyboardInterrupt
        return [answers[i] for i in range(len(tasks))]

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what a function gives for every part, merged in their order."""
        total = None
        for found in self.map(function, each):
            total = merged(total, found)
        return total

    def keep(self, function: Callable[[Any], Iterable[Any]]) -> "ProcessParts":
        """Return what a function makes of every part, made anew in every pass."""
        return ProcessParts(self._engine, self._parts, (*self._steps, function))


def _applied(function: Any, steps: tuple[Any, ...], part: Any, more: tuple[Any, ...]) -> Any:
    for step in steps:
        part = step(part)
    return function(part, *more)
