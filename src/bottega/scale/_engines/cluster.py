"""A Dask cluster: tasks as futures, parts of the rows held by its workers, statistics as a tree.

What a task needs is in Dask's own graph, so that what a lost worker held is computed again by
another one.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from threading import Lock
from typing import Any
from uuid import uuid4

import numpy as np

import bottega
from bottega.core.errors import EngineError
from bottega.core.parallel import one_core
from bottega.core.parts import merged
from bottega.scale._engines.packing import (
    check_version,
    pack,
    pack_or_warn,
    run_packed,
    unpack,
    working,
)

__all__ = ["DaskEngine"]

_FAN_IN = 8  # statistics that one task of the tree merges
_KEPT = 2 << 30  # bytes of arrays that the cluster keeps from task to task
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # rows may be in the graph


class DaskEngine:
    """The workers of a Dask cluster, through a client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._lock = Lock()
        self._arrays: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._running: set[Any] = set()

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now."""
        found = self.client.scheduler_info(n_workers=-1)["workers"].values()
        return max(1, sum(each["nthreads"] for each in found))

    def call(self, task: Callable[[], Any]) -> Any:
        """Run a task on a worker; what cannot travel runs here, with a warning."""
        found = pack_or_warn(task)
        if found is None:
            with one_core():
                return task()
        packed, apart = found
        with told_apart():
            future = self.submit(_run_task, packed, *self.share(apart))
            with self._lock:
                self._running.add(future)
            try:
                return future.result()
            finally:
                with self._lock:
                    self._running.discard(future)

    def cancel(self) -> None:
        """Give up the tasks that run."""
        with self._lock:
            running, self._running = self._running, set()
        if running and self.client.status == "running":
            self.client.cancel(list(running))

    def hold(self, parts: Sequence[Any], load: Callable[[Any], Any]) -> "DaskParts":
        """Return parts that workers have read, and keep."""
        loaded = []
        with told_apart():
            for part in parts:
                packed, apart = pack((load, part))
                loaded.append(self.submit(_load_part, packed, *self.share(apart)))
        return DaskParts(self, loaded)

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return a future of a task of its own."""
        import dask

        with dask.config.set(_QUIET):
            return self.client.submit(
                function,
                bottega.__version__,
                *args,
                key=f"bottega-{function.__name__.strip('_')}-{uuid4().hex}",
                pure=False,
            )

    def share(self, apart: dict[str, np.ndarray]) -> tuple[list[str], list[Any]]:
        """Return the names of arrays, and futures of them: each is sent once."""
        import dask

        with self._lock, dask.config.set(_QUIET):
            for name, array in apart.items():
                if name not in self._arrays:
                    key = f"bottega-array-{name}"
                    future = self.client.submit(_given, array, key=key, pure=False)
                    self._arrays[name] = future, array.nbytes
                self._arrays.move_to_end(name)
            futures = [self._arrays[name][0] for name in apart]
            while sum(size for _, size in self._arrays.values()) > _KEPT:
                if len(self._arrays) <= len(apart):
                    break
                self._arrays.popitem(last=False)
        return list(apart), futures

    def close(self) -> None:
        """Let the cluster forget what was sent."""
        self.cancel()
        self._arrays.clear()


class DaskParts:
    """Parts of the rows that workers keep from pass to pass."""

    def __init__(self, engine: DaskEngine, loaded: Sequence[Any]) -> None:
        self._engine, self._loaded = engine, loaded

    def _submitted(
        self, function: Callable[..., Any], each: Sequence[Any] | None = None
    ) -> list[Any]:
        packed, apart = pack(function)
        shared = self._engine.share(apart)
        if each is None:
            return [self._engine.submit(_apply, packed, *shared, part, ()) for part in self._loaded]
        return [
            self._engine.submit(_apply, packed, *shared, part, (more,))
            for part, more in zip(self._loaded, each, strict=True)
        ]

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return what a function gives for every part, in order."""
        with told_apart():
            found: list[Any] = self._engine.client.gather(self._submitted(function, each))
            return found

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what a function gives for every part, merged in their order, a few at a time."""
        with told_apart():
            level = self._submitted(function, each)
            while len(level) > 1:
                groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
                level = [self._engine.submit(_merge, group) for group in groups]
            return level[0].result() if level else None

    def then(self, function: Callable[[Any], Any]) -> "DaskParts":
        """Return what a function makes of every part, kept in their place."""
        return DaskParts(self._engine, self._submitted(function))


@contextmanager
def told_apart() -> Iterator[None]:
    """Say in words what became of the cluster; errors of the tasks themselves go through."""
    from distributed import KilledWorker, client
    from distributed.comm import CommClosedError

    closed = getattr(client, "ClosedClientError", CommClosedError)  # not in older versions

    try:
        yield
    except KilledWorker as error:
        raise EngineError(
            f"Workers of the cluster died again and again at one task ({error}), perhaps for want "
            "of memory: give workers more memory, or the source more and smaller parts (rows=)."
        ) from error
    except (client.FutureCancelledError, closed, CommClosedError) as error:
        raise EngineError(
            "The scheduler of the cluster has gone, or gave the work up; nothing was fitted. Start "
            "it again and repeat the call."
        ) from error
    except ModuleNotFoundError as error:
        raise EngineError(
            f"A worker of the cluster lacks {error.name!r}: install the same packages there as "
            "here."
        ) from error


def _given(array: np.ndarray) -> np.ndarray:
    return array


def _run_task(version: str, packed: bytes, names: list[str], arrays: list[Any]) -> Any:
    return run_packed(packed, dict(zip(names, arrays, strict=True)), version)


def _load_part(version: str, packed: bytes, names: list[str], arrays: list[Any]) -> Any:
    with working():
        check_version(version)
        load, part = unpack(packed, dict(zip(names, arrays, strict=True)))
        return load(part)


def _apply(
    version: str, packed: bytes, names: list[str], arrays: list[Any], part: Any, more: Any
) -> Any:
    with working():
        check_version(version)
        return unpack(packed, dict(zip(names, arrays, strict=True)))(part, *more)


def _merge(version: str, found: list[Any]) -> Any:
    check_version(version)
    total = deepcopy(found[0])  # Dask keeps what the others gave, and may need it again
    for other in found[1:]:
        total = merged(total, deepcopy(other) if total is None else other)
    return total
