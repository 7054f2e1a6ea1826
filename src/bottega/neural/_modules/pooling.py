"""Pooling of feature maps: one number for each window."""

from math import prod

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

__all__ = ["POOLINGS", "NormPooling", "make_pooling"]

POOLINGS = ("max", "mean", "norm")
_TINY = 1e-8  # under the root, whose slope at zero is infinite


class NormPooling(nn.Module):
    """The root of the sum of squares of each window."""

    def __init__(self, window: tuple[int, int]) -> None:
        super().__init__()
        self.window = window

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return the pooled maps."""
        squares = F.avg_pool2d(x * x, self.window) * prod(self.window)
        return torch.sqrt(squares + _TINY)


def make_pooling(kind: str, window: tuple[int, int]) -> nn.Module:
    """Return the pooling of windows that do not overlap.

    Examples
    --------
    >>> make_pooling("norm", (1, 2))(torch.tensor([[[[3.0, 4.0]]]]))
    tensor([[[[5.]]]])
    """
    if kind == "norm":
        return NormPooling(window)
    return nn.MaxPool2d(window) if kind == "max" else nn.AvgPool2d(window)
