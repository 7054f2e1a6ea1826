"""Networks of dense layers that classify."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import clone
from sklearn.utils.metaestimators import available_if

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.params import Choice, ClassWeight, Parameter
from bottega.neural._network.several_labels import SeveralLabels
from bottega.neural._network.table_network import TabularNetwork, takes_blocks
from bottega.neural._network.table_parameters import CARD, SHARED
from bottega.neural.regressor import NetworkRegressor

if TYPE_CHECKING:
    from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["NetworkClassifier"]


@documented_like(NetworkRegressor)
class NetworkClassifier(SeveralLabels, TabularNetwork):
    r"""Classify by layers of units, whose weights are learned by gradient steps.

    As `NetworkRegressor`, with outputs that give probabilities: of two classes one logistic
    output, :math:`1 / (1 + e^{-a})`, of K classes K outputs by softmax,
    :math:`e^{a_k} / \sum_j e^{a_j}`; the loss is the cross-entropy.

    Parameters
    ----------
    out_activation : {"auto", "softmax", "logistic"}
        Output activation. ``"softmax"`` takes K outputs for two classes too; ``"logistic"`` fits K
        indicators of classes, whose probabilities are then made to sum to one.
    class_weight : dict, "balanced" or None
        Weight of each class, which multiplies that of its rows; ``"balanced"`` makes the classes
        weigh alike.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The classes, sorted.

    See Also
    --------
    NetworkRegressor : the same for numbers.

    Notes
    -----
    Path, order, units, seeds and cost are as in `NetworkRegressor`. Without hidden layers it is
    logistic regression. The length of the path follows the cross-entropy, the choice along it the
    loss that is asked for. Equal probabilities go to the first class.

    Where y has several columns of 0 and 1, each is a label that a row may bear beside others: there
    is a logistic output per label, ``predict`` and ``predict_proba`` give a column per label, and
    errors are shares of wrong entries. Rows in chunks have one class each.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(300, 2))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    >>> model = NetworkClassifier(max_iter=100).fit(X, y)
    >>> model.predict([[0.5, 0.5], [0.5, -0.5]])
    array(['same', 'other'], dtype='<U5')
    """

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
        alpha: float | str = 0.1,
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
        init: Any = "xavier",
        init_scale: float = 0.1,
        n_starts: int = 1,
        batch_size: int | str = "auto",
        learning_rate: str = "inverse",
        learning_rate_init: float = 0.01,
        power_t: float = 0.5,
        momentum: float = 0.9,
        nesterovs_momentum: bool = True,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        max_iter: int | str = "auto",
        max_epochs: int = 200,
        max_fun: int = 15_000,
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
        self.max_fun = max_fun
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

    def _criterion(self) -> "NetworkCriterion":
        from bottega.neural._training import criteria

        if self._several:
            return criteria.LabelsCost()
        if self.out_activation == "softmax":
            return criteria.CrossEntropy()
        if self.out_activation == "logistic" or len(self.classes_) == 2:
            return criteria.BinaryCrossEntropy()
        return criteria.CrossEntropy()

    @available_if(takes_blocks)
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

    def plot_surface(self, X: Any, y: Any, *, epochs: Sequence[int] = (1, 5, 20, 100)) -> Any:
        """Draw the regions of the classes through training, for two inputs.

        Parameters
        ----------
        X : array-like of shape (n, 2)
            Inputs.
        y : array-like of shape (n,)
            Class labels.
        epochs : sequence of int
            After how many epochs a picture is taken; each is a training of its own.

        Returns
        -------
        altair.FacetChart
            One panel per number of epochs.
        """
        from bottega.plot import boundaries_chart

        stages = {
            f"{count} epoch{'' if count == 1 else 's'}": clone(self)
            .set_params(max_iter=count, early_stopping=False, n_starts=1)
            .fit(X, y)
            for count in epochs
        }
        return boundaries_chart(stages, X, y, columns=2)
