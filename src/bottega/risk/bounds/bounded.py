"""Intervals for the mean of losses with known limits: Hoeffding's, and one by the variance."""

from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.risk.bounds._checks import (
    Numbers,
    at_least,
    bounded_losses,
    check_range,
    check_sides,
    count,
    level,
    plain,
)

__all__ = [
    "bernstein_deviation",
    "empirical_bernstein",
    "hoeffding",
    "hoeffding_deviation",
    "hoeffding_probability",
]


def hoeffding_probability(
    eps: Any, n: Any, *, sides: int = 2, low: float = 0.0, high: float = 1.0
) -> Numbers:
    r"""Return how probable it can be at most that a mean misses the risk by more than `eps`.

    :math:`P(\bar Z > \mu + \epsilon) \le e^{-2n\epsilon^2/(high - low)^2}`, the same below, and
    twice that on both sides together; 1 where the formula says more.

    Assumes n independent losses with one mean that lie in [low, high], of a predictor that was
    not chosen with their help.

    Parameters
    ----------
    eps : float or array-like
        Distance between mean and risk.
    n : int or array-like
        Number of losses.
    sides : {2, 1}
        Misses on both sides, or on a given one.
    low, high : float
        Limits of the loss.

    Examples
    --------
    >>> round(hoeffding_probability(0.05, 738), 6)
    0.049944
    """
    scale = check_range(low, high)
    eps, n = at_least(0, "eps", eps), count("n", n)
    return plain(np.minimum(1.0, check_sides(sides) * np.exp(-2 * n * (eps / scale) ** 2)))


@documented_like(hoeffding_probability)
def hoeffding_deviation(
    n: Any, delta: Any = 0.05, sides: int = 2, *, low: float = 0.0, high: float = 1.0
) -> Numbers:
    r"""Return how far the mean of n losses may lie from the risk.

    With probability at least :math:`1 - \delta`, mean and risk are within
    :math:`(high - low)\sqrt{\ln(s/\delta) / (2n)}` of one another for s = 2 sides; with s = 1 the
    risk is at most so much above the mean. Assumptions as for `hoeffding_probability`.

    Parameters
    ----------
    delta : float or array-like
        Probability with which the claim may fail.

    Examples
    --------
    >>> round(hoeffding_deviation(100), 6), round(hoeffding_deviation(1000), 6)
    (0.13581, 0.042947)
    """
    scale, n, delta = check_range(low, high), count("n", n), level(delta)
    return plain(scale * np.sqrt(np.log(check_sides(sides) / delta) / (2 * n)))


def hoeffding(
    mean: Any, n: Any, delta: Any = 0.05, *, low: float = 0.0, high: float = 1.0, sides: int = 2
) -> tuple[Numbers, Numbers]:
    r"""Return Hoeffding's interval for the mean of losses that lie in [low, high].

    With probability at least :math:`1 - \delta` the risk is within
    :math:`(high - low)\sqrt{\ln(2/\delta) / (2n)}` of the mean of n independent losses.

    Parameters
    ----------
    mean : float or array-like
        Mean of the losses; outside [low, high] it is refused.
    n : int or array-like
        Number of losses.
    delta : float or array-like
        Probability with which the interval may miss the risk.
    low, high : float
        Limits of the loss, known before the data are seen: [0, 1] unless told.
    sides : {2, 1}
        With 1, only the upper end claims something, and it is lower.

    Returns
    -------
    lower, upper : float or ndarray
        Cut off at `low` and `high`.

    Notes
    -----
    It knows the range of the loss and nothing else. `clopper_pearson` is tighter for errors that
    are counted, `empirical_bernstein` for losses that vary little.

    References
    ----------
    .. [1] Hoeffding, W. (1963). Probability inequalities for sums of bounded random variables.
       Journal of the American Statistical Association 58, 13-30.

    Examples
    --------
    >>> low, high = hoeffding(0.2, 200)
    >>> round(low, 4), round(high, 4)
    (0.104, 0.296)
    """
    half = hoeffding_deviation(n, delta, sides, low=low, high=high)
    mean = np.asarray(mean, dtype=np.float64)
    if not np.all((mean >= low) & (mean <= high)):
        raise ParameterError(
            f"mean={mean.tolist()!r} is not allowed: Hoeffding's bound needs losses in "
            f"[{low:g}, {high:g}]. Give the limits of the loss as low= and high=, or use `student`."
        )
    return _interval(mean, np.asarray(half), low, high, sides)


