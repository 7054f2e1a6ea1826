"""What methods are ranked by: a mean of row losses, or a number that only many rows have."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import f1_score

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.losses import (
    ABSOLUTE_ERROR,
    BRIER_SCORE,
    POISSON,
    SQUARED_ERROR,
    ZERO_ONE,
    Cost,
    Loss,
    get_loss,
)
from bottega.core.typing import Array, FloatArray
from bottega.plot.theme import number
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.threshold import ThresholdChoice
from bottega.workbench.ranking import auc

__all__ = ["Measure", "get_measure"]

Score = Callable[[Array, Array, FloatArray | None, FloatArray | None], float]


@dataclass(frozen=True, eq=False)
class Measure:
    """What methods are ranked by, and the loss of rows that tunes them.

    Attributes
    ----------
    name : str
        As it is given to `compare`.
    title : str
        The error that is ranked by, in words: the less the better.
    loss : Loss
        What tunes, and what rows are judged by.
    form : {"mean", "root", "share", "folds"}
        How the error follows from the rows: the mean of their losses, its root, the mean as a
        share of the variance of the target, or one minus a score of each fold.
    shown : str
        What readers know it by, where that is not the error itself: AUC, R2, F1.
    score : callable, optional
        For the form ``"folds"``: of truth, prediction, probabilities and weights.
    decision : callable, optional
        How a decision between two classes gets its threshold inside the folds.
    """

    name: str
    title: str
    loss: Loss
    form: str = "mean"
    shown: str = ""
    score: Score | None = None
    decision: Any = None

    @property
    def tuned_by(self) -> str:
        """What is to be said where the tuning goes by something else; empty otherwise."""
        if self.form != "folds":
            return ""
        return (
            f"{self.shown} is no mean over rows, so methods are tuned by their {self.loss.title} "
            f"and ranked by {self.shown}"
        )

    def value(self, error: float) -> float:
        """Return what readers know: the score where there is one, the error otherwise."""
        return 1 - error if self.shown and self.form in ("share", "folds", "mean") else error

    def in_words(self, error: float) -> str:
        """Write the error, or the score that it is the complement of."""
        if self.shown:
            return f"{self.shown} {number(self.value(error), 3)}"
        if self.loss is ZERO_ONE:
            return f"{100 * error:.3g}% wrong"
        return f"{'' if self.form == 'root' else 'mean '}{self.title} {number(error)}"

    def of_loss(self, error: float, rows: JudgedRows) -> float:
        """Return the error that a mean of row losses amounts to."""
        if self.form == "root":
            return float(np.sqrt(max(error, 0.0)))
        if self.form == "share":
            return error / spread_of(rows)
        return error


def spread_of(rows: JudgedRows) -> float:
    """Return the (weighted) variance of the target, the error of its mean."""
    mean = np.average(rows.y, weights=rows.weight)
    return float(np.average((rows.y - mean) ** 2, weights=rows.weight)) or np.nan


def _auc(y: Array, predicted: Array, shares: FloatArray | None, weight: Any) -> float:
    """Return the area under the curve of each class against the others, by their shares."""
    del predicted
    if shares is None:
        return np.nan
    if shares.shape[1] == 2:
        return auc(y == 1, shares[:, 1], weight)
    found = np.array([auc(y == k, shares[:, k], weight) for k in range(shares.shape[1])])
    size = np.bincount(y, weight, minlength=len(found))
    seen = np.isfinite(found) & (size > 0)
    return float(np.average(found[seen], weights=size[seen])) if seen.any() else np.nan


def _f1(y: Array, predicted: Array, shares: FloatArray | None, weight: Any) -> float:
    """Return F1 of the second of two classes, or the mean over more of them."""
    del shares
    many = "macro" if max(y.max(initial=0), predicted.max(initial=0)) > 1 else "binary"
    return float(f1_score(y, predicted, average=many, sample_weight=weight, zero_division=0.0))


def _balanced(rows: JudgedRows) -> Cost:
    """Return costs whose mean over these rows is the mean of the classes' error rates."""
    assert rows.codes is not None
    assert rows.classes is not None
    size = np.bincount(rows.codes, rows.weight, minlength=len(rows.classes))
    each = size.sum() / (len(size) * np.maximum(size, np.finfo(float).tiny))
    matrix = np.where(np.eye(len(size), dtype=bool), 0.0, each)
    return Cost(matrix, classes=rows.classes.tolist())


