"""A procedure with its own choice inside: what it chose, and how good it thought that to be."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from bottega.core.base import Tuned
from bottega.core.errors import ParameterError
from bottega.core.folds import fold_rows
from bottega.core.path import Path
from bottega.core.typing import Array

__all__ = ["Chosen", "choose", "is_chosen_here"]


@dataclass(frozen=True)
class Chosen:
    """A fitted model, the value that was chosen for it, and the least error on the way.

    `value` is None, and `least` NaN, where nothing was chosen or the estimator does not tell.
    """

    model: Any
    value: Any
    least: float


def is_chosen_here(estimator: Any, values: Any) -> bool:
    """Tell whether a knob is left to be chosen along the path."""
    if not isinstance(estimator, Tuned):
        if values is not None:
            raise ParameterError(
                f"{type(estimator).__name__} has no knob that is known here, so values= has no "
                "meaning; search over its parameters with scikit-learn's GridSearchCV, which can "
                "be given as it is."
            )
        return False
    return values is not None or isinstance(getattr(estimator, estimator.knob), str)


def choose(estimator: Any, X: Any, y: Array, *, rule: str, inner: Any, values: Any) -> Chosen:
    """Fit the estimator, its knob chosen by a rule from the path that `inner` folds judge."""
    if not is_chosen_here(estimator, values):
        model = clone(estimator).fit(X, y)
        return Chosen(model, *_told_by(model))
    curve = _judged_path(estimator, X, y, inner, values)
    value = curve.values[curve.best(rule)]
    value = value.item() if isinstance(value, np.generic) else value
    model = clone(estimator).set_params(**{estimator.knob: value}).fit(X, y)
    return Chosen(model, value, float(np.nanmin(curve.error)))


def _judged_path(estimator: Tuned, X: Any, y: Array, inner: Any, values: Any) -> Path:
    """Return the path, judged by the inner folds.

    A method that judges its own grid by folds of its own is given these in their place: it deals
    a number of folds just as `fold_rows` does, and has faster ways to go through them. Values that
    were asked for are judged by fits at just these values (a tree would let each stand for the
    stretch of prices that give the same tree), and so are the grids of all other methods.
    """
    own = estimator.params.get("cv")
    if inner is None:
        return estimator.path(X, y, values=values)
    if values is None and own is not None and own.accepts(inner):
        return clone(estimator).set_params(cv=inner).path(X, y)
    if isinstance(inner, Integral) and not isinstance(inner, bool):
        dealt = fold_rows(len(y), min(int(inner), len(y)), y if is_classifier(estimator) else None)
        inner = [(train, test) for train, test in dealt if len(train) and len(test)]
    return estimator.path(X, y, values=values, cv=inner)


def _told_by(model: Any) -> tuple[Any, float]:
    """Return what a fitted estimator tells about a choice of its own, and its least error."""
    if hasattr(model, "best_params_"):
        return model.best_params_, _least_of_search(model)
    inside = model.steps[-1][1] if hasattr(model, "steps") else model
    knob = getattr(inside, "knob", None)
    if knob is None or not isinstance(getattr(inside, knob, None), str):
        return None, np.nan
    path = getattr(inside, "path_", None)
    least = np.nan if path is None else float(np.nanmin(path.error))
    return getattr(inside, f"{knob}_", None), least


def _least_of_search(search: Any) -> float:
    """Return the least error of a search of scikit-learn's, where its score is our loss."""
    scoring = getattr(search, "scoring", None)
    score = float(getattr(search, "best_score_", np.nan))
    if scoring == "neg_mean_squared_error":
        return -score
    if scoring == "accuracy" or (scoring is None and is_classifier(search)):
        return 1 - score
    return np.nan
