"""Leave-one-out: by the leverages where that is exact, by refits where it is not."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.frames import make_frame, take_rows
from bottega.core.judge import mean_and_se
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.typing import Array, FloatArray
from bottega.risk.estimate.cross_validate import cross_validate
from bottega.risk.estimate.judged_rows import RowLosses, check_rows, fit_rows, run_fits, task_of

__all__ = ["LeaveOneOut", "leave_one_out"]


@dataclass(frozen=True)
class LeaveOneOut:
    """What leaving out each row found; made by `leave_one_out`.

    Attributes
    ----------
    predictions : ndarray of shape (n,)
        Prediction of each row by the fit without it.
    losses : ndarray of shape (n,)
        Its loss.
    how : {"leverages", "refits"}
        Whether one fit and its leverages gave them, or n refits.
    reason : str
        Why it was done so.
    loss : str
        Name of the loss.
    """

    predictions: Array
    losses: FloatArray
    how: str
    reason: str
    loss: str

    @property
    def error(self) -> float:
        """Mean loss over the rows."""
        return float(self.losses.mean())

    @property
    def error_se(self) -> float:
        """Standard error of `error`, the losses taken as independent."""
        return float(mean_and_se(self.losses)[1])

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per observation: its prediction and its loss."""
        return make_frame({"prediction": self.predictions, "loss": self.losses}, like)

    def __str__(self) -> str:
        return (
            f"leave-one-out {self.loss} {self.error:.4g}, standard error {self.error_se:.2g} "
            f"(n = {len(self.losses):,}, by {self.how})"
        )


@documented_like(cross_validate)
def leave_one_out(estimator: Any, X: Any, y: Any, *, loss: Any = None) -> LeaveOneOut:
    r"""Predict each row by the fit to all others.

    A linear smoother :math:`\hat y = Sy` for which leaving a row out is the same as replacing its
    response by its prediction has, from one fit,

    .. math:: y_i - \hat y_{-i} = \frac{y_i - \hat y_i}{1 - S_{ii}}

    for instance least squares, ridge on fixed scales, smoothing splines, local regression of a
    fixed bandwidth. It does not hold where the neighbors or the scales change with the rows.

    Parameters
    ----------
    estimator : estimator
        Any of bottega's or scikit-learn's; it is cloned. A knob left at ``"auto"`` is chosen
        anew without each row.

    Returns
    -------
    LeaveOneOut
        Its `how` says which way was taken, its `reason` why.

    Notes
    -----
    The shortcut is tried for linear smoothers with a fixed knob, and checked: the rows of the
    largest, the middle and the least leverage are left out by refitting. Where one of them
    disagrees, all n rows are refitted. One fit and three, or n + 4.

    Examples
    --------
    >>> from bottega.linear import LeastSquares
    >>> found = leave_one_out(LeastSquares(), [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 3.0])
    >>> found.how, found.predictions.round(2)
    ('leverages', array([-0.33,  0.71,  2.  ,  1.67]))
    """
    X, y = check_rows(X, y)
    row_losses = RowLosses(loss, task_of(estimator))
    classes = np.unique(y) if row_losses.task == "classification" else None

    def without(row: int) -> Any:
        others = np.delete(np.arange(len(y)), row)
        model = fit_rows(estimator, X, y, others)
        return row_losses.predictions(model, take_rows(X, np.array([row])), classes)[0]

    predictions, reason = loo_by_leverages(estimator, X, y)
    how = "refits" if predictions is None else "leverages"
    if predictions is None:
        predictions = np.asarray(run_fits(without, range(len(y)), estimator, "rows"))
    return LeaveOneOut(
        predictions=predictions,
        losses=row_losses(y, predictions, classes),
        how=how,
        reason=reason,
        loss=row_losses.title,
    )
