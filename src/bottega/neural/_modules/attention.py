"""Attention: every place of a sequence takes from all places what is important for it.

y(i) = (1 / C) sum_j a(x(i), x(j)) f(x(j)). In the dot-product form a is a product of two linear
maps, theta(x(i)) . delta(x(j)), and C is the number of places: weights may be negative and need
not sum to one; with queries, keys and values a = exp(q(i) . k(j)) and C = sum_j a, a softmax, whose
weights do.
"""

from collections.abc import Mapping
from math import log, sqrt
from typing import Any

import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from bottega.neural._modules.activations import make_activation
from bottega.neural._modules.random_layers import DroppedUnits
from bottega.neural._modules.recurrent import as_sequences, inside, mean_over_steps

__all__ = ["KINDS", "AttentionNetwork", "SelfAttention", "attention_network", "positions"]

KINDS = ("softmax", "dot")


class SelfAttention(nn.Module):
    """Attention of a sequence to itself, with one or several heads.

    Parameters
    ----------
    width : int
        Numbers at each place, in and out.
    heads : int
        Heads that look on their own; they share the width.
    kind : {"softmax", "dot"}
        With queries, keys, values and a softmax, or products divided by the number of places.
    scaled : bool
        Divide products by the root of the width of a head, so that the softmax does not saturate.
        The notes have no such factor.
    """

    def __init__(
        self, width: int, heads: int = 1, kind: str = "softmax", scaled: bool = True
    ) -> None:
        super().__init__()
        self.heads, self.kind = heads, kind
        self.factor = 1 / sqrt(width // heads) if scaled else 1.0
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width)

    def weights(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return how much each place takes from each, of shape (n, heads, T, T)."""
        scores = self._split(self.query(x)) @ self._split(self.key(x)).transpose(2, 3)
        scores, there = scores * self.factor, mask[:, None, None, :]
        if self.kind == "softmax":
            return torch.softmax(scores.masked_fill(there == 0, -torch.inf), dim=3)
        return scores * there / there.sum(3, keepdim=True)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return what each place takes, (n, T, d): the `weights` times the values.

        The weights of all pairs are not kept. A softmax is taken block by block; without one,
        (q k') v = q (k' v), which is a matrix of the width of a head.
        """
        q, k, v = (self._split(each(x)) for each in (self.query, self.key, self.value))
        there = mask[:, None, None, :]
        if self.kind == "softmax":
            taken = scaled_dot_product_attention(q, k, v, there > 0, scale=self.factor)
        else:
            places = there.sum(3, keepdim=True)
            taken = self.factor / places * q @ (k.transpose(2, 3) * there @ v)
        return taken.transpose(1, 2).flatten(2)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)


class AttentionLayer(nn.Module):
    """Attention, then two dense layers at each place; each adds to what was there."""

    def __init__(self, width: int, attention: SelfAttention, activation: str, keep: float) -> None:
        super().__init__()
        self.attention = attention
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.dense = nn.Sequential(
            nn.Linear(width, 2 * width), make_activation(activation), nn.Linear(2 * width, width)
        )
        self.drop = DroppedUnits(keep)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return the changed places."""
        x = x + self.drop(self.attention(self.before(x), mask))
        return x + self.drop(self.dense(self.between(x)))


class AttentionNetwork(nn.Module):
    """Places, each with its position, through layers of attention; the answer is of their mean."""

    def __init__(
        self,
        n_inputs: int,
        width: int,
        n_outputs: int,
        *,
        layers: int = 1,
        heads: int = 1,
        kind: str = "softmax",
        scaled: bool = True,
        positional: bool = True,
        activation: str = "relu",
        keep: float = 1.0,
    ) -> None:
        super().__init__()
        self.n_inputs, self.positional = n_inputs, positional
        self.enter = nn.Linear(n_inputs, width)
        self.layers = nn.ModuleList(
            AttentionLayer(width, SelfAttention(width, heads, kind, scaled), activation, keep)
            for _ in range(layers)
        )
        self.last = nn.LayerNorm(width)
        self.leave = nn.Linear(width, n_outputs)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Return the answers for sequences (n, T, d), or (n, T) of single numbers."""
        x, mask, lengths = self._start(x, lengths)
        for layer in self.layers:
            x = layer(x, mask)
        return self.leave(mean_over_steps(self.last(x), lengths))

    @torch.no_grad()
    def maps(self, x: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Return the weights of each layer and head, of shape (n, layers, heads, T, T)."""
        self.eval()
        x, mask, lengths = self._start(x, lengths)
        found = []
        for layer in self.layers:
            assert isinstance(layer, AttentionLayer)
            found.append(layer.attention.weights(layer.before(x), mask) * mask[:, None, :, None])
            x = layer(x, mask)
        return torch.stack(found, 1)

    def _start(
        self, x: torch.Tensor, lengths: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x, lengths = as_sequences(x, lengths, self.n_inputs)
        mask = inside(lengths, x.shape[1]).to(x.dtype)
        x = self.enter(x)
        if self.positional:
            x = x + positions(x.shape[1], x.shape[2]).to(x)
        return x, mask, lengths


def positions(steps: int, width: int) -> torch.Tensor:
    """Return numbers that tell the places of a sequence apart: sines and cosines of many lengths.

    Examples
    --------
    >>> positions(2, 2)
    tensor([[0.0000, 1.0000],
            [0.8415, 0.5403]])
    """
    place = torch.arange(steps)[:, None]
    rate = torch.exp(-log(1e4) * torch.arange(0, width, 2) / width)
    waves = torch.stack([torch.sin(place * rate), torch.cos(place * rate)], 2)
    return waves.flatten(1)[:, :width]


def attention_network(description: Mapping[str, Any]) -> AttentionNetwork:
    """Return the network of a description, with PyTorch's own first weights."""
    return AttentionNetwork(
        description["n_inputs"],
        description["width"],
        description["n_outputs"],
        layers=description["layers"],
        heads=description["heads"],
        kind=description["attention"],
        scaled=description["scaled"],
        positional=description["positional"],
        activation=description["activation"],
        keep=description["keep"],
    )
