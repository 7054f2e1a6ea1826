"""The levels of a category: which have a column of their own, and where each value goes."""

from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from numbers import Integral, Real
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.typing import IntArray
from bottega.data import convert

UNKNOWN = ("error", "ignore", "infrequent_if_exist")

Seen = Counter[str | None]


def check_policy(handle_unknown: Any, min_frequency: Any) -> None:
    """Raise when a policy on rare and new levels is none."""
    if handle_unknown not in UNKNOWN:
        listed = ", ".join(map(repr, UNKNOWN[:-1]))
        raise ParameterError(
            f"handle_unknown is {listed} or {UNKNOWN[-1]!r}, not {handle_unknown!r}."
        )
    if min_frequency is None:
        return
    whole = isinstance(min_frequency, Integral) and not isinstance(min_frequency, bool)
    share = isinstance(min_frequency, Real) and not isinstance(min_frequency, Integral)
    if not (whole and min_frequency >= 1) and not (share and 0 < float(min_frequency) < 1):
        raise ParameterError(
            "min_frequency is a whole number of rows from 1 on, a share of the rows between 0 and "
            f"1, or None, not {min_frequency!r}."
        )


def split_levels(seen: Seen, min_frequency: float | None) -> tuple[list[str], list[str]]:
    """Return the sorted levels that have enough rows, and the rare ones."""
    levels = sorted(level for level in seen if level is not None)
    if min_frequency is None:
        return levels, []
    # As in scikit-learn, a share is one of all rows, those without a value among them.
    least = min_frequency if isinstance(min_frequency, Integral) else min_frequency * seen.total()
    rare = [level for level in levels if seen[level] < least]
    return [level for level in levels if seen[level] >= least], rare


@dataclass(frozen=True)
class Category:
    """What is known about the levels of one column.

    Attributes
    ----------
    name : str
        The column.
    levels, rare : list of str
        Levels with a place of their own, and those that share the place behind them.
    missing_level : bool
        Whether missing is the last level.
    """

    name: str
    levels: list[str]
    rare: list[str]
    missing_level: bool

    @property
    def titles(self) -> list[str]:
        """The names of the places; a level may itself be called "other" or "missing"."""
        found = list(self.levels)
        for word, there in (("other", bool(self.rare)), ("missing", self.missing_level)):
            if there:
                found.append(f"({word})" if word in self.levels else word)
        return found

    def codes(self, values: list[str | None], handle_unknown: str, one_hot: bool) -> IntArray:
        """Return the place of each value, -1 for none; a new level is treated as asked."""
        other = len(self.levels) if self.rare else -1
        known: dict[str | None, int] = {level: i for i, level in enumerate(self.levels)}
        known.update(dict.fromkeys(self.rare, other))
        if self.missing_level:
            known[None] = len(self.levels) + bool(self.rare)
        elif not one_hot:
            known[None] = -1  # a code may be missing, whatever was seen
        elsewhere = other if handle_unknown == "infrequent_if_exist" else -1
        if handle_unknown == "error":
            self._refuse_new(values, known)
        # A hash of each value: measured twice as fast as a binary search among the levels.
        found = map(known.get, values, repeat(elsewhere))
        return np.fromiter(found, dtype=np.int64, count=len(values))

    def _refuse_new(self, values: list[str | None], known: dict[str | None, int]) -> None:
        new = set(values).difference(known)
        if not new:
            return
        rows = [i for i, value in enumerate(values) if value in new]
        present = [value for value in (values[i] for i in rows) if value is not None]
        if present:
            distinct = len(new - {None})
            raise InputError(
                f"Column {self.name!r} holds {distinct:,} "
                f"categor{'y' if distinct == 1 else 'ies'} never seen when the model was learnt, "
                f"{convert.short(present[0])} among them, in {len(present):,} "
                f"row{'' if len(present) == 1 else 's'}"
                f"; correct them, or give handle_unknown='ignore'."
                f"{did_you_mean(present[0], self.levels)}"
            )
        raise InputError(
            f"Column {self.name!r} is missing in {len(rows):,} rows, first in row {rows[0] + 1}, "
            "and had no missing value when the model was learnt; fill it in, or give "
            "handle_unknown='ignore'."
        )
