"""Gaussian basis functions."""

from typing import ClassVar

import numpy as np

from bottega.basis._expansion.centred import CentredBasis
from bottega.core.typing import FloatArray

__all__ = ["GaussianBasis"]


class GaussianBasis(CentredBasis):
    r"""Bumps placed along each input.

    .. math:: \phi_j(x) = \exp\left(-\frac{(x - \mu_j)^2}{2 s^2}\right)

    Parameters
    ----------
    centers : "auto" or array-like of shape (M,) or (p, M), default="auto"
        The :math:`\mu_j`, the same for every column or a row of them for each. ``"auto"`` spaces
        them evenly from the least to the greatest value of a column.
    n_basis : int, default=10
        Number of functions per column, M, with ``centers="auto"``; more bend more.
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

    Notes
    -----
    Costs ``n p M`` exponentials. The functions are local: a row far from all centres gets zeros
    alone, so a fit falls back to its intercept outside the range of the data. Neighbours overlap
    and are correlated; with many of them use a penalty (`bottega.linear.Ridge`).

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[0.0], [0.5], [1.0]])
    >>> GaussianBasis([0.0, 1.0], width=0.5).fit_transform(x).round(4)
    array([[1.    , 0.1353],
           [0.6065, 0.6065],
           [0.1353, 1.    ]])
    >>> GaussianBasis(n_basis=3).fit(x).get_feature_names_out().tolist()
    ['gaussian(x0, 1)', 'gaussian(x0, 2)', 'gaussian(x0, 3)']
    """

    _word: ClassVar[str] = "gaussian"

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        return np.exp(-0.5 * self._scaled(x, j) ** 2)
