"""A computational graph: forward it computes a value, backward the gradient by every input.

The whole of backpropagation is `Node.forward` and `Node.backward`; each node only knows the
derivative of its own step.
"""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.neural._graph.operations import OPERATIONS, Operation
from bottega.plot import directed_graph_chart
from bottega.plot.theme import number

__all__ = ["Node"]


class Node:
    r"""One quantity of a computation: an input, or what an operation makes of other nodes.

    Nodes are combined by ``+ - * / @`` and by methods (`exp`, `log`, `square`, `sigmoid`, `tanh`,
    `relu`, `sum`, ...), which compute their values at once. Then ``output.backward()`` applies the
    chain rule from the end to the beginning,

    .. math:: \frac{\partial E}{\partial x} = \sum_{v\ \text{uses}\ x}
              \frac{\partial E}{\partial v} \frac{\partial v}{\partial x} ,

    and every node has its `gradient`. Each node is visited twice, whatever the number of inputs.

    Parameters
    ----------
    value : number or array-like
        Value of an input.
    name : str
        Its name in formulas and pictures.

    Attributes
    ----------
    value : ndarray
        What it is at present.
    gradient : ndarray or None
        Derivative of the output by this node, after `backward` of the output.
    inputs : tuple of Node
        What it is computed from; empty for an input.

    Examples
    --------
    >>> x, y, z = Node(1, "x"), Node(-3, "y"), Node(4, "z")
    >>> f = (x + y) * z
    >>> f.backward()
    >>> float(f.value), [float(each.gradient) for each in (x, y, z)]
    (-8.0, [4.0, 4.0, -2.0])
    """

    def __init__(self, value: Any, name: str = "") -> None:
        self.value: FloatArray = np.asarray(value, dtype=np.float64)
        self.name = name
        self.inputs: tuple[Node, ...] = ()
        self.kind = "input"
        self.gradient: FloatArray | None = None

    # ---- the two passes --------------------------------------------------------------------------

    def order(self) -> list["Node"]:
        """Return the nodes that this one needs and itself, each after its inputs."""
        found: dict[int, Node] = {}
        waiting = [(self, False)]
        while waiting:
            node, entered = waiting.pop()
            if id(node) in found:
                continue
            if entered:
                found[id(node)] = node
            else:
                waiting.append((node, True))
                waiting += [(each, False) for each in reversed(node.inputs)]
        return list(found.values())

    def forward(self) -> FloatArray:
        """Compute all values again, after inputs were changed, and return this one's."""
        for node in self.order():
            if node.inputs:
                node.value = np.asarray(
                    node.operation.forward(*(each.value for each in node.inputs)), dtype=np.float64
                )
        return self.value

    def backward(self) -> None:
        """Set the gradient of this node, which is one number, by itself and all that it needs."""
        if self.value.size != 1:
            raise InputError(
                f"The node {self.label!r} has {self.value.size} values; gradients are of one "
                "number: take its sum() first."
            )
        nodes = self.order()
        for node in nodes:
            node.gradient = np.zeros_like(node.value)
        self.gradient = np.ones_like(self.value)
        for node in reversed(nodes):  # each after all that use it
            if node.inputs:
                values = [each.value for each in node.inputs]
                parts = node.operation.backward(node.gradient, node.value, *values)
                for each, part in zip(node.inputs, parts, strict=True):
                    each.gradient = part if each.gradient is None else each.gradient + part

    @property
    def operation(self) -> Operation:
        """What computes it."""
        return OPERATIONS[self.kind]

    # ---- how nodes are made ----------------------------------------------------------------------

    def _apply(self, kind: str, *others: Any, swapped: bool = False) -> "Node":
        inputs = [self, *(each if isinstance(each, Node) else Node(each) for each in others)]
        made = Node(0.0)
        made.kind, made.inputs = kind, tuple(reversed(inputs) if swapped else inputs)
        values = [each.value for each in made.inputs]
        made.value = np.asarray(made.operation.forward(*values), dtype=np.float64)
        return made

    def named(self, name: str) -> "Node":
        """Give the node a name, and return it."""
        self.name = name
        return self

    def __add__(self, other: Any) -> "Node":
        return self._apply("add", other)

    def __radd__(self, other: Any) -> "Node":
        return self._apply("add", other, swapped=True)

    def __sub__(self, other: Any) -> "Node":
        return self._apply("subtract", other)

    def __rsub__(self, other: Any) -> "Node":
        return self._apply("subtract", other, swapped=True)

    def __mul__(self, other: Any) -> "Node":
        return self._apply("multiply", other)

    def __rmul__(self, other: Any) -> "Node":
        return self._apply("multiply", other, swapped=True)

    def __truediv__(self, other: Any) -> "Node":
        return self._apply("divide", other)

    def __rtruediv__(self, other: Any) -> "Node":
        return self._apply("divide", other, swapped=True)

    def __matmul__(self, other: Any) -> "Node":
        return self._apply("matmul", other)

    def __neg__(self) -> "Node":
        return self._apply("multiply", -1.0, swapped=True)

    def exp(self) -> "Node":
        """Return the exponential."""
        return self._apply("exp")

    def log(self) -> "Node":
        """Return the natural logarithm."""
        return self._apply("log")

    def square(self) -> "Node":
        """Return the square."""
        return self._apply("square")

    def sigmoid(self) -> "Node":
        """Return 1 / (1 + exp(-a))."""
        return self._apply("sigmoid")

    def tanh(self) -> "Node":
        """Return the hyperbolic tangent."""
        return self._apply("tanh")

    def relu(self) -> "Node":
        """Return the larger of a and 0; its derivative at 0 is taken as 0."""
        return self._apply("relu")

    def step(self) -> "Node":
        """Return 1 where a is positive and else 0, the derivative of `relu`."""
        return self._apply("step")

    def sum(self) -> "Node":
        """Return the sum of all entries."""
        return self._apply("sum")

    def row_sums(self) -> "Node":
        """Return the sum of each row, as a column."""
        return self._apply("row_sums")

    # ---- to read and to look at ------------------------------------------------------------------

    @property
    def label(self) -> str:
        """Its name, or the operation, or its value where it is a constant."""
        if self.name or self.inputs:
            return self.name or self.operation.symbol
        return f"{self.value:g}" if self.value.ndim == 0 else f"array {self.value.shape}"

    def __str__(self) -> str:
        if not self.inputs:
            return self.label
        parts, symbol = [str(each) for each in self.inputs], self.operation.symbol
        return f"({parts[0]} {symbol} {parts[1]})" if len(parts) == 2 else f"{symbol}({parts[0]})"

    def plot(self, title: str = "Computational graph") -> Any:
        """Draw the graph, inputs at the top, with the value and the gradient of each node."""
        nodes = self.order()
        words = _apart([node.label for node in nodes])
        names = {id(node): word for node, word in zip(nodes, words, strict=True)}
        return directed_graph_chart(
            {names[id(node)]: list(dict.fromkeys(names[id(each)] for each in node.inputs))
             for node in nodes},
            notes={names[id(node)]: _numbers(node) for node in nodes},
            marked=[names[id(self)]],
            title=title,
            subtitle="Value and, after the arrow back, gradient of each node."
            if self.gradient is not None
            else "Value of each node.",
        )  # fmt: skip


def _apart(labels: list[str]) -> list[str]:
    """Return labels that differ: one that stands again gets a number."""
    seen: dict[str, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return found


def _numbers(node: Node) -> str:
    if node.value.ndim:
        return " by ".join(map(str, node.value.shape))
    value = number(float(node.value))
    return value if node.gradient is None else f"{value} ← {number(float(node.gradient))}"
