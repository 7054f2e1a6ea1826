"""Where the weights of a network start."""

from math import sqrt

import torch
from torch import nn

__all__ = ["fans", "initialize"]

_NEAR_ZERO = 0.01


def fans(weight: torch.Tensor) -> tuple[int, int]:
    """Return how many inputs and how many outputs a weight tensor (outputs, inputs, ...) joins."""
    window = weight[0, 0].numel() if weight.ndim > 2 else 1
    return weight.shape[1] * window, weight.shape[0] * window


def spread(init: str, weight: torch.Tensor, scale: float, activation: str) -> float:
    """Return the standard deviation of the first weights of a layer.

    ``"near_zero"``: 0.01, a network that starts almost linear; ``"gaussian"``: `scale`;
    ``"xavier"``: variance 2 / (inputs + outputs); ``"he"``: variance 2 / inputs; ``"auto"``: the
    latter for ReLU, Xavier's for the others.
    """
    n_in, n_out = fans(weight)
    if init == "auto":
        init = "he" if activation in ("relu", "leaky_relu") else "xavier"
    if init == "near_zero":
        return _NEAR_ZERO
    if init == "gaussian":
        return scale
    return sqrt(2 / (n_in + n_out)) if init == "xavier" else sqrt(2 / n_in)


@torch.no_grad()
def initialize(
    module: nn.Module,
    init: str,
    generator: torch.Generator,
    *,
    scale: float = 0.1,
    activation: str = "relu",
    flat_end: bool = False,
) -> None:
    """Draw all weights of a module's layers from normal distributions about 0; biases are 0.

    With `flat_end` those of the last layer are a hundredth as large: the first outputs are near 0.
    Parameters of one dimension other than biases (scales of normalisation) stay as they are. The
    draws are made on the processor, so that they are the same on every device.
    """
    for name, p in module.named_parameters():
        if p.ndim > 1:
            sd = spread(init, p, scale, activation)
            drawn = torch.empty(p.shape, dtype=torch.float64).normal_(0, sd, generator=generator)
            p.copy_(drawn)
        elif "bias" in name.rpartition(".")[2]:  # "bias_ih_l0" of a recurrent layer, say
            p.zero_()
    if flat_end:
        [p for p in module.parameters() if p.ndim > 1][-1].mul_(_NEAR_ZERO)
