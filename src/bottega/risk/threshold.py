"""Decisions by a threshold: the second of two classes where its probability is high enough."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.core.frames import is_frame, take_rows
from bottega.core.losses import Cost
from bottega.core.params import Real
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray
from bottega.risk.deciding import DecidingClassifier

__all__ = ["ThresholdClassifier", "best_threshold"]

_THRESHOLD = Real(None, None)


@stored
class ThresholdClassifier(DecidingClassifier):
    """Predict the second of two classes where its probability exceeds a threshold.

    `bottega.compare` chooses the threshold inside each fold, on rows that the classifier was not
    fitted to, where its measure depends on it (F1, a matrix of costs), and returns such models.

    Parameters
    ----------
    estimator : classifier
        One of two classes, with `predict_proba`; it is cloned.
    threshold : float or "auto"
        Probability of the second class, in sorted order, above which it is predicted; ``"auto"``
        takes the best one for rows that folds hold out.
    goal : "f1", Cost or array-like of shape (2, 2)
        What ``"auto"`` looks for: the largest F1 of the second class, or the least cost, with
        ``goal[i][j]`` paid for predicting class i where class j is observed.
    cv : int, splitter or list of (train, test)
        Folds of ``"auto"``.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all rows.
    threshold_ : float
        The threshold that decides.
    classes_ : ndarray of shape (2,)
        The classes, sorted.

    Examples
    --------
    >>> from bottega.core import BaselineClassifier
    >>> model = ThresholdClassifier(BaselineClassifier(), threshold=0.2)
    >>> str(model.fit(np.zeros((4, 1)), ["no", "no", "no", "yes"]).predict([[0.0]])[0])
    'yes'
    """

    _by = "a threshold"

    def __init__(
        self, estimator: Any, threshold: float | str = 0.5, *, goal: Any = "f1", cv: Any = 5
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.goal = goal
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier, and look for the threshold if it is ``"auto"``.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs.
        y : array-like of shape (n,)
            Labels of two classes.
        sample_weight : array-like of shape (n,), optional
            Row weights; passed on to the classifier.
        """
        if not (self.threshold == "auto" or _THRESHOLD.accepts(self.threshold)):
            raise ParameterError(
                f"ThresholdClassifier: threshold={self.threshold!r} is not allowed; give "
                f"{_THRESHOLD.describe()}, or 'auto'."
            )
        super().fit(X, y, sample_weight)
        self.__dict__.pop("_chosen", None)
        if self.threshold == "auto":
            self._chosen = self._best(X, np.asarray(y), sample_weight)
        return self

    @property
    def threshold_(self) -> float:
        """The threshold that decides."""
        return self._chosen if self.threshold == "auto" else float(self.threshold)

    def _best(self, X: Any, y: Array, sample_weight: Any) -> float:
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        goal, near = self.goal, 0.5
        if not isinstance(goal, str):
            cost = Cost.of(goal).for_classes(self.classes_)
            goal, near = np.array(cost.matrix), usual_threshold(cost)
        rows = X if is_frame(X) or is_sparse(X) else np.asarray(X)
        score, seen = np.zeros(len(y)), np.zeros(len(y), dtype=bool)
        for train, test in make_folds(self.cv, len(y), strata=y, X=rows, y=y, weight=weight):
            given = {} if weight is None else {"sample_weight": weight[train]}
            model = clone(self.estimator).fit(take_rows(rows, train), y[train], **given)
            if len(model.classes_) < 2:
                continue
            score[test], seen[test] = model.predict_proba(take_rows(rows, test))[:, 1], True
        kept = np.flatnonzero(seen)
        if not len(kept):
            raise InputError(
                "threshold='auto' holds rows out, and no fold had rows of both classes to learn "
                "from; give more rows, or a threshold."
            )
        of_rows = None if weight is None else weight[kept]
        positive = y[kept] == self.classes_[1]
        return best_threshold(goal, positive, score[kept], of_rows, near=near)

    def _check_classes(self, classes: Array) -> None:
        if len(classes) != 2:
            raise InputError(f"A threshold separates two classes, and there are {len(classes)}.")

    def predict(self, X: Any) -> Array:
        """Return the second class where its probability exceeds the threshold, else the first."""
        above = self.predict_proba(X)[:, 1] > self.threshold_
        return self.classes_[above.astype(int)]


