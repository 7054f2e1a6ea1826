"""From rows to knots: ties become one weighted mean, and very many rows become few knots."""

from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._kernels import knots as kernels

__all__ = ["KnotRows", "knot_rows"]

# Two x nearer than this share of the range are one x to a fit in double precision.
TIE = 1e-9


@dataclass(frozen=True)
class KnotRows:
    """The rows in the order of x, and the knots that stand for them.

    Attributes
    ----------
    low, span : float
        The least x and the range of x: the knots are on the unit scale.
    rows : ndarray of int, shape (n,)
        Places of the rows of positive weight among all rows, in the order of x.
    y, weight : ndarray of shape (n,)
        Responses and weights in that order.
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
    rows: IntArray
    y: FloatArray
    weight: FloatArray
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

    def per_row(self, values: FloatArray) -> FloatArray:
        """Return the values of the knots for each row, in the order of x."""
        return np.repeat(values, np.diff(self.start))


def knot_rows(
    x: FloatArray,
    y: FloatArray,
    weight: FloatArray | None,
    *,
    most: int | None = None,
    least: int = 2,
    owner: str = "A spline",
) -> KnotRows:
    """Return the knots of rows with a positive weight.

    With `most`, and more distinct x than that, rows are gathered in cells even in ``rank / n + x``
    (x on the unit scale): no cell is wider than ``2 / most`` of the range, nor holds more than that
    share of the rows, so neither a long tail nor a dense middle is blurred.
    """
    rows = np.argsort(x, kind="stable")
    if weight is not None:
        rows = rows[weight[rows] > 0]
    x, y = x[rows], y[rows]
    w = np.ones(len(x)) if weight is None else weight[rows]
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
    if len(start) - 1 < least:
        raise InputError(
            f"{owner} needs at least {least} distinct values of x; there are {len(start) - 1} "
            f"among {len(x)} rows."
        )
    knots, mean, total, pure = kernels.knot_means(unit, y, w, start)
    moments = kernels.central_sums(y, start, mean) if weight is None else None
    return KnotRows(low, span, rows, y, w, start, knots, mean, total, pure, moments)
