"""Recurrent networks for sequences."""

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.params import Parameter
from bottega.core.typing import FloatArray
from bottega.neural._network.labels import LabelNetwork
from bottega.neural._network.shaped_network import CLASSES, FEW, ShapedNetwork
from bottega.neural._sequences.recurrent import RECURRENT, RECURRENT_CARD, RecurrentNetwork

__all__ = ["RecurrentClassifier", "RecurrentRegressor"]


@documented_like(ShapedNetwork)
class RecurrentClassifier(RecurrentNetwork, LabelNetwork):
    r"""Classify sequences by a state that changes from step to step.

    The state takes in one step after the other, :math:`h_t = f(h_{t-1}, x_t)`, and class
    probabilities are the softmax of :math:`V h_T + c`. The network minimises their cross-entropy.

    Parameters
    ----------
    width : int
        Numbers of the state; more remember more.
    cell : {"gru", "lstm", "vanilla"}
        How a step changes the state: ``"vanilla"``, h(t) = tanh(W h(t-1) + U x(t) + b), forgets
        within some ten steps; the gates of ``"gru"`` and ``"lstm"`` decide what is kept.
    pattern : {"last", "every", "output"}
        ``"last"``: one output, from the state after the last step. ``"every"``: an output at every
        step; the class is by their mean. ``"output"``: the same, and what goes on to the next step
        is the output alone, not the state (for ``cell="vanilla"``).
    layers : int
        Recurrent layers, each on the states of the one before.
    bidirectional : bool
        Read the sequence from its end too.
    drop : float
        Share of the numbers of a state that dropout sets to zero before the output.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    n_channels_ : int
        Numbers at each step.

    See Also
    --------
    RecurrentRegressor : For numbers.
    AttentionClassifier : Looks at all steps at once.

    Notes
    -----
    The same weights serve every step, so their number does not depend on the length; the gradient
    with respect to them is the sum over the steps (backpropagation through time). Gradients of a
    vanilla cell vanish or explode with the distance in time: clip them, or use gates. An epoch
    costs :math:`O(n T w (w + d))` for n sequences of T steps of d numbers and width w.

    Sequences of unequal length are packed: what fills up the shorter ones has no influence. Each
    number of a step is brought to mean 0 and variance 1, by all steps of all sequences. A row of a
    table is read as a sequence of single numbers, in the order of the columns; where this order
    means nothing, use `NetworkClassifier`.

    References
    ----------
    .. [1] Elman, J. L. (1990). Finding structure in time. Cognitive Science, 14(2).
    .. [2] Hochreiter, S. and Schmidhuber, J. (1997). Long short-term memory. Neural Computation,
       9(8). https://doi.org/10.1162/neco.1997.9.8.1735
    .. [3] Cho, K. et al. (2014). Learning phrase representations using RNN encoder-decoder for
       statistical machine translation. EMNLP. https://doi.org/10.3115/v1/D14-1179

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.neural import RecurrentClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = [rng.normal(size=rng.integers(3, 9)) for _ in range(200)]
    >>> y = ["up" if each.sum() > 0 else "down" for each in X]
    >>> model = RecurrentClassifier(8).fit(X[:150], y[:150])
    >>> bool(model.score(X[150:], y[150:]) > 0.9)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {**RECURRENT, **CLASSES}
    card: ClassVar[Card] = Card(task="classification", **RECURRENT_CARD)

    def __init__(
        self,
        width: int = 32,
        *,
        cell: str = "gru",
        pattern: str = "last",
        layers: int = 1,
        bidirectional: bool = False,
        drop: float = 0.0,
        solver: str = "adam",
        alpha: float = 1e-4,
        clip: float | None = 1.0,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.01,
        max_iter: int | str = 20,
        max_epochs: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str = "auto",
        dtype: str = "auto",
        cv: Any = "auto",
        select: str = "min",
        random_state: Any = 0,
        verbose: bool = False,
        class_weight: Any = None,
    ) -> None:
        self.width = width
        self.cell = cell
        self.pattern = pattern
        self.layers = layers
        self.bidirectional = bidirectional
        self.drop = drop
        self.solver = solver
        self.alpha = alpha
        self.clip = clip
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.device = device
        self.dtype = dtype
        self.cv = cv
        self.select = select
        self.random_state = random_state
        self.verbose = verbose
        self.class_weight = class_weight


@documented_like(RecurrentClassifier, without=("classes_",))
class RecurrentRegressor(RegressorMixin, RecurrentNetwork):
    r"""Predict numbers from sequences by a state that changes from step to step.

    The state takes in one step after the other, :math:`h_t = f(h_{t-1}, x_t)`, and the prediction
    is :math:`V h_T + c`, or :math:`V h_t + c` at each step. The network minimises half the mean
    squared error.

    Parameters
    ----------
    pattern : {"last", "every", "output"}
        ``"last"``: one output, from the state after the last step. ``"every"``: an output at every
        step, where y has a column per step; else the prediction is their mean. ``"output"``: the
        same, and what goes on to the next step is the output alone, not the state (for
        ``cell="vanilla"``).

    See Also
    --------
    RecurrentClassifier : For classes.

    Notes
    -----
    Weights, gradients, lengths, units and cost are as in `RecurrentClassifier`. For rows of a table
    whose order means nothing, use `NetworkRegressor`.

    References
    ----------
    .. [1] Elman, J. L. (1990). Finding structure in time. Cognitive Science, 14(2).
    .. [2] Hochreiter, S. and Schmidhuber, J. (1997). Long short-term memory. Neural Computation,
       9(8). https://doi.org/10.1162/neco.1997.9.8.1735
    .. [3] Cho, K. et al. (2014). Learning phrase representations using RNN encoder-decoder for
       statistical machine translation. EMNLP. https://doi.org/10.3115/v1/D14-1179

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.neural import RecurrentRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 6))
    >>> running = np.cumsum(X, axis=1)  # a response at every step
    >>> model = RecurrentRegressor(16, pattern="every").fit(X[:150], running[:150])
    >>> bool(model.score(X[150:], running[150:]) > 0.9)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {**RECURRENT, **FEW}
    card: ClassVar[Card] = Card(task="regression", **RECURRENT_CARD)

    def __init__(
        self,
        width: int = 32,
        *,
        cell: str = "gru",
        pattern: str = "last",
        layers: int = 1,
        bidirectional: bool = False,
        drop: float = 0.0,
        solver: str = "adam",
        alpha: float = 1e-4,
        clip: float | None = 1.0,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.01,
        max_iter: int | str = 20,
        max_epochs: int = 100,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str = "auto",
        dtype: str = "auto",
        cv: Any = "auto",
        select: str = "min",
        random_state: Any = 0,
        verbose: bool = False,
    ) -> None:
        self.width = width
        self.cell = cell
        self.pattern = pattern
        self.layers = layers
        self.bidirectional = bidirectional
        self.drop = drop
        self.solver = solver
        self.alpha = alpha
        self.clip = clip
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.max_iter = max_iter
        self.max_epochs = max_epochs
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.device = device
        self.dtype = dtype
        self.cv = cv
        self.select = select
        self.random_state = random_state
        self.verbose = verbose

    def predict(self, X: Any) -> FloatArray:
        """Return the prediction for each sequence, or for each of its steps."""
        return self._outputs(self._check_new(X))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
