"""Activation functions by the words of scikit-learn and of the notes."""

from collections.abc import Callable

from torch import nn

__all__ = ["ACTIVATIONS", "LEAK", "make_activation"]

LEAK = 0.01  # slope of the leaky rectifier below zero

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "identity": nn.Identity,
    "logistic": nn.Sigmoid,
    "sigmoid": nn.Sigmoid,
    "tanh": nn.Tanh,
    "relu": nn.ReLU,
    "leaky_relu": lambda: nn.LeakyReLU(LEAK),
}


def make_activation(name: str) -> nn.Module:
    """Return the activation of that name.

    Examples
    --------
    >>> import torch
    >>> make_activation("leaky_relu")(torch.tensor([-1.0, 2.0]))
    tensor([-0.0100,  2.0000])
    """
    return ACTIVATIONS[name]()
