"""Claims of several parts: one row per part, a number beside what it is compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Proof", "all_hold", "columns_of", "gap"]


@dataclass(frozen=True)
class Proof:
    """One part of a claim.

    Attributes
    ----------
    name : str
        What is measured.
    found : float
        The number that was found.
    against : float
        What it is compared with.
    holds : bool
        True if the comparison supports the verdict.
    """

    name: str
    found: float
    against: float
    holds: bool


def columns_of(parts: Sequence[Proof]) -> dict[str, Any]:
    """Return the columns of an experiment with one row per part.

    Examples
    --------
    >>> columns_of([Proof("error", 0.5, 1.0, True)])["compared with"]
    [1.0]
    """
    return {
        "part": [each.name for each in parts],
        "found": [float(each.found) for each in parts],
        "compared with": [float(each.against) for each in parts],
        "supported": [bool(each.holds) for each in parts],
    }


def all_hold(parts: Sequence[Proof]) -> bool:
    """Return True if every part supports the verdict."""
    return all(bool(each.holds) for each in parts)


def gap(one: Any, two: Any) -> float:
    """Return the largest difference of two arrays, relative to the largest entry of the second.

    Examples
    --------
    >>> gap([1.0, 4.5], [1.0, 5.0])
    0.1
    """
    one, two = np.asarray(one, dtype=np.float64), np.asarray(two, dtype=np.float64)
    return float(np.max(np.abs(one - two)) / np.max(np.abs(two)))
