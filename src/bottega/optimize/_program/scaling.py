"""Programs in units in which their numbers are near 1, and answers turned back."""

from dataclasses import dataclass

import numpy as np

from bottega.core.typing import FloatArray
from bottega.optimize._program.conditions import Conditions, Multipliers

__all__ = ["ProgramScaling", "power_of_two", "scaled"]


@dataclass(frozen=True)
class ProgramScaling:
    """x = columns * x'', f = objective * f'', conditions multiplied by rows and equations."""

    columns: FloatArray
    rows: FloatArray
    equations: FloatArray
    objective: float

    def point(self, x: FloatArray) -> FloatArray:
        """Return a point in the units that were given."""
        return np.asarray(self.columns * x)

    def multipliers(self, m: Multipliers) -> Multipliers:
        """Return multipliers in the units that were given."""
        return Multipliers(
            self.objective * (self.rows * m.rows),
            self.objective * (self.equations * m.equations),
            self.objective * (m.high / self.columns),
            self.objective * (m.low / self.columns),
        )

    def certificate(self, m: Multipliers) -> Multipliers:
        """Return a contradiction of the conditions that were given; its largest entry is 1."""
        found = [self.rows * m.rows, self.equations * m.equations]
        found += [m.high / self.columns, m.low / self.columns]
        top = max(float(np.max(np.abs(each), initial=0.0)) for each in found)
        return Multipliers(*(each / top for each in found))


def scaled(
    Q: FloatArray | None, c: FloatArray, conditions: Conditions
) -> tuple[FloatArray | None, FloatArray, Conditions, ProgramScaling]:
    """Return the program in even units, and how to get back.

    A column is divided by the root of its curvature, or where it has none by its largest
    coefficient; a row by its largest coefficient; then all unknowns by their typical size.
    """
    stacked = np.vstack([conditions.A, conditions.E])
    columns = np.max(np.abs(stacked), axis=0, initial=0.0)
    if Q is not None:
        curve = np.sqrt(np.maximum(np.diag(Q), 0.0))
        columns = np.where(curve > 0, curve, columns)
    columns = 1 / np.where(columns > 0, columns, 1.0)
    A, E = conditions.A * columns, conditions.E * columns
    rows, equations = _inverse_sizes(A), _inverse_sizes(E)
    A, E = A * rows[:, None], E * equations[:, None]
    b, e = conditions.b * rows, conditions.e * equations
    low, high = conditions.low / columns, conditions.high / columns
    slope = c * columns
    unit = _typical([b, e, low, high] + ([slope] if Q is not None else []))
    columns = columns * unit
    moved = Conditions(A, b / unit, E, e / unit, low / unit, high / unit)
    slope = slope * unit
    curve2 = None if Q is None else (Q * columns[:, None]) * columns
    top = float(np.max(np.abs(slope), initial=0.0))
    if curve2 is not None:
        top = max(top, float(np.max(np.abs(curve2))))
    top = top if top > 0 else 1.0
    scaling = ProgramScaling(columns, rows / unit, equations / unit, top)
    return None if curve2 is None else curve2 / top, slope / top, moved, scaling


def _inverse_sizes(rows: FloatArray) -> FloatArray:
    size = np.max(np.abs(rows), axis=1, initial=0.0)
    return np.asarray(1 / np.where(size > 0, size, 1.0))


def _typical(values: list[FloatArray]) -> float:
    """Return the median of the sizes that are neither zero nor infinite; 1 if there is none."""
    size = np.abs(np.concatenate(values))
    size = size[np.isfinite(size) & (size > 0)]
    return float(np.median(size)) if len(size) else 1.0


def power_of_two(size: FloatArray) -> FloatArray:
    """Return the powers of two just below some sizes, division by which rounds nothing; 1 of 0.

    Examples
    --------
    >>> power_of_two(np.array([3.0, 0.3, 0.0]))
    array([2.  , 0.25, 1.  ])
    """
    return np.asarray(np.exp2(np.floor(np.log2(np.where(size > 0, size, 1.0)))))
