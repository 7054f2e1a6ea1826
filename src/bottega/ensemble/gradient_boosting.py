"""Gradient boosting: trees added up, each fitted to what the others leave."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.classes import decided
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import (
    ABSOLUTE_ERROR,
    LOG_LOSS,
    POISSON,
    SQUARED_ERROR,
    Loss,
    Quantile,
    get_loss,
)
from bottega.core.params import Choice, ClassWeight, OrNone, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._gradient.booster import threads_for
from bottega.ensemble._gradient.estimator import GradientBase
from bottega.ensemble._gradient.parameters import CARD, SHARED

__all__ = ["GradientBoostingClassifier", "GradientBoostingRegressor"]


def _gamma_deviance(y: Array, z: Array) -> FloatArray:
    """Return half the deviance of a gamma mean z from y."""
    ratio = np.asarray(y) / np.asarray(z)
    return np.asarray(ratio - np.log(ratio) - 1)


_GAMMA = get_loss(_gamma_deviance)
_DESCENT = {
    "squared_error": SQUARED_ERROR,
    "absolute_error": ABSOLUTE_ERROR,
    "poisson": POISSON,
    "gamma": _GAMMA,
}


class GradientBoostingRegressor(RegressorMixin, GradientBase):
    r"""Predict by a sum of small trees, each fitted to what the others leave.

    From the best constant :math:`F_0`, for rounds b = 1, 2, ...: a tree :math:`T_b` is fitted to
    the gradient of the loss at :math:`F_{b-1}`, its leaves take the step that lowers the loss most,
    and

    .. math:: F_b(x) = F_{b-1}(x) + \eta\, T_b(x)

    with a small learning rate :math:`\eta`. How many rounds are best is judged on rows that are
    held out, after every number of rounds from one run of them.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "poisson", "gamma", "quantile"}
        Loss that the trees lower, and that the path is judged by. For ``"poisson"`` (counts) and
        ``"gamma"`` the trees add up to the logarithm of the mean.
    quantile : float, optional
        The quantile that ``loss="quantile"`` predicts.
    n_estimators : int or "auto"
        Rounds; more fit closer. ``"auto"`` takes them from the path.
    learning_rate : float
        Factor on every tree: smaller takes more rounds, and is often a little better.
    max_leaf_nodes : int, "auto" or None
        Most leaves of a tree; None for no limit. ``"auto"`` is one for 250 rows, from 4 to 31.
    max_depth : int, optional
        Most tests above a leaf: 1 gives a model that adds up effects of single columns.
    min_samples_leaf : int
        Fewest rows in a leaf.
    l2_regularization : float
        Penalty on the squares of the leaves' values.
    max_features : float
        Share of the columns that are drawn and tried at each split.
    max_bins : int
        Most values that a column is cut into, at most 255.
    categorical_features : "auto" or sequence of str, int or bool
        Columns that are categories besides the texts and categories of a frame.
    monotonic_cst : array-like of {-1, 0, 1} or dict, optional
        One entry per column, or a dict of names: the response may only fall (-1) or rise (1) with
        it.
    interaction_cst : {"pairwise", "no_interactions"} or list of lists of int, optional
        Columns that may meet in one tree.
    max_estimators : int
        Most rounds of the path.
    cv : "auto", int, float, "loo", splitter or list of (train, test)
        Folds that judge the path, or the share of rows that is held out once. ``"auto"`` is 5
        folds, and a fifth of the rows beyond 20,000.
    select : {"min", "one_se"}
        Rule that picks the rounds from the path.
    n_jobs : int, optional
        Threads; all cores by default.
    random_state : int, RandomState, Generator or None
        Seed of the columns that are drawn, and of the rows by which more than 200,000 are binned.

    Attributes
    ----------
    n_estimators_ : int
        Rounds in use.
    trees_ : BoostedTrees
        The trees: ``trees_.model`` is scikit-learn's estimator, which takes columns of numbers as
        ``trees_.inputs`` makes them.
    path_ : Path
        Training and honest error over the rounds; with ``n_estimators="auto"``. The training error
        is that of the folds' models, on at most 2,000 of their rows.
    columns_in_ : ColumnReader
        Names and levels of the columns.

    See Also
    --------
    GradientBoostingClassifier : the same for classes.
    RandomForestRegressor : trees side by side, which need no choice of their number.

    Notes
    -----
    The trees are those of scikit-learn's `HistGradientBoostingRegressor` [2]_. Missing values go,
    at each split, to the side where they help most; where a split has met none in training, to the
    side with more rows. A category of up to 20 levels becomes a column of 0 and 1 for each level;
    one of more levels the mean response of the level, drawn towards the mean of all, in training
    from other folds. A level that the fit has not met counts as missing.

    The path looks at 1, 2, 3, ... rounds, then at steps of 15 %, and doubles its length while the
    held-out loss falls in the later half. Rows are used in an order of their own, and responses in
    units of their own, so neither changes the answer beyond the folds. Whole weights are copies of
    the row.

    Cost: ``n p rounds``, with ``cv`` more runs for the path. Not for
    extrapolation, nor where a formula is wanted. There is no importance by gain, which favours
    columns of many values: permute columns of held-out rows instead.

    References
    ----------
    .. [1] Friedman, J. H. (2001). Greedy function approximation: a gradient boosting machine.
       *Annals of Statistics*, 29, 1189-1232.
    .. [2] Ke, G. et al. (2017). LightGBM: a highly efficient gradient boosting decision tree.
       *Advances in Neural Information Processing Systems*, 30.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2
    >>> model = GradientBoostingRegressor().fit(X, y)
    >>> bool(abs(model.predict([[0.5, 0.5, 0.0]])[0] - 0.75) < 0.1)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "loss": Choice(*_DESCENT, "quantile", help="loss that the trees lower"),
        "quantile": OrNone(
            Real(0, 1, open_low=True, open_high=True), help="the quantile of loss='quantile'"
        ),
        **SHARED,
    }
    card: ClassVar[Card] = Card(task="regression", **CARD)

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        n_estimators: int | str = "auto",
        learning_rate: float = 0.1,
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 2,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        max_estimators: int = 500,
        cv: Any = "auto",
        select: str = "min",
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.max_estimators = max_estimators
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_params(self) -> None:
        super()._check_params()
        if (self.loss == "quantile") != (self.quantile is not None):
            raise ParameterError(
                f"{type(self).__name__}: quantile={self.quantile!r} does not go with "
                f"loss={self.loss!r}; give both loss='quantile' and a quantile, or neither."
            )

    def _know(self, columns: Any, y: Array) -> None:
        super()._know(columns, y)
        if self.loss == "poisson" and (np.any(y < 0) or not np.any(y > 0)):
            raise InputError("loss='poisson' takes responses of 0 and more, not all of them 0.")
        if self.loss == "gamma" and np.any(y <= 0):
            raise InputError("loss='gamma' takes responses above 0; use another loss.")

    @property
    def _positive(self) -> bool:
        return self.loss in ("poisson", "gamma")

    @property
    def _descent(self) -> Loss:
        return Quantile(float(self.quantile)) if self.quantile else _DESCENT[self.loss]

    def _own_loss(self, work: Rows) -> Loss:
        return self._descent

    def _template(self, **options: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(self.loss, quantile=self.quantile, **options)

    def _predicted(self, outputs: Array, method: str) -> Array:
        return outputs

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row of X."""
        return self._outputs(X)

    def staged_predict(self, X: Any) -> Iterator[FloatArray]:
        """Yield the predictions after 1, 2, ... rounds."""
        return self._staged(X, "predict")


@documented_like(GradientBoostingRegressor)
class GradientBoostingClassifier(ClassifierMixin, GradientBase):
    r"""Classify by a sum of small trees on the scale of log-odds.

    As `GradientBoostingRegressor`, with the log loss: two classes take one tree a round, whose sum
    F gives the probability :math:`1 / (1 + e^{-F})` of the second; K classes take K trees a round,
    whose sums give probabilities in proportion to their exponentials.

    Parameters
    ----------
    monotonic_cst : array-like of {-1, 0, 1} or dict, optional
        One entry per column, or a dict of names, for two classes: the probability of the second may
        only fall (-1) or rise (1) with it.
    class_weight : dict, "balanced" or None
        Weight of each class, which multiplies that of its rows; ``"balanced"`` makes the classes
        weigh alike.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    GradientBoostingRegressor : the same for numbers.
    RandomForestClassifier : trees side by side, which need no choice of their number.
    AdaBoostClassifier : boosting by weights on what the others got wrong.

    Notes
    -----
    Missing values, levels, path, order, weights and cost are as in `GradientBoostingRegressor`; the
    mean of a level is the share of each class. The length of the path follows the log loss, the
    choice along it the loss that is asked for. Equal probabilities go to the first class.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = GradientBoostingClassifier().fit(X, y)
    >>> model.predict([[0.5, 0.5], [0.5, -0.5]])
    array(['same', 'other'], dtype='<U5')
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        **SHARED,
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(task="classification", **CARD)
    _descent: ClassVar[Loss] = LOG_LOSS

    def __init__(
        self,
        n_estimators: int | str = "auto",
        *,
        learning_rate: float = 0.1,
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 5,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "auto",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        max_estimators: int = 500,
        cv: Any = "auto",
        select: str = "min",
        n_jobs: int | None = None,
        random_state: Any = 0,
        class_weight: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.max_estimators = max_estimators
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.class_weight = class_weight

    def _prepare(self, rows: Rows) -> Rows:
        if self._signs is not None and len(self.classes_) > 2:
            raise ParameterError(
                f"{type(self).__name__}: monotonic_cst is for two classes, and there are "
                f"{len(self.classes_)}; leave it out."
            )
        return rows

    def _template(self, **options: Any) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(**options)

    def _predicted(self, outputs: Array, method: str) -> Array:
        return outputs if method == "predict_proba" else decided(outputs)

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X."""
        codes = decided(self._outputs(X))
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities for each row, one column per class."""
        return self._outputs(X)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log-odds of the second of two classes; of more, a score of each."""
        check_is_fitted(self)
        matrix = self.columns_in_.read(self, X)
        with threads_for(len(matrix), self.n_jobs):
            return self.trees_.margins(matrix)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after 1, 2, ... rounds."""
        return (self.classes_[codes] for codes in self._staged(X, "predict"))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """Yield the class probabilities after 1, 2, ... rounds."""
        return self._staged(X, "predict_proba")

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """Yield the decision function after 1, 2, ... rounds."""
        check_is_fitted(self)
        matrix = self.columns_in_.read(self, X)
        return islice(self.trees_.staged_margins(matrix), self.n_estimators_)
