"""Ctrl-C that is heard although Python lost it.

The handler of the signal raises KeyboardInterrupt in whatever the main thread is doing. If that is
a function which C code has called (a callback of the compiler, of the garbage collector, a
finalizer), the exception is printed and forgotten. Inside `remembered` the press is noted as well,
and work that takes long asks by `raise_if_pressed`.
"""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, NoReturn

__all__ = ["forget", "press", "raise_if_pressed", "remembered"]


class _Presses:
    """Whether Ctrl-C was pressed, and whether anybody takes notice."""

    noted = False
    pressed = False


@contextmanager
def remembered() -> Iterator[None]:
    """Take notice of Ctrl-C inside the block, and do what would be done without it as well.

    Signals are the main thread's: in another one the block changes nothing.
    """
    before = signal.getsignal(signal.SIGINT)
    if _Presses.noted or current_thread() is not main_thread() or not callable(before):
        yield
        return

    def note(number: int, frame: Any) -> Any:
        _Presses.pressed = True
        return before(number, frame)

    signal.signal(signal.SIGINT, note)
    _Presses.noted = True
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is note:
            signal.signal(signal.SIGINT, before)
        _Presses.noted = False
        forget()


def press(*_: object) -> NoReturn:
    """Handle another signal as Ctrl-C."""
    _Presses.pressed = _Presses.noted
    raise KeyboardInterrupt


def raise_if_pressed() -> None:
    """Raise KeyboardInterrupt in the main thread if Ctrl-C was pressed and nobody has heard it."""
    if _Presses.pressed and current_thread() is main_thread():
        forget()
        raise KeyboardInterrupt


def forget() -> None:
    """Forget the press: the work has been stopped."""
    _Presses.pressed = False
