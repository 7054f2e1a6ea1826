"""Cross-validation, by folds or row by row: each row is predicted by a fit without it."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from bottega.core.documents import documented_like
from bottega.core.folds import Fold, fold_of_rows, make_folds
from bottega.core.frames import make_frame, take_rows
from bottega.core.judge import mean_and_se
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.plot import lines_chart
from bottega.risk.estimate.judged_rows import RowLosses, check_rows, fit_rows, run_fits, task_of

__all__ = ["CrossValidation", "LeaveOneOut", "cross_validate", "leave_one_out"]


@dataclass(frozen=True, repr=False)
class CrossValidation(Shown):
    """What cross-validation found out; made by `cross_validate`.

    Attributes
    ----------
    fold_errors : ndarray of shape (K,)
        Mean loss of the rows of each fold, by the model fitted to the other folds.
    n_train, n_test : ndarray of shape (K,)
        Numbers of rows of each fold.
    fold : ndarray of shape (n,)
        The fold in which a row was tested; -1 where it was in none.
    predictions : ndarray of shape (n,) or (n, C)
        Prediction of each row from outside its fold, or its class probabilities where the loss
        judges these; of no meaning where `fold` is -1.
    losses : ndarray of shape (n,)
        Its loss; NaN where `fold` is -1.
    loss : str
        Name of the loss.
    """

    fold_errors: FloatArray
    n_train: IntArray
    n_test: IntArray
    fold: IntArray
    predictions: Array
    losses: FloatArray
    loss: str

    @property
    def error(self) -> float:
        """Mean loss of the rows that were tested; the mean of the fold means if they are equal."""
        return float(mean_and_se(self.losses[self.fold >= 0])[0])

    @property
    def error_se(self) -> float:
        """Its standard error: that of a mean over rows, as along a path.

        It takes the losses as independent. The models of the folds share training rows, so it is
        too small; see `nested_cv` for an interval that covers.
        """
        return float(mean_and_se(self.losses[self.fold >= 0])[1])

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per fold: its number, the numbers of rows, its error."""
        columns = {
            "fold": np.arange(len(self.fold_errors)),
            "n_train": self.n_train,
            "n_test": self.n_test,
            "error": self.fold_errors,
        }
        return make_frame(columns, like)

    def plot(self) -> Any:
        """Draw the error of each fold, and their mean."""
        k = len(self.fold_errors)
        return lines_chart(
            np.arange(1, k + 1),
            {"fold": self.fold_errors, "mean": np.full(k, self.error)},
            x_title="fold",
            y_title=self.loss,
            title=f"{k}-fold cross-validation",
            subtitle=f"{self.loss} {self.error:.4g}, standard error {self.error_se:.2g}",
            dashed=["mean"],
        )

    def summary(self) -> Summary:
        """Return the folds as a table that shows itself as text, HTML and Markdown."""
        rows = {
            "fold": list(range(1, len(self.fold_errors) + 1)),
            "rows": self.n_test.tolist(),
            self.loss: self.fold_errors.tolist(),
        }
        note = (
            f"mean over the rows {self.error:.4g}, standard error {self.error_se:.2g} (too small: "
            "the folds share training rows)"
        )
        title = f"{len(self.fold_errors)}-fold cross-validation"
        return Summary(title, (Section("", rows),), (note,))


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = 10,
    loss: Any = None,
    shuffle: bool = True,
    random_state: Any = 0,
) -> CrossValidation:
    r"""Estimate the risk of a procedure by cross-validation.

    The rows are cut into K folds; each is predicted by the model fitted to the others, and

    .. math:: \ell^{cv} = \frac 1K \sum_{i=1}^K \frac{1}{|S_i|} \sum_{(x, y) \in S_i}
              \ell\bigl(y, h_{-i}(x)\bigr)

    estimates the expected risk of the procedure, with what it does to tune itself, on training
    sets of the size of the folds'.

    Parameters
    ----------
    estimator : estimator
        Any of bottega's or scikit-learn's; it is cloned.
    X : array-like or data frame of shape (n, p)
        Inputs.
    y : array-like of shape (n,)
        Responses.
    cv : int, splitter or list of (train, test)
        Number of folds, a splitter of scikit-learn, or the folds themselves (for groups, or for
        time: train on what came before). Each row is tested once at most.
    loss : str, Loss or callable, optional
        A name of `bottega.risk.LOSSES`, a `Loss`, or a function of truth and prediction, one value
        per row; by default misclassification or squared error.
    shuffle : bool
        Shuffle the rows before they are cut, and spread classes evenly. Without it the folds are
        stretches of rows, one after the other.
    random_state : int
        Seed of the shuffling.

    Returns
    -------
    CrossValidation

    Notes
    -----
    K fits, side by side in threads for methods of bottega. The least error of several procedures
    or values of a knob is too low: `nested_cv` judges a procedure with its choices.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> y = np.arange(20.0)
    >>> found = cross_validate(BaselineRegressor(), np.zeros((20, 1)), y, cv=4, shuffle=False)
    >>> np.flatnonzero(found.fold == 1), round(found.error, 2)
    (array([5, 6, 7, 8, 9]), 57.56)
    """
    X, y = check_rows(X, y)
    task = task_of(estimator)
    row_losses = RowLosses(loss, task)
    classes = np.unique(y) if task == "classification" else None
    if not shuffle and isinstance(cv, Integral):
        cv = KFold(cv)
    folds = make_folds(
        cv, len(y), strata=classes if classes is None else y, random_state=random_state, X=X, y=y
    )
    fold = fold_of_rows(folds, len(y))

    def predicted(pair: Fold) -> Array:
        train, test = pair
        return row_losses.predictions(fit_rows(estimator, X, y, train), take_rows(X, test), classes)

    found = run_fits(predicted, folds, estimator, "folds")
    predictions = np.zeros((len(y), *found[0].shape[1:]), dtype=np.result_type(*found))
    losses = np.full(len(y), np.nan)
    for (_, test), each in zip(folds, found, strict=True):
        predictions[test] = each
        losses[test] = row_losses(y[test], each, classes)
    return CrossValidation(
        fold_errors=np.array([losses[test].mean() for _, test in folds]),
        n_train=np.array([len(train) for train, _ in folds]),
        n_test=np.array([len(test) for _, test in folds]),
        fold=fold,
        predictions=predictions,
        losses=losses,
        loss=row_losses.title,
    )


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
