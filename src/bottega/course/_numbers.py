"""Small computations that several experiments share."""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from bottega.core.errors import ConvergenceWarning

Result = TypeVar("Result")


def log_slope(x: Any, y: Any) -> float:
    """Return the slope of the least squares line of ln y on ln x.

    Examples
    --------
    >>> round(log_slope([1, 10, 100], [5, 0.5, 0.05]), 6)
    -1.0
    """
    return float(np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)[0])


def vote_error(eta: Any, predicted: Any) -> float:
    """Return the mean probability that labels 0 and 1 are wrong where P(y = 1 | x) is `eta`.

    Examples
    --------
    >>> round(vote_error([0.9, 0.2], [1, 1]), 6)
    0.45
    """
    eta, predicted = np.asarray(eta, dtype=np.float64), np.asarray(predicted)
    return float(np.mean(np.where(predicted == 1, 1 - eta, eta)))


def errors_above(larger: Any, smaller: Any) -> float:
    """Return by how many of its standard errors the mean of paired differences is above zero.

    Differences that are all the same have no spread: infinite, or zero where they are zero.

    Examples
    --------
    >>> round(errors_above([3, 4, 5], [1, 1, 1]), 6)
    5.196152
    """
    gap = np.subtract(larger, smaller).astype(np.float64)
    error = gap.std(ddof=1) / np.sqrt(len(gap))
    if error == 0:
        return float(np.sign(gap[0]) * np.inf) if gap[0] else 0.0
    return float(gap.mean() / error)


def out_of_bag(forest: Any) -> float:
    """Return the out-of-bag error of all trees of a fitted forest."""
    return float(forest.oob_path_.error[-1])


def without_warnings(call: Callable[..., Result], *given: Any, **options: Any) -> Result:
    """Return what a minimiser finds, without the warning that it was not let to converge.

    For experiments that stop runs early, or let them go astray, on purpose.

    Examples
    --------
    >>> from bottega.optimize import gradient_descent
    >>> found = without_warnings(gradient_descent, lambda x: x[0] ** 2 + x[1] ** 4, [1.0, 3.0],
    ...                          max_iter=1)
    >>> found.verdict
    'max_iter'
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call(*given, **options)