def best_threshold(
    goal: Any, positive: Any, score: Any, weight: Any = None, *, near: float = 0.5
) -> float:
    """Return the threshold on scores that is best for known rows.

    Parameters
    ----------
    goal : "f1" or array-like of shape (2, 2)
        The F1 score of the second class, or what is paid: ``goal[i][j]`` for predicting class i
        where class j is observed.
    positive : array-like of bool of shape (n,)
        Whether a row is of the second class.
    score : array-like of shape (n,)
        Its score, such as a probability, by a model that was not fitted to the row.
    weight : array-like of shape (n,), optional
        How much each row counts.
    near : float
        Among equally good thresholds the nearest to this one is taken.

    Returns
    -------
    float
        Halfway between two scores, or beyond all of them: scores above it are of the second class.

    Examples
    --------
    >>> best_threshold("f1", [False, False, True, True], [0.1, 0.2, 0.3, 0.4])
    0.25
    """
    positive, score = np.asarray(positive, dtype=bool), np.asarray(score, dtype=np.float64)
    weight = np.ones(len(score)) if weight is None else np.asarray(weight, dtype=np.float64)
    if score.ndim != 1 or positive.shape != score.shape or not len(score):
        raise InputError(
            f"Give a class and a score for each of at least one row; got shapes {positive.shape} "
            f"and {score.shape}."
        )
    levels, of_row = np.unique(score, return_inverse=True)
    hits = np.bincount(of_row, weight * positive, len(levels))
    others = np.bincount(of_row, weight * ~positive, len(levels))
    # Cut c predicts the second class for levels c, c + 1, ...: from all rows to none.
    true_second = np.append(np.cumsum(hits[::-1])[::-1], 0.0)
    false_second = np.append(np.cumsum(others[::-1])[::-1], 0.0)
    value = _value(goal, true_second, false_second)
    edges = np.concatenate([[levels[0] - 1], (levels[:-1] + levels[1:]) / 2, [levels[-1] + 1]])
    equal = np.flatnonzero(value <= value.min() + 1e-12 * np.abs(value).max())
    return float(edges[equal[np.argmin(np.abs(edges[equal] - near))]])


def _value(goal: Any, true_second: FloatArray, false_second: FloatArray) -> FloatArray:
    """Return what is to be minimised at each cut; the first cut takes all rows."""
    all_second, all_first = true_second[0], false_second[0]
    if isinstance(goal, str):
        if goal != "f1":
            raise ParameterError(f"goal={goal!r} is not known; use 'f1' or a matrix of costs.")
        total = true_second + false_second + all_second
        f1 = np.divide(2 * true_second, total, out=np.zeros_like(total), where=total > 0)
        return np.asarray(-f1)
    cost = np.asarray(goal, dtype=np.float64)
    if cost.shape != (2, 2):
        raise ParameterError(f"The costs of two classes are two by two; got shape {cost.shape}.")
    return np.asarray(
        cost[1, 1] * true_second
        + cost[1, 0] * false_second
        + cost[0, 1] * (all_second - true_second)
        + cost[0, 0] * (all_first - false_second)
    )


def usual_threshold(cost: Cost) -> float:
    """Return the threshold that costs call for where probabilities are right; 0.5 for any."""
    found = cost.threshold
    return 0.5 if np.isnan(found) else found


@dataclass(frozen=True)
class ThresholdChoice:
    """Chooses the threshold of a fitted classifier by what such a one gave for unseen rows.

    `cost` (for the classes in sorted order) or, where it is None, F1. Under costs the threshold
    that probabilities call for stays, unless another is better by more than a standard error:
    probabilities that are right need no choice, and a choice from few rows is worth little.
    """

    cost: Cost | None = None

    def __call__(
        self, model: Any, positive: Array, score: FloatArray, weight: FloatArray | None
    ) -> Any:
        """Return the model with its threshold."""
        inside = getattr(model, "estimator_", model)
        if self.cost is None:
            return ThresholdClassifier.of(inside, best_threshold("f1", positive, score, weight))
        cost = self.cost.for_classes(inside.classes_)
        matrix, usual = np.array(cost.matrix), usual_threshold(cost)
        found = best_threshold(matrix, positive, score, weight, near=usual)
        truth = positive.astype(int)
        gain = (
            matrix[(score > usual).astype(int), truth] - matrix[(score > found).astype(int), truth]
        )
        share = np.full(len(gain), 1 / len(gain)) if weight is None else weight / weight.sum()
        mean = float(share @ gain)
        spread = float(np.sqrt(share**2 @ (gain - mean) ** 2))
        return ThresholdClassifier.of(inside, found) if mean > spread else model
