"""Cross-validation, by folds or row by row: each row is predicted by a fit without it."""

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.folds import make_folds
from bottega.core.frames import make_frame
from bottega.core.leave_one_out import loo_by_leverages
from bottega.core.seeds import seed_of
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.plot import lines_chart
from bottega.risk.estimate.judged_rows import JudgedRows, read_rows, task_of
from bottega.risk.estimate.nested_engine import AllBut, judge_of, parts_of, run_alone
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs, takes_weights
from bottega.risk.estimate.source_procedure import procedure_for
from bottega.risk.estimate.source_rows import inputs_of_rows, read_judged

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
    rows : JudgedRows
        Responses, weights, groups and time of the rows.
    units : ndarray of shape (2, K)
        How many independent rows (or groups) of equal weight each fold trains and tests on.
    largest : float or None
        The largest loss that a row can have, where there is one.
    """

    fold_errors: FloatArray
    n_train: IntArray
    n_test: IntArray
    fold: IntArray
    predictions: Array
    losses: FloatArray
    loss: str
    rows: JudgedRows = field(repr=False)
    units: FloatArray = field(repr=False)
    largest: float | None = field(default=None, repr=False)

    @property
    def error(self) -> float:
        """Mean loss of the rows that were tested, by their weights."""
        return self._mean_and_se[0]

    @property
    def error_se(self) -> float:
        """Its standard error: that of a mean over rows (or groups of rows), as along a path.

        It takes the losses as independent. The models of the folds share training rows, so it is
        too small; see `nested_cv` for an interval that covers.
        """
        return self._mean_and_se[1]

    @property
    def _mean_and_se(self) -> tuple[float, float]:
        tested = np.flatnonzero(self.fold >= 0)
        return self.rows.mean_and_se(tested, self.losses[tested])

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
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
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
    X : array-like or data frame of shape (n, p), Table, or source
        Inputs; a `Table` brings its responses, weights, groups and time, a source
        (`bottega.scale.source`) its responses, weights and groups.
    y : array-like of shape (n,), optional
        Responses.
    sample_weight : array-like of shape (n,), optional
        How much each row counts, in the fits (where the method has a meaning for weights) and in
        the errors.
    groups : array-like of shape (n,), optional
        Rows of one group are held out together; the groups are the independent units. Of a source
        also the name of a column, as for `time`.
    time : array-like of shape (n,), optional
        Order of the rows: models are fitted to what comes before the rows they are judged on.
    cv : int, splitter or list of (train, test)
        Number of folds, a splitter of scikit-learn, or the folds themselves. Each row is tested
        once at most.
    loss : str, Loss or callable, optional
        A name of `bottega.risk.LOSSES`, a `Loss`, or a function of truth and prediction, one value
        per row; by default misclassification or squared error. Under a `Cost` classifiers with
        probabilities predict the class of least expected cost.
    shuffle : bool
        Shuffle the rows before they are cut, and spread classes evenly. Without it the folds are
        stretches of rows, one after the other.
    random_state : int, RandomState, Generator or None
        Seed of the shuffling.

    Returns
    -------
    CrossValidation

    Notes
    -----
    K fits, side by side in threads for methods of bottega. The least error of several procedures
    or values of a knob is too low: `nested_cv` judges a procedure with its choices.

    The inputs of a source stay where they are, and folds are dealt by the numbers of its rows: each
    fold costs the passes of a fit and one to predict. What is held in memory is a few numbers of
    each row (response, fold, prediction, loss). The encoder of a source has seen all of its rows,
    though no response; `bottega.compare` learns one in each fold.

    Examples
    --------
    >>> from bottega.core import BaselineRegressor
    >>> y = np.arange(20.0)
    >>> found = cross_validate(BaselineRegressor(), np.zeros((20, 1)), y, cv=4, shuffle=False)
    >>> np.flatnonzero(found.fold == 1), round(found.error, 2)
    (array([5, 6, 7, 8, 9]), 57.56)
    """
    X, rows = read_judged(X, y, task_of(estimator), weight=sample_weight, groups=groups, time=time)
    judge = judge_of(rows, loss)
    if not shuffle and isinstance(cv, Integral) and rows.groups is None and rows.time is None:
        cv = KFold(cv)
    folds = make_folds(
        cv,
        len(rows),
        strata=rows.codes,
        groups=rows.groups,
        time=rows.time,
        random_state=seed_of(random_state, "cross_validate"),
        X=inputs_of_rows(X),
        y=rows.y,
    )
    fold = rows.fold_of(folds)
    parts = list(parts_of(0, folds, pairs=False))
    procedure = procedure_for(estimator, X, rows, loss=judge.row_losses.loss, as_it_is=True)
    answers = run_alone(procedure, parts, judge, "folds")
    found = [judge.judged(answer) for answer in answers]
    predictions = np.zeros((len(rows), *found[0].shape[1:]), dtype=np.result_type(*found))
    losses = np.full(len(rows), np.nan)
    for (_, test), each, answer in zip(folds, found, answers, strict=True):
        predictions[test], losses[test] = each, answer.losses[0]
    return CrossValidation(
        fold_errors=np.array([rows.mean_and_se(test, losses[test])[0] for _, test in folds]),
        n_train=np.array([len(train) for train, _ in folds]),
        n_test=np.array([len(test) for _, test in folds]),
        fold=fold,
        predictions=predictions,
        losses=losses,
        loss=judge.row_losses.title,
        rows=rows,
        units=np.array([[rows.n_units(fold[i]) for fold in folds] for i in (0, 1)]),
        largest=judge.row_losses.loss.largest,
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
    rows : JudgedRows
        Responses, weights and groups of the rows.
    """

    predictions: Array
    losses: FloatArray
    how: str
    reason: str
    loss: str
    rows: JudgedRows = field(repr=False)

    @property
    def error(self) -> float:
        """Mean loss over the rows, by their weights."""
        return self._mean_and_se[0]

    @property
    def error_se(self) -> float:
        """Standard error of `error`, the losses (of groups) taken as independent."""
        return self._mean_and_se[1]

    @property
    def _mean_and_se(self) -> tuple[float, float]:
        return self.rows.mean_and_se(np.arange(len(self.losses)), self.losses)

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per observation: its prediction and its loss."""
        return make_frame({"prediction": self.predictions, "loss": self.losses}, like)

    def __str__(self) -> str:
        return (
            f"leave-one-out {self.loss} {self.error:.4g}, standard error {self.error_se:.2g} "
            f"(n = {len(self.losses):,}, by {self.how})"
        )


@documented_like(cross_validate)
def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    loss: Any = None,
) -> LeaveOneOut:
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
    X : array-like or data frame of shape (n, p), or Table
        Inputs; a `Table` brings its responses, weights and groups.
    groups : array-like of shape (n,), optional
        Rows of one group are left out together.

    Returns
    -------
    LeaveOneOut
        Its `how` says which way was taken, its `reason` why.

    Notes
    -----
    The shortcut is tried for linear smoothers with a fixed knob, and checked: the rows of the
    largest, the middle and the least leverage are left out by refitting. Where one of them
    disagrees, all n rows are refitted. One fit and three, or n + 4. Rows that follow one another in
    time are for `cross_validate`: a fit to all others looks ahead.

    Examples
    --------
    >>> from bottega.linear import LeastSquares
    >>> found = leave_one_out(LeastSquares(), [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 1.0, 3.0])
    >>> found.how, found.predictions.round(2)
    ('leverages', array([-0.33,  0.71,  2.  ,  1.67]))
    """
    X, rows = read_rows(X, y, task_of(estimator), weight=sample_weight, groups=groups)
    if rows.time is not None:
        raise InputError(
            "A fit to all other rows looks ahead in time; use cross_validate, which respects the "
            "time of the table."
        )
    judge = judge_of(rows, loss)
    n, predictions, reason = len(rows), None, "the rows of a group are left out together"
    if rows.groups is None:
        weight = rows.weight if takes_weights(estimator) else None
        predictions, reason = loo_by_leverages(estimator, X, rows.y, weight)
    if predictions is not None:
        losses = judge.row_losses(rows.y, predictions, rows.classes)
        return LeaveOneOut(predictions, losses, "leverages", reason, judge.row_losses.title, rows)
    left_out = [np.array([row]) for row in range(n)]
    if rows.groups is not None:
        codes = np.unique(rows.groups, return_inverse=True)[1]
        left_out = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    if len(left_out) < 2:
        raise InputError("Leaving out rows takes at least 2 of them, or 2 groups.")
    procedure = EstimatorProcedure(
        estimator, PlainInputs(X), rows, loss=judge.row_losses.loss, as_it_is=True
    )
    parts = [AllBut(i, n, each) for i, each in enumerate(left_out)]
    answers = run_alone(procedure, parts, judge, "rows")
    order = np.argsort(np.concatenate(left_out), kind="stable")
    return LeaveOneOut(
        predictions=np.concatenate([judge.judged(answer) for answer in answers])[order],
        losses=np.concatenate([answer.losses[0] for answer in answers])[order],
        how="refits",
        reason=reason,
        loss=judge.row_losses.title,
        rows=rows,
    )
