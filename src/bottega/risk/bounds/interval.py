"""Intervals for a probability of error, exact, and for a mean without limits, approximate."""

from typing import Any

import numpy as np
from scipy import special

from bottega.core.errors import InputError, ParameterError
from bottega.core.proportion import exact_limits
from bottega.core.typing import FloatArray
from bottega.risk.bounds._checks import Numbers, check_sides, count, level, losses_of, plain

__all__ = ["clopper_pearson", "student"]


def clopper_pearson(
    errors: Any, n: Any, delta: Any = 0.05, *, sides: int = 2
) -> tuple[Numbers, Numbers]:
    """Return the exact interval for a probability after `errors` in `n` trials.

    Inverts the binomial test on each side at level delta/2, so its coverage is at least 1 - delta
    for every n and every probability.

    Parameters
    ----------
    errors : int or array-like
        How often it happened.
    n : int or array-like
        Number of independent trials.
    delta : float or array-like
        Probability with which the interval may miss.
    sides : {2, 1}
        With 1, all of delta is spent on the upper end, and the lower one is 0.

    Returns
    -------
    lower, upper : float or ndarray
        The interval.

    References
    ----------
    .. [1] Clopper, C. J. and Pearson, E. S. (1934). The use of confidence or fiducial limits
       illustrated in the case of the binomial. Biometrika 26, 404-413.

    Examples
    --------
    >>> low, high = clopper_pearson(10, 100)
    >>> round(low, 4), round(high, 4)
    (0.049, 0.1762)
    """
    delta, errors, n = level(delta), np.asarray(errors), np.asarray(n)
    if not np.all((n >= 1) & (errors >= 0) & (errors <= n)):
        raise ParameterError(
            f"errors={errors.tolist()!r} of n={n.tolist()!r}: need 0 <= errors <= n and n >= 1."
        )
    lower, upper = beta_limits(count("errors", errors, 0), count("n", n), delta, sides)
    return plain(lower), plain(upper)


def beta_limits(
    errors: FloatArray, n: FloatArray, delta: FloatArray, sides: int
) -> tuple[FloatArray, FloatArray]:
    """Return Clopper and Pearson's limits, also for errors between two whole numbers."""
    lower, upper = exact_limits(errors, n, delta / check_sides(sides))
    return (np.zeros_like(lower) if sides == 1 else lower), upper


def student(losses: Any, delta: Any = 0.05, *, low: float = 0.0) -> tuple[Numbers, Numbers]:
    """Return Student's t interval for the mean of losses that have no upper limit.

    Its coverage tends to 1 - delta as the number of rows grows; no interval from a sample can
    promise more for losses that may be arbitrarily large.

    Parameters
    ----------
    losses : array-like of shape (..., n)
        Independent losses, one sample along the last axis.
    delta : float or array-like
        Probability with which the interval misses the risk, in the limit.
    low : float
        What no loss is below: the interval is cut off there, and losses below it are refused.
        ``low=-math.inf`` for differences of losses.

    Returns
    -------
    lower, upper : float or ndarray
        The interval.

    Examples
    --------
    >>> low, high = student([1.0, 2.0, 3.0, 4.0])
    >>> round(low, 4), round(high, 4)
    (0.4457, 4.5543)
    """
    delta = level(delta)
    values = losses_of(losses, least=2)
    if values.min() < low:
        raise InputError(
            f"A loss of {values.min():.6g} lies below low={low:g}; give low=-math.inf for numbers "
            "that may be negative, such as differences of losses."
        )
    n = values.shape[-1]
    # Squares of large losses, and their sums, are beyond all numbers.
    _, power = np.frexp(np.max(np.abs(values), axis=-1, keepdims=True))
    scaled, power = np.ldexp(values, -power), power[..., 0]
    sd = np.ldexp(scaled.std(axis=-1, ddof=1), power)
    half = student_deviation(sd, np.asarray(float(n)), delta)
    mean = np.ldexp(scaled.mean(axis=-1), power)
    return plain(np.maximum(low, mean - half)), plain(mean + half)


def student_deviation(sd: FloatArray, n: FloatArray, delta: FloatArray) -> FloatArray:
    """Return the half width of Student's interval for a sample standard deviation."""
    return np.asarray(special.stdtrit(n - 1, 1 - delta / 2) * sd / np.sqrt(n))
