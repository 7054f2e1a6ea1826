"""What every comparison starts from: predict without looking at the inputs."""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.classes import decided
from bottega.core.estimator import Estimator
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.losses import LOSSES, SQUARED_ERROR, get_loss
from bottega.core.params import AnyOf, Choice, Function, Parameter
from bottega.core.rows import Rows
from bottega.core.smoother import Smoother
from bottega.core.typing import Array, FloatArray

__all__ = ["BaselineClassifier", "BaselineRegressor"]

_LOSSES = [name for name, loss in LOSSES.items() if loss.task == "regression"]
_SHARED: dict[str, Any] = {
    "method": "baseline",
    "cost": "n",
    "source": "M124",
    "takes": frozenset({"number", "category", "missing", "text"}),
    "wide": True,
}


class _Baseline:
    """Takes any inputs, because it ignores them; what it predicts scores poorly."""

    def _input_options(self, new: bool = False) -> dict[str, Any]:
        return {"dtype": None, "ensure_all_finite": False}

    def _count_rows(self, X: Any) -> int:
        return len(self._check_new(X))  # type: ignore[attr-defined]

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        for task_tags in (tags.regressor_tags, tags.classifier_tags):
            if task_tags is not None:
                task_tags.poor_score = True
        return tags


class BaselineRegressor(_Baseline, RegressorMixin, LinearSmoother, Estimator):
    r"""Predict the mean of the training responses, or the best constant for another loss.

    Minimises :math:`\sum_i w_i (y_i - c)^2` over constants :math:`c`; as a linear smoother,
    :math:`S = \mathbf 1 w^\top / \sum w` with one degree of freedom.

    Parameters
    ----------
    loss : str, Loss or callable
        What the constant is best for: the mean for ``"squared_error"``, a median for
        ``"absolute_error"``, see `bottega.core.losses`.

    Attributes
    ----------
    constant_ : float
        The (weighted) mean, or the best constant.
    smoother_ : Smoother
        What df, leverages, leave-one-out and the criteria follow from; for the squared error.

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
        assumptions=("None.",),
        **_SHARED,
    )

    params: ClassVar[Mapping[str, Parameter]] = {
        "loss": AnyOf(Choice(*_LOSSES), Function(), help="loss that the constant is best for")
    }

    def __init__(self, loss: Any = "squared_error") -> None:
        self.loss = loss

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        share = work.weights / work.total_weight
        loss = get_loss(self.loss, "regression")
        if loss != SQUARED_ERROR:
            self.constant_ = float(loss.best(work.y, share / share.sum()))
            return
        self.constant_ = float(share @ work.y)
        fitted = np.full(len(work), self.constant_)
        self.smoother_ = Smoother(work.y, fitted, share, weight=work.weight)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean for each row of X, and with `return_std` its standard error too."""
        rows = self._count_rows(X)
        mean = np.full(rows, self.constant_)
        return (mean, self._standard_error(X)) if return_std else mean

    def _restore(self, rows: Rows) -> None:
        if hasattr(self, "smoother_"):
            super()._restore(rows)

    def _standard_error(self, X: Any) -> FloatArray:
        # Var y_i = sigma^2 / w_i, so Var(sum w_i y_i / sum w) = sigma^2 / sum w.
        weight = self.smoother_.weight
        total = self.smoother_.n if weight is None else weight.sum()
        return np.full(self._count_rows(X), float(self.sigma_) / np.sqrt(total))

    def _matrix(self, X: Any) -> FloatArray:
        return np.tile(self.leverage_, (len(X), 1))


class BaselineClassifier(_Baseline, ClassifierMixin, Estimator):
    """Predict the most frequent class, with the class shares as probabilities.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    shares_ : ndarray of shape (K,)
        Their (weighted) shares of the training rows.

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
        assumptions=("None.",),
        **_SHARED,
    )

    def _settle(self, work: Rows, setting: Mapping[str, Any]) -> None:
        counts = np.bincount(work.y, weights=work.weight, minlength=len(self.classes_))
        self.shares_ = counts / counts.sum()

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class shares for each row of X."""
        rows = self._count_rows(X)
        return np.tile(self.shares_, (rows, 1))

    def predict(self, X: Any) -> Array:
        """Return the most frequent class for each row of X."""
        rows = self._count_rows(X)
        return np.full(rows, self.classes_[decided(self.shares_)])
