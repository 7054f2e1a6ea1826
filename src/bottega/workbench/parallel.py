"""Independent tasks side by side in threads, without fighting for cores.

The kernels and BLAS release the GIL, so threads do the work of processes without copying the data
or importing everything again. Each thread's linear algebra keeps to its share of the cores.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

from threadpoolctl import threadpool_limits

from bottega.core import progress
from bottega.core.errors import ParameterError

__all__ = ["available_cores", "run_tasks"]

Key = TypeVar("Key")
Answer = TypeVar("Answer")


def available_cores() -> int:
    """Return how many cores this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def run_tasks(
    tasks: Sequence[tuple[Key, Callable[[], Answer]]], *, n_jobs: int | None = None, stage: str = ""
) -> tuple[dict[Key, Answer], bool]:
    """Run the tasks, in order of their start, and return their answers and whether all ran.

    Ctrl-C stops handing out tasks, waits for those that run, and returns what is done: the second
    part of the answer is then False. An exception of a task is raised here.
    """
    cores = available_cores()
    if n_jobs is not None and n_jobs < 1:
        raise ParameterError(f"n_jobs={n_jobs!r} is not allowed; use a number of threads, or None.")
    threads = min(n_jobs or cores, max(len(tasks), 1))
    answers: dict[Key, Answer] = {}
    complete = True
    with (
        threadpool_limits(limits=max(1, cores // threads)),
        ThreadPoolExecutor(max_workers=threads) as pool,
    ):
        pending: dict[Future[Answer], Key] = {pool.submit(task): key for key, task in tasks}
        try:
            while pending:
                done, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in done:
                    key = pending.pop(future)
                    answers[key] = future.result()
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
