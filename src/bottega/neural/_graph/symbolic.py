"""Derivatives as expressions: what symbolic differentiation writes down, and how long it becomes.

Nodes are built with their own operators, so this works on any object that has them.
"""

from typing import Any

from bottega.core.errors import InputError

__all__ = ["cases", "derivative", "written_size"]


def derivative(output: Any, by: Any) -> Any:
    """Return the derivative of a node by another as a node of its own (None for zero)."""
    found: dict[int, Any] = {id(by): 1.0}
    for node in output.order():
        if id(node) not in found:
            found[id(node)] = _of_one(node, found)
    return found[id(output)]


def _of_one(node: Any, found: dict[int, Any]) -> Any:
    """Return the sum over the inputs of the slope times the derivative of the input."""
    total = None
    if not node.inputs or all(found[id(each)] is None for each in node.inputs):
        return None
    if node.operation.slopes is None or node.value.ndim:
        raise InputError(
            f"The node {node.label!r} works on arrays, and symbolic derivatives are of numbers; "
            "use backward(), or write the sums out."
        )
    for slope, each in zip(node.operation.slopes(node, *node.inputs), node.inputs, strict=True):
        inner = found[id(each)]
        if inner is None or _is(slope, 0.0):
            continue
        term = inner if _is(slope, 1.0) else slope if _is(inner, 1.0) else slope * inner
        total = term if total is None else total + term
    return total


def _is(value: Any, number: float) -> bool:
    return isinstance(value, float) and value == number


def written_size(expression: Any) -> int:
    """Return how many operations an expression has when it is written out on paper.

    What is used twice is written twice: a graph of few nodes may be a very long formula.
    """
    if expression is None or isinstance(expression, float):
        return 0
    sizes: dict[int, int] = {}
    for node in expression.order():
        sizes[id(node)] = bool(node.inputs) + sum(sizes[id(each)] for each in node.inputs)
    return sizes[id(expression)]


def cases(expression: Any) -> int:
    """Return the number of cases of a formula in which each rectifier is on or off."""
    if expression is None or isinstance(expression, float):
        return 1
    switches = {id(node.inputs[0]) for node in expression.order() if node.kind in ("relu", "step")}
    return int(2 ** len(switches))
