r"""Tails of weighted sums of chi-squares, to a small relative error however small they are.

Symbols
-------
Q      sum_i w_i X_i, the X_i independent chi-squares of one degree of freedom, w_i >= 0
q      the observed value of Q (known scale), or of Q over an estimate of the scale
df     degrees of freedom of that estimate; infinite where the scale is known
K(s)   log E exp(s (Q - q S)), S the estimate of the scale: df S is a chi-square of df
"""

import numpy as np
from scipy import optimize

from bottega.core.typing import FloatArray

__all__ = ["chi_squares_sf"]

_NEGLIGIBLE = 1e-12  # weights this much below the largest one do not move the sum
_STEP, _STEPS = 1 / 64, 64 * 14


def chi_squares_sf(q: float, weights: FloatArray, df: float = np.inf) -> float:
    r"""Return the probability that a weighted sum of chi-squares exceeds a value.

    Parameters
    ----------
    q : float
        The value.
    weights : array-like
        Weights of the independent chi-squares of one degree of freedom, not negative.
    df : float
        Degrees of freedom of the chi-square (over its degrees of freedom) by which the sum is
        divided; infinite for the sum itself.

    Returns
    -------
    float
        The probability, to at least four digits and mostly ten, also far in the tail.

    Notes
    -----
    The probability is :math:`(2 \pi i)^{-1} \int e^{K(s)} s^{-1} ds` along any line that crosses
    the real axis between zero and the first singularity :math:`s_0 = 1 / (2 \max w)`. The line
    taken crosses at the saddle point of the integrand and bends around :math:`s_0` as a parabola
    with its focus there, along which the integrand dies away without oscillating: the trapezoidal
    rule converges geometrically [1]_.

    References
    ----------
    .. [1] Rice, S. O. (1980). Distribution of quadratic forms in normal random variables:
       evaluation by numerical integration. SIAM Journal on Scientific and Statistical Computing
       1, 438-448.

    Examples
    --------
    >>> chi_squares_sf(3.0, [1.0, 1.0])  # a chi-square of 2: exp(-3 / 2)
    0.2231301601...
    >>> chi_squares_sf(3.0, [1.0, 0.5], df=20) > chi_squares_sf(3.0, [1.0, 0.5])
    True
    """
    weights = np.asarray(weights, dtype=np.float64)
    if not (np.isfinite(q) and np.all(np.isfinite(weights))):
        return float("nan")
    largest = float(weights.max(initial=0.0))
    if largest <= 0:
        return float("nan") if q <= 0 else 0.0
    if q <= 0:
        return 1.0
    w = weights[weights > _NEGLIGIBLE * largest] / largest
    q = q / largest

    def exponent(s: FloatArray) -> FloatArray:
        """Return K(s) - log(s), the logarithm of the integrand."""
        scale = s * q if np.isinf(df) else df / 2 * np.log1p(2 * s * q / df)
        logs = np.log1p(-2 * np.multiply.outer(s, w)).sum(axis=-1)
        return np.asarray(-0.5 * logs - scale - np.log(s))

    def slope(s: float) -> float:
        moved = q if np.isinf(df) else q / (1 + 2 * s * q / df)
        return float((w / (1 - 2 * s * w)).sum() - moved - 1 / s)

    # The logarithm of the integrand is infinite at both ends of (0, 1/2): its slope has a zero.
    saddle = float(optimize.brentq(slope, 1e-300, 0.5 * (1 - 1e-15), xtol=1e-300, rtol=1e-14))
    level = float(exponent(np.array([saddle]))[0])
    second = 1 / saddle**2 + float((2 * w**2 / (1 - 2 * saddle * w) ** 2).sum())
    width = 1 / np.sqrt(second)
    focus = 0.5 - saddle
    x = _STEP * np.arange(_STEPS)
    y = width * np.sinh(x)
    s = saddle + 1j * y + y**2 / (4 * focus)
    along = (1j + y / (2 * focus)) * width * np.cosh(x)
    with np.errstate(under="ignore"):
        heights = (np.exp(exponent(s) - level) * along).imag
        total = _STEP * (heights.sum() - heights[0] / 2) / np.pi
        return float(min(max(np.exp(level) * total, 0.0), 1.0))
