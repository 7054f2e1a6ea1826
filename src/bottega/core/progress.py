"""Progress of long work, as events.

Work calls `report`; whoever wants to know (a bar on the terminal, a live web page, a test)
listens. A listener hears the work that is done inside its block, in whatever thread, and none of
another job in the same process. With no listener an event costs one comparison.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

__all__ = ["Event", "listen", "report"]


@dataclass(frozen=True)
class Event:
    """One step of a long work: how much of which stage is done."""

    stage: str
    done: int
    total: int
    message: str = ""


_listeners: ContextVar[tuple[Callable[[Event], None], ...]] = ContextVar("listeners", default=())


def report(stage: str, done: int, total: int, message: str = "") -> None:
    """Report to the listeners, if there are any, that `done` of `total` steps are finished."""
    listeners = _listeners.get()
    if listeners:
        event = Event(stage, done, total, message)
        for listener in listeners:
            listener(event)


@contextmanager
def listen(listener: Callable[[Event], None]) -> Iterator[None]:
    """Call `listener` with each event of the work inside the block, whatever thread it is from.

    Examples
    --------
    >>> seen = []
    >>> with listen(seen.append):
    ...     report("folds", 1, 5)
    >>> seen[0].done
    1
    """
    token = _listeners.set((*_listeners.get(), listener))
    try:
        yield
    finally:
        _listeners.reset(token)
