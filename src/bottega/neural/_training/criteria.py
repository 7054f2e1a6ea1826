"""Pairs of an output layer and a loss: what a network predicts, and what a row costs.

The outputs of a module are numbers without bounds (logits); each pair has the activation that makes
predictions of them, and the loss of a row on the same numbers, which is exact where a probability
would round to 0 or 1. In each pair the derivative of the loss by an output is prediction minus
target, where the notes' pairs are kept (squared, logistic, softmax).
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
import torch.nn.functional as F  # noqa: N812

__all__ = [
    "CRITERIA",
    "LARGEST_LOG",
    "AbsoluteCost",
    "BinaryCrossEntropy",
    "CrossEntropy",
    "HuberCost",
    "LabelsCost",
    "NetworkCriterion",
    "PoissonCost",
    "SquaredCost",
]


LARGEST_LOG = 80.0  # whose exponential single precision still holds


class NetworkCriterion(ABC):
    """An output activation and the loss of a row that goes with it."""

    name: ClassVar[str]
    out_activation: ClassVar[str] = "identity"  # scikit-learn's word
    long_targets: ClassVar[bool] = False
    starts_flat: ClassVar[bool] = False  # whether first outputs have to be near zero

    @abstractmethod
    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the loss of each row, of shape (n,)."""

    def mean(
        self, outputs: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the (weighted) mean loss of the rows."""
        losses = self.rows(outputs, y)
        if weight is None:
            return losses.mean()
        return (weight * losses).sum() / weight.sum()

    has_slopes: ClassVar[bool] = False

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Return the derivatives of each row's loss by its outputs, where `has_slopes`."""
        raise NotImplementedError

    def slopes(
        self, outputs: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        """Return the derivatives of the (weighted) mean loss by the outputs."""
        found = self.row_slopes(outputs, y)
        if weight is None:
            return found.div_(len(outputs))
        return found.mul_((weight / weight.sum())[:, None])

    def predictions(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return numbers, or class probabilities, of the outputs."""
        return outputs


class SquaredCost(NetworkCriterion):
    """Half the squared error, summed over the responses."""

    name = "squared_error"
    has_slopes = True

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return outputs - y

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        gap = outputs - y
        return (gap * gap).sum(1) / 2

    def mean(
        self, outputs: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        if weight is None:
            return F.mse_loss(outputs, y) * (outputs.shape[1] / 2)
        return super().mean(outputs, y, weight)


class AbsoluteCost(NetworkCriterion):
    """The absolute error, summed over the responses."""

    name = "absolute_error"
    has_slopes = True

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sign(outputs - y)

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (outputs - y).abs().sum(1)


class HuberCost(NetworkCriterion):
    """Quadratic up to `delta`, linear beyond, summed over the responses."""

    name = "huber"
    has_slopes = True

    def __init__(self, delta: float = 1.35) -> None:
        self.delta = delta

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (outputs - y).clamp_(-self.delta, self.delta)

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.huber_loss(outputs, y, reduction="none", delta=self.delta).sum(1)


class PoissonCost(NetworkCriterion):
    """Half the Poisson deviance of a mean that is the exponential of the output."""

    name = "poisson"
    has_slopes = True
    starts_flat = True  # else exponentials of chance send the first steps far off
    out_activation = "exp"

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.exp(outputs).sub_(y)

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (torch.exp(outputs) - y * outputs + torch.xlogy(y, y) - y).sum(1)

    def predictions(self, outputs: torch.Tensor) -> torch.Tensor:
        return torch.exp(outputs.clamp(max=LARGEST_LOG))


class BinaryCrossEntropy(NetworkCriterion):
    """Logistic outputs with the binary cross-entropy.

    One output for two classes; for K classes K outputs, each its class against the others.
    """

    name = "binary_cross_entropy"
    has_slopes = True
    out_activation = "logistic"

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(outputs).sub_(y)

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.binary_cross_entropy_with_logits(outputs, y, reduction="none").sum(1)

    def mean(
        self, outputs: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        if weight is None:
            return F.binary_cross_entropy_with_logits(outputs, y) * outputs.shape[1]
        return super().mean(outputs, y, weight)

    def predictions(self, outputs: torch.Tensor) -> torch.Tensor:
        p = torch.sigmoid(outputs)
        if p.shape[1] == 1:
            return torch.cat([1 - p, p], 1)
        total = p.sum(1, keepdim=True)
        return torch.where(total > 0, p / total, 1 / p.shape[1])


class LabelsCost(BinaryCrossEntropy):
    """Logistic outputs, one for each label that a row may bear beside others."""

    name = "labels"

    def predictions(self, outputs: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(outputs)


class CrossEntropy(NetworkCriterion):
    """Softmax outputs with the cross-entropy; targets are codes of classes."""

    name = "cross_entropy"
    has_slopes = True
    out_activation = "softmax"
    long_targets = True

    def row_slopes(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        found = torch.softmax(outputs, 1)
        return found.scatter_add_(1, y[:, None], found.new_full((len(y), 1), -1.0))

    def rows(self, outputs: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(outputs, y, reduction="none")

    def mean(
        self, outputs: torch.Tensor, y: torch.Tensor, weight: torch.Tensor | None
    ) -> torch.Tensor:
        if weight is None:
            return F.cross_entropy(outputs, y)
        return super().mean(outputs, y, weight)

    def predictions(self, outputs: torch.Tensor) -> torch.Tensor:
        return torch.softmax(outputs, 1)


CRITERIA = {
    each.name: each
    for each in (
        *(SquaredCost, AbsoluteCost, HuberCost, PoissonCost),
        *(BinaryCrossEntropy, CrossEntropy),
    )
}
