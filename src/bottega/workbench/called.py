"""A comparison as the call that repeats it."""

import os
from typing import Any

from bottega.core.losses import Cost, Loss

__all__ = ["described", "name_of", "python_call"]


class _Variable(str):
    """A name that stands for values in a call."""

    def __repr__(self) -> str:
        return str(self)


def name_of(name: str, given: Any) -> str | None:
    """Return the name of a column, or a name for values that have none."""
    return given if given is None or isinstance(given, str) else _Variable(name)


def python_call(data: Any, target: Any, **options: Any) -> str:
    """Return the Python call that repeats the comparison, as far as it can be written down."""
    shown = repr(str(data)) if isinstance(data, str | os.PathLike) else "data"
    goal = repr(target) if isinstance(target, str) else ("target" if target is not None else None)
    arguments = [shown] + ([goal] if goal else [])
    given = {name: value for name, value in options.items() if value is not None}
    arguments += [f"{name}={value!r}" for name, value in given.items()]
    return f"bottega.compare({', '.join(arguments)})"


def described(value: Any) -> str:
    """Write an argument in the same words in every process."""
    if isinstance(value, Loss) and not isinstance(value, Cost):
        return f"{value.name}: {value.title}"
    return repr(value)
