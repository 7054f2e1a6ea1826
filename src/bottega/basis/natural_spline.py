"""Natural cubic splines of each input."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.basis._expansion.splines import SplineBasis
from bottega.basis.bspline import BSpline
from bottega.basis.spline_functions import clamped_knots, design, natural_transform
from bottega.core.documents import documented_like
from bottega.core.params import Parameter
from bottega.core.typing import FloatArray

__all__ = ["NaturalSpline"]


@documented_like(BSpline)
class NaturalSpline(SplineBasis):
    r"""Cubic splines that go on as straight lines beyond the boundary knots.

    The functions span all cubic splines with the given knots whose second derivative vanishes at
    the two boundary knots: K + 2 of them with K interior knots, one fewer without the constant.

    Parameters
    ----------
    intercept : bool, default=False
        Whether the basis holds the constant. The linear models bring their own.

    Notes
    -----
    Cubic B-splines times an orthogonal basis of the coefficients that meet the two conditions: the
    same functions as R's ``splines::ns``. Linear ends take four degrees of freedom less than cubic
    ones would; that is bias near the ends for much less variance there.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> basis = NaturalSpline(3).fit(x)
    >>> basis.transform(x).shape
    (20, 4)
    >>> beyond = basis.transform([[2.0], [3.0], [4.0]])
    >>> bool(np.allclose(np.diff(beyond, 2, axis=0), 0))
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        name: each for name, each in SplineBasis.params.items() if name != "degree"
    }
    _word: ClassVar[str] = "natural"

    def __init__(
        self,
        n_knots: int = 5,
        *,
        knots: Any = "quantile",
        boundary: Any = None,
        intercept: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.knots = knots
        self.boundary = boundary
        self.intercept = intercept

    def _count(self) -> int:
        return self.knots_.shape[1] + 1

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        low, high = self.boundary_[j]
        knots = clamped_knots(self.knots_[j], low, high, 3)
        skip = 0 if self.intercept else 1
        B = design(x, knots, linear_ends=True).toarray()
        return B[:, skip:] @ natural_transform(knots, skip=skip)
