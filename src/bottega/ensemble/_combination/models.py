"""Estimators as parameters, and as parts that are asked."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.params import Parameter
from bottega.core.typing import Array, FloatArray


@dataclass(frozen=True)
class Model(Parameter):
    """An estimator, or None for the method's own; it cannot be given on a command line."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` can be fitted and can predict."""
        return value is None or _is_model(value)

    def describe(self) -> str:
        """Return the words for an estimator."""
        return "None or an estimator with get_params, fit and predict"

    def schema(self) -> dict[str, Any]:
        """Return a schema that admits nothing: an estimator has no JSON form."""
        return {"not": {}}

    def parse(self, text: str) -> Any:
        """Refuse: an estimator cannot be typed in."""
        raise ValueError("an estimator can only be given from Python")


@dataclass(frozen=True)
class Models(Model):
    """A list of estimators or of pairs (name, estimator), or None for the method's own."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` is a list of models, with or without names."""
        if value is None:
            return True
        if not isinstance(value, list | tuple) or not value:
            return False
        return all(_is_model(each) or _is_pair(each) for each in value)

    def describe(self) -> str:
        """Return the words for a list of estimators."""
        return "None or a list of estimators, each with a name (name, estimator) or without"


def _is_model(value: Any) -> bool:
    needed = ("get_params", "fit", "predict")
    return not isinstance(value, type) and all(hasattr(value, name) for name in needed)


def _is_pair(value: Any) -> bool:
    pair = isinstance(value, tuple | list) and len(value) == 2
    return pair and isinstance(value[0], str) and _is_model(value[1])


def named_models(given: Any) -> list[tuple[str, Any]]:
    """Return pairs of name and model; a name that is taken gets a number."""
    named: list[tuple[str, Any]] = []
    for each in given:
        own_name = getattr(getattr(each, "card", None), "method", type(each).__name__)
        name, model = (own_name, each) if _is_model(each) else each
        wanted, count = name, 2
        while name in dict(named):
            name, count = f"{wanted} {count}", count + 1
        named.append((name, model))
    return named


def class_shares(model: Any, X: Any, classes: Array, *, votes: bool = False) -> FloatArray:
    """Return what a fitted classifier gives to each of `classes`, which may be more than its own.

    Its probabilities; with `votes`, or where it has none, a one for the class it predicts.
    """
    if votes or not hasattr(model, "predict_proba"):
        shares = np.zeros((int(X.shape[0]), len(classes)))
        shares[np.arange(len(shares)), np.searchsorted(classes, model.predict(X))] = 1
        return shares
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    if len(model.classes_) == len(classes):
        return found
    shares = np.zeros((len(found), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = found
    return shares
