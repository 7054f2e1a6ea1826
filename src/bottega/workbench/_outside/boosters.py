"""LightGBM and XGBoost as they come, behind cards: entrants of a comparison that asks for them.

They are no estimators of the catalogue: a comparison runs them with their own defaults beside its
methods, so that a reader sees what the library would have given.
"""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from bottega.core.cards import Card
from bottega.core.typing import Array, FloatArray

__all__ = ["LIBRARIES", "OutsideBooster", "installed"]

LIBRARIES = {"lightgbm": "LightGBM", "xgboost": "XGBoost"}
_CLASSES = {
    "lightgbm": ("LGBMClassifier", "LGBMRegressor"),
    "xgboost": ("XGBClassifier", "XGBRegressor"),
}
_QUIET = {"lightgbm": {"verbosity": -1}, "xgboost": {"verbosity": 0}}


class OutsideBooster(BaseEstimator):
    """A booster of another library with its defaults: 100 rounds, and nothing tuned."""

    library: ClassVar[str]
    card: ClassVar[Card]
    params: ClassVar[Mapping[str, Any]] = {}
    model_: Any

    def __init__(self, n_jobs: int | None = None, random_state: int = 0) -> None:
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the library's model to a matrix of numbers, NaN where missing."""
        target = np.asarray(y)
        if self.card.task == "classification":
            self.classes_, target = np.unique(target, return_inverse=True)
        X = _matrix(X)
        self.n_features_in_ = X.shape[1]
        if self.card.task == "classification" and len(self.classes_) < 2:
            self.model_ = None  # nothing to tell apart, which the libraries refuse
            return self
        made = getattr(import_module(self.library), _CLASSES[self.library][self._is_regressor])
        jobs = -1 if self.n_jobs is None else self.n_jobs
        self.model_ = made(n_jobs=jobs, random_state=self.random_state, **_QUIET[self.library])
        self.model_.fit(X, target, sample_weight=sample_weight)
        return self

    @property
    def _is_regressor(self) -> bool:
        return self.card.task == "regression"


class _OutsideRegressor(RegressorMixin, OutsideBooster):
    def predict(self, X: Any) -> FloatArray:
        """Return the predicted numbers."""
        return np.asarray(self.model_.predict(_matrix(X)), dtype=np.float64)


class _OutsideClassifier(ClassifierMixin, OutsideBooster):
    classes_: Array

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class."""
        if self.model_ is None:
            return np.ones((len(_matrix(X)), 1))
        return np.asarray(self.model_.predict_proba(_matrix(X)), dtype=np.float64)

    def predict(self, X: Any) -> Array:
        """Return the most probable class."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _matrix(X: Any) -> FloatArray:
    """Return the inputs without names, which the libraries restrict."""
    return np.asarray(X, dtype=np.float64)


def installed(task: str) -> dict[str, Any]:
    """Return the entrants whose library is installed, by name."""
    return {name: _CLASS[name, task] for name in LIBRARIES if find_spec(name) is not None}


def _made(name: str, task: str) -> type[OutsideBooster]:
    title = LIBRARIES[name]
    base = _OutsideRegressor if task == "regression" else _OutsideClassifier
    card = Card(
        method=name,
        title=title,
        task=task,
        strengths=("Among the most accurate methods for tables of many rows, and fast there.",),
        weaknesses=(
            "Nothing is tuned: it is run with the library's own defaults.",
            "With few rows the defaults ask for too many rows in a leaf.",
            "Its models cannot be written to a model file of bottega.",
        ),
        assumptions=("The response is a sum of pieces that small trees can describe.",),
        cost="n p rounds, on one byte per value",
        source="",
        takes=frozenset({"number", "missing"}),
        wide=True,
    )
    made: Any = type(f"{title}{base.__name__.removeprefix('_Outside')}", (base,), {"library": name})
    made.card = replace(card, estimator=made)
    made.__doc__ = f"{title} as it comes, for a comparison."
    made.__module__ = __name__
    return made


_CLASS = {
    (name, task): _made(name, task)
    for name in LIBRARIES
    for task in ("regression", "classification")
}
