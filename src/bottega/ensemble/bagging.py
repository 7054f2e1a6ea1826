"""Bagging: the vote or the mean of models fitted to samples drawn with replacement."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.frames import take_rows
from bottega.core.losses import get_loss
from bottega.core.parallel import available_cores, in_threads
from bottega.core.params import Boolean, Choice, Integer, Parameter, Real, Seed
from bottega.core.path import Path
from bottega.core.smoother import mean_and_se
from bottega.core.typing import Array, FloatArray
from bottega.core.weights import check_weight
from bottega.ensemble._base import Combination, Model, class_shares, fit_drawn
from bottega.ensemble.resampling import draw_rows, own_order, seeds
from bottega.tree import TreeClassifier, TreeRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]

_SHARED_CARD: dict[str, Any] = {
    "method": "bagging",
    "title": "Bagging",
    "knob": None,
    "strengths": (
        "Cuts the variance of unstable models (full trees) and keeps their bias.",
        "The rows left out of each sample give an honest error without cross-validation.",
        "More models never overfit: the error settles.",
        "Works with any base model.",
    ),
    "weaknesses": (
        "Does little for stable models, such as linear ones.",
        "The models resemble one another: a forest, which also draws columns, is mostly better.",
        "The rules of a single tree are lost.",
    ),
    "cost": "n_models fits of the base",
    "source": "D186, D187, D189, D190",
    "twin_of": "random_forest",
    "missing": True,
    "categories": True,
    "wide": True,
    "weights": True,
}
_PARAMS: dict[str, Parameter] = {
    "base": Model(help="model to fit to each sample; None: a full tree"),
    "n_models": Integer(1, help="how many samples are drawn and models fitted"),
    "replace": Boolean(help="draw rows with replacement (the bootstrap)"),
    "sample_share": Real(0, 1, open_low=True, help="size of a sample as a share of the rows"),
}
_SEED = Seed(help="seed of the draws; None: other draws in every fit")


class _Bagging(Combination):
    """What the classifier and the regressor share."""

    base: Any
    n_models: int
    replace: bool
    sample_share: float
    random_state: Any

    @abstractmethod
    def _outputs(self, model: Any, X: Any) -> FloatArray:
        """Return what one model adds to the average, one row a row of X."""

    @abstractmethod
    def _loss(self, y: Array, average: FloatArray) -> FloatArray:
        """Return the loss of each row when the average of the outputs decides."""

    @abstractmethod
    def _own_base(self) -> Any:
        """Return the base in use when none is given."""

    def _bases(self) -> list[Any]:
        return [self._own_base() if self.base is None else self.base]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the base to each sample and take the out-of-bag error.

        Parameters
        ----------
        X : array-like or data frame of shape (n, p)
            Inputs; what the base takes.
        y : array-like of shape (n,)
            Responses.
        sample_weight : array-like of shape (n,), optional
            Chances of being drawn; a weight of k is k copies of the row.

        Returns
        -------
        Self
            The fitted estimator.
        """
        self._check_params()
        X, y = self._check_training(X, y)
        weight = check_weight(sample_weight, len(y))
        order = own_order(X, y)
        if weight is not None:
            order = order[weight[order] > 0]
        rows_X, rows_y = take_rows(X, order), y[order]
        rows_weight = None if weight is None else weight[order]
        # As many draws as there are copies, and never fewer than rows that count.
        copies = len(order)
        if rows_weight is not None:
            copies = max(copies, round(rows_weight.sum()))
        size = max(1, round(self.sample_share * copies))
        if not self.replace:
            size = min(size, len(order))
        base = self._bases()[0]

        def fit_one(seed: int) -> tuple[Any, Array]:
            counts = draw_rows(len(order), size, seed, replace=self.replace, weight=rows_weight)
            return fit_drawn(base, rows_X, rows_y, counts, seed), counts == 0

        fitted = in_threads(fit_one, seeds(self.random_state, self.n_models), stage="models")
        self.estimators_ = [model for model, _ in fitted]
        left_out = [out for _, out in fitted]
        average = self._walk(rows_X, rows_y, rows_weight, left_out)
        self._keep_out_of_bag(average, order, len(y))
        return self

    def _walk(
        self, X: Any, y: Array, weight: FloatArray | None, left_out: list[Array]
    ) -> FloatArray:
        """Follow the training and the out-of-bag error as models come in; return the latter's."""
        total: Any = 0.0
        bag_total: Any = 0.0
        bag_count = np.zeros(len(y))
        train, error, error_se = [], [], []
        done = 0
        for outputs in self._all_outputs(X):
            out = left_out[done]
            done += 1
            shape = (-1,) + (1,) * (outputs.ndim - 1)
            total = total + outputs
            bag_total = bag_total + np.where(out.reshape(shape), outputs, 0.0)
            bag_count += out
            train.append(np.average(self._loss(y, total / done), weights=weight))
            seen = np.flatnonzero(bag_count)
            if not len(seen):
                error.append(np.nan)
                error_se.append(np.nan)
                continue
            average = bag_total[seen] / bag_count[seen].reshape(shape)
            loss = self._loss(y[seen], average)
            mean, se = mean_and_se(loss, None if weight is None else weight[seen])
            error.append(mean)
            error_se.append(se)
        self.oob_path_ = Path(
            "n_models",
            np.arange(1, done + 1),
            df=np.full(done, np.nan),
            train_error=np.array(train),
            error=np.array(error),
            error_se=np.array(error_se),
            estimate="oob",
            loss=get_loss(None, type(self).card.task).title,
        )
        self.oob_error_, self.oob_error_se_ = float(error[-1]), float(error_se[-1])
        with np.errstate(invalid="ignore"):  # a row in every sample has no such prediction
            return np.asarray(bag_total / bag_count.reshape((-1,) + (1,) * (np.ndim(total) - 1)))

    @abstractmethod
    def _keep_out_of_bag(self, average: FloatArray, order: Array, n: int) -> None:
        """Keep the out-of-bag predictions in the order the rows came in."""

    def _all_outputs(self, X: Any) -> Any:
        """Yield the outputs of each model, a few computed side by side, in order."""
        step = 4 * available_cores()
        for start in range(0, len(self.estimators_), step):
            some = self.estimators_[start : start + step]
            yield from in_threads(lambda model: self._outputs(model, X), some)

    def _average(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        total: Any = 0.0
        for outputs in self._all_outputs(X):
            total = total + outputs
        return np.asarray(total / len(self.estimators_))


class BaggingClassifier(ClassifierMixin, _Bagging):
    r"""Classify by the vote of models fitted to samples of the rows.

    .. math:: C_{bag}(x) = \arg\max_k \frac1B \sum_{b=1}^B [C(S^b, x) = k]

    over B samples :math:`S^b` drawn with replacement; with ``vote="probability"`` the class
    probabilities of the models are averaged instead of their votes. Equal shares go to the first
    class in sorted order.

    Parameters
    ----------
    base : classifier, optional
        Model to fit to each sample; a full tree (``TreeClassifier(alpha=0)``) by default.
    n_models : int
        Number of models; more only steady the answer.
    replace : bool
        Draw with replacement. Without, `sample_share` must be below 1 for rows to be left out.
    sample_share : float
        Size of a sample as a share of the rows, in (0, 1].
    vote : {"probability", "majority"}
        Average the probabilities, or count the predicted classes as in the formula. Equal where
        the base gives probabilities 0 and 1, as a full tree does on distinct rows.
    random_state : int, generator or None
        Seed of the draws (and of the base); None draws other samples in every fit.

    Attributes
    ----------
    estimators_ : list
        The fitted models.
    classes_ : ndarray of shape (K,)
        The classes, sorted.
    oob_error_, oob_error_se_ : float
        Out-of-bag error rate and its standard error; NaN where no row was left out.
    oob_decision_ : ndarray of shape (n, K)
        Shares of the classes among the models that did not see the row; NaN where all did.
    oob_path_ : Path
        Training and out-of-bag error as models come in (rows left out so far alone).
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    BaggingRegressor : the same for numbers.

    Notes
    -----
    A row is left out of a sample with chance :math:`(1 - 1/n)^n \approx 0.368`, so about a third of
    the models judge each row honestly. Weights are chances of being drawn: as many rows are
    drawn as the weights sum to (at least the rows of positive weight), so rescale survey weights
    to mean one. A base that takes `sample_weight` is fitted to the distinct rows with their
    counts, another to the repeated rows. The samples depend on the rows and the seed, not on the
    order of the rows. Cost: `n_models` fits of the base, side by side in threads. There are no
    degrees of freedom to speak of (NaN in `oob_path_`).

    Not for stable models, and not where a single readable tree is wanted: see bumping.

    References
    ----------
    .. [1] Breiman, L. (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = BaggingClassifier(n_models=50).fit(X, y)
    >>> model.predict([[1.0, 1.0], [1.0, -1.0]]).tolist(), model.oob_error_ < 0.1
    (['same', 'other'], True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **_PARAMS,
        "vote": Choice("probability", "majority", help="what the models add up"),
        "random_state": _SEED,
    }
    card: ClassVar[Card] = Card(task="classification", probabilities=True, **_SHARED_CARD)

    def __init__(
        self,
        base: Any = None,
        *,
        n_models: int = 100,
        replace: bool = True,
        sample_share: float = 1.0,
        vote: str = "probability",
        random_state: Any = 0,
    ) -> None:
        self.base = base
        self.n_models = n_models
        self.replace = replace
        self.sample_share = sample_share
        self.vote = vote
        self.random_state = random_state

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the average share of each class, one column a class."""
        return self._average(X)

    def predict(self, X: Any) -> Array:
        """Return the class with the largest share for each row of X."""
        shares = self.predict_proba(X)
        return self.classes_[_winner(shares)]

    def _own_base(self) -> Any:
        return TreeClassifier(alpha=0.0)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        votes = self.vote == "majority"
        if not votes and not hasattr(model, "predict_proba"):
            raise InputError(
                f"{type(model).__name__} has no probabilities to average; use vote='majority'."
            )
        return class_shares(model, X, self.classes_, votes=votes)

    def _loss(self, y: Array, average: FloatArray) -> FloatArray:
        return np.asarray(self.classes_[_winner(average)] != y, dtype=np.float64)

    def _keep_out_of_bag(self, average: FloatArray, order: Array, n: int) -> None:
        self.oob_decision_ = np.full((n, len(self.classes_)), np.nan)
        self.oob_decision_[order] = average


class BaggingRegressor(RegressorMixin, _Bagging):
    r"""Predict by the mean of models fitted to samples of the rows.

    .. math:: \hat f_{bag}(x) = \frac1B \sum_{b=1}^B \hat f(S^b, x)

    over B samples :math:`S^b` drawn with replacement.

    Parameters
    ----------
    base : regressor, optional
        Model to fit to each sample; a full tree (``TreeRegressor(alpha=0)``) by default.
    n_models : int
        Number of models; more only steady the answer.
    replace : bool
        Draw with replacement. Without, `sample_share` must be below 1 for rows to be left out.
    sample_share : float
        Size of a sample as a share of the rows, in (0, 1].
    random_state : int, generator or None
        Seed of the draws (and of the base); None draws other samples in every fit.

    Attributes
    ----------
    estimators_ : list
        The fitted models.
    oob_error_, oob_error_se_ : float
        Out-of-bag mean squared error and its standard error; NaN where no row was left out.
    oob_prediction_ : ndarray of shape (n,)
        Mean of the models that did not see the row; NaN where all did.
    oob_path_ : Path
        Training and out-of-bag error as models come in (rows left out so far alone).
    n_features_in_ : int
        Number of columns seen in `fit`.

    See Also
    --------
    BaggingClassifier : the same for classes.

    Notes
    -----
    The squared error of the mean is the mean squared error of the models less their spread about
    it, so bagging gains where models differ. Draws, weights and cost are as in
    `BaggingClassifier`. Not for stable models: the mean of linear fits is nearly the linear fit.

    References
    ----------
    .. [1] Breiman, L. (1996). Bagging predictors. Machine Learning 24, 123-140.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(200, 1))
    >>> y = np.sin(6 * X[:, 0]) + 0.2 * rng.normal(size=200)
    >>> model = BaggingRegressor(n_models=50).fit(X, y)
    >>> bool(model.oob_error_ < 0.08), bool(abs(model.predict([[0.25]])[0] - np.sin(1.5)) < 0.2)
    (True, True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {**_PARAMS, "random_state": _SEED}
    card: ClassVar[Card] = Card(task="regression", **_SHARED_CARD)

    def __init__(
        self,
        base: Any = None,
        *,
        n_models: int = 100,
        replace: bool = True,
        sample_share: float = 1.0,
        random_state: Any = 0,
    ) -> None:
        self.base = base
        self.n_models = n_models
        self.replace = replace
        self.sample_share = sample_share
        self.random_state = random_state

    def predict(self, X: Any) -> FloatArray:
        """Return the mean of the models' predictions for each row of X."""
        return self._average(X)

    def _own_base(self) -> Any:
        return TreeRegressor(alpha=0.0)

    def _outputs(self, model: Any, X: Any) -> FloatArray:
        return np.asarray(model.predict(X), dtype=np.float64)

    def _loss(self, y: Array, average: FloatArray) -> FloatArray:
        return np.asarray((y - average) ** 2, dtype=np.float64)

    def _keep_out_of_bag(self, average: FloatArray, order: Array, n: int) -> None:
        self.oob_prediction_ = np.full(n, np.nan)
        self.oob_prediction_[order] = average


def _winner(shares: FloatArray) -> Array:
    """Return the class of the largest share; shares equal but for rounding are a tie."""
    top = shares.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(shares >= top - 1e-12, axis=1))
