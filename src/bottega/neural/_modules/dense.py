"""Networks of dense layers."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from bottega.neural._modules.activations import make_activation
from bottega.neural._modules.random_layers import AddedNoise, DroppedUnits

__all__ = ["TableNetwork", "dense_layers", "table_network"]


def dense_layers(
    n_inputs: int,
    hidden: Sequence[int],
    n_outputs: int,
    *,
    activation: str = "relu",
    keep: float = 1.0,
    batch_norm: bool = False,
    noise: float = 0.0,
) -> nn.Sequential:
    """Return dense layers in a row; the last has no activation, it gives the outputs.

    A hidden layer is: affine map, batch normalisation of the sums, activation, noise, dropout.

    Examples
    --------
    >>> dense_layers(2, [3], 1)
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
      (2): Linear(in_features=3, out_features=1, bias=True)
    )
    """
    layers: list[nn.Module] = []
    width = n_inputs
    for units in hidden:
        layers.append(nn.Linear(width, units))
        if batch_norm:
            layers.append(nn.BatchNorm1d(units))
        layers.append(make_activation(activation))
        if noise > 0:
            layers.append(AddedNoise(noise))
        if keep < 1:
            layers.append(DroppedUnits(keep))
        width = units
    layers.append(nn.Linear(width, n_outputs))
    return nn.Sequential(*layers)


class TableNetwork(nn.Module):
    """Numbers, with noise, beside the embeddings of categories, through dense layers.

    Parameters
    ----------
    body : nn.Module
        Takes the numbers and the embeddings side by side.
    levels : sequence of int
        Number of levels of each category; one more stands for missing and unknown ones.
    widths : sequence of int
        Numbers that each category is embedded in.
    input_noise : float
        Standard deviation of the noise of the numbers in training.
    """

    def __init__(
        self,
        body: nn.Module,
        levels: Sequence[int] = (),
        widths: Sequence[int] = (),
        input_noise: float = 0.0,
    ) -> None:
        super().__init__()
        self.noise = AddedNoise(input_noise) if input_noise > 0 else nn.Identity()
        self.embeddings = nn.ModuleList(
            nn.Embedding(n + 1, width) for n, width in zip(levels, widths, strict=True)
        )
        self.body = body

    def forward(self, x: torch.Tensor, codes: torch.Tensor | None = None) -> torch.Tensor:
        """Return the outputs for numbers (n, p) and codes of categories (n, c)."""
        x = self.noise(x)
        if codes is not None:
            found = [each(codes[:, j]) for j, each in enumerate(self.embeddings)]
            x = torch.cat([x, *found], 1)
        return self.body(x)


def table_network(description: Mapping[str, Any]) -> TableNetwork:
    """Return the network of a description, with PyTorch's own first weights."""
    widths = description["embedding_widths"]
    body = dense_layers(
        description["n_numbers"] + sum(widths),
        description["hidden_layer_sizes"],
        description["n_outputs"],
        activation=description["activation"],
        keep=description["keep"],
        batch_norm=description["batch_norm"],
        noise=description["hidden_noise"],
    )
    return TableNetwork(body, description["levels"], widths, description["input_noise"])
