"""Steps along the gradient: each optimiser is its equations, on one vector of parameters.

The words and the defaults are scikit-learn's. An optimiser has a ``state`` of tensors and a number
of ``steps``, which a checkpoint holds.
"""

from math import sqrt

import torch

__all__ = ["AdaptiveGradient", "AdaptiveMoments", "StochasticGradient", "make_optimizer"]


class StochasticGradient:
    """Gradient descent with momentum: w becomes w + v, where v becomes momentum v - rate g.

    Nesterov's form looks ahead along the new v.
    """

    def __init__(self, size: torch.Tensor, momentum: float = 0.9, nesterov: bool = True) -> None:
        self.momentum, self.nesterov = momentum, nesterov and momentum > 0
        self.state = {"velocity": torch.zeros_like(size)} if momentum > 0 else {}
        self.steps = 0

    def step(self, w: torch.Tensor, g: torch.Tensor, rate: float) -> None:
        """Change the parameters w by their gradient g."""
        if not self.state:
            w.sub_(g, alpha=rate)
            return
        v = self.state["velocity"]
        v.mul_(self.momentum).sub_(g, alpha=rate)
        if self.nesterov:
            w.add_(v, alpha=self.momentum).sub_(g, alpha=rate)
        else:
            w.add_(v)


class AdaptiveGradient:
    """AdaGrad: each parameter's rate falls with the sum of its squared gradients so far."""

    def __init__(self, size: torch.Tensor, epsilon: float = 1e-8) -> None:
        self.epsilon = epsilon
        self.state = {"squares": torch.zeros_like(size)}
        self.steps = 0

    def step(self, w: torch.Tensor, g: torch.Tensor, rate: float) -> None:
        """Change the parameters w by their gradient g."""
        s = self.state["squares"]
        s.addcmul_(g, g)
        w.addcdiv_(g, s.sqrt().add_(self.epsilon), value=-rate)


class AdaptiveMoments:
    """Adam: running means of the gradient and of its square, without their bias towards zero."""

    def __init__(
        self,
        size: torch.Tensor,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.state = {
            "mean": torch.zeros_like(size),
            "square": torch.zeros_like(size),
        }
        self.steps = 0

    def step(self, w: torch.Tensor, g: torch.Tensor, rate: float) -> None:
        """Change the parameters w by their gradient g."""
        m, v = self.state["mean"], self.state["square"]
        self.steps += 1
        m.lerp_(g, 1 - self.beta_1)
        v.mul_(self.beta_2).addcmul_(g, g, value=1 - self.beta_2)
        unbiased = sqrt(1 - self.beta_2**self.steps) / (1 - self.beta_1**self.steps)
        w.addcdiv_(m, v.sqrt().add_(self.epsilon), value=-rate * unbiased)


def make_optimizer(solver: str, w: torch.Tensor, **options: float) -> "Optimizer":
    """Return an optimiser by scikit-learn's word; of `options` it takes those that it knows."""
    if solver == "sgd":
        return StochasticGradient(
            w, options.get("momentum", 0.9), bool(options.get("nesterovs_momentum", True))
        )
    epsilon = options.get("epsilon", 1e-8)
    if solver == "adagrad":
        return AdaptiveGradient(w, epsilon)
    return AdaptiveMoments(w, options.get("beta_1", 0.9), options.get("beta_2", 0.999), epsilon)


Optimizer = StochasticGradient | AdaptiveGradient | AdaptiveMoments
