"""What a fitted machine says about the rows of its fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.kernel._support.machines import Machine

__all__ = ["Slacks", "slacks_of"]

_ZERO = 1e-9  # slack below this is rounding


@stored
@dataclass(frozen=True)
class Slacks:
    """Rows of the fit, one entry each for every machine that they are part of."""

    pair: Any  # labels of the two classes, or None for one machine
    row: IntArray
    y: Array
    decision: FloatArray
    slack: FloatArray
    alpha: FloatArray
    bound: FloatArray
    classes: bool

    def cases(self) -> Array:
        """Return in words where each row lies."""
        words = (
            ("outside", "on the margin", "inside the margin", "misclassified")
            if self.classes
            else ("inside", "on the edge", "outside", "outside")
        )
        free = (self.alpha > 0) & (self.alpha < self.bound)
        within = (self.alpha >= self.bound) | (self.slack > _ZERO)
        wrong = within & (self.slack > 1) if self.classes else np.zeros(len(free), dtype=bool)
        place = np.where(wrong, 3, np.where(free, 1, np.where(within, 2, 0)))
        return np.array(words, dtype=object)[place]

    def columns(self) -> dict[str, Any]:
        """Return the columns of the table."""
        pair = {} if self.pair is None else {"pair": self.pair}
        return pair | {
            "row": self.row,
            "y": self.y,
            "decision": self.decision,
            "slack": self.slack,
            "alpha": self.alpha,
            "C": self.bound,
            "case": self.cases(),
        }


def slacks_of(
    machines: Sequence[Machine],
    rows: Sequence[IntArray],
    y: Array,
    center: float,
    unit: float,
    *,
    names: Sequence[str] | None = None,
    classes: bool,
) -> Slacks:
    """Return the rows of several machines, one after the other.

    `rows` are those of each machine, `y` the classes or responses of all; numbers of a machine are
    in `unit`, from `center`; `names` are those of the machines.
    """

    def joined(name: str) -> FloatArray:
        return np.concatenate([getattr(each, name) for each in machines])

    every = np.concatenate(list(rows))
    slack = joined("slack")
    return Slacks(
        pair=None if names is None else np.repeat(names, [len(each) for each in rows]),
        row=every,
        y=y[every],
        decision=joined("fitted") * unit + center,
        slack=np.where(slack <= _ZERO, 0.0, slack) * unit,
        alpha=np.abs(joined("beta")) * unit,
        bound=joined("bound") * unit,
        classes=classes,
    )
