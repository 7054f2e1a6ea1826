"""Autoencoders: rows through a bottleneck of few numbers, and back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError
from bottega.core.losses import Loss, get_loss
from bottega.core.params import Boolean, Integer, OrNone, Parameter
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.neural._images.inputs import ImageInputs
from bottega.neural._images.reading import ImageShape
from bottega.neural._network.parameters import DENSE, LayerSizes
from bottega.neural._network.shaped_network import FEW, ShapedNetwork
from bottega.neural._network.tables import TargetScale

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork

__all__ = ["Autoencoder"]


@documented_like(ShapedNetwork)
class Autoencoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ImageInputs):
    r"""Few numbers behind many columns, by a network that reproduces its inputs.

    An encoder makes a code of L numbers of each row, a decoder the row of its code; both are
    trained together to minimise

    .. math:: \frac{1}{2n} \sum_i \lVert x_i - g(f(x_i)) \rVert^2 + \frac{\alpha}{2n} \lVert W
              \rVert^2 .

    Without hidden layers, and without decay, the reconstruction is that of the first L principal
    components: the best linear one. Hidden layers let the code follow curves.

    Parameters
    ----------
    n_components : int
        Numbers of the code, L; more reproduce better.
    hidden_layer_sizes : sequence of int
        Units of the dense layers of the encoder; the decoder has them in reverse. Empty: linear.
    channels : sequence of int
        Filters of convolutional layers before the dense ones, for images; the decoder enlarges and
        convolves back. Empty: dense layers only.
    image_shape : tuple of int or None
        (height, width) or (channels, height, width) where X is a table whose rows are images.
    activation : str
        Of hidden units: ``"relu"``, ``"leaky_relu"``, ``"tanh"``, ``"sigmoid"``, ``"identity"``.
    input_noise : float
        Standard deviation of noise added to inputs in training, in units of the inputs' own: the
        network learns to take it away.
    standardize : bool
        Divide each column by its standard deviation, and not all by the same number.

    Attributes
    ----------
    reconstruction_error_ : float
        Mean squared distance of the rows of the fit from their reconstructions, in units of X.
    image_shape_ : tuple of int
        Channels, height and width of images; of a table one line.

    See Also
    --------
    PCA : The linear one, exactly and at once.

    Notes
    -----
    An epoch costs the rows times the weights. The numbers of a code have no order and may be
    correlated; another start gives another code. With as many numbers as columns the network may
    copy its inputs and learn nothing.

    The decoder alone makes rows of codes (`inverse_transform`): codes between those of two rows
    give what lies between them. Codes far from all of these give nothing that was learnt.

    References
    ----------
    .. [1] Baldi, P. and Hornik, K. (1989). Neural networks and principal component analysis:
       learning from examples without local minima. Neural Networks, 2(1).
       https://doi.org/10.1016/0893-6080(89)90014-2
    .. [2] Vincent, P. et al. (2008). Extracting and composing robust features with denoising
       autoencoders. ICML. https://doi.org/10.1145/1390156.1390294

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.neural import Autoencoder
    >>> t = np.linspace(0, 3, 200)
    >>> X = np.column_stack([np.cos(t), np.sin(t)])  # an arc: one number behind two columns
    >>> curved = Autoencoder(1).fit(X)
    >>> linear = Autoencoder(1, hidden_layer_sizes=()).fit(X)
    >>> bool(curved.reconstruction_error_ < 0.1 * linear.reconstruction_error_)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "n_components": Integer(1, help="numbers of the code"),
        "hidden_layer_sizes": LayerSizes(help="units of the dense layers of the encoder"),
        "channels": LayerSizes(help="filters of convolutional layers, for images"),
        "image_shape": OrNone(ImageShape(), help="shape of images that are rows of a table"),
        "activation": DENSE["activation"],
        "input_noise": DENSE["input_noise"],
        "standardize": Boolean(help="divide each column by its standard deviation"),
        **FEW,
    }
    card: ClassVar[Card] = Card(
        method="autoencoder",
        title="Autoencoder",
        task="decomposition",
        strengths=(
            "Follows curves and surfaces that no plane is near to.",
            "Its decoder makes new rows, and a noisy one learns to clean them.",
        ),
        weaknesses=(
            "Its numbers have no order, and depend on the start.",
            "Needs many rows, and a choice of layers that no formula gives.",
        ),
        assumptions=("Rows lie near a surface of few dimensions.",),
        cost="rows times weights, times the epochs",
        source="N95, N169-N173",
        takes=frozenset({"number", "image"}),
        wide=True,
    )

    def __init__(
        self,
        n_components: int = 2,
        *,
        hidden_layer_sizes: Any = (64,),
        channels: Any = (),
        image_shape: Any = None,
        activation: str = "relu",
        input_noise: float = 0.0,
        standardize: bool = False,
        solver: str = "adam",
        alpha: float = 1e-4,
        clip: float | None = None,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.005,
        max_iter: int | str = 100,
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
        self.n_components = n_components
        self.hidden_layer_sizes = hidden_layer_sizes
        self.channels = channels
        self.image_shape = image_shape
        self.activation = activation
        self.input_noise = input_noise
        self.standardize = standardize
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

    # ---- the rows are their own responses --------------------------------------------------------

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        rows = super()._read(X, None, sample_weight)
        return replace(rows, y=rows.X)

    def _own_loss(self, work: Any) -> Loss | None:
        return get_loss(None, "regression")

    def _learn_inputs(self, rows: Rows) -> TargetScale:  # type: ignore[override]
        columns = TargetScale.of(rows.X, rows.weight, True)
        if self.standardize:
            return columns
        largest = float(columns.scale.max()) or 1.0
        common = float(np.sqrt(np.mean(np.var(rows.X / largest, axis=0))))
        scale = (common if common > 1e-12 else 1.0) * largest
        return TargetScale(columns.center, np.full(rows.X.shape[1], scale))

    def _learn_responses(self, rows: Rows) -> TargetScale:
        return self._learn_inputs(rows)

    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": "autoencoder",
            "n_inputs": int(work.rows.X.shape[1]),
            "n_components": int(self.n_components),
            "hidden_layer_sizes": [int(k) for k in np.atleast_1d(self.hidden_layer_sizes)],
            "channels": [int(k) for k in np.atleast_1d(self.channels)],
            "image_shape": [int(k) for k in self.image_shape_],
            "activation": self.activation,
            "noise": float(self.input_noise),
        }

    @staticmethod
    def _build(description: Mapping[str, Any]) -> Any:
        from bottega.neural._modules.autoencoder import autoencoder_network

        return autoencoder_network(description)

    def _settle(self, work: "NetworkWork", setting: Mapping[str, Any]) -> None:
        super()._settle(work, setting)
        with np.errstate(over="ignore"):  # squares of large numbers: infinite
            gap = np.sum((self._outputs(work.rows.X) - work.rows.X) ** 2, axis=1)
        self.reconstruction_error_ = float(np.average(gap, weights=work.rows.weight))

    @property
    def _single(self) -> bool:
        return False

    # ---- codes and reconstructions ---------------------------------------------------------------

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components)

    def transform(self, X: Any) -> FloatArray:
        """Return the codes of rows or images.

        Parameters
        ----------
        X : array-like or data frame of shape (m, p), or images of shape (m, h, w) or (m, c, h, w)
            Rows.

        Returns
        -------
        ndarray of shape (m, L)
            Codes.
        """
        rows = self._check_new(X)
        return self._through(self._module().encoder, *self._arrays(rows, self.inputs_))

    def inverse_transform(self, Z: Any) -> FloatArray:
        """Return the rows that the decoder makes of codes, in the units of X.

        Parameters
        ----------
        Z : array-like of shape (m, L)
            Codes, those of `transform` or others: the decoder generates.

        Returns
        -------
        ndarray of shape (m, p)
            Rows; of images their pixels.
        """
        check_is_fitted(self)
        codes = check_array(Z, dtype=np.float64, input_name="Z")
        if codes.shape[1] != self.n_components:
            raise InputError(
                f"Z has {codes.shape[1]} columns; a code has {self.n_components} numbers."
            )
        return self.inputs_.outward(self._through(self._module().decoder, codes))

    def reconstruct(self, X: Any) -> FloatArray:
        """Return rows as the network reproduces them; of a noisy one, without the noise."""
        return self._outputs(self._check_new(X))

    def _through(self, part: Any, rows: Array) -> FloatArray:
        """Return what a part of the module makes of rows."""
        from bottega.neural._network.work import tensors
        from bottega.neural._training.loop import evaluate

        p = next(self._module().parameters())
        found = evaluate(part, tensors([rows], p.device, p.dtype))
        return found.double().cpu().numpy()
