"""Networks of dense layers for tables."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.classes import check_classes, decided
from bottega.core.params import Choice, ClassWeight, Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.table_network import TabularNetwork
from bottega.neural._network.table_parameters import CARD, SHARED

if TYPE_CHECKING:
    from bottega.neural._training.criteria import Criterion

__all__ = ["NetworkClassifier", "NetworkRegressor"]


class NetworkRegressor(RegressorMixin, TabularNetwork):
    """Predict numbers by layers of units."""

    params: ClassVar[Mapping[str, Parameter]] = {
        "hidden_layer_sizes": SHARED["hidden_layer_sizes"],
        "loss": Choice("squared_error", "absolute_error", "huber", help="loss of a row"),
        "huber_delta": Real(0, open_low=True, help="where Huber's loss becomes linear"),
        **{name: each for name, each in SHARED.items() if name != "hidden_layer_sizes"},
    }
    card: ClassVar[Card] = Card(task="regression", **CARD)

    def __init__(
        self,
        hidden_layer_sizes: Any = (64, 32),
        *,
        loss: str = "squared_error",
        huber_delta: float = 1.35,
        activation: str = "relu",
        solver: str = "adam",
        alpha: float | str = 1e-4,
        l1: float = 0.0,
        smoothness: float = 0.0,
        drop: float | None = None,
        keep: float | None = None,
        batch_norm: bool = False,
        input_noise: float = 0.0,
        hidden_noise: float = 0.0,
        clip: float | None = None,
        tie: float = 0.0,
        tie_to: Any = None,
        init: Any = "auto",
        init_scale: float = 0.1,
        n_starts: int = 1,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.005,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        max_iter: int | str = "auto",
        max_epochs: int = 200,
        shuffle: bool = True,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        missing: str = "mask",
        categorical_features: Any = "auto",
        standardize: bool = True,
        module: Any = None,
        device: str = "auto",
        dtype: str = "auto",
        autocast: bool = False,
        compile: bool = False,
        checkpoint: str | None = None,
        cv: Any = "auto",
        select: str = "min",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.loss = loss
        self.huber_delta = huber_delta
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.l1 = l1
        self.smoothness = smoothness
        self.drop = drop
        self.keep = keep
        self.batch_norm = batch_norm
        self.input_noise = input_noise
        self.hidden_noise = hidden_noise
        self.clip = clip
        self.tie = tie
        self.tie_to = tie_to
        self.init = init
        self.init_scale = init_scale
        self.n_starts = n_starts
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.missing = missing
        self.categorical_features = categorical_features
        self.standardize = standardize
        self.module = module
        self.device = device
        self.dtype = dtype
        self.autocast = autocast
        self.compile = compile
        self.checkpoint = checkpoint
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _criterion(self) -> "Criterion":
        from bottega.neural._training import criteria

        if self.loss == "huber":
            return criteria.HuberCost(float(self.huber_delta))
        return criteria.CRITERIA[self.loss]()

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from more rows: one epoch of them.

        The first block sets the scales of the columns, the levels of categories and the weights'
        start; a level that comes later is unknown.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
            Inputs.
        y : array-like of shape (m,) or (m, q)
            Responses.
        sample_weight : array-like of shape (m,), optional
            Row weights; rows of weight zero count for nothing.

        Returns
        -------
        Self
            The estimator.
        """
        self._learn_block(X, y, None, sample_weight)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each row of X."""
        return self._outputs(self._check_new(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class NetworkClassifier(ClassifierMixin, TabularNetwork):
    """Classify by layers of units."""

    params: ClassVar[Mapping[str, Parameter]] = {
        **SHARED,
        "out_activation": Choice("auto", "softmax", "logistic", help="output activation"),
        "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
    }
    card: ClassVar[Card] = Card(task="classification", **CARD)

    def __init__(
        self,
        hidden_layer_sizes: Any = (64, 32),
        *,
        activation: str = "relu",
        solver: str = "adam",
        alpha: float | str = 1e-4,
        l1: float = 0.0,
        smoothness: float = 0.0,
        drop: float | None = None,
        keep: float | None = None,
        batch_norm: bool = False,
        input_noise: float = 0.0,
        hidden_noise: float = 0.0,
        clip: float | None = None,
        tie: float = 0.0,
        tie_to: Any = None,
        init: Any = "auto",
        init_scale: float = 0.1,
        n_starts: int = 1,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.005,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        max_iter: int | str = "auto",
        max_epochs: int = 200,
        shuffle: bool = True,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        missing: str = "mask",
        categorical_features: Any = "auto",
        standardize: bool = True,
        module: Any = None,
        device: str = "auto",
        dtype: str = "auto",
        autocast: bool = False,
        compile: bool = False,
        checkpoint: str | None = None,
        cv: Any = "auto",
        select: str = "min",
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: bool = False,
        out_activation: str = "auto",
        class_weight: Any = None,
    ) -> None:
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.l1 = l1
        self.smoothness = smoothness
        self.drop = drop
        self.keep = keep
        self.batch_norm = batch_norm
        self.input_noise = input_noise
        self.hidden_noise = hidden_noise
        self.clip = clip
        self.tie = tie
        self.tie_to = tie_to
        self.init = init
        self.init_scale = init_scale
        self.n_starts = n_starts
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.shuffle = shuffle
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.missing = missing
        self.categorical_features = categorical_features
        self.standardize = standardize
        self.module = module
        self.device = device
        self.dtype = dtype
        self.autocast = autocast
        self.compile = compile
        self.checkpoint = checkpoint
        self.cv = cv
        self.select = select
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.out_activation = out_activation
        self.class_weight = class_weight

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = super()._read(X, y, sample_weight)
        check_classes(self.classes_)
        return rows

    def _criterion(self) -> "Criterion":
        from bottega.neural._training import criteria

        if self.out_activation == "softmax":
            return criteria.CrossEntropy()
        if self.out_activation == "logistic" or len(self.classes_) == 2:
            return criteria.BinaryCrossEntropy()
        return criteria.CrossEntropy()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from more rows: one epoch of them.

        The first block sets the scales of the columns, the levels of categories and the weights'
        start; a level that comes later is unknown.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p)
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
        self._learn_block(X, y, classes, sample_weight)
        return self

    def predict(self, X: Any) -> Array:
        """Return the most probable class for each row of X."""
        shares = self.predict_proba(X)
        return self.classes_[decided(shares)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the class probabilities for each row, one column per class."""
        return self._outputs(self._check_new(X))
