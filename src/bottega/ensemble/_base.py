"""What the ways to combine models share: any model as a base, and the rows it is fitted to."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from bottega.core.base import Estimator
from bottega.core.errors import InputError, ParameterError
from bottega.core.frames import is_frame, take_rows
from bottega.core.params import Parameter
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble.resampling import seed_parts

__all__ = ["Combination", "Model", "class_shares", "fit_drawn", "tags_of_bases"]


@dataclass(frozen=True)
class Model(Parameter):
    """An estimator, or None for the method's own; it cannot be given on a command line."""

    def accepts(self, value: Any) -> bool:
        """Tell whether `value` can be fitted and can predict."""
        return value is None or is_model(value)

    def describe(self) -> str:
        """Return the words for an estimator."""
        return "None or an estimator with get_params, fit and predict"

    def schema(self) -> dict[str, Any]:
        """Return a schema that admits nothing: an estimator has no JSON form."""
        return {"not": {}}

    def parse(self, text: str) -> Any:
        """Refuse: an estimator cannot be typed in."""
        raise ValueError("an estimator can only be given from Python")


def is_model(value: Any) -> bool:
    """Tell whether `value` is an object (not a class) that can be fitted and can predict."""
    needed = ("get_params", "fit", "predict")
    return not isinstance(value, type) and all(hasattr(value, name) for name in needed)


def fit_drawn(base: Any, X: Any, y: Array, counts: Any, seed: int | None) -> Any:
    """Return a copy of `base` fitted to the rows that were drawn `counts` times.

    A base that takes weights is given each drawn row once, with its count; another is given the
    rows as often as they were drawn.
    """
    model = clone(base)
    if seed is not None:
        seed_parts(model, seed)
    if counts is None:
        return model.fit(X, y)
    if has_fit_parameter(model, "sample_weight"):
        rows = np.flatnonzero(counts)
        weight = np.asarray(counts[rows], dtype=np.float64)
        return model.fit(take_rows(X, rows), y[rows], sample_weight=weight)
    if np.any(counts != np.rint(counts)):
        raise InputError(
            f"{type(base).__name__} takes no sample_weight, so weights must be whole numbers "
            "(copies of a row); round them, or use a base that takes weights."
        )
    rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
    return model.fit(take_rows(X, rows), y[rows])


def class_shares(model: Any, X: Any, classes: Array, *, votes: bool = False) -> FloatArray:
    """Return what a fitted classifier gives to each of `classes`, which may be more than its own.

    Its probabilities; with `votes`, or where it has none, a one for the class it predicts.
    """
    if votes or not hasattr(model, "predict_proba"):
        shares = np.zeros((_count(X), len(classes)))
        shares[np.arange(len(shares)), np.searchsorted(classes, model.predict(X))] = 1
        return shares
    found = np.asarray(model.predict_proba(X), dtype=np.float64)
    if len(model.classes_) == len(classes):
        return found
    shares = np.zeros((len(found), len(classes)))
    shares[:, np.searchsorted(classes, model.classes_)] = found
    return shares


def _count(X: Any) -> int:
    return int(X.shape[0])


class Combination(Estimator):
    """A model made of other models; the inputs are theirs to judge, so they pass as they came."""

    @abstractmethod
    def _bases(self) -> list[Any]:
        """Return the base models, not fitted."""

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Array]:
        """Return the inputs (a frame, or an array) and the response; note the columns."""
        self._remember_frame(X)
        classifier = is_classifier(self)
        for base in self._bases():
            if is_classifier(base) != classifier:
                kind = "a classifier" if classifier else "a regressor"
                raise ParameterError(
                    f"{type(self).__name__} needs {kind} as its base; got {type(base).__name__}."
                )
        numeric = not classifier
        if is_frame(X):
            # The response first: its check forgets the names of the columns.
            y = validate_data(self, X="no_validation", y=y, y_numeric=numeric)
            validate_data(self, X, skip_check_array=True)
            check_consistent_length(X, y)
        else:
            options = {"dtype": None, "ensure_all_finite": not self._allows_missing()}
            X, y = validate_data(self, X, y, y_numeric=numeric, **options)
        if classifier:
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            return X, y
        return X, np.asarray(y, dtype=np.float64)

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        options = {"dtype": None, "ensure_all_finite": not self._allows_missing()}
        return validate_data(self, X, reset=False, **options)

    def _codes(self, y: Array) -> IntArray:
        return np.searchsorted(self.classes_, y)

    def _allows_missing(self) -> bool:
        return bool(tags_of_bases(self._bases()).allow_nan)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        theirs = tags_of_bases(self._bases())
        tags.input_tags.allow_nan = theirs.allow_nan
        tags.input_tags.string = theirs.string
        tags.input_tags.categorical = theirs.categorical
        return tags


def tags_of_bases(bases: list[Any]) -> Any:
    """Return the input tags that hold for all the bases together."""
    # A pipeline speaks for its first step, so what it is given is judged there.
    tags = [get_tags(base) for base in bases]
    found = tags[0].input_tags
    for each, base in zip(tags, bases, strict=True):
        asked = get_tags(base[0]) if isinstance(base, Pipeline) else each
        found.allow_nan &= asked.input_tags.allow_nan
        found.string &= asked.input_tags.string
        found.categorical &= asked.input_tags.categorical
    return found
