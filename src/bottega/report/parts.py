"""Parts of the report, each made by itself: one that fails is told, and the others stay."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["attempt"]

Part = TypeVar("Part")


def attempt(what: str, make: Callable[[], Part], troubles: list[str]) -> Part | None:
    """Return what `make` makes; where that fails, None, and a sentence among the troubles.

    Examples
    --------
    >>> troubles = []
    >>> attempt("The ratio", lambda: 1 / 0, troubles)
    >>> troubles
    ['The ratio could not be computed (ZeroDivisionError: division by zero).']
    """
    try:
        return make()
    except Exception as error:  # the rest of the report is wanted all the same
        troubles.append(f"{what} could not be computed ({type(error).__name__}: {error}).")
        return None
