"""All parameters of a module as one vector, and their gradient as another.

An optimiser is then a few lines on two vectors, as in a textbook, and costs as few calls.
"""

from typing import Any

import torch

__all__ = ["Weights"]


class Weights:
    """The parameters of a module, which become views of one vector.

    Parameters
    ----------
    module : torch.nn.Module
        Its parameters must be of one floating type.

    Attributes
    ----------
    values, gradient : torch.Tensor of shape (W,)
        All parameters, and the derivative of the loss by each, which ``backward`` adds to.
    decayed : torch.Tensor of shape (W,)
        1 for weights, which penalties shrink; 0 for biases and the scales of normalisation.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        found = [p for p in module.parameters() if p.requires_grad]
        self.values = torch.cat([p.detach().reshape(-1) for p in found])
        self.gradient = torch.zeros_like(self.values)
        self.decayed = torch.zeros_like(self.values)
        start = 0
        for p in found:
            part = slice(start, start + p.numel())
            p.data = self.values[part].view(p.shape)
            p.grad = self.gradient[part].view(p.shape)
            if p.ndim > 1:
                self.decayed[part] = 1
            start = part.stop

    def __len__(self) -> int:
        return len(self.values)

    def copy(self) -> Any:
        """Return the parameters as they are now."""
        return self.values.clone()
