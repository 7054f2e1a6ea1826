"""A parameter that is an array of numbers or labels, whose shape the data decide."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.params import Parameter

__all__ = ["GivenArray"]


@dataclass(frozen=True)
class GivenArray(Parameter):
    """A list, array or table of one to three axes."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a list or an array, not empty, of numbers or labels."""
        if not (hasattr(value, "__array__") or isinstance(value, list | tuple)):
            return False
        try:
            found = np.asarray(value)
        except ValueError:  # lists of several lengths
            return False
        return 1 <= found.ndim <= 3 and found.size > 0

    def describe(self) -> str:
        """Return the words."""
        return "an array"

    def schema(self) -> dict[str, Any]:
        """Return an array as JSON schema."""
        return {"type": "array"}

    def parse(self, text: str) -> Any:
        """Read numbers separated by commas."""
        return [float(part) for part in text.split(",")]
