"""From rows to knots: ties become one weighted mean, and very many rows become few knots."""

from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.lazy import cached_property
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.smooth._kernels import knots as kernels
from bottega.smooth._kernels.state_space import full_pass
from bottega.smooth._splines.cubic_curve import CubicCurve

# Two x nearer than this share of the range are one x to a fit in double precision.
TIE = 1e-9
_WIDEST_WEIGHTS = 1e15  # ratio of the largest to the smallest


@dataclass(frozen=True)
class KnotRows:
    """The rows in the order of x, and the knots that stand for them, on the unit scale."""

    rows: Rows
    low: float  # the least x
    span: float  # the range of x
    order: IntArray  # positions of the rows in the order of x
    y: FloatArray  # responses in that order
    weight: FloatArray | None
    start: IntArray  # the rows of knot g are those from start[g] to start[g + 1]
    knots: FloatArray  # weighted mean of x, of y, and sum of the weights, of each knot
    mean: FloatArray
    total: FloatArray
    pure: float  # weighted sum of squares of y about the means of the knots
    # Number of rows of each knot, and their sums of powers 2 to 4 about the mean; without weights
    # alone, where they save going through the rows again.
    moments: FloatArray | None
    # What multiplies responses where their fourth powers are summed; the moments are of these.
    unit: float

    @cached_property
    def gaps(self) -> FloatArray:
        """Distance from each knot to the next."""
        return np.diff(self.knots)

    def per_row(self, values: Array) -> Array:
        """Return the values of the knots for each row, in the order of x."""
        return np.repeat(values, np.diff(self.start))

    @property
    def shares(self) -> FloatArray:
        """The share of each row in the weight of its knot, in the order of x."""
        share = 1 / self.per_row(self.total)
        return share if self.weight is None else self.weight * share

    def precision(self, alpha: float) -> float:
        """Return 1 / alpha on the unit scale; a penalty of zero is one too small to be seen."""
        return 1 / max(alpha, self._least)

    @cached_property
    def _least(self) -> float:
        return 1e-18 * float(self.total.min()) * float(self.gaps.min()) ** 3

    def states(self, alpha: float, traced: bool = False) -> tuple[FloatArray, ...]:
        """Return what `full_pass` does at a penalty in the units of x."""
        q = self.precision(alpha / self.span**3)
        return full_pass(self.mean, self.total, self.gaps, q, traced)

    def curve(self, states: tuple[FloatArray, ...]) -> CubicCurve:
        """Return the curve of states."""
        return CubicCurve(self.low, self.span, self.knots, *states[:3])


def unit_of(y: FloatArray) -> float:
    """Return the power of two that brings responses near one, 1.0 for ordinary ones."""
    top = float(max(y.max(), -y.min()))
    return 1.0 if top == 0 or 1e-50 <= top <= 1e50 else 0.5 ** int(np.frexp(top)[1])


def knot_rows(rows: Rows, most: int | None = None) -> KnotRows:
    """Return the knots of rows.

    With `most`, and more distinct x than that, rows are gathered in cells even in ``rank / n + x``
    (x on the unit scale): no cell is wider than ``2 / most`` of the range, nor holds more than that
    share of the rows, so neither a long tail nor a dense middle is blurred.
    """
    order = np.argsort(rows.X[:, 0], kind="stable")
    x, y = rows.X[order, 0], rows.y[order]
    weight = None if rows.weight is None else rows.weight[order]
    low, span = float(x[0]), float(x[-1] - x[0])
    if not span > 0:
        raise InputError(
            f"All {len(x)} values of x are equal ({low:g}); a curve needs at least two."
        )
    unit = (x - low) / span
    start = kernels.tie_starts(unit, TIE)
    if most is not None and len(start) - 1 > most:
        first = start[:-1]
        cell = np.floor(most // 2 * (first / len(x) + unit[first]) * (1 - 1e-12))
        start = np.append(first[np.diff(cell, prepend=-1) > 0], len(x))
    if len(start) < 3:
        raise InputError(
            f"SmoothingSpline needs at least 2 distinct values of x; there is 1 among {len(x)} "
            "rows."
        )
    knots, mean, total, pure = kernels.knot_means(
        unit, y, np.ones(len(x)) if weight is None else weight, start
    )
    if total.max() > _WIDEST_WEIGHTS * total.min():
        raise InputError(
            f"The weights of the x range from {total.min():.3g} to {total.max():.3g}: beside the "
            "largest the smallest are lost in floating point. Give those rows weight zero."
        )
    unit = unit_of(y)
    scaled = (y, mean) if unit == 1.0 else (y * unit, mean * unit)
    moments = kernels.central_sums(scaled[0], start, scaled[1]) if weight is None else None
    found = (knots, mean, total, pure, moments, unit)
    return KnotRows(rows, low, span, order, y, weight, start, *found)
