"""What classifiers share that decide by the probabilities of another."""

from typing import Any, Self

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray

__all__ = ["DecidingClassifier"]


class DecidingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier with the probabilities of its `estimator_` and decisions of its own."""

    _by: str  # what the decisions are made by, in words
    estimator: Any

    @classmethod
    def of(cls, fitted: Any, decision: Any) -> Self:
        """Return a classifier that is fitted already, with its decisions made otherwise."""
        model = cls(clone(fitted), decision)
        model.estimator_ = fitted
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier; `sample_weight` is passed on to it."""
        if not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                f"Decisions by {self._by} need a classifier with predict_proba; got "
                f"{type(self.estimator).__name__}."
            )
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        fitted = clone(self.estimator).fit(X, y, **weighted)
        self._check_classes(fitted.classes_)
        self.estimator_ = fitted
        return self

    def _check_classes(self, classes: Array) -> None:
        """Refuse classes that the decisions are not for."""

    @property
    def classes_(self) -> Array:
        """The classes, sorted."""
        return self.estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """Number of inputs."""
        return self.estimator_.n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)
