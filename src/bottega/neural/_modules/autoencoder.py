"""Networks that reproduce their inputs through few numbers: an encoder and a decoder."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from bottega.neural._modules.activations import make_activation
from bottega.neural._modules.convolution import BorderedConvolution, convolutions
from bottega.neural._modules.dense import dense_layers
from bottega.neural._modules.random_layers import AddedNoise

__all__ = ["EncoderDecoder", "autoencoder_network"]


class EncoderDecoder(nn.Module):
    """A code of few numbers, and the inputs made of it again.

    In training noise is added to the inputs first where `noise` is above zero: what is learnt is to
    take it away.
    """

    def __init__(self, encoder: nn.Module, decoder: nn.Module, noise: float = 0.0) -> None:
        super().__init__()
        self.noise = AddedNoise(noise)
        self.encoder, self.decoder = encoder, decoder

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the reconstruction of rows."""
        return self.decoder(self.encoder(self.noise(x)))


def autoencoder_network(description: Mapping[str, Any]) -> EncoderDecoder:
    """Return the network of a description, with PyTorch's own first weights."""
    hidden, code = description["hidden_layer_sizes"], description["n_components"]
    n_inputs, activation = description["n_inputs"], description["activation"]
    shape, channels = description["image_shape"], description["channels"]
    noise = description["noise"]
    if not channels:
        return EncoderDecoder(
            dense_layers(n_inputs, hidden, code, activation=activation),
            dense_layers(code, hidden[::-1], n_inputs, activation=activation),
            noise,
        )
    body, inner = convolutions(shape, channels, activation=activation, batch_norm=False)
    flat = inner[0] * inner[1] * inner[2]
    encoder = nn.Sequential(
        nn.Unflatten(1, tuple(shape)),
        body,
        nn.Flatten(),
        dense_layers(flat, hidden, code, activation=activation),
    )
    decoder = nn.Sequential(
        dense_layers(code, hidden[::-1], flat, activation=activation),
        make_activation(activation),
        nn.Unflatten(1, inner),
        *_growing(shape, channels, activation),
        nn.Flatten(),
    )
    return EncoderDecoder(encoder, decoder, noise)


def _growing(shape: Sequence[int], channels: Sequence[int], activation: str) -> list[nn.Module]:
    """Return layers from the smallest maps back to images: larger, then a convolution, each."""
    n_out, height, width = shape
    sizes = [(height, width)]
    for _ in channels[1:]:
        height, width = max(height // 2, 1), max(width // 2, 1)
        sizes.append((height, width))
    layers: list[nn.Module] = []
    backwards = [n_out, *channels]
    for i in reversed(range(len(channels))):
        layers += [
            nn.Upsample(size=sizes[i], mode="nearest"),
            BorderedConvolution(backwards[i + 1], backwards[i], 3),
        ]
        if i > 0:
            layers.append(make_activation(activation))
    return layers
