"""Attention networks for sequences."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import Boolean, Choice, Integer, Parameter, Real
from bottega.core.typing import FloatArray
from bottega.neural._network.labels import LabelNetwork
from bottega.neural._network.parameters import DENSE
from bottega.neural._network.shaped_network import CLASSES, ShapedNetwork
from bottega.neural._sequences.inputs import SequenceInputs
from bottega.plot import attention_chart

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork

__all__ = ["AttentionClassifier"]


@documented_like(ShapedNetwork)
class AttentionClassifier(SequenceInputs, LabelNetwork):
    r"""Classify sequences by letting every place look at all others.

    Each place takes from all places what is important for it,

    .. math:: y_i = \frac{1}{C} \sum_j a(x_i, x_j)\, f(x_j) ,

    with queries, keys and values :math:`a = \exp(q_i^\top k_j / \sqrt{d})` and :math:`C = \sum_j
    a(x_i, x_j)`, or with plain products :math:`a = \theta(x_i)^\top \delta(x_j)` and C the number
    of places. Class probabilities are made of the mean of the places.

    Parameters
    ----------
    width : int
        Numbers at each place inside the network.
    heads : int
        Heads that look on their own; they share the width, which must be divisible by them.
    layers : int
        Layers of attention, each followed by dense layers at every place.
    attention : {"softmax", "dot"}
        ``"softmax"``: the weights of a place are positive and sum to one. ``"dot"``: products
        divided by the number of places; they may be negative, and need not sum to one.
    scaled : bool
        Divide products by the root of the width of a head, so that the softmax does not saturate.
    positional : bool
        Add numbers that tell the places apart. Without them a sequence is a bag: its order does not
        matter.
    activation : str
        Of the dense layers.
    drop : float
        Share of the numbers that dropout sets to zero behind attention and dense layers.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    n_channels_ : int
        Numbers at each step.

    See Also
    --------
    RecurrentClassifier : Goes along a sequence step by step.

    Notes
    -----
    All pairs of places are compared: an epoch costs :math:`O(n T^2 w + n T w^2)` for n sequences of
    T steps and width w. Their weights are not kept, so the memory is that of the places; only maps
    (`attention_maps`), which say where the network looks, not why it decides, take that of the
    pairs. ``attention="dot"`` has products alone, which are taken in another order: :math:`O(n T
    w^2)`.

    Sequences of unequal length are filled up; what fills them up is neither looked at nor counted.
    A row of a table is read as a sequence of single numbers, in the order of the columns; where
    this order means nothing, use `NetworkClassifier`.

    References
    ----------
    .. [1] Vaswani, A. et al. (2017). Attention is all you need. NeurIPS 30.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.neural import AttentionClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 8))
    >>> y = np.where(X.max(axis=1) > 1.4, "peak", "flat")
    >>> model = AttentionClassifier(16).fit(X[:200], y[:200])
    >>> bool(model.score(X[200:], y[200:]) > 0.8)
    True
    >>> weights = model.attention_maps(X[:1])[0, 0, 0]
    >>> weights.shape, bool(np.allclose(weights.sum(axis=1), 1))
    ((8, 8), True)
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "width": Integer(1, help="numbers at each place"),
        "heads": Integer(1, help="heads that look on their own"),
        "layers": Integer(1, help="layers of attention"),
        "attention": Choice("softmax", "dot", help="how products become weights"),
        "scaled": Boolean(help="divide products by the root of the width of a head"),
        "positional": Boolean(help="tell the places apart"),
        "activation": DENSE["activation"],
        "drop": Real(0, 1, open_high=True, help="share of numbers that dropout sets to zero"),
        **CLASSES,
    }
    card: ClassVar[Card] = Card(
        method="attention_network",
        title="Attention network",
        task="classification",
        strengths=(
            "Two places are compared directly, however far apart they are.",
            "Shows where it looks.",
        ),
        weaknesses=(
            "The cost grows with the square of the length.",
            "Learns the meaning of order from data, and needs more of them.",
        ),
        assumptions=("What matters is in pairs of places.",),
        cost="sequences times the square of the steps times the width, times the epochs",
        source="N105-N108",
        takes=frozenset({"sequence"}),
        wide=True,
    )

    def __init__(
        self,
        width: int = 32,
        *,
        heads: int = 1,
        layers: int = 1,
        attention: str = "softmax",
        scaled: bool = True,
        positional: bool = True,
        activation: str = "relu",
        drop: float = 0.0,
        solver: str = "adam",
        alpha: float = 1e-4,
        clip: float | None = 1.0,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.003,
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
        self.heads = heads
        self.layers = layers
        self.attention = attention
        self.scaled = scaled
        self.positional = positional
        self.activation = activation
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

    def _check_params(self) -> None:
        super()._check_params()
        if self.width % self.heads:
            raise ParameterError(
                f"{type(self).__name__}: width={self.width} cannot be shared by heads={self.heads}"
                "; give a width that is a multiple of heads."
            )

    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": "attention",
            "n_inputs": int(self.n_channels_),
            "width": int(self.width),
            "n_outputs": self._n_outputs(work),
            "layers": int(self.layers),
            "heads": int(self.heads),
            "attention": self.attention,
            "scaled": bool(self.scaled),
            "positional": bool(self.positional),
            "activation": self.activation,
            "keep": 1.0 - float(self.drop),
        }

    @staticmethod
    def _build(description: Mapping[str, Any]) -> Any:
        from bottega.neural._modules.attention import attention_network

        return attention_network(description)

    def attention_maps(self, X: Any) -> FloatArray:
        """Return how much each place takes from each, of shape (n, layers, heads, T, T).

        Row i of a map holds the weights of place i. Behind the end of a sequence they are zero.
        """
        from bottega.neural._network.work import tensors

        rows = self._check_new(X)
        module = self._module()
        p = next(module.parameters())
        found = module.maps(*tensors(self._arrays(rows, self.inputs_), p.device, p.dtype))
        return found.double().cpu().numpy()

    def plot_attention(
        self, sequence: Any, names: Any = None, *, layer: int = 0, head: int = 0
    ) -> Any:
        """Draw the map of one sequence; `names` are of its places, words for example."""
        maps = self.attention_maps([np.asarray(sequence, dtype=np.float64)])
        if not (0 <= layer < maps.shape[1] and 0 <= head < maps.shape[2]):
            raise InputError(
                f"layer={layer!r}, head={head!r}: there are {maps.shape[1]} layers and "
                f"{maps.shape[2]} heads, each counted from 0."
            )
        return attention_chart(maps[0, layer, head], names)
