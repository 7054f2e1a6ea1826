"""The processes: started, given commands, waited for, and always ended."""

import multiprocessing
from collections.abc import Iterable
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from bottega.core.errors import BottegaError
from bottega.core.typing import Array
from bottega.optimize._distributed.losses import RowLoss
from bottega.optimize._distributed.memory import SharedArrays
from bottega.optimize._distributed.worker import WorkerPart, work

__all__ = ["WorkerCrew", "WorkerError"]

_PATIENCE = 2.0  # seconds that a worker has to end by itself


class WorkerError(BottegaError, RuntimeError):
    """A worker process failed or ended; the message says which, and why."""


class WorkerCrew:
    """Worker processes that share arrays with this one.

    Use it in a ``with`` block: whatever happens in it (an error, Ctrl-C), the processes end and
    the shared memory is removed. A worker whose parent is gone ends by itself.

    Parameters
    ----------
    loss : callable
        The loss that they compute.
    parts : list of WorkerPart
        What belongs to each.
    arrays : dict of str to ndarray
        What all of them see; copied once.
    """

    def __init__(self, loss: RowLoss, parts: list[WorkerPart], arrays: dict[str, Array]) -> None:
        self._loss, self._parts, self._given = loss, parts, arrays
        self._processes: list[Any] = []
        self._connections: list[Connection] = []
        self.arrays: SharedArrays

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [int(process.pid) for process in self._processes]

    def __enter__(self) -> "WorkerCrew":
        self.arrays = SharedArrays(self._given)
        try:
            # A fresh process: a copy of this one would copy its threads' locks too.
            context = multiprocessing.get_context("spawn")
            for part in self._parts:
                ours, theirs = context.Pipe()
                self._connections.append(ours)
                process = context.Process(
                    target=work,
                    args=(theirs, self.arrays.places, part, self._loss),
                    name=f"bottega-worker-{part.index}",
                    daemon=True,
                )
                process.start()
                self._processes.append(process)
                theirs.close()
            for i in range(len(self._parts)):
                self.answer(i, "could not start")
        except BaseException:
            self._end(at_once=True)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end(at_once=kind is not None)

    def tell(self, worker: int, *command: Any) -> None:
        """Send a command."""
        try:
            self._connections[worker].send(command)
        except (BrokenPipeError, ConnectionResetError):
            self._lost(worker, "ended")

    def tell_all(self, *command: Any) -> None:
        """Send a command to every worker."""
        for i in range(len(self)):
            self.tell(i, *command)

    def answer(self, worker: int, lost: str = "ended without an answer") -> tuple[Any, float]:
        """Wait for a worker's answer: return it, and the seconds that the work took."""
        connection, process = self._connections[worker], self._processes[worker]
        wait([connection, process.sentinel])
        try:
            # What was sent before the end is still there.
            word, answer, seconds = connection.recv()
        except (EOFError, ConnectionResetError):
            self._lost(worker, lost)
        if word == "error":
            told, trace = answer
            raise WorkerError(
                f"Worker {worker} failed with {told}\n--- in the worker ---\n{trace.rstrip()}"
            )
        return answer, float(seconds)

    def answers(self) -> list[tuple[Any, float]]:
        """Wait for an answer of every worker, in their order."""
        return [self.answer(i) for i in range(len(self))]

    def first(self, workers: Iterable[int]) -> list[int]:
        """Wait until one of these workers has answered or ended; return which have."""
        watched = {}
        for i in workers:
            watched[id(self._connections[i])] = i
        found = wait([self._connections[i] for i in watched.values()])
        return sorted(watched[id(each)] for each in found)

    def _lost(self, worker: int, what: str) -> None:
        process = self._processes[worker]
        process.join(_PATIENCE)
        code = process.exitcode
        by_itself = code is not None and code > 0
        hint = (
            "in a script, call this below  if __name__ == '__main__':"
            if what == "could not start" and by_itself
            else "it may have run out of memory, or was killed"
        )
        raise WorkerError(f"Worker {worker} {what} (exit code {code}): {hint}.")

    def _end(self, at_once: bool) -> None:
        try:
            for process, connection in zip(self._processes, self._connections, strict=False):
                if at_once:
                    process.terminate()
                else:
                    try:
                        connection.send(None)
                    except OSError:
                        continue
            for process in self._processes:
                process.join(_PATIENCE)
                if process.is_alive():
                    process.kill()
                    process.join()
                process.close()
        finally:
            for connection in self._connections:
                connection.close()
            self.arrays.close()
            self._processes, self._connections = [], []
