"""Kinds of parameters that only factors of ratings have."""

from dataclasses import dataclass
from typing import Any

from bottega.core.params import Integer, Parameter, Real

__all__ = ["ColumnNames", "RatingScale"]


@dataclass(frozen=True)
class RatingScale(Parameter):
    """The least and the greatest rating."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is two numbers, the first below the second."""
        if not isinstance(value, tuple | list) or len(value) != 2:
            return False
        return all(Real().accepts(end) for end in value) and value[0] < value[1]

    def describe(self) -> str:
        """Return the words for two ends."""
        return "two numbers (least, greatest), the first below the second"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of two numbers."""
        return {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}

    def parse(self, text: str) -> tuple[float, float]:
        """Read two numbers with a comma between them."""
        least, greatest = (float(part) for part in text.split(","))
        return least, greatest


@dataclass(frozen=True)
class ColumnNames(Parameter):
    """The columns of a table of ratings: user, item and rating, by name or by position."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` names two or three columns, none of them twice."""
        if not isinstance(value, tuple | list) or len(value) not in (2, 3):
            return False
        named = all(isinstance(each, str) for each in value)
        placed = all(Integer(0).accepts(each) for each in value)
        return (named or placed) and len(set(value)) == len(value)

    def describe(self) -> str:
        """Return the words for names of columns."""
        return "the names (or positions) of the columns of users, items and ratings"

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of two or three names."""
        return {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 3}

    def parse(self, text: str) -> tuple[Any, ...]:
        """Read names with commas between them; whole numbers are positions."""
        parts = [part.strip() for part in text.split(",")]
        return tuple(map(int, parts)) if all(map(str.isdigit, parts)) else tuple(parts)
