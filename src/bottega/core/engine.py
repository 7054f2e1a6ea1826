"""Where work runs: in this process, or where the engine of a block sends it.

`bottega.scale` has the engines. Here is only what the rest of the package must know of them: how a
task is sent, and how statistics of parts of the rows are made where the parts are held.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

__all__ = ["Engine", "HeldParts", "current_engine", "sent", "working_on"]

Answer = TypeVar("Answer")


class HeldParts(Protocol):
    """Parts of the rows that stay where an engine has put them, from pass to pass."""

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return ``function(part)``, or ``function(part, each[i])``, of every part, in order."""

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what `function` gives for every part, merged in order; None is left out."""

    def then(self, function: Callable[[Any], Any]) -> "HeldParts":
        """Return what a function makes of every part, held in their place."""


class Engine(Protocol):
    """Other processes, on this machine or on a cluster."""

    workers: int

    def call(self, task: Callable[[], Any]) -> Any:
        """Run a task in another process and return its answer; several threads may call at once."""

    def cancel(self) -> None:
        """Give up the tasks that run: their answers are not wanted any more."""

    def hold(self, parts: Sequence[Any], load: Callable[[Any], Any]) -> HeldParts:
        """Return what `load` makes of every part, held by the other processes."""


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
