"""Decisions by costs: the class of least expected cost, from the probabilities of a classifier."""

from typing import Any

from bottega.core.losses import Cost
from bottega.core.stored import stored
from bottega.core.typing import Array
from bottega.risk.deciding import DecidingClassifier

__all__ = ["CostSensitiveClassifier"]


@stored
class CostSensitiveClassifier(DecidingClassifier):
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

    _by = "costs"

    def __init__(self, estimator: Any, cost: Any) -> None:
        self.estimator = estimator
        self.cost = cost

    def _check_classes(self, classes: Array) -> None:
        Cost.of(self.cost).for_classes(classes)  # refuses a matrix for other classes

    def predict(self, X: Any) -> Array:
        """Return the class of least expected cost for each row."""
        shares = self.predict_proba(X)
        return self.classes_[Cost.of(self.cost).for_classes(self.classes_).decide(shares)]
