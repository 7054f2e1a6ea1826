"""Sigmoid basis functions."""

from typing import ClassVar

import numpy as np
from scipy.special import expit

from bottega.basis._expansion.centred import CentredBasis
from bottega.core.typing import FloatArray

__all__ = ["SigmoidBasis"]


class SigmoidBasis(CentredBasis):
    r"""Smooth steps placed along each input.

    .. math:: \phi_j(x) = \sigma\left(\frac{x - \mu_j}{s}\right), \qquad
              \sigma(a) = \frac{1}{1 + e^{-a}}

    Parameters
    ----------
    centers : "auto" or array-like of shape (M,) or (p, M), default="auto"
        The :math:`\mu_j`, the same for every column or a row of them for each. ``"auto"`` spaces
        them evenly from the least to the greatest value of a column.
    n_basis : int, default=10
        Number of functions a column, M, with ``centers="auto"``; more bend more.
    width : float or "auto", default="auto"
        The width s; wider is smoother. ``"auto"`` is the distance between neighbouring centres.
    include_bias : bool, default=False
        Whether a column of ones comes first. The linear models bring their own intercept.

    Attributes
    ----------
    centers_ : ndarray of shape (p, M)
        Centres in use.
    width_ : ndarray of shape (p,)
        Widths in use.
    n_features_in_ : int
        Number of columns seen in `fit`.
    feature_names_in_ : ndarray of shape (p,)
        Names of the columns, when X is a data frame.

    Notes
    -----
    Costs ``n p M`` exponentials. A fit becomes flat outside the range of the centres. The steps are
    strongly correlated; with many of them use a penalty (`bottega.linear.Ridge`).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[-1.0], [0.0], [1.0]])
    >>> SigmoidBasis([0.0], width=0.5).fit_transform(x).ravel().round(4)
    array([0.1192, 0.5   , 0.8808])
    """

    _word: ClassVar[str] = "sigmoid"

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        return np.asarray(expit(self._scaled(x, j)))
