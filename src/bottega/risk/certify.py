"""A certificate for a model from rows it has never seen."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from bottega.core.certificate import Certificate
from bottega.core.errors import InputError
from bottega.core.loss import LOSS_OF_TASK, loss_of
from bottega.risk.bounds import clopper_pearson, student

__all__ = ["certify"]

_ALWAYS = (
    "The test rows and the rows to come are independent draws from one and the same source.",
    "Nothing about the model was chosen by looking at the test rows.",
)
_NORMAL = (
    "The test rows are many enough for the mean of the losses to be nearly normal: the interval "
    "is approximate, and rare huge errors can make it too narrow."
)


def certify(
    model: Any, X_test: Any, y_test: Any, *, delta: float = 0.05, candidates: int = 1
) -> Certificate:
    """Return the test error of a fitted model with an interval that states its assumptions.

    Parameters
    ----------
    model : fitted estimator
        Classifier (judged by misclassification) or regressor (by squared error).
    X_test, y_test : array-like
        Rows that played no part in fitting or tuning.
    delta : float
        Probability with which the interval may miss the risk.
    candidates : int
        Number of models judged on these same rows; the union bound divides `delta` by it.

    Returns
    -------
    Certificate
        Clopper-Pearson's exact interval for misclassification; Student's t interval, marked as
        approximate, for squared error.

    Examples
    --------
    >>> from bottega.core import BaselineClassifier
    >>> model = BaselineClassifier().fit(np.zeros((4, 1)), [0, 0, 0, 1])
    >>> print(certify(model, np.zeros((50, 1)), [0] * 45 + [1] * 5))
    misclassification 0.1, between 0.03328 and 0.2181 with probability at least 95% ...
    """
    task = "classification" if is_classifier(model) else "regression"
    y_test = np.asarray(y_test)
    losses = loss_of(task, y_test, model.predict(X_test))
    if losses.ndim != 1:
        raise InputError("A certificate is for one response at a time; fit each alone.")
    n = len(losses)
    assumptions = list(_ALWAYS)
    level = delta / candidates
    if task == "classification":
        method = "Clopper-Pearson"
        lower, upper = clopper_pearson(int(losses.sum()), n, level)
    else:
        method = "Student's t"
        lower, upper = student(losses, level)
        assumptions.append(_NORMAL)
    if candidates > 1:
        assumptions.append(
            f"The interval allows for {candidates} models judged on the same rows (union bound)."
        )
    return Certificate(
        estimate=float(losses.mean()),
        lower=lower,
        upper=upper,
        delta=delta,
        method=method,
        assumptions=tuple(assumptions),
        n=n,
        quantity=LOSS_OF_TASK[task],
        approximate=task == "regression",
    )
