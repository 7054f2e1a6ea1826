"""Truncated powers of each input."""

from typing import ClassVar

import numpy as np

from bottega.basis._expansion.splines import SplineBasis
from bottega.basis.bspline import BSpline
from bottega.core.documents import documented_like
from bottega.core.typing import FloatArray

__all__ = ["TruncatedPower"]


@documented_like(BSpline)
class TruncatedPower(SplineBasis):
    r"""Powers of x, and one-sided powers that set in at each knot.

    .. math:: x, \dots, x^d,\ (x - \xi_1)_+^d, \dots, (x - \xi_K)_+^d

    They span the same splines as `BSpline` and are easy to read: the coefficient of
    :math:`(x - \xi_k)_+^d` is the jump of the d-th derivative (over d!) at the knot.

    Parameters
    ----------
    boundary : pair of float, optional
        Between which knots may lie; the least and greatest value of each column by default.
    intercept : bool, default=False
        Whether a column of ones comes first, one for each input. The linear models bring their own.

    Notes
    -----
    The columns are nearly collinear when knots are many or x is far from zero: for computing use
    `BSpline`, which spans the same functions.

    Examples
    --------
    >>> import numpy as np
    >>> TruncatedPower(knots=[2.0], degree=2).fit_transform([[1.0], [2.0], [4.0]])
    array([[ 1.,  1.,  0.],
           [ 2.,  4.,  0.],
           [ 4., 16.,  4.]])
    """

    _word: ClassVar[str] = "power"

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        degree = int(self.degree)
        powers = x[:, None] ** np.arange(0 if self.intercept else 1, degree + 1)
        return np.hstack([powers, np.maximum(x[:, None] - self.knots_[j], 0.0) ** degree])
