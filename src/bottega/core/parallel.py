"""Independent tasks side by side in threads, without fighting for cores.

The kernels and BLAS release the GIL, so threads do the work of processes without copying the data
or importing everything again. Each thread's linear algebra keeps to its share of the cores. Work
inside a task that asks for threads of its own runs in that task's thread: the cores are taken.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from functools import partial
from typing import Any, TypeVar

from threadpoolctl import threadpool_limits

from bottega.core import progress
from bottega.core.errors import ParameterError
from bottega.core.threads import linear_algebra_in

__all__ = ["at_most", "available_cores", "in_threads", "run_tasks", "threads_of"]

Key = TypeVar("Key")
Answer = TypeVar("Answer")

_thread = threading.local()
_allowed: ContextVar[int | None] = ContextVar("allowed", default=None)


def _mark_busy() -> None:
    _thread.busy = True


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int:
    """Return how many threads ``n_jobs`` means: None or -1 all cores, -2 all but one, and so on."""
    cores = available_cores()
    if n_jobs is None:
        return cores
    if n_jobs == 0:
        raise ParameterError("n_jobs=0 is not allowed; use a number of threads, or -1 for all.")
    return n_jobs if n_jobs > 0 else max(cores + 1 + n_jobs, 1)


@contextmanager
def at_most(n_jobs: int | None) -> Iterator[None]:
    """Keep what runs inside, linear algebra too, to a number of threads; None changes nothing."""
    if n_jobs is None:
        yield
        return
    threads = threads_of(n_jobs)
    outside = _allowed.set(threads)
    try:
        with linear_algebra_in(threads):
            yield
    finally:
        _allowed.reset(outside)


def run_tasks(
    tasks: Sequence[tuple[Key, Callable[[], Answer]]], *, n_jobs: int | None = None, stage: str = ""
) -> tuple[dict[Key, Answer], bool]:
    """Run the tasks, in order of their start, and return their answers and whether all ran.

    Ctrl-C stops handing out tasks, waits for those that run, and returns what is done: the second
    part of the answer is then False. An exception of a task is raised here.
    """
    wanted = threads_of(_allowed.get() if n_jobs is None else n_jobs)
    nested = getattr(_thread, "busy", False)
    threads = 1 if nested else min(wanted, max(len(tasks), 1))
    share = min(wanted, available_cores()) // threads  # of linear algebra in each thread
    answers: dict[Key, Answer] = {}
    complete = True
    with (
        nullcontext() if nested else threadpool_limits(limits=max(1, share)),
        ThreadPoolExecutor(max_workers=threads, initializer=_mark_busy) as pool,
    ):
        # Each task carries the context of its caller, so that its progress reaches who listens.
        pending: dict[Future[Answer], Key] = {
            pool.submit(copy_context().run, task): key for key, task in tasks
        }
        try:
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    key = pending.pop(future)
                    answers[key] = future.result()
                    if not nested:
                        progress.report(stage, len(answers), len(tasks), str(key))
        except KeyboardInterrupt:
            complete = False
            for future in pending:
                future.cancel()
            for future, key in pending.items():
                if not future.cancelled() and future.exception() is None:
                    answers[key] = future.result()
        except BaseException:
            for future in pending:
                future.cancel()
            raise
    return answers, complete


def in_threads(
    function: Callable[[Any], Answer], items: Iterable[Any], *, stage: str = ""
) -> list[Answer]:
    """Return ``function(item)`` for each item, in order; all of them, or the exception.

    Examples
    --------
    >>> in_threads(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    tasks = [(i, partial(function, item)) for i, item in enumerate(items)]
    answers, complete = run_tasks(tasks, stage=stage)
    if not complete:
        raise KeyboardInterrupt
    return [answers[i] for i in range(len(tasks))]
