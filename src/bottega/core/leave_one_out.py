"""Leave-one-out by the leverages of a linear smoother, where that is exact."""

from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.frames import take_rows
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.parallel import in_threads
from bottega.core.typing import FloatArray

__all__ = ["loo_by_leverages"]

_SAME = 1e-6  # of the spread of y: two fits of one row agree far better, two formulas do not


def loo_by_leverages(
    estimator: Any, X: Any, y: FloatArray, sample_weight: FloatArray | None = None
) -> tuple[FloatArray | None, str]:
    r"""Return the prediction of each row by the fit to all others, from one fit, if that is exact.

    A linear smoother for which leaving a row out is the same as replacing its response by its
    prediction has :math:`y_i - \hat y_{-i} = (y_i - \hat y_i) / (1 - S_{ii})`. This does not hold
    where the scales or the neighbors change with the rows, so it is checked: the rows of the
    largest, the middle and the least leverage are left out by refitting.

    Parameters
    ----------
    estimator : estimator
        Any; it is cloned.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : ndarray of shape (n,) or (n, q)
        Responses.
    sample_weight : ndarray of shape (n,), optional
        Row weights.

    Returns
    -------
    predictions : ndarray or None
        None where the shortcut cannot be used.
    reason : str
        Why it can or cannot be used.
    """
    if not isinstance(estimator, LinearSmoother):
        return None, "not a linear smoother with leverages"
    for knob in getattr(estimator, "knobs", ()):
        if isinstance(getattr(estimator, knob), str):
            return None, f"{knob} is chosen by the data, anew without each row"
    n = len(y)

    def fit(rows: Any) -> Any:
        model, inputs = clone(estimator), X if rows is None else take_rows(X, rows)
        responses = y if rows is None else y[rows]
        if sample_weight is None:
            return model.fit(inputs, responses)
        weight = sample_weight if rows is None else sample_weight[rows]
        return model.fit(inputs, responses, sample_weight=weight)

    smoother = fit(None).smoother_
    if np.any(smoother.leverage >= 1 - 1e-9):
        return None, "a row has leverage 1: the fit goes through it whatever its response"
    predictions = np.asarray(y - smoother.loo_residuals)
    order = np.argsort(smoother.leverage, kind="stable")
    checked = np.unique(order[[0, n // 2, n - 1]]).tolist()

    def without(row: int) -> Any:
        return fit(np.delete(np.arange(n), row)).predict(take_rows(X, np.array([row])))[0]

    refitted = np.asarray(in_threads(without, checked, stage="rows"))
    off = float(np.abs(refitted - predictions[checked]).max())
    if off > _SAME * max(float(np.std(y)), np.finfo(float).tiny):
        return None, f"the leverage shortcut is off by {off:.2g} for this smoother"
    return predictions, "a linear smoother whose shortcut was right for the rows refitted"
