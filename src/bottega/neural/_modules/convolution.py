"""Networks for images: convolution, detector, pooling, and dense layers at the end."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from bottega.neural._images.padding import sides
from bottega.neural._modules.activations import make_activation
from bottega.neural._modules.augmentation import ChangedImages
from bottega.neural._modules.dense import dense_layers
from bottega.neural._modules.pooling import NormPooling, make_pooling
from bottega.neural._modules.random_layers import AddedNoise, DroppedUnits
from bottega.neural.conv_size import conv_size

__all__ = ["BorderedConvolution", "ImageNetwork", "convolutions", "image_network"]

_POOLS = (nn.MaxPool2d, nn.AvgPool2d, NormPooling)


class BorderedConvolution(nn.Conv2d):
    """A convolution with the paddings of the notes: VALID, SAME and FULL."""

    def __init__(
        self, n_in: int, n_out: int, kernel: int, padding: str | int = "same", stride: int = 1
    ) -> None:
        super().__init__(n_in, n_out, kernel, stride=stride)
        self.border = sides(kernel, padding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the feature maps."""
        return super().forward(F.pad(x, self.border * 2))


def convolutions(
    shape: Sequence[int],
    channels: Sequence[int],
    *,
    kernel: int = 3,
    padding: str | int = "same",
    stride: int = 1,
    pooling: str | None = "max",
    pool_size: int = 2,
    activation: str = "relu",
    batch_norm: bool = True,
) -> tuple[nn.Sequential, tuple[int, int, int]]:
    """Return layers of three stages each, and the shape (c, h, w) of what the last one gives.

    A layer is: convolution (with batch normalisation), activation, pooling. A window is no larger
    than its map, so that thin images are pooled along their length only.

    Examples
    --------
    >>> layers, shape = convolutions((1, 8, 8), (4, 6))
    >>> shape
    (6, 2, 2)
    """
    n_in, height, width = shape
    layers: list[nn.Module] = []
    for n_out in channels:
        layers.append(BorderedConvolution(n_in, n_out, kernel, padding, stride))
        height, width = (
            conv_size(side, kernel, padding=padding, stride=stride) for side in (height, width)
        )
        if batch_norm:
            layers.append(nn.BatchNorm2d(n_out))
        layers.append(make_activation(activation))
        window = (min(pool_size, height), min(pool_size, width))
        if pooling is not None and window != (1, 1):
            layers.append(make_pooling(pooling, window))
            height, width = height // window[0], width // window[1]
        n_in = n_out
    return nn.Sequential(*layers), (n_in, height, width)


class ImageNetwork(nn.Module):
    """Rows of pixels as images, changed copies in training, convolutions, dense layers.

    Parameters
    ----------
    shape : sequence of int
        Channels, height and width of an image; a row has its pixels channel by channel.
    front, body, head : nn.Module
        Random changes and noise; convolutions; from flat maps to outputs.
    """

    def __init__(
        self, shape: Sequence[int], front: nn.Module, body: nn.Sequential, head: nn.Module
    ) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.front, self.body, self.head = front, body, head

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs for rows of pixels."""
        return self.head(self.body(self.front(x.view(-1, *self.shape))).flatten(1))

    @torch.no_grad()
    def feature_maps(self, x: torch.Tensor) -> list[torch.Tensor]:
        """Return the maps (n, c, h, w) behind the activation of each convolution."""
        self.eval()
        x = self.front(x.view(-1, *self.shape))
        layers = list(self.body.children())
        found = []
        for layer, after in zip(layers, [*layers[1:], None], strict=True):
            x = layer(x)
            if not isinstance(layer, _POOLS) and (
                after is None or isinstance(after, (*_POOLS, nn.Conv2d))
            ):
                found.append(x)
        return found


def image_network(description: Mapping[str, Any]) -> ImageNetwork:
    """Return the network of a description, with PyTorch's own first weights."""
    shape = description["image_shape"]
    body, (n, height, width) = convolutions(
        shape,
        description["channels"],
        kernel=description["kernel_size"],
        padding=description["padding"],
        stride=description["stride"],
        pooling=description["pooling"],
        pool_size=description["pool_size"],
        activation=description["activation"],
        batch_norm=description["batch_norm"],
    )
    keep, noise = description["keep"], description["input_noise"]
    dense = dense_layers(
        n * height * width,
        description["hidden_layer_sizes"],
        description["n_outputs"],
        activation=description["activation"],
        keep=keep,
    )
    front: list[nn.Module] = [ChangedImages(description["augment"])]
    if noise > 0:
        front.append(AddedNoise(noise))
    head = nn.Sequential(DroppedUnits(keep), dense) if keep < 1 else dense
    return ImageNetwork(shape, nn.Sequential(*front), body, head)
