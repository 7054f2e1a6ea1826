"""What is added to the mean loss of a batch to keep a network simple.

A penalty on the weights alone has a gradient in closed form, which is added to the gradient vector:
no graph is built for it. The smoothness penalty depends on the outputs, and is differentiated.
"""

from dataclasses import dataclass
from typing import Any

import torch

from bottega.neural._training.weights import Weights

__all__ = ["WeightPenalty", "smoothness"]


_HEAVIEST = 1e30  # what single precision still multiplies by


def _share(penalty: float, m: float) -> float:
    """Return a penalty per weight of the rows, however little they weigh."""
    return min(penalty / m, _HEAVIEST)


@dataclass(frozen=True)
class WeightPenalty:
    r"""Penalties on weights w, where m is the weight of the batch's rows.

    .. math:: \frac{\alpha}{2m} \lVert w \rVert^2 + \frac{\lambda_1}{m} \lVert w \rVert_1
              + \frac{\tau}{2m} \lVert w - w_0 \rVert^2

    Biases are not penalised, but tied, where the weights `anchor` of another model are given.
    """

    alpha: float = 0.0
    l1: float = 0.0
    tie: float = 0.0
    anchor: Any = None

    @property
    def counts(self) -> bool:
        """Whether any penalty is above zero."""
        return self.alpha > 0 or self.l1 > 0 or self.tie > 0

    def value(self, w: Weights, m: float) -> torch.Tensor:
        """Return the penalty."""
        shrunk = w.values * w.decayed
        total = self.alpha / 2 * (shrunk @ shrunk)
        if self.l1 > 0:
            total = total + self.l1 * shrunk.abs().sum()
        if self.tie > 0:
            gap = w.values - self.anchor
            total = total + self.tie / 2 * (gap @ gap)
        return total / m

    def add_gradient(self, w: Weights, m: float) -> None:
        """Add the derivative of the penalty to the gradient."""
        if self.alpha > 0:
            w.gradient.addcmul_(w.values, w.decayed, value=_share(self.alpha, m))
        if self.l1 > 0:
            w.gradient.addcmul_(torch.sign(w.values), w.decayed, value=_share(self.l1, m))
        if self.tie > 0:
            w.gradient.add_(w.values - self.anchor, alpha=_share(self.tie, m))


def smoothness(module: Any, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    r"""Return the mean over rows of :math:`\sum_{h,k} (\partial^2 y_k / \partial x_h^2)^2`.

    The notes print the second derivatives without the square, under which a network could bend
    downwards for a reward. The derivatives are by the first of the inputs, at the rows themselves.
    """
    x = inputs[0].detach().requires_grad_(True)
    outputs = module(x, *inputs[1:])
    total = x.new_zeros(())
    for k in range(outputs.shape[1]):
        (slope,) = torch.autograd.grad(outputs[:, k].sum(), x, create_graph=True)
        if not slope.requires_grad:  # a linear network bends nowhere
            continue
        for h in range(x.shape[1]):
            (bend,) = torch.autograd.grad(
                slope[:, h].sum(), x, create_graph=True, allow_unused=True, materialize_grads=True
            )
            total = total + (bend[:, h] ** 2).mean()
    return total
