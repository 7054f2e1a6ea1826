"""Finite classes of predictors: explicit labellings, callables, fitted models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.params import Integer
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.risk.theory.simulation import predictor

__all__ = ["are_labellings", "as_table", "labellings", "minimisers", "predictions_on"]

_MOST_LABELLINGS = 2**24
_ROUNDING = 1e-12  # equal means may differ in the last digits of their sums


def labellings(n_points: int, labels: Sequence[Any] = (1, -1)) -> Array:
    """Return every function from numbered points to labels, one per row, in counting order.

    The first label counts as digit 0 and the last point as the last digit, which is the order of
    the course's toy problem: ``f_1 = (1, 1, 1, 1, 1)``, ``f_2 = (1, 1, 1, 1, -1)``, ...

    Parameters
    ----------
    n_points : int
        Number of points.
    labels : sequence
        The labels.

    Returns
    -------
    ndarray of shape (len(labels) ** n_points, n_points)

    Examples
    --------
    >>> labellings(2)
    array([[ 1,  1],
           [ 1, -1],
           [-1,  1],
           [-1, -1]])
    """
    Integer(1).check("labellings", "n_points", n_points)
    digits = np.asarray(labels)
    if digits.ndim != 1 or len(set(digits.tolist())) < max(len(digits), 1):
        raise InputError(f"labels must be distinct, and at least one; got {labels!r}.")
    size = len(digits) ** int(n_points)
    if size > _MOST_LABELLINGS:
        raise InputError(
            f"{n_points} points have {size:,} labellings, too many to write down; use fewer points."
        )
    place = len(digits) ** np.arange(n_points - 1, -1, -1)
    return np.asarray(digits[np.arange(size)[:, np.newaxis] // place % len(digits)])


def predictions_on(hypotheses: Any, X: Any) -> Array:
    """Return what each hypothesis predicts for each row, one row per hypothesis.

    Hypotheses are callables, fitted models, or a table of labellings of numbered points: X then
    holds the numbers of points (one column).
    """
    if not are_labellings(hypotheses):
        found = [np.asarray(predictor(each)(X)) for each in hypotheses]
        wrong = [each.shape for each in found if each.shape != (len(X),)]
        if wrong:
            raise InputError(
                f"A hypothesis returned shape {wrong[0]} for {len(X)} rows; it must return one "
                "prediction per row."
            )
        return np.stack(found)
    table = as_table(hypotheses)
    return np.asarray(table[:, _point_numbers(X, table.shape[1])])


def are_labellings(hypotheses: Any) -> bool:
    """Return True if a class is a table of labels rather than a sequence of predictors."""
    if isinstance(hypotheses, np.ndarray):
        return True
    return not any(callable(each) or hasattr(each, "predict") for each in hypotheses)


def as_table(hypotheses: Any) -> Array:
    """Return labellings as an array, one row per hypothesis."""
    try:
        table = np.asarray(hypotheses)
    except ValueError:  # rows of unequal length
        table = np.empty(0)
    if table.ndim != 2 or not table.size or table.dtype == object:
        raise InputError(
            "hypotheses must be a table with one row per hypothesis and one column per point, all "
            "rows of one length, or a sequence of callables or fitted models."
        )
    return table


def minimisers(values: FloatArray) -> IntArray:
    """Return all positions of the least value; what differs by rounding only counts as equal."""
    least = values.min()
    return np.flatnonzero(values <= least + _ROUNDING * max(1.0, abs(least)))


def _point_numbers(X: Any, k: int) -> Array:
    numbers = np.asarray(X)
    numbers = numbers[:, 0] if numbers.ndim == 2 and numbers.shape[1] == 1 else numbers
    whole = numbers.ndim == 1 and numbers.dtype.kind in "biuf"
    if not whole or np.any(numbers != np.floor(numbers)) or np.any((numbers < 0) | (numbers >= k)):
        raise InputError(
            f"Labellings of {k} points are looked up by the number of the point: X must be one "
            f"column of whole numbers from 0 to {k - 1}. Give callables for other inputs."
        )
    return numbers.astype(np.intp)
