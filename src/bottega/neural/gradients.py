"""Four ways to a gradient: by hand, by differences, by symbols, by backpropagation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.neural._graph.symbolic import cases, derivative, written_size
from bottega.neural.graph import Node

__all__ = ["GradientWays", "finite_differences", "gradient_ways"]


@dataclass(frozen=True, repr=False)
class GradientWays(Shown):
    """Gradients of one output by the same weights, found in several ways.

    Attributes
    ----------
    gradients : dict of str to ndarray of shape (W,)
        By way; "symbolic" is left out where nodes are arrays, "by hand" where it was not given.
    operations : dict of str to int
        Steps that each way computes: nodes evaluated, and derivatives of nodes. What a hand
        computes is not counted.
    formulas : dict of str to str
        The symbolic derivative by each weight, where it is short enough to be read.
    cases : int
        Cases of the symbolic derivative: each rectifier is on or off.
    """

    gradients: dict[str, FloatArray]
    operations: dict[str, int]
    formulas: dict[str, str]
    cases: int

    def errors(self) -> dict[str, float]:
        """Return the largest difference of each way from backpropagation."""
        exact = self.gradients["backpropagation"]
        return {way: float(np.max(np.abs(g - exact))) for way, g in self.gradients.items()}

    def summary(self) -> Summary:
        """Return the ways as a table."""
        ways = list(self.gradients)
        errors = self.errors()
        columns: dict[str, list[Any]] = {
            "way": ways,
            "steps computed": [self.operations.get(way) for way in ways],
            "largest difference": [errors[way] for way in ways],
        }
        weights = len(self.gradients["backpropagation"])
        return Summary(f"Gradient by {weights} weights", (Section("", columns),))


def finite_differences(
    output: Node, weights: Sequence[Node], step: float = 1e-6, central: bool = False
) -> FloatArray:
    """Return the gradient by changing one weight after the other and computing all again.

    Parameters
    ----------
    output : Node
        One number.
    weights : sequence of Node
        Inputs of the graph, numbers or arrays.
    step : float
        Change of a weight. The error is in proportion to it (to its square if `central`), until
        rounding, in proportion to 1e-16 / step, takes over.
    central : bool
        Change each weight in both directions.

    Returns
    -------
    ndarray of shape (W,)
        One evaluation of the graph (two if `central`) per weight and one more.

    Examples
    --------
    >>> x = Node(3.0, "x")
    >>> finite_differences(x.square(), [x], step=0.5)
    array([6.5])
    """
    if not step > 0:
        raise ParameterError(f"step={step!r} is not allowed; give a positive number.")
    start = float(output.forward())
    found = []
    for node in weights:
        kept = node.value
        for place in np.ndindex(kept.shape):
            ends = []
            for sign in (1, -1) if central else (1,):
                node.value = kept.copy()
                node.value[place] += sign * step
                ends.append(float(output.forward()))
            slope = (ends[0] - ends[1]) / (2 * step) if central else (ends[0] - start) / step
            found.append(slope)
        node.value = kept
    output.forward()
    return np.array(found)


def gradient_ways(
    output: Node,
    weights: Sequence[Node],
    *,
    by_hand: Callable[..., Any] | None = None,
    step: float = 1e-6,
) -> GradientWays:
    """Compute the gradient of an output by some of its inputs in up to four ways.

    Parameters
    ----------
    output : Node
        One number.
    weights : sequence of Node
        Inputs of the graph.
    by_hand : callable, optional
        From the values of the weights to the derivatives, as worked out on paper.
    step : float
        Of the finite differences.

    Returns
    -------
    GradientWays
        Gradients, and what each way costs: with W weights and a graph of N nodes differences take
        (W + 1) N steps, so O(W²) in a network, and backpropagation 2 N, so O(W).

    Examples
    --------
    >>> x, y, z = Node(1, "x"), Node(-3, "y"), Node(4, "z")
    >>> found = gradient_ways((x + y) * z, [x, y, z], by_hand=lambda x, y, z: (z, z, x + y))
    >>> found.gradients["by hand"], found.formulas
    (array([ 4.,  4., -2.]), {'x': 'z', 'y': 'z', 'z': '(x + y)'})
    """
    nodes = output.order()
    if any(each.inputs or all(each is not node for node in nodes) for each in weights):
        raise InputError("weights must be inputs of the graph: nodes made by Node(value).")
    gradients: dict[str, FloatArray] = {}
    if by_hand is not None:
        found = by_hand(*(each.value for each in weights))
        gradients["by hand"] = np.concatenate([np.ravel(np.asarray(g, float)) for g in found])
    gradients["finite differences"] = finite_differences(output, weights, step)
    computed = sum(bool(node.inputs) for node in nodes)
    total = sum(each.value.size for each in weights)
    operations = {"finite differences": (total + 1) * computed}
    formulas: dict[str, str] = {}
    branches = 1
    if all(node.value.ndim == 0 for node in nodes):
        written = [derivative(output, each) for each in weights]
        gradients["symbolic"] = np.array([_value(each) for each in written])
        operations["symbolic"] = sum(map(written_size, written))
        branches = max(map(cases, written))
        formulas = {
            each.label: str(0.0 if formula is None else formula)
            for each, formula in zip(weights, written, strict=True)
            if written_size(formula) <= 40
        }
    output.backward()
    gradients["backpropagation"] = np.concatenate(
        [np.ravel(np.asarray(each.gradient)) for each in weights]
    )
    operations["backpropagation"] = 2 * computed
    return GradientWays(gradients, operations, formulas, branches)


def _value(expression: Any) -> float:
    if expression is None:
        return 0.0
    return float(expression.value if isinstance(expression, Node) else expression)