@documented_like(hoeffding_deviation)
def bernstein_deviation(
    variance: Any, n: Any, delta: Any = 0.05, sides: int = 2, *, low: float = 0.0, high: float = 1.0
) -> Numbers:
    r"""Return the half width of `empirical_bernstein` for losses with a given sample variance.

    Parameters
    ----------
    variance : float or array-like
        Sample variance of the losses (divided by n - 1).
    n : int or array-like
        Number of losses, at least 2.

    Examples
    --------
    >>> round(bernstein_deviation(0.01, 1000), 6)
    0.018612
    """
    scale, n, delta = check_range(low, high), count("n", n, 2), level(delta)
    # No sample of n within the range varies more than half of it at each end.
    variance = at_least(0, "variance", variance)
    if not np.all(variance <= scale**2 / 4 * n / (n - 1) * (1 + 1e-9)):
        raise ParameterError(
            f"variance={variance.tolist()!r} is not possible for losses in [{low:g}, {high:g}]."
        )
    # The mean may miss on each of the sides, and the sample variance on one.
    log = np.log((check_sides(sides) + 1) / delta)
    return plain(np.sqrt(2 * variance * log / n) + 7 * scale * log / (3 * (n - 1)))


@documented_like(hoeffding)
def empirical_bernstein(
    losses: Any, delta: Any = 0.05, *, low: float = 0.0, high: float = 1.0, sides: int = 2
) -> tuple[Numbers, Numbers]:
    r"""Return an interval for the mean of losses in [low, high] that uses their variance.

    With probability at least :math:`1 - \delta` the risk is within

    .. math:: \sqrt{\frac{2 V_n L}{n}} + \frac{7 (high - low) L}{3(n-1)}, \qquad
        L = \ln\frac{s + 1}{\delta},

    of the mean, where :math:`V_n` is the sample variance and s the number of sides.

    Parameters
    ----------
    losses : array-like of shape (..., n)
        Independent losses, one sample along the last axis; refused outside [low, high].

    Returns
    -------
    lower, upper : float or ndarray
        Cut off at `low` and `high`.

    Notes
    -----
    Maurer and Pontil [1]_ print one side, with :math:`\ln(2/\delta)`: half of delta pays for
    Bennett's inequality with the true variance, half for the sample variance in its place
    (:math:`\sigma \le \sqrt{V_n} + \sqrt{2\ln(1/\delta')/(n-1)}`). The second event serves both
    sides of the mean, so two sides need three shares of delta, not four: :math:`\ln(3/\delta)`.
    Audibert, Munos and Szepesvari [2]_ have the same logarithm with :math:`3L/n` as second term
    and the variance divided by n.

    It beats Hoeffding's interval where the variance is small and n is in the hundreds or more;
    for few rows its second term makes it worse.

    References
    ----------
    .. [1] Maurer, A. and Pontil, M. (2009). Empirical Bernstein bounds and sample variance
       penalization. Conference on Learning Theory, theorems 4 and 10.
    .. [2] Audibert, J.-Y., Munos, R. and Szepesvari, C. (2009). Exploration-exploitation
       tradeoff using variance estimates in multi-armed bandits. Theoretical Computer Science
       410, 1876-1902.

    Examples
    --------
    >>> low, high = empirical_bernstein([0.1, 0.2] * 500)
    >>> round(low, 4), round(high, 4)
    (0.1359, 0.1641)
    """
    values = bounded_losses(losses, low, high, least=2)
    variance = values.var(axis=-1, ddof=1)
    half = bernstein_deviation(variance, values.shape[-1], delta, sides, low=low, high=high)
    return _interval(values.mean(axis=-1), np.asarray(half), low, high, sides)


def _interval(
    mean: FloatArray, half: FloatArray, low: float, high: float, sides: int
) -> tuple[Numbers, Numbers]:
    lower = np.maximum(low, mean - half) if sides == 2 else np.full(np.shape(mean - half), low)
    return plain(lower), plain(np.minimum(high, mean + half))
