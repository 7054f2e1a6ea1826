"""Parts of fitted models that may be stored in a model file."""

from typing import TypeVar

__all__ = ["stored", "stored_types"]

T = TypeVar("T", bound=type)

_STORED: set[str] = set()


def stored(part: T) -> T:
    """Mark a class whose objects a fitted model keeps: a model file may hold nothing else.

    Examples
    --------
    >>> @stored
    ... class Curve:
    ...     pass
    >>> any(name.endswith("Curve") for name in stored_types())
    True
    """
    _STORED.add(f"{part.__module__}.{part.__qualname__}")
    return part


def stored_types() -> frozenset[str]:
    """Return the full names of the classes marked so far."""
    return frozenset(_STORED)
