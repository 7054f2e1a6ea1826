"""Sigmoid basis functions."""

from typing import ClassVar

import numpy as np
from scipy.special import expit

from bottega.basis._expansion.centred import CentredBasis
from bottega.basis.gaussian import GaussianBasis
from bottega.core.documents import documented_like
from bottega.core.typing import FloatArray

__all__ = ["SigmoidBasis"]


@documented_like(GaussianBasis)
class SigmoidBasis(CentredBasis):
    r"""Smooth steps placed along each input.

    .. math:: \phi_j(x) = \sigma\left(\frac{x - \mu_j}{s}\right), \qquad
              \sigma(a) = \frac{1}{1 + e^{-a}}

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
