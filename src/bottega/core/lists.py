"""Parameters that may be several values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.params import AnyOf, Integer, Parameter, Real

__all__ = ["Alphas", "Listed", "alphas_of"]


@dataclass(frozen=True, init=False)
class Listed(Parameter):
    """A list or one-dimensional array of values that another declaration admits."""

    item: Parameter

    def __init__(self, item: Parameter, *, help: str = "") -> None:
        object.__setattr__(self, "item", item)
        object.__setattr__(self, "help", help)

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a list, not empty, of admitted values."""
        if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1:
            return False
        return len(value) > 0 and all(self.item.accepts(one) for one in value)

    def describe(self) -> str:
        """Return what each value must be."""
        return f"a list, each {self.item.describe()}"

    def schema(self) -> dict[str, Any]:
        """Return the list as JSON schema."""
        return {"type": "array", "items": self.item.schema()}

    def parse(self, text: str) -> list[Any]:
        """Read values separated by commas."""
        return [self.item.parse(part) for part in text.split(",")]


def Alphas(least: int = 2, *, zero: bool = True) -> AnyOf:  # noqa: N802
    """Declare `alphas`: how many penalties a path has, or which."""
    values = Listed(Real(0, None, open_low=not zero, log=True))
    return AnyOf(Integer(least), values, help="penalties on the path: how many, or which")


def alphas_of(values: Any, alphas: Any) -> Any:
    """Return the penalties a path was asked for, else those of `alphas` if these are values."""
    return alphas if values is None and np.ndim(alphas) == 1 else values
