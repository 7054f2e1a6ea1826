"""Conditions on columns, and how they are written."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from bottega.core.typing import BoolArray, FloatArray


@dataclass(frozen=True)
class Condition:
    """What a column must be: in (low, high], or one of some levels, or missing.

    Attributes
    ----------
    low, high : float
        The numbers that pass are above `low` and at most `high`; none do where low >= high.
    levels : frozenset of int, optional
        Codes of the levels that pass; None for a column of numbers.
    missing : bool
        Whether a missing value passes.
    """

    low: float = -np.inf
    high: float = np.inf
    levels: frozenset[int] | None = None
    missing: bool = True

    @classmethod
    def interval(cls, low: float, high: float, missing: bool) -> Self:
        """Return a condition on numbers; an empty interval is always written the same way."""
        return cls(low, high, None, missing) if low < high else cls(np.inf, -np.inf, None, missing)

    @property
    def no_value(self) -> bool:
        """Whether no number and no level passes."""
        return self.low >= self.high if self.levels is None else not self.levels

    def is_full(self, n_levels: int) -> bool:
        """Return True if everything passes."""
        if self.levels is not None:
            return self.missing and len(self.levels) == n_levels
        return self.missing and self.low == -np.inf and self.high == np.inf

    def __and__(self, other: "Condition") -> "Condition":
        missing = self.missing and other.missing
        if self.levels is not None and other.levels is not None:
            return Condition(levels=self.levels & other.levels, missing=missing)
        return Condition.interval(max(self.low, other.low), min(self.high, other.high), missing)

    def __le__(self, other: "Condition") -> bool:
        """Return True if what passes here passes `other` too."""
        if self.missing and not other.missing:
            return False
        if self.levels is not None and other.levels is not None:
            return self.levels <= other.levels
        return self.no_value or (other.low <= self.low and self.high <= other.high)

    def join(self, other: "Condition") -> "Condition | None":
        """Return the condition that either passes; None where a gap is between two intervals."""
        missing = self.missing or other.missing
        if self.levels is not None and other.levels is not None:
            return Condition(levels=self.levels | other.levels, missing=missing)
        if self.no_value or other.no_value:
            whole = other if self.no_value else self
            return Condition.interval(whole.low, whole.high, missing)
        if max(self.low, other.low) > min(self.high, other.high):
            return None
        return Condition.interval(min(self.low, other.low), max(self.high, other.high), missing)

    def holds(self, column: FloatArray) -> BoolArray:
        """Return which entries of a column pass."""
        absent = np.isnan(column)
        if self.levels is not None:
            inside = np.isin(column, np.array(sorted(self.levels), dtype=np.float64))
        elif self.no_value:
            inside = np.zeros(len(column), dtype=bool)
        else:
            # The lowest interval has no lower end: minus infinity is in it.
            inside = (column <= self.high) & ((column > self.low) | (self.low == -np.inf))
        return np.asarray(np.where(absent, self.missing, inside), dtype=bool)


Term = dict[int, Condition]


@dataclass(frozen=True)
class Wording:
    """Names of columns and levels (None for numbers) to write conditions with.

    `missing` are the columns whose missing values are worth a word: they had some in training.
    """

    names: Sequence[str]
    levels: Sequence[Sequence[str] | None]
    missing: Sequence[bool]

    def condition(self, j: int, condition: Condition) -> str:
        """Return one condition in words."""
        name, levels = self.names[j], self.levels[j]
        if condition.no_value:
            return f"{name} is missing"
        if condition.levels is not None and levels is not None:
            inside = sorted(condition.levels)
            outside = sorted(set(range(len(levels))) - condition.levels)
            if not outside:
                text = f"{name} is one of its levels"
            elif len(inside) == 1:
                text = f"{name} = {levels[inside[0]]}"
            elif len(outside) == 1:
                text = f"{name} != {levels[outside[0]]}"
            else:
                text = f"{name} in {{{', '.join(levels[level] for level in inside)}}}"
        elif condition.low == -np.inf and condition.high == np.inf:
            return f"{name} is not missing"
        elif condition.low == -np.inf:
            text = f"{name} <= {condition.high:.6g}"
        elif condition.high == np.inf:
            text = f"{name} > {condition.low:.6g}"
        else:
            text = f"{condition.low:.6g} < {name} <= {condition.high:.6g}"
        return f"({text} or missing)" if condition.missing and self.missing[j] else text

    def term(self, term: Term) -> str:
        """Return a conjunction in words."""
        shown = (self.condition(j, term[j]) for j in sorted(term))
        return " and ".join(shown) or "always"