def _threshold(loss: Loss, rows: JudgedRows) -> Any:
    two = rows.classes is not None and len(rows.classes) == 2
    return ThresholdChoice(loss) if two and isinstance(loss, Cost) else None


def _regression(name: str) -> Measure | None:
    known = {
        "rmse": Measure(name, "root mean squared error", SQUARED_ERROR, "root"),
        "r2": Measure(name, "share of the variance left", SQUARED_ERROR, "share", "R²"),
        "mse": Measure(name, SQUARED_ERROR.title, SQUARED_ERROR),
        "mae": Measure(name, ABSOLUTE_ERROR.title, ABSOLUTE_ERROR),
        "poisson": Measure(name, POISSON.title, POISSON),
    }
    return known.get(name)


def _classification(name: str, rows: JudgedRows) -> Measure | None:
    if name == "auc":
        return Measure(name, "area above the ROC curve", BRIER_SCORE, "folds", "AUC", _auc)
    if name == "f1":
        two = rows.classes is not None and len(rows.classes) == 2
        choice = ThresholdChoice() if two else None
        return Measure(name, "one minus F1", BRIER_SCORE, "folds", "F1", _f1, choice)
    if name == "accuracy":
        return Measure(name, ZERO_ONE.title, ZERO_ONE, "mean", "accuracy")
    if name == "balanced_accuracy":
        loss = _balanced(rows)
        choice = _threshold(loss, rows)
        return Measure(name, "balanced error", loss, "mean", "balanced accuracy", None, choice)
    if name == "brier":
        return Measure(name, BRIER_SCORE.title, BRIER_SCORE)
    return None


def _check_target(loss: Loss, rows: JudgedRows) -> None:
    """Refuse a target that the loss has no meaning for."""
    below = int(np.sum(rows.y < 0)) if loss == POISSON else 0
    if below:
        raise InputError(
            f"measure='poisson' needs a target of 0 or more, such as counts; {below:,} of its "
            f"{len(rows):,} values {'is' if below == 1 else 'are'} below 0, the least "
            f"{rows.y.min():g}: choose another measure."
        )


_NAMES = {
    "regression": ("rmse", "r2", "mae", "mse", "poisson"),
    "classification": ("auc", "f1", "accuracy", "balanced_accuracy", "log_loss", "brier"),
}


def get_measure(measure: Any, rows: JudgedRows) -> Measure:
    """Return a measure by its name, or the mean of a loss.

    Parameters
    ----------
    measure : str, Loss, callable or None
        ``"rmse"``, ``"r2"``, ``"mae"``, ``"poisson"``, ``"auc"``, ``"f1"``, ``"accuracy"``,
        ``"balanced_accuracy"``, ``"log_loss"``, ``"brier"``; whatever `get_loss` takes, such as a
        `Cost` matrix; or None for the squared error or the misclassification.
    rows : JudgedRows
        Target, task and classes.

    Examples
    --------
    >>> rows = JudgedRows(np.array([1.0, 2.0, 6.0]), "regression")
    >>> get_measure("rmse", rows).of_loss(9.0, rows), get_measure(None, rows).title
    (3.0, 'squared error')
    """
    task = rows.task
    if isinstance(measure, Measure):
        return measure
    if isinstance(measure, str):
        if measure == "cost":
            raise ParameterError(
                "measure='cost' needs the costs themselves: give measure=Cost(matrix, classes)."
            )
        found = _regression(measure) if task == "regression" else _classification(measure, rows)
        if found is not None:
            _check_target(found.loss, rows)
            return found
    try:
        loss = get_loss(measure, task)
    except ParameterError:
        if not isinstance(measure, str):
            raise
        known = [*_NAMES[task], *(["squared_error", "huber"] if task == "regression" else [])]
        raise ParameterError(
            f"measure={measure!r} cannot judge a {task}; choose one of {', '.join(known)}, a Loss "
            "such as Cost(matrix), or a function of truth and prediction."
            + did_you_mean(measure, known)
        ) from None
    _check_target(loss, rows)
    if rows.classes is not None:
        loss = loss.naming(rows.classes)
    name = measure if isinstance(measure, str) else loss.name
    return Measure(str(name), loss.title, loss, decision=_threshold(loss, rows))
