"""Processes that compile kernels beside this one, several at a time.

numba compiles one kernel at a time in a process. Inside `beside`, a thread that calls a kernel for
which there is no machine code asks another process to compile it, and loads what that process has
put into the cache; other threads go on meanwhile, with their work or with a kernel of their own.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from operator import attrgetter
from threading import Condition
from typing import Any

from bottega.core.parallel import available_cores, threads_of

__all__ = ["beside", "compile_beside", "serve"]

_pool: ContextVar["_Pool | None"] = ContextVar("pool", default=None)


@contextmanager
def beside(n_jobs: int | None = None) -> Iterator[None]:
    """Compile what is called inside the block in so many other processes, one per core by default.

    They start when there is something to compile. With one job, kernels are compiled in this
    process.
    """
    n_processes = min(threads_of(n_jobs), available_cores())
    if n_processes < 2 or _pool.get() is not None or not sys.executable:
        yield
        return
    pool = _Pool(n_processes)
    token = _pool.set(pool)
    try:
        yield
    finally:
        _pool.reset(token)
        pool.close()


def compile_beside(function: Any, types: Any) -> bool:
    """Have a kernel compiled by another process; return False if that cannot be done."""
    pool = _pool.get()
    if pool is None or pool.owner != os.getpid() or function.__module__ == "__main__":
        return False
    return pool.compile(function.__module__, function.__qualname__, types)


def serve() -> None:
    """Compile what is asked for on standard input, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks is interrupted, and closes the pipe
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    while True:
        try:
            module, name, types = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            attrgetter(name)(import_module(module)).compile(pickle.loads(types))
            answers.write(b"1")
        except Exception:  # who asks compiles it, and sees the error
            answers.write(b"0")


class _Worker:
    """A process that compiles, and the topics whose helpers it knows."""

    def __init__(self) -> None:
        start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        self._process: Any = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        self.topics: set[str] = set()

    def compile(self, module: str, name: str, types: Any) -> bool:
        """Return True if the process compiled the kernel."""
        self.topics.add(module.partition("._kernels")[0])
        pickle.dump((module, name, pickle.dumps(types)), self._process.stdin)
        self._process.stdin.flush()
        return bool(self._process.stdout.read(1) == b"1")

    def close(self) -> None:
        self._process.terminate()
        self._process.communicate()


class _Pool:
    """At most so many workers, each with one kernel at a time."""

    def __init__(self, most: int) -> None:
        self.owner = os.getpid()
        self._most = most
        self._workers: list[_Worker] = []
        self._idle: list[_Worker] = []
        self._under_way: set[Any] = set()
        self._changed = Condition()

    def compile(self, module: str, name: str, types: Any) -> bool:
        kernel = (module, name, types)
        with self._changed:
            if kernel in self._under_way:  # for another thread
                self._changed.wait_for(lambda: kernel not in self._under_way)
                return True
            self._under_way.add(kernel)
        try:
            worker = self._take(module)
            try:
                return worker.compile(*kernel)
            finally:
                self._give_back(worker)
        except OSError:  # it could not start, or has ended
            return False
        finally:
            with self._changed:
                self._under_way.remove(kernel)
                self._changed.notify_all()

    def _take(self, module: str) -> _Worker:
        with self._changed:
            self._changed.wait_for(lambda: self._idle or len(self._workers) < self._most)
            if not self._idle:
                self._workers.append(worker := _Worker())
                return worker
            # One that has compiled kernels of the same topic knows their helpers.
            topic = module.partition("._kernels")[0]
            worker = max(self._idle, key=lambda each: topic in each.topics)
            self._idle.remove(worker)
            return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._changed:
            self._idle.append(worker)
            self._changed.notify_all()

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
