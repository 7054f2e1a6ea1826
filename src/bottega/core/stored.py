"""Parts of fitted models that may be stored in a model file."""

from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

from bottega.core.errors import InputError

__all__ = ["refuse_functions", "stored", "stored_types"]

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


def refuse_functions(model: Any) -> None:
    """Refuse to store a model with a parameter that is a function: a model file holds no code.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> refuse_functions(BaselineRegressor(loss=lambda y, z: abs(y - z)))
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: A model file holds no code, and loss of this BaselineRegressor \
is a function (<lambda>); use a loss that has a name, or keep the model with pickle.
    """
    params = model.get_params(deep=True) if hasattr(model, "get_params") else {}
    for name, value in params.items():
        value = getattr(value, "function", value)  # of a loss made of a function
        if isinstance(value, FunctionType | BuiltinFunctionType):
            path = name.split("__")
            owner = params.get("__".join(path[:-1]), model)
            if path[-1] in getattr(owner, "not_stored", ()):  # a fitted model does without it
                continue
            raise InputError(
                f"A model file holds no code, and {path[-1]} of this {type(owner).__name__} is a "
                f"function ({value.__name__}); use a {path[-1]} that has a name, or keep the model "
                "with pickle."
            )
