r"""Losses: what a prediction z costs when the truth is y, written ``loss(y, z)``.

A prediction need not be a label: log loss and Brier score take a probability for a label 0 or 1,
the hinge and the logistic loss any number for a label -1 or +1. Every loss is at least 0, and
0 when the truth is predicted, or tends to 0 with the prediction where only a limit predicts the
truth (log loss, logistic).

================  ====  ==================================  =================================
Name              Code  Loss                                Bayes-optimal prediction
================  ====  ==================================  =================================
`ZERO_ONE`        0     1 if z differs from y, else 0       the most probable label
`ABSOLUTE_ERROR`  1     :math:`|y - z|`                     a median
`SQUARED_ERROR`   2     :math:`(y - z)^2`                   the mean
`LOG_LOSS`        3     :math:`-\ln z` if y = 1,            P(Y = 1)
                        :math:`-\ln(1 - z)` if y = 0
`HINGE`           4     :math:`\max(0, 1 - yz)`             the more probable sign
`LOGISTIC`        5     :math:`\ln(1 + e^{-yz})`            the log odds of Y = +1
`Huber`           6     :math:`r^2/2` where :math:`|r| =    between median and mean
                        |y - z| \le \delta`, else
                        :math:`\delta(|r| - \delta/2)`
`Quantile`              :math:`q(y - z)` where y > z, else  the quantile q
                        :math:`(1 - q)(z - y)`
`BRIER_SCORE`     7     :math:`(y - z)^2`                   P(Y = 1)
`POISSON`               :math:`y \ln(y / z) - y + z`        the mean
`Cost`                  an entry of a matrix                the label of least expected cost
================  ====  ==================================  =================================

The codes are for compiled kernels, which take no Python objects. ``loss.of_rows(y, predicted)``
gives the losses of many rows, and of many predictions for each: it is what paths, folds and
comparisons are judged by. There log loss and Brier score take one probability per class.
"""

from typing import Any

from bottega.core._losses.base import Loss
from bottega.core._losses.decision import Cost, OwnLoss, ZeroOne
from bottega.core._losses.margin import Hinge, Logistic
from bottega.core._losses.probability import Brier, LogLoss
from bottega.core._losses.regression import (
    AbsoluteError,
    Huber,
    PoissonDeviance,
    Quantile,
    SquaredError,
)
from bottega.core.errors import ParameterError, did_you_mean

__all__ = [
    "ABSOLUTE_ERROR",
    "BRIER_SCORE",
    "HINGE",
    "LOGISTIC",
    "LOG_LOSS",
    "LOSSES",
    "POISSON",
    "ROW_LOSSES",
    "SQUARED_ERROR",
    "ZERO_ONE",
    "Cost",
    "Huber",
    "Loss",
    "Quantile",
    "get_loss",
]

ZERO_ONE = ZeroOne()
ABSOLUTE_ERROR = AbsoluteError()
SQUARED_ERROR = SquaredError()
LOG_LOSS = LogLoss()
HINGE = Hinge()
LOGISTIC = Logistic()
BRIER_SCORE = Brier()
POISSON = PoissonDeviance()

# In the order of their codes.
LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        ZERO_ONE,
        ABSOLUTE_ERROR,
        SQUARED_ERROR,
        LOG_LOSS,
        HINGE,
        LOGISTIC,
        Huber(),
        BRIER_SCORE,
    )
}

_BY_NAME: dict[str, Loss] = {**LOSSES, POISSON.name: POISSON}  # predictions above 0 only

# What others call them, and measures that are no mean over rows.
_OTHER_NAMES = {
    "mae": "absolute_error",
    "mse": "squared_error",
    "neg_mean_squared_error": "squared_error",
    "neg_mean_absolute_error": "absolute_error",
    "neg_log_loss": "log_loss",
    "accuracy": "zero_one",
    "misclassification": "zero_one",
}
_MEASURES = ("rmse", "r2", "auc", "f1", "balanced_accuracy")

# What rows are judged by, for the tasks that have responses.
ROW_LOSSES: dict[str, Loss] = {"regression": SQUARED_ERROR, "classification": ZERO_ONE}


def _hint(given: Any, known: list[str]) -> str:
    """Return what a loss is called here that goes by another name, or is none."""
    if given in _MEASURES:
        return f" {given!r} is no mean over rows; bottega.compare(measure={given!r}) ranks by it."
    own = _OTHER_NAMES.get(given) if isinstance(given, str) else None
    return f" Did you mean {own!r}?" if own in known else did_you_mean(str(given), known)


def get_loss(loss: Any, task: str | None = None) -> Loss:
    """Return a loss by its name, and check that it can judge the task.

    Parameters
    ----------
    loss : str, Loss, callable or None
        A name of `LOSSES`, or ``"poisson"``; a loss; a function of truth and prediction that
        returns one number per row; or None for the loss of the task: squared error, or
        misclassification.
    task : {"regression", "classification"}, optional
        What is predicted.

    Returns
    -------
    Loss
        The loss.

    Examples
    --------
    >>> get_loss("hinge") is HINGE
    True
    >>> get_loss(None, "classification").title
    'misclassification'
    """
    if loss is None and task in ROW_LOSSES:
        return ROW_LOSSES[task]
    if isinstance(loss, Loss):
        found: Loss = loss
    elif callable(loss):
        found = OwnLoss(loss)
    elif isinstance(loss, str) and loss in _BY_NAME:
        found = _BY_NAME[loss]
    else:
        known = [name for name, each in _BY_NAME.items() if task in (None, each.task)]
        raise ParameterError(
            f"loss={loss!r} is not known; choose one of {', '.join(known)}, or give a Loss or a "
            "function of truth and prediction." + _hint(loss, known)
        )
    if task is not None and found.task not in (None, task):
        able = [name for name, each in _BY_NAME.items() if each.task == task]
        raise ParameterError(
            f"The {found.title} cannot judge a {task}; choose one of {', '.join(able)}."
        )
    return found
