"""Networks of dense layers that predict numbers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from bottega.core.cards import Card
from bottega.core.errors import InputError
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Parameter, Real
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._network.table_network import TabularNetwork, takes_blocks
from bottega.neural._network.table_parameters import CARD, LOSS, SHARED
from bottega.neural._network.tables import TargetScale

if TYPE_CHECKING:
    from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["NetworkRegressor"]


class NetworkRegressor(RegressorMixin, TabularNetwork):
    r"""Predict numbers by layers of units, whose weights are learned by gradient steps.

    With weights :math:`W_l`, biases :math:`b_l` and the activation :math:`h`,

    .. math:: z_0 = x, \quad z_l = h(W_l z_{l-1} + b_l), \quad f(x) = W_L z_{L-1} + b_L,

    and the weights lower, batch by batch of m rows,

    .. math:: \frac{1}{m} \sum_i \ell(y_i, f(x_i)) + \frac{\alpha}{2m} \sum_l \lVert W_l \rVert^2 .

    How many epochs are best is judged on rows held out, after every number of epochs of one
    training; then all rows are trained for so many.

    Parameters
    ----------
    hidden_layer_sizes : sequence of int or "auto"
        Units of each hidden layer; more fit closer. An empty sequence is a linear model;
        ``"auto"`` lets the path choose among (16,), (64, 32) and (128, 64).
    loss : {"squared_error", "absolute_error", "huber", "poisson"}
        Loss of a row: half the squared error; two that heed outliers less; half the deviance of
        counts and amounts of 0 and more, whose mean is the exponential of outputs that start at 0.
    huber_delta : float
        Where Huber's loss turns from quadratic to linear, in standard deviations of the response
        (or in its units with ``standardize=False``).
    activation : {"relu", "tanh", "logistic", "sigmoid", "identity", "leaky_relu"}
        What a hidden unit makes of its sum; ``"logistic"`` and ``"sigmoid"`` are the same.
    solver : {"adam", "sgd", "adagrad", "lbfgs"}
        How steps follow from gradients. ``"lbfgs"`` takes all rows at once and learns the second
        derivatives from its last gradients: it is for small tables, and ends where the largest
        entry of the gradient is at most `tol`; batches, rates and momentum have no say in it.
    alpha : float or "auto"
        Weight decay; larger values pull weights to zero. ``"auto"`` lets the path choose. It is
        weighed against the sum of the row weights: with shares that sum to one give a smaller one.
    l1 : float
        Penalty :math:`(\lambda_1 / m) \sum |w|`.
    smoothness : float
        Penalty on the mean of the squared second derivatives of the outputs by each column. It is
        for smooth activations: networks of ReLU bend at corners only, where it sees nothing.
    drop : float, optional
        Dropout: the share of hidden units that is set to zero in each step.
    keep : float, optional
        The same as the share that is kept; give one of the two.
    batch_norm : bool
        Normalise the sums of each hidden layer within a batch; running means predict.
    input_noise : float
        Standard deviation of normal noise added to the inputs in training, in standard units.
    hidden_noise : float
        Standard deviation of normal noise added to the hidden units in training.
    clip : float, optional
        Entries of the gradient are kept within [-clip, clip].
    tie : float
        Penalty :math:`(\tau / 2m) \lVert w - w_0 \rVert^2` on distances from the weights of
        `tie_to`.
    tie_to : fitted network, optional
        Network of the same layers that this one stays near.
    init : {"auto", "near_zero", "gaussian", "xavier", "he"}, pair of lists, or fitted network
        First weights, normal with standard deviation 0.01, `init_scale`,
        :math:`\sqrt{2/(n_{in} + n_{out})}` or :math:`\sqrt{2 / n_{in}}`; ``"auto"`` is the last
        for ReLU, else Xavier's. Or weights to start from: ``(coefs, intercepts)``, or a network.
    init_scale : float
        Standard deviation of ``init="gaussian"``.
    n_starts : int
        Trainings from different first weights; the one that is best on rows held out is kept.
    batch_size : int or "auto"
        Rows of a step; ``"auto"`` is 200, or all rows where there are fewer. With batch
        normalisation it grows by what it takes to leave no row alone in the last batch.
    learning_rate : {"inverse", "constant", "invscaling", "adaptive", "step", "cosine"}
        How the length of steps changes: divided by 1 + t / 300 after t steps; not; divided by the
        rows seen to the power `power_t`; divided by 5 whenever the loss stops falling; halved every
        tenth of the epochs; along half a wave to zero. ``"invscaling"`` and ``"adaptive"`` are, as
        in scikit-learn, of ``solver="sgd"``, and constant for the others.
    learning_rate_init : float
        First length of steps.
    power_t : float
        Power of ``learning_rate="invscaling"``.
    momentum : float
        Share of the last step that is taken again, of ``solver="sgd"``.
    nesterovs_momentum : bool
        Whether momentum looks ahead.
    beta_1, beta_2, epsilon : float
        Memory of Adam's running means of gradients and of their squares, and what is added to its
        (and AdaGrad's) roots.
    max_iter : int or "auto"
        Epochs; more fit closer. ``"auto"`` takes them from the path.
    max_epochs : int
        Most epochs of the path, and over which ``"step"`` and ``"cosine"`` fall there.
    max_fun : int
        Most evaluations of the objective by ``solver="lbfgs"``.
    shuffle : bool
        Whether rows come in another order in each epoch; if not, in the order they are given.
    tol : float
        A fall of the loss that counts: of the training loss, or with ``early_stopping=True`` of the
        held-out one.
    n_iter_no_change : int or inf
        Epochs without such a fall after which the training ends.
    early_stopping : bool
        Hold out `validation_fraction` of the rows, and keep the epoch that is best on them; the
        path is then not walked.
    validation_fraction : float
        Share held out by `early_stopping` and `n_starts`.
    warm_start : bool
        Go on from the weights of the last fit.
    missing : {"mask", "refuse"}
        Missing numbers become the mean, with a column that says where; or they are refused. A
        missing category is a level of its own.
    categorical_features : "auto" or sequence of str, int or bool
        Columns that are categories besides the texts and categories of a frame. Each level gets
        a vector (an embedding) that is learned.
    standardize : bool
        Bring columns, and responses, into standard units first.
    module : torch.nn.Module or callable, optional
        A module of your own, or a function without arguments that makes one, in place of the dense
        layers: it takes a tensor (n, columns), and one of codes where there are categories, and
        returns outputs (n, responses). A fitted model's file holds its arrays alone, so it must be
        given the module again after loading, ``model.set_params(module=...)``.
    device : str
        ``"auto"`` (an NVIDIA card where there is one), ``"cpu"``, ``"cuda"``, ...
    dtype : {"auto", "float32", "float64"}
        Precision; ``"auto"`` is double for up to 2,000 rows on a processor, else single.
    autocast : bool
        Take products of matrices in bfloat16, for large networks on a card.
    compile : bool
        Let ``torch.compile`` make the module faster, at the price of a slow first step.
    checkpoint : str, optional
        File that is renewed every few seconds; a fit of the same rows and parameters goes on from
        it, with the same result. The path is not kept in it: give `max_iter`.
    cv : "auto", int, float, "loo", splitter or list of (train, test)
        Folds that judge the path, or the share of rows that is held out once. ``"auto"`` is 3
        folds, and a fifth of the rows beyond 500.
    select : {"min", "one_se"}
        Rule that picks from the path.
    n_jobs : int, optional
        Threads; all cores by default, one where batches are too small to share.
    random_state : int, RandomState, Generator or None
        Seed of first weights, order of rows, dropout and noise.
    verbose : bool
        Write the progress.

    Attributes
    ----------
    coefs_, intercepts_ : list of ndarray
        Weights (inputs, outputs) and biases of each layer, in standard units.
    arrays_ : dict of str to ndarray
        All parameters and running means, by their names in the module.
    description_ : dict
        The architecture.
    loss_curve_ : list of float
        Mean of the objective in each epoch.
    loss_, best_loss_ : float
        Its last and its least value; the latter is None with `early_stopping`.
    validation_loss_curve_, validation_scores_ : list of float or None
        Loss and score (R squared, or accuracy) of rows held out after each epoch, with
        `early_stopping` or several starts.
    best_validation_score_ : float or None
        The largest of the scores.
    n_iter_, t_ : int
        Epochs run; rows seen in them.
    max_iter_, hidden_layer_sizes_, alpha_
        In use.
    n_layers_, n_outputs_ : int
        Layers with inputs and outputs; outputs.
    out_activation_ : str
        Output activation.
    inputs_, responses_ : TableScale, TargetScale
        Standard units of inputs and responses.
    path_ : Path
        Training and honest error over epochs (and widths and decays), where they are ``"auto"``.
    columns_in_ : MixedInputs
        Names and levels of the columns.

    See Also
    --------
    NetworkClassifier : the same for classes.

    Notes
    -----
    Rows are used in an order of their own, in standard units, so neither their order nor units
    change the answer; whole weights are copies of the row where all rows are one batch. The same
    seed gives the same network on the same machine and number of threads.

    The path looks at 1, 2, 3, ... epochs, then at steps of 15 %, and doubles its length while the
    held-out loss falls in the later half. A training whose loss leaves the range of numbers is
    stopped with an error that names the step. Small sparse tables are made dense.

    Cost: :math:`6 n W` operations an epoch with W weights. Not for small tables with few inputs
    that act by thresholds, where trees are better, nor where a formula is wanted.

    References
    ----------
    .. [1] Rumelhart, D. E., Hinton, G. E. and Williams, R. J. (1986). Learning representations by
       back-propagating errors. *Nature*, 323, 533-536.
    .. [2] Glorot, X. and Bengio, Y. (2010). Understanding the difficulty of training deep
       feedforward neural networks. AISTATS, 249-256.
    .. [3] Kingma, D. P. and Ba, J. (2015). Adam: a method for stochastic optimization. ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 2))
    >>> model = NetworkRegressor(max_iter=300).fit(X, X[:, 0] * X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - 0.25) < 0.05)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "hidden_layer_sizes": SHARED["hidden_layer_sizes"],
        "loss": LOSS,
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
        learning_rate_init: float = 0.02,
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

    def _check_responses(self, y: Array) -> None:
        if self.loss == "poisson" and (np.any(y < 0) or not np.any(y)):
            raise InputError("loss='poisson' takes responses of 0 and more, not all of them 0.")

    def _learn_responses(self, rows: Rows) -> TargetScale:
        if self.loss == "poisson" and self.standardize:
            return TargetScale.of_amounts(rows.y.reshape(len(rows.y), -1), rows.weight)
        return super()._learn_responses(rows)

    def _own_loss(self, work: Any) -> Loss:
        return get_loss("poisson" if self.loss == "poisson" else None, self.card.task)

    def _criterion(self) -> "NetworkCriterion":
        from bottega.neural._training import criteria

        if self.loss == "huber":
            return criteria.HuberCost(float(self.huber_delta))
        return criteria.CRITERIA[self.loss]()

    @available_if(takes_blocks)
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
