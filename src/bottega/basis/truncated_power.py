"""Truncated powers of each input."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from bottega.basis._expansion.splines import DEGREE, SHARED, SplineBasis
from bottega.core.params import Parameter
from bottega.core.typing import FloatArray

__all__ = ["TruncatedPower"]


class TruncatedPower(SplineBasis):
    r"""Powers of x, and one-sided powers that set in at each knot.

    .. math:: x, \dots, x^d,\ (x - \xi_1)_+^d, \dots, (x - \xi_K)_+^d

    They span the same splines as `BSpline` and are easy to read: the coefficient of
    :math:`(x - \xi_k)_+^d` is the jump of the d-th derivative (over d!) at the knot.

    Parameters
    ----------
    n_knots : int, default=5
        Number K of knots, where they are not given; more bend more.
    knots : {"quantile", "even"} or array-like of shape (K,) or (p, K), default="quantile"
        Knots: at quantiles of each column, evenly spaced, or given (for all columns, or a row for
        each).
    degree : int, default=3
        Degree d of the pieces.
    boundary : pair of float, optional
        Between which knots may lie; the least and greatest value of each column by default.
    intercept : bool, default=False
        Whether a column of ones comes first, one for each input. The linear models bring their own.

    Attributes
    ----------
    knots_ : ndarray of shape (p, K)
        Knots in use.
    boundary_ : ndarray of shape (p, 2)
        Range in use (a constant column is given a range of one).
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

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

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_knots": SHARED["n_knots"],
        "knots": SHARED["knots"],
        "degree": DEGREE,
        "boundary": SHARED["boundary"],
        "intercept": SHARED["intercept"],
    }
    _word: ClassVar[str] = "power"

    def __init__(
        self,
        n_knots: int = 5,
        *,
        knots: Any = "quantile",
        degree: int = 3,
        boundary: Any = None,
        intercept: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.knots = knots
        self.degree = degree
        self.boundary = boundary
        self.intercept = intercept

    def _count(self) -> int:
        return self.knots_.shape[1] + int(self.degree)

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        degree = int(self.degree)
        powers = x[:, None] ** np.arange(0 if self.intercept else 1, degree + 1)
        return np.hstack([powers, np.maximum(x[:, None] - self.knots_[j], 0.0) ** degree])
