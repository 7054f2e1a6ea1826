"""Where work runs: in this process, or where the engine of a block sends it.

`bottega.scale` has the engines. Here is only what the rest of the package must know of them: how a
task is sent, and how statistics of parts of the rows are made by those who share them out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

__all__ = ["Engine", "SharedParts", "current_engine", "sent", "working_on"]

Answer = TypeVar("Answer")


class SharedParts(Protocol):
    """Parts of the rows that the other processes share out among themselves."""

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return ``function(part)``, or ``function(part, each[i])``, of every part, in order."""

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what `function` gives for every part, merged in order; None is left out."""

    def keep(self, function: Callable[[Any], Iterable[Any]]) -> "SharedParts":
        """Return what a function makes of every part, in the parts' place.

        Processes that have memory of their own keep it there as a `KeptPart`, from pass to pass.
        """


class Engine(Protocol):
    """Other processes, on this machine or on a cluster."""

    workers: int

    def call(self, task: Callable[[], Any]) -> Any:
        """Run a task in another process and return its answer; several threads may call at once."""

    def cancel(self) -> None:
        """Give up the tasks that run: their answers are not wanted any more."""

    def share_out(self, parts: Sequence[Any]) -> SharedParts:
        """Return parts, such as files, that are sent to the other processes as they are."""


_engine: ContextVar[Engine | None] = ContextVar("engine", default=None)


def current_engine() -> Engine | None:
    """Return the engine of this block, None where work stays in this process."""
    return _engine.get()


@contextmanager
def working_on(engine: Engine | None) -> Iterator[None]:
    """Send what can be sent inside the block to an engine; None keeps it here."""
    outside = _engine.set(engine)
    try:
        yield
    finally:
        _engine.reset(outside)


def sent(task: Callable[[], Answer]) -> Answer:
    """Run a task where the engine sends it, and return its answer.

    The task must not change what it shares with others: it may run on a copy.

    Examples
    --------
    >>> sent(lambda: 6 * 7)
    42
    """
    engine = current_engine()
    if engine is None:
        return task()
    found: Answer = engine.call(task)
    return found
