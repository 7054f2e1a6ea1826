"""Progress of long work, as events.

Work calls `report`; whoever wants to know (a bar on the terminal, a live web page, a test)
listens. A listener hears the work that is done inside its block, in whatever thread, and none of
another job in the same process. With no listener an event costs one comparison.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Any, Self, TypeVar

__all__ = [
    "PARTS",
    "PREPARING",
    "Event",
    "Stopwatch",
    "is_heard",
    "listen",
    "report",
    "reported",
    "set_aside",
    "written",
]

PREPARING = "preparing kernels"  # the stage of what is done once on a machine
PARTS = "parts of the rows"  # the stage of each pass over a source

Item = TypeVar("Item")


@dataclass(frozen=True)
class Event:
    """One step of a long work: how much of which stage is done, and what came of the step."""

    stage: str
    done: int
    total: int
    message: str = ""
    detail: Any = None


_listeners: ContextVar[tuple[Callable[[Event], None], ...]] = ContextVar("listeners", default=())


def report(stage: str, done: int, total: int, message: str = "", detail: Any = None) -> None:
    """Report to the listeners, if there are any, that `done` of `total` steps are finished."""
    listeners = _listeners.get()
    if listeners:
        event = Event(stage, done, total, message, detail)
        for listener in listeners:
            listener(event)


def is_heard() -> bool:
    """Return whether anybody listens."""
    return bool(_listeners.get())


def reported(stage: str, total: int, items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, of which there are `total`, and report each.

    Examples
    --------
    >>> with listen(lambda event: print(event.done, "of", event.total)):
    ...     found = sum(reported("numbers", 2, [3, 4]))
    1 of 2
    2 of 2
    """
    for done, item in enumerate(items, start=1):
        report(stage, done, total)
        yield item


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


@contextmanager
def written(name: str, every: float = 1.0) -> Iterator[None]:
    """Write the progress of the work inside the block to standard output, at most so often.

    Examples
    --------
    >>> with written("Forest"):
    ...     report("trees", 5, 5)
    [Forest] trees: 5 of 5
    """
    last = float("-inf")

    def write(event: Event) -> None:
        nonlocal last
        now = perf_counter()
        if event.done == event.total or now - last >= every:
            last = now
            what = f" {event.stage}:" if event.stage else ""
            sys.stdout.write(f"[{name}]{what} {event.done} of {event.total}\n")

    with listen(write):
        yield


class Stopwatch:
    """Measure the seconds of a work, without those (`aside`) that were set aside in it.

    Examples
    --------
    >>> with Stopwatch() as watch:
    ...     with set_aside():
    ...         pass  # compile a kernel
    >>> watch.seconds >= 0
    True
    """

    seconds: float = 0.0

    def __init__(self) -> None:
        self._lock = Lock()
        self._paused_by = 0  # threads that set time aside at the moment
        self._paused_at = self.aside = 0.0

    def __enter__(self) -> Self:
        self._token: Token[tuple[Stopwatch, ...]] = _watches.set((*_watches.get(), self))
        self._start = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = perf_counter() - self._start - self.aside
        _watches.reset(self._token)

    def _pause(self, threads: int) -> None:
        with self._lock:
            if self._paused_by == 0:
                self._paused_at = perf_counter()
            self._paused_by += threads
            if self._paused_by == 0:
                self.aside += perf_counter() - self._paused_at


_watches: ContextVar[tuple[Stopwatch, ...]] = ContextVar("watches", default=())


@contextmanager
def set_aside() -> Iterator[None]:
    """Keep the time of the block out of the stopwatches around it: it is not paid again."""
    watches = _watches.get()
    for watch in watches:
        watch._pause(1)
    try:
        yield
    finally:
        for watch in watches:
            watch._pause(-1)
