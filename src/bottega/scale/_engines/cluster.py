"""A Dask cluster: tasks as futures, parts of the rows kept by its workers, statistics as a tree.

What a task needs is in Dask's own graph, so that what a lost worker held is computed again by
another one.
"""

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import copy_context
from copy import deepcopy
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain
from threading import Lock
from typing import Any
from uuid import uuid4
from weakref import WeakSet

import numpy as np

import bottega
from bottega.core.errors import EngineError, Unforeseen, warn_caller
from bottega.core.parallel import one_core
from bottega.core.parts import KeptPart, merged
from bottega.core.progress import PARTS, is_heard, report
from bottega.scale._engines.packing import (
    check_version,
    pack,
    pack_or_warn,
    run_packed,
    unpack,
)
from bottega.scale._engines.working import working

__all__ = ["DaskEngine"]

Packed = tuple[bytes, list[str], list[Any]]  # a task, and the names and values of its large arrays
Given = tuple[Any, tuple[Any, ...]]  # a part, packed or as it is kept, and what is given with it

_FAN_IN, _LAST = 8, 32  # statistics that one task of the tree merges, and that the last one may
_PARTS = 8  # of the rows that one task works on at most
_PATIENCE = 10.0  # seconds after which a missing answer is looked into
_DEAD = ("error", "cancelled", "lost")  # futures that never give what was asked for
_KEPT = 2 << 30  # bytes of arrays that the cluster keeps from task to task
_GONE = (
    "The scheduler of the cluster has gone, or gave the work up; nothing was fitted. Start it "
    "again and repeat the call."
)
_QUIET = {"distributed.admin.large-graph-warning-threshold": "1TB"}  # rows may be in the graph


class DaskEngine:
    """The workers of a Dask cluster, through a client."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._lock = Lock()
        self._arrays: OrderedDict[str, tuple[Any, int]] = OrderedDict()
        self._running: set[Any] = set()
        self._made: WeakSet[Any] = WeakSet()  # futures that somebody still holds
        self._told = False  # that there are no workers

    @property
    def workers(self) -> int:
        """Threads of all workers that are there now, and one where none is."""
        found = self.client.scheduler_info(n_workers=-1).get("workers")
        if found is None:  # what a client says that has lost its scheduler
            raise EngineError(_GONE)
        return max(1, sum(each["nthreads"] for each in found.values()))

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
                return self.results([future])[0]
            finally:
                with self._lock:
                    self._running.discard(future)

    def cancel(self) -> None:
        """Give up the tasks that run."""
        with self._lock:
            running, self._running = self._running, set()
        if running and self.client.status == "running":
            self.client.cancel(list(running))

    def share_out(self, parts: Sequence[Any]) -> "DaskParts":
        """Return parts that are sent to workers with what is to be done to them."""
        with told_apart():
            packed = [pack(part) for part in parts]
            return DaskParts(self, [(found, *self.share(apart)) for found, apart in packed])

    def results(self, futures: list[Any]) -> list[Any]:
        """Return what the tasks give, and say so where no worker is there to run them."""
        try:
            for last in futures[-1:]:
                last.exception(timeout=_PATIENCE)
        except TimeoutError:
            if not self.client.nthreads() and not self._told:
                self._told = True  # one of many threads may say it
                warn_caller(
                    "The cluster has no workers at the moment: the work waits until there are "
                    "some. Start workers, or stop it by Ctrl-C.",
                    RuntimeWarning,
                )
        found: list[Any] = self.client.gather(futures)
        return found

    def report(self, futures: list[Any], groups: Sequence[Sequence[int]]) -> None:
        """Report the parts that are done, where anybody listens: each task has a group of them."""
        if not is_heard():
            return
        done, lock, context = 0, Lock(), copy_context()
        parts = sum(map(len, groups))

        def tell(count: int, _: Any) -> None:
            nonlocal done
            with lock:  # Dask calls it from several threads
                done += count
                context.run(report, PARTS, done, parts)

        for group, future in zip(groups, futures, strict=True):
            future.add_done_callback(partial(tell, len(group)))

    def submit(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return a future of a task of its own."""
        return self.submit_each(function, [args])[0]

    def submit_each(self, function: Callable[..., Any], args: Sequence[tuple[Any, ...]]) -> Any:
        """Return futures of tasks of a kind, which travel to the scheduler in one message."""
        import dask

        if not args:
            return []
        name, token = function.__name__.strip("_"), uuid4().hex
        keys = [f"bottega-{name}-{token}-{number}" for number in range(len(args))]
        versions = [bottega.__version__] * len(args)
        with dask.config.set(_QUIET):
            futures = self.client.map(
                function, versions, *zip(*args, strict=True), key=keys, pure=False
            )
        with self._lock:
            self._made.update(futures)
        return futures

    def share(self, apart: dict[str, np.ndarray]) -> tuple[list[str], list[Any]]:
        """Return the names of arrays, and futures of them: each is sent once."""
        import dask

        with self._lock, dask.config.set(_QUIET):
            for name, array in apart.items():
                if name not in self._arrays or self._arrays[name][0].status in _DEAD:
                    key = f"bottega-array-{name}-{uuid4().hex}"
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
        """Let the cluster forget what was sent, and what it was asked for and nobody waits for.

        The frames of an error that is shown, as in a notebook, hold futures that would go on.
        """
        self.cancel()
        with self._lock:
            made = list(self._made)
            self._arrays.clear()
        for future in made:
            future.release()


