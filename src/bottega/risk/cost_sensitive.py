"""Decisions by costs: the class of least expected cost, from the probabilities of a classifier."""

from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.losses import Cost
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray

__all__ = ["CostSensitiveClassifier"]


@stored
class CostSensitiveClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    r"""Predict the class of least expected cost.

    With probabilities :math:`p_j(x)` of the classes and :math:`c_{ij}` the cost of predicting
    class i where class j is observed, the prediction is
    :math:`\arg\min_i \sum_j c_{ij}\, p_j(x)`, not the most probable class. `bottega.compare` and
    the functions of `bottega.risk` decide so when their loss is a `Cost`, and return such models.

    Parameters
    ----------
    estimator : classifier
        One with `predict_proba`; it is cloned.
    cost : Cost or array-like of shape (K, K)
        What each kind of error costs; a matrix is for the classes in sorted order.

    Attributes
    ----------
    estimator_ : classifier
        Fitted.
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    Notes
    -----
    The decisions are as good as the probabilities. Of several classes of equal expected cost the
    first in sorted order is predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.core import BaselineClassifier
    >>> from bottega.risk import Cost
    >>> cost = Cost([[0, 10], [1, 0]], classes=["healthy", "ill"])  # missing an illness costs 10
    >>> model = CostSensitiveClassifier(BaselineClassifier(), cost)
    >>> str(model.fit(np.zeros((5, 1)), ["healthy"] * 4 + ["ill"]).predict([[0.0]])[0])
    'ill'
    """

    def __init__(self, estimator: Any, cost: Any) -> None:
        self.estimator = estimator
        self.cost = cost

    @classmethod
    def of(cls, fitted: Any, cost: Cost) -> "CostSensitiveClassifier":
        """Return a classifier that is fitted already, with its decisions by costs."""
        model = cls(clone(fitted), cost)
        model.estimator_ = fitted
        return model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "CostSensitiveClassifier":
        """Fit the classifier; `sample_weight` is passed on to it."""
        cost = Cost.of(self.cost)
        if not hasattr(self.estimator, "predict_proba"):
            raise InputError(
                "Decisions by costs need a classifier with predict_proba; got "
                f"{type(self.estimator).__name__}."
            )
        weighted = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.estimator_ = clone(self.estimator).fit(X, y, **weighted)
        cost.for_classes(self.classes_)  # refuses a matrix for other classes
        return self

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

    def predict(self, X: Any) -> Array:
        """Return the class of least expected cost for each row."""
        shares = self.predict_proba(X)
        return self.classes_[Cost.of(self.cost).for_classes(self.classes_).decide(shares)]
