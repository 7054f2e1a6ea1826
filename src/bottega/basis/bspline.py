"""B-splines of each input."""

from typing import ClassVar

from bottega.basis._expansion.splines import SplineBasis
from bottega.basis.spline_functions import clamped_knots, design
from bottega.core.typing import FloatArray

__all__ = ["BSpline"]


class BSpline(SplineBasis):
    r"""Local bumps that span every piecewise polynomial with the given knots.

    With K interior knots and degree d there are K + d + 1 functions. Each is a piecewise polynomial
    with d - 1 continuous derivatives, not zero on at most d + 1 neighbouring intervals; none is
    negative between the boundary knots, where they add up to one.

    Parameters
    ----------
    n_knots : int, default=5
        Number K of interior knots, where they are not given; more bend more.
    knots : {"quantile", "even"} or array-like of shape (K,) or (p, K), default="quantile"
        Interior knots: at quantiles of each column, evenly spaced, or given (for all columns, or a
        row for each).
    degree : int, default=3
        Degree of the pieces; 3 is smooth to the eye.
    boundary : pair of float, optional
        Boundary knots; the least and greatest value of each column by default.
    intercept : bool, default=False
        Whether to keep the first function. With it the columns add up to one, which is collinear
        with an intercept; the linear models bring their own.

    Attributes
    ----------
    knots_ : ndarray of shape (p, K)
        Interior knots in use. Where ties make the quantiles of a column coincide, those of its
        distinct values are used, else even ones.
    boundary_ : ndarray of shape (p, 2)
        Boundary knots in use (a constant column is given a range of one).

    Notes
    -----
    Costs ``n p degree^2``. The same functions as R's ``splines::bs``. Beyond the boundary knots the
    outermost polynomials go on and soon run away: use `NaturalSpline` where that matters. For the
    matrix in sparse form, derivatives and penalties see `bottega.basis.spline_functions`.

    References
    ----------
    .. [1] de Boor, C. (1978). A practical guide to splines. Springer.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> BSpline(knots=[2.0], degree=1, intercept=True).fit_transform(x)
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 1. , 0. ],
           [0. , 0.5, 0.5],
           [0. , 0. , 1. ]])
    """

    _word: ClassVar[str] = "bspline"

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        degree = int(self.degree)
        low, high = self.boundary_[j]
        knots = clamped_knots(self.knots_[j], low, high, degree)
        return design(x, knots, degree).toarray()[:, 0 if self.intercept else 1 :]