class DaskParts:
    """Parts of the rows: as they were given, or as workers keep them from pass to pass."""

    def __init__(self, engine: DaskEngine, parts: Sequence[Any], kept: bool = False) -> None:
        self._engine, self._parts, self._kept = engine, parts, kept

    def _submitted(
        self,
        task: Callable[..., Any],
        function: Callable[..., Any],
        groups: Sequence[Sequence[int]],
        each: Sequence[Any] | None = None,
    ) -> list[Any]:
        """Return futures of a task for every group of parts, which are given by their numbers."""
        packed, apart = pack(function)
        work = (packed, *self._engine.share(apart))
        more = [()] * len(self._parts) if each is None else [(one,) for one in each]
        given = list(zip(self._parts, more, strict=True))
        tasks = [(work, [given[i] for i in group], self._kept) for group in groups]
        found: list[Any] = self._engine.submit_each(task, tasks)
        return found

    def _single(self) -> list[range]:
        return [range(i, i + 1) for i in range(len(self._parts))]

    def _runs(self) -> list[range]:
        """Return which parts one task reads: many at first, one at a time towards the end.

        A task costs the scheduler and its worker a few milliseconds. Each takes its share of half
        of what is left (guided self-scheduling), so that no worker is left waiting for long. The
        workers that are there now decide; those that come later find fewer tasks.
        """
        found, start, n, workers = [], 0, len(self._parts), self._engine.workers
        while start < n:
            size = max(1, min(_PARTS, (n - start) // (2 * workers)))
            found.append(range(start, start + size))
            start += size
        return found

    def _by_holder(self) -> list[list[int]]:
        """Return which parts one task passes over: those that one worker keeps, in few tasks.

        All threads of a worker get equally many; a part that is still being made has its own.
        """
        client, held = self._engine.client, defaultdict(list)
        places, threads = client.who_has(self._parts), client.nthreads()
        for i, part in enumerate(self._parts):
            held[next(iter(places[part.key]), i)].append(i)
        found = []
        for place, numbers in held.items():
            side_by_side = threads.get(place, 1)
            count = side_by_side * -(-len(numbers) // (_PARTS * side_by_side))
            shares = np.array_split(numbers, min(count, len(numbers)))
            found += [share.tolist() for share in shares]
        return sorted(found)

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return what a function gives for every part, in order."""
        with told_apart():
            groups = self._by_holder() if self._kept else self._runs()
            tasks = self._submitted(_each, function, groups, each)
            self._engine.report(tasks, groups)
            answers = map(_foreseen, self._engine.results(tasks))
        found = dict(zip(chain.from_iterable(groups), chain.from_iterable(answers), strict=True))
        return [found[i] for i in range(len(self._parts))]

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what a function gives for every part, merged in their order, a few at a time."""
        with told_apart():
            # Sums of kept parts are merged one by one: who keeps which would change their digits.
            groups = self._single() if self._kept else self._runs()
            level = self._submitted(_total, function, groups, each)
            self._engine.report(level, groups)
            while len(level) > 1:
                # Few are merged when all are there: a merge in between would take a worker's turn,
                # and what is left of the groups comes last, and waits for the last task alone.
                size = len(level) if len(level) <= _LAST else _FAN_IN
                whole = len(level) - len(level) % size
                merges = [(level[i : i + size],) for i in range(0, whole, size)]
                level = [*self._engine.submit_each(_merge, merges), *level[whole:]]
            return _foreseen(self._engine.results(level)[0]) if level else None

    def keep(self, function: Callable[[Any], Iterable[Any]]) -> "DaskParts":
        """Return what a function makes of every part, kept by whichever worker made it."""
        with told_apart():
            return DaskParts(
                self._engine, self._submitted(_keep, function, self._single()), kept=True
            )


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
    except (CancelledError, closed, CommClosedError) as error:
        raise EngineError(_GONE) from error
    except ModuleNotFoundError as error:
        raise EngineError(
            f"A worker of the cluster lacks {error.name!r}: install the same packages there as "
            "here."
        ) from error


def _given(array: np.ndarray) -> np.ndarray:
    return array


def _run_task(version: str, packed: bytes, names: list[str], arrays: list[Any]) -> Any:
    return run_packed(packed, dict(zip(names, arrays, strict=True)), version)


def _each(version: str, work: Packed, parts: list[Given], kept: bool) -> Any:
    """Return what a function gives for each part."""
    return _worked(version, list, work, parts, kept)


def _total(version: str, work: Packed, parts: list[Given], kept: bool) -> Any:
    """Return what a function gives for the parts, merged."""
    return _worked(version, partial(reduce, merged), work, parts, kept)


def _keep(version: str, work: Packed, parts: list[Given], kept: bool) -> Any:
    """Return what a function gives for a part, as the worker keeps it."""
    return _worked(version, lambda found: KeptPart(next(found)), work, parts, kept)


def _worked(
    version: str,
    together: Callable[[Iterator[Any]], Any],
    work: Packed,
    parts: list[Given],
    kept: bool,
) -> Any:
    for part, _ in parts:
        if isinstance(part, _Surprise):
            return part
    with working():
        check_version(version)
        function = _unpacked(work)
        try:
            return together(
                function(part if kept else _unpacked(part), *more) for part, more in parts
            )
        except Unforeseen as error:
            return _Surprise(error)


def _merge(version: str, found: list[Any]) -> Any:
    check_version(version)
    for each in found:
        if isinstance(each, _Surprise):
            return each
    total = deepcopy(found[0])  # Dask keeps what the others gave, and may need it again
    for other in found[1:]:
        total = merged(total, deepcopy(other) if total is None else other)
    return total


def _unpacked(packed: Packed) -> Any:
    task, names, arrays = packed
    return unpack(task, dict(zip(names, arrays, strict=True)))


@dataclass(frozen=True)
class _Surprise:
    """Rows were not what they seemed at first sight: an answer, not a failure that Dask reports."""

    error: Unforeseen


def _foreseen(found: Any) -> Any:
    if isinstance(found, _Surprise):
        raise found.error
    return found
