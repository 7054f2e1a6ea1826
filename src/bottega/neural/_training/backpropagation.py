"""Backpropagation of dense layers, written out.

PyTorch differentiates any module; of dense layers in a row the derivatives are four lines, which
spare its bookkeeping and are a third faster on small batches. In the words of the notes: forward,
z_l = h(a_l) with a_l = W_l z_{l-1} + b_l; then the errors delta_l, the derivatives of the loss by
a_l, from the last layer to the first; of each, the derivatives by W_l and b_l.
"""

from collections.abc import Callable

import torch
from torch import nn

from bottega.neural._modules.activations import LEAK
from bottega.neural._modules.dense import TableNetwork
from bottega.neural._training.batches import Batch
from bottega.neural._training.criteria import NetworkCriterion

__all__ = ["Backpropagation"]

_aten = torch.ops.aten
Slope = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]

# From the derivative by z = h(a), and z itself, to the derivative by a.
_SLOPES: dict[type[nn.Module], Slope] = {
    nn.Identity: lambda d, _: d,
    nn.ReLU: lambda d, z: _aten.threshold_backward.default(d, z, 0),
    nn.LeakyReLU: lambda d, z: _aten.leaky_relu_backward.default(d, z, LEAK, True),
    nn.Sigmoid: _aten.sigmoid_backward.default,
    nn.Tanh: _aten.tanh_backward.default,
}
_FUNCTIONS: dict[type[nn.Module], Callable[[torch.Tensor], torch.Tensor]] = {
    nn.Identity: lambda a: a,
    nn.ReLU: torch.relu_,
    nn.LeakyReLU: lambda a: torch.nn.functional.leaky_relu_(a, LEAK),
    nn.Sigmoid: torch.sigmoid_,
    nn.Tanh: torch.tanh_,
}


class Backpropagation:
    """Loss and gradient of dense layers with activations between them.

    Made by `of`, after the parameters of the module became views of one vector: their gradients
    are written into its parts.
    """

    def __init__(self, body: nn.Sequential, criterion: NetworkCriterion) -> None:
        dense = [each for each in body if isinstance(each, nn.Linear)]
        kinds = [type(each) for each in body if not isinstance(each, nn.Linear)]
        self.criterion = criterion
        self.weights = [(each.weight.data, each.bias.data) for each in dense]
        self.gradients = [(each.weight.grad, each.bias.grad) for each in dense]
        self.functions = [_FUNCTIONS[kind] for kind in kinds]
        self.slopes = [_SLOPES[kind] for kind in kinds]

    @classmethod
    def of(cls, module: nn.Module, criterion: NetworkCriterion) -> "Backpropagation | None":
        """Return it for a module that is dense layers and activations alone; else None."""
        if type(module) is not TableNetwork or not criterion.has_slopes:
            return None
        body, plain = module.body, isinstance(module.noise, nn.Identity)
        if not plain or len(module.embeddings) or not isinstance(body, nn.Sequential):
            return None
        turns = [nn.Linear if i % 2 == 0 else None for i in range(len(body))]
        for layer, wanted in zip(body, turns, strict=True):
            known = type(layer) is nn.Linear if wanted else type(layer) in _SLOPES
            if not known:
                return None
        return cls(body, criterion)

    def __call__(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of a batch, and leave its derivatives in the gradient."""
        z = batch.inputs[0]
        seen = [z]
        for (W, b), h in zip(self.weights[:-1], self.functions, strict=True):
            z = h(torch.addmm(b, z, W.t()))
            seen.append(z)
        W, b = self.weights[-1]
        outputs = torch.addmm(b, z, W.t())
        delta = self.criterion.slopes(outputs, batch.targets, batch.weight)
        for layer in range(len(self.weights) - 1, -1, -1):
            by_weight, by_bias = self.gradients[layer]
            torch.mm(delta.t(), seen[layer], out=by_weight)
            torch.sum(delta, 0, out=by_bias)
            if layer:
                back = torch.mm(delta, self.weights[layer][0])
                delta = self.slopes[layer - 1](back, seen[layer])
        return self.criterion.mean(outputs, batch.targets, batch.weight)
