"""Intervals for a risk from losses on rows the model has not seen, one pure function each."""

from typing import Any

import numpy as np
from scipy import stats

from bottega.core.errors import ParameterError

__all__ = ["clopper_pearson", "hoeffding", "student"]


def _check_delta(delta: float) -> None:
    if not 0 < delta < 1:
        raise ParameterError(f"delta={delta!r} is not allowed; it must lie between 0 and 1.")


def clopper_pearson(errors: int, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Return the exact two-sided interval for a probability after `errors` in `n` trials.

    Inverts the binomial test on each side at level delta/2, so its coverage is at least 1 - delta
    for every n and every probability.

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
    _check_delta(delta)
    if not 0 <= errors <= n or n < 1:
        raise ParameterError(f"errors={errors!r} of n={n!r}: need 0 <= errors <= n and n >= 1.")
    low = 0.0 if errors == 0 else float(stats.beta.ppf(delta / 2, errors, n - errors + 1))
    high = 1.0 if errors == n else float(stats.beta.ppf(1 - delta / 2, errors + 1, n - errors))
    return low, high


def hoeffding(mean: float, n: int, delta: float = 0.05) -> tuple[float, float]:
    """Return the two-sided Hoeffding interval for the mean of a loss in [0, 1].

    With probability at least 1 - delta the risk is within ``sqrt(ln(2/delta) / (2n))`` of the
    mean of n independent losses.

    Examples
    --------
    >>> low, high = hoeffding(0.2, 200)
    >>> round(low, 4), round(high, 4)
    (0.104, 0.296)
    """
    _check_delta(delta)
    half = np.sqrt(np.log(2 / delta) / (2 * n))
    return float(max(0.0, mean - half)), float(min(1.0, mean + half))


def student(losses: Any, delta: float = 0.05) -> tuple[float, float]:
    """Return Student's t interval for the mean of losses that have no bound.

    Its coverage tends to 1 - delta as the number of rows grows; no interval from a sample can
    promise more for losses that may be arbitrarily large.
    """
    _check_delta(delta)
    losses = np.asarray(losses, dtype=np.float64)
    n = len(losses)
    if n < 2:
        raise ParameterError(f"An interval for a mean needs at least 2 rows; got {n}.")
    half = stats.t.ppf(1 - delta / 2, n - 1) * losses.std(ddof=1) / np.sqrt(n)
    mean = losses.mean()
    return float(max(0.0, mean - half)), float(mean + half)
