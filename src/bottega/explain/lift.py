"""How soon the rows of a class are found when rows are taken by falling score."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.explain._rows.held_out import HeldOut
from bottega.plot import lift_chart

__all__ = ["Lift"]

_SHOWN = (0.01, 0.05, 0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Lift(Shown):
    """The gain curve of a class on held-out rows.

    Attributes
    ----------
    rows : ndarray of shape (m,)
        Share of all rows taken, those of the highest probability first, from 0 to 1; one point per
        distinct probability.
    found : ndarray of shape (m,)
        Share of the rows of the class that are among them.
    label : object
        The class.
    base : float
        Share of the class among all rows.
    outcome : str
        What the rows are ordered by.
    """

    rows: FloatArray
    found: FloatArray
    label: Any
    base: float
    outcome: str
    like: Any = None

    @property
    def lift(self) -> FloatArray:
        """How many times more frequent the class is among the rows taken than among all."""
        return np.divide(
            self.found, self.rows, out=np.full(len(self.rows), np.nan), where=self.rows > 0
        )

    def at(self, share: float) -> float:
        """Return the lift when this share of the rows is taken; ties count in proportion."""
        if not 0 < share <= 1:
            raise InputError(f"share={share!r} is not allowed; it must lie in (0, 1].")
        return float(np.interp(share, self.rows, self.found) / share)

    def to_frame(self, like: Any = None) -> Any:
        """Return rows, found and lift, a row per point."""
        columns = {"rows": self.rows, "found": self.found, "lift": self.lift}
        return make_frame(columns, self.like if like is None else like)

    def summary(self) -> Summary:
        """Return the lift at some shares as a table."""
        columns: dict[str, Any] = {
            "rows taken": [f"{100 * share:g}%" for share in _SHOWN],
            "of the class found": [f"{100 * self.at(share) * share:.3g}%" for share in _SHOWN],
            "lift": [self.at(share) for share in _SHOWN],
        }
        note = f"{100 * self.base:.3g}% of all rows are of the class {self.label}"
        return Summary(f"Rows taken by falling {self.outcome}", (Section("", columns),), (note,))

    def plot(self) -> Any:
        """Draw the gain curve beside that of chance and of perfect scores."""
        return lift_chart(self.rows, self.found, base=self.base, label=self.label)


def lift_of(held: HeldOut) -> Lift | None:
    """Return the gain curve; None for numbers, classifiers without probabilities or one class."""
    if not held.has_probabilities:
        return None
    at = np.flatnonzero(held.weight > 0)
    weight, score = held.weight[at], held.outcomes[at]
    hits = weight * (held.rows.y[at] == held.label)
    if not 0 < hits.sum() < weight.sum():
        return None
    _, place = np.unique(-score, return_inverse=True)
    taken, found = (np.append(0.0, np.cumsum(np.bincount(place, w))) for w in (weight, hits))
    return Lift(
        rows=taken / taken[-1],
        found=found / found[-1],
        label=held.label,
        base=float(hits.sum() / weight.sum()),
        outcome=held.outcome,
        like=held.library,
    )
