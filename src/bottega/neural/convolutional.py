"""Convolutional networks for images."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bottega.core.cards import Card
from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.params import AnyOf, Choice, Integer, OrNone, Parameter, Real
from bottega.core.typing import FloatArray
from bottega.neural._images.changes import AUGMENTATIONS, Augmentation
from bottega.neural._images.inputs import ImageInputs
from bottega.neural._images.padding import PADDINGS
from bottega.neural._images.reading import ImageShape
from bottega.neural._network.labels import LabelNetwork
from bottega.neural._network.parameters import DENSE, LayerSizes
from bottega.neural._network.shaped_network import CLASSES, ShapedNetwork
from bottega.neural.conv_size import conv_size
from bottega.plot import component_images_chart

if TYPE_CHECKING:
    from bottega.neural._network.work import NetworkWork

__all__ = ["AUGMENTATIONS", "ConvolutionalClassifier"]


@documented_like(ShapedNetwork)
class ConvolutionalClassifier(ImageInputs, LabelNetwork):
    r"""Classify images by layers of small filters that slide over them.

    A layer has three stages: filters, :math:`S_{ij} = \sum_{cmn} I_{c, i+m, j+n} K_{cmn}`, the
    same at every place; an activation, which detects; and pooling, one number for each window.
    Dense layers at the end make class probabilities of the last maps. The network minimises

    .. math:: -\frac1n \sum_i \log p_{y_i}(x_i) + \frac{\alpha}{2n} \lVert W \rVert^2 .

    Parameters
    ----------
    channels : sequence of int
        Filters of each layer. More see more, and take longer.
    kernel_size : int
        Height and width of the filters.
    padding : {"same", "valid", "full"} or int
        Zeros around maps: as many as keep the size, none, or as many as let filters reach beyond
        every border; see `conv_size`.
    stride : int
        Step of the filters; larger ones make smaller maps.
    pooling : {"max", "mean", "norm"} or None
        The largest number of a window, their mean, or the root of the sum of their squares.
    pool_size : int
        Height and width of the windows, which do not overlap.
    hidden_layer_sizes : sequence of int
        Units of dense layers between the maps and the outputs.
    activation : str
        What detects: ``"relu"``, ``"leaky_relu"``, ``"tanh"``, ``"sigmoid"``, ``"identity"``.
    batch_norm : bool
        Normalise the maps within a batch.
    drop : float
        Share of the numbers before a dense layer that dropout sets to zero in training.
    input_noise : float
        Standard deviation of noise added to images in training, in units of the standard
        deviation of their pixels.
    augment : sequence of str
        Random changes of the images in training: ``"shift"``, ``"rotate"``, ``"scale"``,
        ``"brightness"``, ``"flip"``, ``"turn"``. Each must leave the label right; `AUGMENTATIONS`
        says where it does. Turning a 6 by 180 degrees makes a 9.
    image_shape : tuple of int or None
        (height, width) or (channels, height, width) where X is a table whose rows are images, pixel
        by pixel. None: a row of a table is an image of one line.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    image_shape_ : tuple of int
        Channels, height and width of the images.

    See Also
    --------
    conv_size : How large a map is.
    NetworkClassifier : For tables, whose columns have no order.

    Notes
    -----
    A filter of k by k has :math:`k^2 c_{in} + 1` weights whatever the size of the image: 1000
    filters of 5 by 5 have 25,000, a dense layer of 1000 units on 100 by 100 pixels 10,000,000. An
    epoch costs, for each image and layer, the pixels times these weights. Maps follow shifts of the
    image; pooling makes the answer care less about them.

    Pixels are brought to mean 0 and variance 1, all by the same two numbers: columns of a table in
    different units are not images. Where columns have no neighbours, use `NetworkClassifier`.

    References
    ----------
    .. [1] LeCun, Y., Bottou, L., Bengio, Y. and Haffner, P. (1998). Gradient-based learning applied
       to document recognition. Proceedings of the IEEE, 86(11). https://doi.org/10.1109/5.726791

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from bottega.neural import ConvolutionalClassifier
    >>> images, y = load_digits(n_class=3, return_X_y=True)
    >>> images = images.reshape(-1, 8, 8)
    >>> model = ConvolutionalClassifier((8,), max_iter=5).fit(images[:300], y[:300])
    >>> bool(model.score(images[300:], y[300:]) > 0.95)
    True
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "channels": LayerSizes(help="filters of each layer"),
        "kernel_size": Integer(1, help="height and width of the filters"),
        "padding": AnyOf(Choice(*PADDINGS), Integer(0), help="zeros around maps"),
        "stride": Integer(1, help="step of the filters"),
        "pooling": OrNone(Choice("max", "mean", "norm"), help="one number for each window"),
        "pool_size": Integer(1, help="height and width of the windows"),
        "hidden_layer_sizes": LayerSizes(help="units of dense layers behind the maps"),
        "activation": DENSE["activation"],
        "batch_norm": DENSE["batch_norm"],
        "drop": Real(0, 1, open_high=True, help="share of numbers that dropout sets to zero"),
        "input_noise": DENSE["input_noise"],
        "augment": Augmentation(help="random changes of the images in training"),
        "image_shape": OrNone(ImageShape(), help="shape of images that are rows of a table"),
        **CLASSES,
    }
    card: ClassVar[Card] = Card(
        method="convolutional_network",
        title="Convolutional network",
        task="classification",
        strengths=(
            "Few weights see the same pattern wherever it is in an image.",
            "Learns its filters; no features are made by hand.",
        ),
        weaknesses=(
            "Needs hundreds of images of a class, or changed copies of them.",
            "Cannot be read beyond its first filters.",
        ),
        assumptions=(
            "Neighbouring pixels belong together.",
            "What a pattern means does not depend on where it is.",
        ),
        cost="images times pixels times weights of the filters, times the epochs",
        source="N53-N76, N94, N205, N207",
        takes=frozenset({"image"}),
        wide=True,
    )

    def __init__(
        self,
        channels: Any = (32, 64),
        *,
        kernel_size: int = 3,
        padding: str | int = "same",
        stride: int = 1,
        pooling: str | None = "max",
        pool_size: int = 2,
        hidden_layer_sizes: Any = (),
        activation: str = "relu",
        batch_norm: bool = True,
        drop: float = 0.5,
        input_noise: float = 0.0,
        augment: Any = (),
        image_shape: Any = None,
        solver: str = "adam",
        alpha: float = 1e-4,
        clip: float | None = None,
        batch_size: int | str = "auto",
        learning_rate: str = "constant",
        learning_rate_init: float = 0.003,
        max_iter: int | str = 15,
        max_epochs: int = 60,
        tol: float = 1e-4,
        n_iter_no_change: int = 10,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        device: str = "auto",
        dtype: str = "float32",
        cv: Any = "auto",
        select: str = "min",
        random_state: Any = 0,
        verbose: bool = False,
        class_weight: Any = None,
    ) -> None:
        self.channels = channels
        self.kernel_size = kernel_size
        self.padding = padding
        self.stride = stride
        self.pooling = pooling
        self.pool_size = pool_size
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.batch_norm = batch_norm
        self.drop = drop
        self.input_noise = input_noise
        self.augment = augment
        self.image_shape = image_shape
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

    def _check_rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        rows, y = super()._check_rows(X, y)
        self._check_room()
        return rows, y

    def _check_room(self) -> None:
        """Refuse filters that do not fit into the maps of some layer."""
        sides = list(self.image_shape_[1:])
        for i, _ in enumerate(np.atleast_1d(self.channels)):
            try:
                sides = [
                    conv_size(k, self.kernel_size, padding=self.padding, stride=self.stride)
                    for k in sides
                ]
            except InputError as error:
                raise ParameterError(
                    f"{type(self).__name__}: the filters of layer {i + 1} do not fit into maps of "
                    f"{sides[0]} by {sides[1]}; use padding='same', fewer layers or a smaller "
                    "kernel_size."
                ) from error
            if self.pooling is not None:
                sides = [k // min(self.pool_size, k) for k in sides]

    def _describe(self, work: "NetworkWork", setting: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "kind": "convolutional",
            "image_shape": [int(k) for k in self.image_shape_],
            "channels": [int(k) for k in np.atleast_1d(self.channels)],
            "kernel_size": int(self.kernel_size),
            "padding": self.padding if isinstance(self.padding, str) else int(self.padding),
            "stride": int(self.stride),
            "pooling": self.pooling,
            "pool_size": int(self.pool_size),
            "hidden_layer_sizes": [int(k) for k in np.atleast_1d(self.hidden_layer_sizes)],
            "n_outputs": self._n_outputs(work),
            "activation": self.activation,
            "batch_norm": bool(self.batch_norm),
            "keep": 1.0 - float(self.drop),
            "input_noise": float(self.input_noise),
            "augment": list(self.augment),
        }

    @staticmethod
    def _build(description: Mapping[str, Any]) -> Any:
        from bottega.neural._modules.convolution import image_network

        return image_network(description)

    # ---- to look at ------------------------------------------------------------------------------

    def filters(self, layer: int = 0) -> FloatArray:
        """Return the filters of a layer, of shape (filters, channels, k, k)."""
        names = [
            name
            for name, each in self.arrays_.items()
            if name.startswith("body.") and each.ndim == 4
        ]
        if not 0 <= layer < len(names):
            raise InputError(f"layer={layer!r} is not one of the {len(names)} layers, from 0.")
        return np.asarray(self.arrays_[names[layer]], dtype=np.float64)

    def feature_maps(self, X: Any) -> list[FloatArray]:
        """Return what each layer detects in images: arrays of shape (n, filters, h, w)."""
        from bottega.neural._network.work import tensors

        rows = self._check_new(X)
        module = self._module()
        p = next(module.parameters())
        (pixels,) = tensors(self._arrays(rows, self.inputs_), p.device, p.dtype)
        return [each.double().cpu().numpy() for each in module.feature_maps(pixels)]

    def plot_filters(self, layer: int = 0, channel: int = 0) -> Any:
        """Draw the filters of a layer for one of its incoming channels."""
        found = self.filters(layer)
        k = found.shape[-1]
        return component_images_chart(
            found[:, channel].reshape(len(found), -1),
            (k, k),
            names=[f"filter {j + 1}" for j in range(len(found))],
            title=f"Filters of layer {layer + 1}",
            subtitle="Each has a scale of its own; entries below zero have another colour.",
            columns=8,
        )

    def plot_feature_maps(self, image: Any, layer: int = 0) -> Any:
        """Draw where the filters of a layer find their pattern in one image."""
        shape = self.image_shape_
        given = np.asarray(image, dtype=np.float64).reshape(1, *shape)
        found = self.feature_maps(given)[layer][0]
        return component_images_chart(
            np.abs(found.reshape(len(found), -1)) + 1e-12,
            found.shape[1:],
            names=[f"map {j + 1}" for j in range(len(found))],
            title=f"Feature maps of layer {layer + 1}",
            subtitle="The darker, the more of its pattern a filter found there.",
            columns=8,
        )
