"""From rows to knots: ties become one weighted mean, and very many rows become few knots."""

from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.smooth._kernels import knots as kernels

# Two x nearer than this share of the range are one x to a fit in double precision.
TIE = 1e-9


@dataclass(frozen=True)
class KnotRows:
    """The rows in the order of x, and the knots that stand for them.

    Attributes
    ----------
    low, span : float
        The least x and the range of x: the knots are on the unit scale.
    order : ndarray of int, shape (n,)
        Positions of the rows in the order of x.
    y : ndarray of shape (n,)
        Responses in that order.
    weight : ndarray of shape (n,) or None
        Weights in that order.
    start : ndarray of int, shape (m + 1,)
        The rows of knot g are those from start[g] to start[g + 1].
    knots, mean, total : ndarray of shape (m,)
        Weighted mean of x and of y, and sum of the weights, of each knot.
    pure : float
        Weighted sum of squares of y about the means of the knots.
    moments : ndarray of shape (4, m) or None
        Number of rows of each knot, and their sums of powers 2 to 4 about the mean; without weights
        alone, where they save going through the rows again.
    """

    low: float
    span: float
    order: IntArray
    y: FloatArray
    weight: FloatArray | None
    start: IntArray
    knots: FloatArray
    mean: FloatArray
    total: FloatArray
    pure: float
    moments: FloatArray | None

    @property
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


def knot_rows(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    *,
    most: int | None = None,
) -> KnotRows:
    """Return the knots of rows.

    With `most`, and more distinct x than that, rows are gathered in cells even in ``rank / n + x``
    (x on the unit scale): no cell is wider than ``2 / most`` of the range, nor holds more than that
    share of the rows, so neither a long tail nor a dense middle is blurred.
    """
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    weight = None if weight is None else weight[order]
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
    moments = kernels.central_sums(y, start, mean) if weight is None else None
    return KnotRows(low, span, order, y, weight, start, knots, mean, total, pure, moments)
