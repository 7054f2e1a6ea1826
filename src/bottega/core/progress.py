"""Progress of long work, as events.

Work calls `report`; whoever wants to know (a bar on the terminal, a live web page, a test)
listens. With no listener an event costs one comparison and nothing is shown.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

__all__ = ["Event", "listen", "report"]


@dataclass(frozen=True)
class Event:
    """One step of a long work: how much of which stage is done."""

    stage: str
    done: int
    total: int
    message: str = ""


_listeners: list[Callable[[Event], None]] = []


def report(stage: str, done: int, total: int, message: str = "") -> None:
    """Tell the listeners, if there are any, that `done` of `total` steps are behind us."""
    if _listeners:
        event = Event(stage, done, total, message)
        for listener in tuple(_listeners):
            listener(event)


@contextmanager
def listen(listener: Callable[[Event], None]) -> Iterator[None]:
    """Call `listener` with each event that happens inside the block, whatever thread it is from.

    Examples
    --------
    >>> seen = []
    >>> with listen(seen.append):
    ...     report("folds", 1, 5)
    >>> seen[0].done
    1
    """
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
