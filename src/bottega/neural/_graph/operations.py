"""What a node of a computational graph can compute, and the derivative of each.

The slopes of an operation are written once. Given numbers they are the local derivatives that
backpropagation multiplies by; given nodes they are the expressions of symbolic differentiation.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bottega.core.typing import FloatArray

__all__ = ["OPERATIONS", "Operation"]


@dataclass(frozen=True)
class Operation:
    """One kind of step: its value from those of its inputs, and how its gradient goes back.

    Attributes
    ----------
    symbol : str
        How it is written.
    forward : callable
        From the values of the inputs to the value.
    slopes : callable or None
        From the result and the inputs to the derivative by each input, elementwise.
    pull : callable or None
        Where it is not elementwise: from the gradient of the result, the result and the inputs to
        the gradients of the inputs.
    """

    symbol: str
    forward: Callable[..., Any]
    slopes: Callable[..., tuple[Any, ...]] | None = None
    pull: Callable[..., tuple[Any, ...]] | None = None

    def backward(self, gradient: Any, result: Any, *inputs: Any) -> list[FloatArray]:
        """Return the gradient of each input: that of the result times the local derivative."""
        if self.pull is not None:
            found = self.pull(gradient, result, *inputs)
        else:
            assert self.slopes is not None
            found = tuple(gradient * slope for slope in self.slopes(result, *inputs))
        return [_like(part, given) for part, given in zip(found, inputs, strict=True)]


def _like(gradient: Any, given: Any) -> FloatArray:
    """Return the gradient summed over what the input was repeated along."""
    gradient, shape = np.asarray(gradient, dtype=np.float64), np.shape(given)
    while gradient.ndim > len(shape):
        gradient = gradient.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and gradient.shape[axis] > 1:
            gradient = gradient.sum(axis=axis, keepdims=True)
    return np.asarray(np.broadcast_to(gradient, shape))


def _step(a: Any) -> Any:
    return a.step() if hasattr(a, "step") else np.where(np.asarray(a) > 0, 1.0, 0.0)


# Each slope is a function of the result and the inputs; few need all of them.
# ruff: noqa: ARG005
OPERATIONS = {
    "add": Operation("+", lambda a, b: a + b, lambda out, a, b: (1.0, 1.0)),
    "subtract": Operation("-", lambda a, b: a - b, lambda out, a, b: (1.0, -1.0)),
    "multiply": Operation("*", lambda a, b: a * b, lambda out, a, b: (b, a)),
    "divide": Operation("/", lambda a, b: a / b, lambda out, a, b: (1.0 / b, -1.0 * out / b)),
    "exp": Operation("exp", np.exp, lambda out, a: (out,)),
    "log": Operation("log", np.log, lambda out, a: (1.0 / a,)),
    "square": Operation("square", np.square, lambda out, a: (2.0 * a,)),
    "sigmoid": Operation("sigmoid", expit, lambda out, a: (out * (1.0 - out),)),
    "tanh": Operation("tanh", np.tanh, lambda out, a: (1.0 - out * out,)),
    "relu": Operation("relu", lambda a: np.maximum(a, 0.0), lambda out, a: (_step(a),)),
    "step": Operation("step", _step, lambda out, a: (0.0,)),
    "matmul": Operation(
        "@", lambda A, B: A @ B, pull=lambda g, out, A, B: (g @ B.T, A.T @ g)
    ),
    "sum": Operation("sum", np.sum, pull=lambda g, out, a: (g * np.ones_like(a),)),
    "row_sums": Operation(
        "row_sums",
        lambda a: np.sum(a, axis=-1, keepdims=True),
        pull=lambda g, out, a: (g * np.ones_like(a),),
    ),
}  # fmt: skip
