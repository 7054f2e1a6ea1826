"""Layers that draw random numbers in training, from a generator that a training gives them.

PyTorch's own draw from one generator of the whole process, which trainings side by side share.
"""

import torch
from torch import nn

__all__ = ["AddedNoise", "DroppedUnits", "RandomLayer", "give_generator", "seed_dropout"]


class RandomLayer(nn.Module):
    """A layer that draws from `generator` in training, and does nothing in prediction."""

    generator: torch.Generator | None = None


class DroppedUnits(RandomLayer):
    """Dropout: each unit is kept with probability `keep`, and then divided by it.

    The division keeps the mean of what the next layer receives, so nothing is rescaled when the
    network predicts.
    """

    def __init__(self, keep: float) -> None:
        super().__init__()
        self.keep = keep

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x with some units set to zero."""
        if not self.training or self.keep >= 1:
            return x
        kept = torch.empty_like(x).bernoulli_(self.keep, generator=self.generator)
        return x * kept.div_(self.keep)


class AddedNoise(RandomLayer):
    """Adds independent normal noise of mean 0 and standard deviation `sd`."""

    def __init__(self, sd: float) -> None:
        super().__init__()
        self.sd = sd

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return x with noise."""
        if not self.training or self.sd <= 0:
            return x
        return x + torch.empty_like(x).normal_(0, self.sd, generator=self.generator)


def seed_dropout(module: nn.Module) -> None:
    """Put our dropout in the place of PyTorch's within a module, so that a seed decides it."""
    for part in list(module.modules()):
        for name, layer in list(part.named_children()):
            if type(layer) is nn.Dropout and layer.p < 1:
                setattr(part, name, DroppedUnits(1 - layer.p))


def give_generator(module: nn.Module, generator: torch.Generator) -> None:
    """Let all random layers of a module draw from a generator (on the module's device)."""
    for layer in module.modules():
        if isinstance(layer, RandomLayer):
            layer.generator = generator
