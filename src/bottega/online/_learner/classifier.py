"""Linear classifiers of a stream: labels, scores, and the class of a row."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from bottega.core.classes import classes_of_stream, codes_in_stream, decided, refuse_single
from bottega.core.errors import ParameterError
from bottega.core.params import AnyOf, Anything, Choice, OrNone
from bottega.core.rows import check_weight
from bottega.core.scores import linear_scores
from bottega.core.typing import Array, FloatArray
from bottega.online._learner.base import OnlineChunks

CLASS_WEIGHT = OrNone(
    AnyOf(Choice("balanced"), Anything()), help="weights of the classes, as a dict, or balanced"
)


class OnlineClassifier(ClassifierMixin, OnlineChunks):
    """A linear classifier: one vector of weights for two classes, one per class for more."""

    classes_: Array

    _numeric: ClassVar[bool] = False

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows, once each.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,)
            Class labels.
        classes : array-like, optional
            All labels that may come, with the first block. Left out, the labels of the first block
            are all there may be.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator.
        """
        self._learn(X, y, classes, sample_weight, charge=False)
        return self

    def learn_block(self, X: Any, y: Any, classes: Any = None) -> FloatArray:
        """Learn from more rows, once each, and return what each was charged before it was learned.

        Parameters
        ----------
        X, y, classes
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (m,)
            The loss of predicting each row from those before it.
        """
        return self._learn(X, y, classes, charge=True)

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_rows(X, y)
        check_classification_targets(y)
        return X, y

    def _begin(self) -> None:
        refuse_single(self.classes_)
        super()._begin()

    def _codes(self, y: Array, classes: Any, *, new: bool) -> Array:
        """Return the codes 0, 1, ... of the labels; the first block says which labels there are."""
        if new:
            self.classes_ = classes_of_stream(y, classes)
        return codes_in_stream(y, self.classes_, None if new else classes)

    def _block_weight(self, codes: Array, weight: FloatArray | None) -> FloatArray | None:
        by_class = getattr(self, "class_weight", None)
        if by_class is None:
            return weight
        if not isinstance(by_class, Mapping):
            raise ParameterError(
                f"class_weight={by_class!r} needs the shares of the classes, which a stream does "
                "not know beforehand; give a dict of weights, or call fit."
            )
        factor = np.array([float(by_class.get(label, 1.0)) for label in self.classes_.tolist()])
        return check_weight(factor[codes] if weight is None else weight * factor[codes], len(codes))

    @property
    def _vectors(self) -> int:
        """Number of vectors of weights."""
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    @property
    def coef_(self) -> FloatArray:
        """Coefficients: one row for two classes, one per class for more."""
        return self._linear_parts()[0]

    @property
    def intercept_(self) -> FloatArray:
        """Intercepts, zero without `fit_intercept`."""
        return self._linear_parts()[1]

    def decision_function(self, X: Any) -> FloatArray:
        """Return w.x: for two classes at least 0 means the second; else one column per class."""
        return self._scores(self._check_new(X))

    def _scores(self, X: Any) -> FloatArray:
        coef, intercept = self._linear_parts()
        scores = linear_scores(X, coef, intercept)
        return scores[:, 0] if len(coef) == 1 else scores

    def _decide(self, X: Any) -> Array:
        """Return the codes of the classes of checked rows."""
        scores = self._scores(X)
        return (scores >= 0).astype(np.intp) if scores.ndim == 1 else decided(scores)

    def predict(self, X: Any) -> Array:
        """Return the class of each row: sgn(0) is +1, the second class; of equals the first."""
        codes = self._decide(self._check_new(X))
        return self.classes_[codes]
