"""Estimators around other estimators: their parameters, their inputs, and how parts are fitted."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
    validate_data,
)

from bottega.core.errors import ParameterError
from bottega.core.estimator import Estimator
from bottega.core.frames import is_frame, take_rows
from bottega.core.params import Parameter
from bottega.core.typing import Array
from bottega.core.validate import read_response, refuse_doubled_names, refuse_masked

__all__ = ["Model", "Wrapping", "fit_weighted", "is_model"]

_MOST_COPIES = 10_000_000  # that a model which takes no weights is given


@dataclass(frozen=True)
class Model(Parameter):
    """An estimator, or None for the method's own; it cannot be given on a command line."""

    def accepts(self, value: Any) -> bool:
        """Return True if `value` can be fitted."""
        return value is None or is_model(value)

    def describe(self) -> str:
        """Return the words for an estimator."""
        return "None or an estimator with get_params and fit"

    def schema(self) -> dict[str, Any]:
        """Return a schema that admits nothing: an estimator has no JSON form."""
        return {"not": {}}

    def parse(self, text: str) -> Any:
        """Refuse: an estimator cannot be typed in."""
        raise ValueError("an estimator can only be given from Python")


def is_model(value: Any) -> bool:
    """Return True if `value` is an estimator, not a class."""
    needed = ("get_params", "fit")
    return not isinstance(value, type) and all(hasattr(value, name) for name in needed)


class Wrapping(Estimator):
    """A model made of other models; the inputs are theirs to judge, so they pass as they came."""

    @abstractmethod
    def _bases(self) -> list[Any]:
        """Return the models inside, not fitted."""

    def _check_kind(self) -> None:
        """Refuse a base for another task."""
        classifier = is_classifier(self)
        for base in self._bases():
            if is_regressor(base) if classifier else is_classifier(base):
                kind = "a classifier" if classifier else "a regressor"
                raise ParameterError(
                    f"{type(self).__name__} needs {kind} as its base; got {type(base).__name__}."
                )

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._check_kind()
        if not is_frame(X):
            X, y = super()._check_rows(X, y)
            return X, y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
        y = read_response(self, y)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, y)
        return X, y

    def _check_new(self, X: Any) -> Any:
        check_is_fitted(self)
        refuse_masked(X=X)
        refuse_doubled_names(X)
        if is_frame(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            return X
        return super()._check_new(X)

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        # What is missing, a text, or sparse is for the models to judge.
        passed = {"dtype": None, "ensure_all_finite": False, "accept_sparse": ("csr", "csc")}
        return super()._input_options(new) | passed | {"allow_nd": True}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        try:
            bases = self._bases()
        except (TypeError, ValueError):  # bases that are refused in `fit`
            return tags
        # A pipeline speaks for its first step, so what it is given is judged there.
        firsts = [base[0] if isinstance(base, Pipeline) else base for base in bases]
        for name in ("allow_nan", "string", "categorical", "sparse"):
            allowed = all(getattr(get_tags(each).input_tags, name) for each in (*firsts, *bases))
            setattr(tags.input_tags, name, allowed)
        tags.target_tags.multi_output = isinstance(self, RegressorMixin) and all(
            get_tags(base).target_tags.multi_output for base in bases
        )
        return tags


def fit_weighted(model: Any, X: Any, y: Array, counts: Any) -> Any:
    """Fit a model to the rows that count; `counts` are weights, or None for all alike.

    A model that takes weights is given each row once, with its count. Another is given the rows
    as often as they count, or, if it is a pipeline and the counts are no whole numbers, its last
    step is given the weights.
    """
    if counts is None:
        model.fit(X, y)
        return model
    rows = np.flatnonzero(counts)
    if has_fit_parameter(model, "sample_weight"):
        weight = np.asarray(counts[rows], dtype=np.float64)
        model.fit(take_rows(X, rows), y[rows], sample_weight=weight)
        return model
    if np.all(counts == np.rint(counts)):
        total = float(np.sum(counts))
        if total > _MOST_COPIES:
            raise ParameterError(
                f"{type(model).__name__} takes no sample weights, and rows repeated as often as "
                f"they weigh would be {total:.3g} (at most {_MOST_COPIES:,}); divide the weights "
                "by a number and round them, or use an estimator that takes weights."
            )
        rows = np.repeat(np.arange(len(counts)), np.asarray(counts).astype(np.intp))
        model.fit(take_rows(X, rows), y[rows])
        return model
    last = model.steps[-1] if isinstance(model, Pipeline) else ("", None)
    if not has_fit_parameter(last[1], "sample_weight"):
        raise ParameterError(
            f"Underlying estimator {type(model).__name__} does not support sample weights, so "
            "weights must be whole numbers (copies of a row); round them, or use an estimator that "
            "takes weights."
        )
    to_last = {f"{last[0]}__sample_weight": counts[rows]}
    model.fit(take_rows(X, rows), y[rows], **to_last)
    return model
