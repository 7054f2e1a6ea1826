"""A limit for what a database may take: a query need not have an end."""

import os
from collections.abc import Callable
from threading import Timer
from typing import Any

from bottega.core.errors import ParameterError

__all__ = ["TimeLimit"]

_SECONDS = 600.0
_SETTING = "BOTTEGA_QUERY_SECONDS"


class TimeLimit:
    """Stops what is done inside ``with limit:`` after some seconds, of each block anew.

    Parameters
    ----------
    stop : callable
        Stops it, called from another thread.

    Attributes
    ----------
    seconds : float
        Ten minutes, or what the environment variable ``BOTTEGA_QUERY_SECONDS`` says.
    passed : bool
        Whether something was stopped.

    Examples
    --------
    >>> limit = TimeLimit(lambda: None)
    >>> with limit:
    ...     done = 2 + 2
    >>> limit.passed
    False
    """

    def __init__(self, stop: Callable[[], Any]) -> None:
        given = os.environ.get(_SETTING, "")
        try:
            self.seconds = float(given or _SECONDS)
        except ValueError:
            self.seconds = -1.0
        if not self.seconds > 0:
            raise ParameterError(f"{_SETTING}={given!r}: give a number of seconds above 0.")
        self.passed = False
        self._stop = stop
        self._timer: Timer | None = None

    def __enter__(self) -> "TimeLimit":
        self._timer = Timer(min(self.seconds, 1e7), self._pass)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _pass(self) -> None:
        self.passed = True
        self._stop()

    def in_words(self, what: str) -> str:
        """Say that something was stopped, and what to do."""
        return (
            f"{what} did not end within {self.seconds:g} s and was stopped; ask for less, store "
            f"its answer as a table of the file, or set {_SETTING} to more seconds."
        )
