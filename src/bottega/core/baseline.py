"""What every comparison starts from: predict without looking at the inputs."""

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.base import Estimator, LinearSmoother
from bottega.core.cards import Card
from bottega.core.smoother import Smoother
from bottega.core.typing import Array, FloatArray
from bottega.core.weights import check_weight

__all__ = ["BaselineClassifier", "BaselineRegressor"]

_SHARED: dict[str, Any] = {
    "method": "baseline",
    "knob": None,
    "cost": "n",
    "source": "M124",
    "missing": True,
    "categories": True,
    "wide": True,
    "weights": True,
}
_ANY_INPUT: dict[str, Any] = {"dtype": None, "ensure_all_finite": False}


class BaselineRegressor(RegressorMixin, LinearSmoother, Estimator):
    r"""Predict the mean of the training responses.

    Minimises :math:`\sum_i w_i (y_i - c)^2` over constants :math:`c`; as a linear smoother,
    :math:`S = \mathbf 1 w^\top / \sum w` with one degree of freedom.

    Attributes
    ----------
    constant_ : float
        The (weighted) mean.
    smoother_ : Smoother
        What df, leverages, leave-one-out and the criteria follow from.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    It takes any inputs, categories and missing values included, because it ignores them. A method
    that does not beat it has learned nothing; it is never the method to use.

    Examples
    --------
    >>> import numpy as np
    >>> model = BaselineRegressor().fit(np.zeros((3, 1)), [1.0, 2.0, 6.0])
    >>> model.predict(np.zeros((1, 1))), model.df_
    (array([3.]), 1.0)
    """

    card: ClassVar[Card] = Card(
        title="Mean of the responses",
        task="regression",
        strengths=("Costs nothing.", "Shows what a model must beat."),
        weaknesses=("Ignores every input.",),
        linear_smoother=True,
        **_SHARED,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the mean.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Inputs; only their number is looked at.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        BaselineRegressor
            The fitted estimator.
        """
        self._remember_frame(X)
        _, y = validate_data(self, X, y, y_numeric=True, **_ANY_INPUT)
        y = np.asarray(y, dtype=np.float64)
        weight = check_weight(sample_weight, len(y))
        share = np.full(len(y), 1 / len(y)) if weight is None else weight / weight.sum()
        self.constant_ = float(share @ y)
        self.smoother_ = Smoother(y, np.full(len(y), self.constant_), share, weight=weight)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean for each row of X, and with `return_std` its standard error too."""
        check_is_fitted(self)
        mean = np.full(_count_rows(self, X), self.constant_)
        return (mean, self._standard_error(X)) if return_std else mean

    def _standard_error(self, X: Any) -> FloatArray:
        # Var y_i = sigma^2 / w_i, so Var(sum w_i y_i / sum w) = sigma^2 / sum w.
        weight = self.smoother_.weight
        total = self.smoother_.n if weight is None else weight.sum()
        return np.full(_count_rows(self, X), float(self.sigma_) / np.sqrt(total))

    def __sklearn_tags__(self) -> Tags:
        return _takes_anything(super().__sklearn_tags__())


class BaselineClassifier(ClassifierMixin, Estimator):
    """Predict the most frequent class, with the class shares as probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    shares_ : ndarray of shape (K,)
        Their (weighted) shares of the training rows.
    n_features_in_ : int
        Number of columns seen in `fit`.

    Notes
    -----
    Of equally frequent classes the first in sorted order is predicted. With 90 % of one class it
    is right nine times in ten, which is why accuracy alone says little about unbalanced data.

    Examples
    --------
    >>> import numpy as np
    >>> model = BaselineClassifier().fit(np.zeros((10, 1)), ["blue"] * 9 + ["green"])
    >>> model.score(np.zeros((10, 1)), ["blue"] * 9 + ["green"])
    0.9
    """

    card: ClassVar[Card] = Card(
        title="Most frequent class",
        task="classification",
        strengths=("Costs nothing.", "Shows what a model must beat on unbalanced classes."),
        weaknesses=("Ignores every input.",),
        probabilities=True,
        **_SHARED,
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the class shares.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Inputs; only their number is looked at.
        y : array-like of shape (n,)
            Class labels.
        sample_weight : array-like of shape (n,), optional
            Row weights.

        Returns
        -------
        BaselineClassifier
            The fitted estimator.
        """
        self._remember_frame(X)
        _, y = validate_data(self, X, y, **_ANY_INPUT)
        check_classification_targets(y)
        weight = check_weight(sample_weight, len(y))
        self.classes_, codes = np.unique(y, return_inverse=True)
        counts = np.bincount(codes, weights=weight, minlength=len(self.classes_))
        self.shares_ = counts / counts.sum()
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class shares for each row of X."""
        check_is_fitted(self)
        return np.tile(self.shares_, (_count_rows(self, X), 1))

    def predict(self, X: Any) -> Array:
        """Return the most frequent class for each row of X."""
        check_is_fitted(self)
        return np.full(_count_rows(self, X), self.classes_[np.argmax(self.shares_)])

    def __sklearn_tags__(self) -> Tags:
        return _takes_anything(super().__sklearn_tags__())


def _count_rows(estimator: Estimator, X: Any) -> int:
    return len(validate_data(estimator, X, reset=False, **_ANY_INPUT))


def _takes_anything(tags: Tags) -> Tags:
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.input_tags.categorical = True
    for task_tags in (tags.regressor_tags, tags.classifier_tags):
        if task_tags is not None:
            task_tags.poor_score = True
    return tags
