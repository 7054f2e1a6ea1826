"""Chapter 9: gradients, how they are computed and where they are lost."""

from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._numbers import log_slope
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.neural import Node, finite_differences, gradient_ways
from bottega.neural._graph.symbolic import cases, derivative, written_size
from bottega.plot import lines_chart

__all__ = ["branching_derivatives", "clipped_steps", "difference_quotients", "lost_gradients"]


def network(X: FloatArray, Y: FloatArray, widths: tuple[int, ...], seed: int) -> Any:
    """Return the squared error of a network of tanh units on data, and its matrices as nodes."""
    rng = np.random.default_rng(seed)
    sizes = (X.shape[1], *widths, Y.shape[1])
    weights = [
        Node(rng.normal(size=(a, b)) / np.sqrt(a), f"W{i}")
        for i, (a, b) in enumerate(pairwise(sizes))
    ]
    z = Node(X)
    for W in weights[:-1]:
        z = (z @ W).tanh()
    return (z @ weights[-1] - Y).square().sum() * 0.5, weights


@experiment(
    "N-X4",
    claim="Sigmoids saturate and stop learning, rectifiers die and leaky ones do not; inputs that "
    "are all positive give the weights of a unit gradients of one sign.",
    items="N12-N20, N45",
)
def lost_gradients(
    *, rows: int = 200, inputs: int = 6, draws: int = 200, steps: int = 300, random_state: int = 0
) -> Experiment:
    """Follow slopes of single units, and train a dead rectifier and a leaky one.

    Parameters
    ----------
    rows, inputs : int
        Size of the data.
    draws : int
        Units whose signs are looked at.
    steps : int
        Of gradient descent.
    random_state : int
        Of all draws.
    """
    rng = np.random.default_rng(random_state)
    sums = np.linspace(-10, 10, 81)
    slopes = {}
    for name in ("sigmoid", "tanh"):
        a = Node(sums)
        getattr(a, name)().sum().backward()
        slopes[name] = np.asarray(a.gradient)
    at_five = slopes["sigmoid"][np.argmin(np.abs(sums - 5))]
    X = rng.uniform(0.5, 1.5, size=(rows, inputs))
    y = X @ np.ones((inputs, 1))
    dead, leaky = (_trained(X, y, leak, steps) for leak in (0.0, 0.01))
    agree = {}
    for name, shift in (("positive inputs", 0.0), ("centred inputs", 1.0)):
        same = 0
        for _ in range(draws):
            w = Node(rng.normal(size=(inputs, 1)))
            row = rng.uniform(0.5, 1.5, size=(1, inputs)) - shift
            ((Node(row) @ w).sigmoid() - rng.integers(2)).square().sum().backward()
            signs = np.sign(np.asarray(w.gradient))
            same += bool(np.all(signs == signs[0]))
        agree[name] = same / draws
    parts = [
        Proof("slope of a sigmoid at 0, its largest", slopes["sigmoid"].max(), 0.25,
              bool(np.isclose(slopes["sigmoid"].max(), 0.25))),
        Proof("slope of a sigmoid at 5", at_five, 0.01, at_five < 0.01),
        Proof("slope of tanh at 5, smaller still", slopes["tanh"][np.argmin(np.abs(sums - 5))],
              at_five, slopes["tanh"][np.argmin(np.abs(sums - 5))] < at_five),
        Proof("error of a dead rectifier after training, before", dead[1], dead[0],
              dead[1] == dead[0]),
        Proof("error of a leaky one after training, before", leaky[1], leaky[0],
              leaky[1] < 0.2 * leaky[0]),
        Proof("units whose gradients have one sign, positive inputs", agree["positive inputs"],
              1.0, agree["positive inputs"] == 1.0),
        # Six signs agree with probability 1/32; 200 draws exceed 1/5 with probability below 1e-20.
        Proof("the same, centred inputs", agree["centred inputs"], 0.2,
              agree["centred inputs"] < 0.2),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the slope of a sigmoid falls from 0.25 to {at_five:.4f} at 5; a rectifier whose "
        f"bias is too low keeps its error of {dead[0]:.1f}, a leaky one comes down to "
        f"{leaky[1]:.2f}; with positive inputs all gradients of a unit have one sign, with "
        f"centred ones those of {agree['centred inputs']:.0%} of the units",
        draw=partial(
            lines_chart,
            sums,
            slopes,
            x_title="sum of a unit",
            y_title="slope of its activation",
            title="Away from zero the slopes vanish",
            points=False,
        ),
    )


def _trained(X: FloatArray, y: FloatArray, leak: float, steps: int) -> tuple[float, float]:
    """Train a unit whose bias starts so low that all sums are negative; errors before and after."""
    w, b = Node(np.zeros((X.shape[1], 1))), Node(np.array([[-3.0]]))
    a = Node(X) @ w + b
    loss = (a.relu() - leak * (-a).relu() - y).square().sum() * (0.5 / len(X))
    before = float(loss.value)
    for _ in range(steps):
        loss.backward()
        for node in (w, b):
            node.value = node.value - 0.1 * np.asarray(node.gradient)
        loss.forward()
    return before, float(loss.value)


@experiment(
    "N-X5",
    claim="The error of finite differences is in proportion to their step and their cost to the "
    "square of the number of weights; backpropagation is exact and linear.",
    items="N33, N35, N42",
    verdict="holds only if the step is not too small: below some 1e-8 rounding makes it worse",
)
def difference_quotients(
    *, widths: tuple[int, ...] = (2, 4, 8, 16), rows: int = 5, random_state: int = 0
) -> Experiment:
    """Compute gradients of networks of growing width in both ways, and count steps.

    Parameters
    ----------
    widths : tuple of int
        Units of the hidden layer.
    rows : int
        Rows of the data.
    random_state : int
        Of data and weights.
    """
    rng = np.random.default_rng(random_state)
    X, Y = rng.normal(size=(rows, 3)), rng.normal(size=(rows, 2))
    steps = 10.0 ** -np.arange(1, 14)
    loss, weights = network(X, Y, (4,), random_state)
    loss.backward()
    exact = np.concatenate([np.ravel(np.asarray(each.gradient)) for each in weights])
    wrong = [float(np.max(np.abs(finite_differences(loss, weights, h) - exact))) for h in steps]
    counted, by_differences, backwards = [], [], []
    for width in widths:
        one, several = _of_numbers(X[0], Y[0], width, rng)
        ways = gradient_ways(one, several)
        counted.append(len(several))
        by_differences.append(ways.operations["finite differences"])
        backwards.append(ways.operations["backpropagation"])
    slope = log_slope(steps[:4], wrong[:4])
    parts = [
        Proof("power of the step in the error", slope, 1.0, abs(slope - 1) < 0.1),
        Proof("error of the smallest step, least error", wrong[-1], min(wrong),
              wrong[-1] > 100 * min(wrong)),
        Proof("best step", steps[int(np.argmin(wrong))], 1e-8,
              1e-9 <= steps[int(np.argmin(wrong))] <= 1e-6),
        Proof("power of the weights in the cost of differences",
              log_slope(counted, by_differences), 2.0,
              abs(log_slope(counted, by_differences) - 2) < 0.15),
        Proof("the same of backpropagation", log_slope(counted, backwards), 1.0,
              abs(log_slope(counted, backwards) - 1) < 0.15),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"the error falls with the step to the power {slope:.2f}, down to {min(wrong):.0e} "
        f"at {steps[int(np.argmin(wrong))]:.0e}, and rises to {wrong[-1]:.0e} at {steps[-1]:.0e}; "
        f"with {counted[-1]} weights differences compute {by_differences[-1]:,} nodes, "
        f"backpropagation {backwards[-1]:,}",
        draw=partial(
            lines_chart,
            steps,
            {"largest error": wrong, "the step itself": steps},
            x_title="step",
            y_title="error of the gradient",
            title="Smaller steps are better until rounding takes over",
            log_x=True,
            log_y=True,
            dashed=("the step itself",),
        ),
    )


def _of_numbers(
    x: FloatArray, y: FloatArray, width: int, rng: np.random.Generator
) -> tuple[Node, list[Node]]:
    """Return the squared error of a network for one row, in which every weight is a node."""
    weights: list[Node] = []

    def unit(inputs: list[Node]) -> Node:
        own = [Node(float(rng.normal()), f"w{len(weights) + i}") for i in range(len(inputs))]
        weights.extend(own)
        total = own[0] * inputs[0]
        for w, each in zip(own[1:], inputs[1:], strict=True):
            total = total + w * each
        return total

    entered = [Node(float(each)) for each in x]
    hidden = [unit(entered).tanh() for _ in range(width)]
    errors = [(unit(hidden) - float(each)).square() for each in y]
    total = errors[0]
    for each in errors[1:]:
        total = total + each
    return total, weights


@experiment(
    "N-X6",
    claim="Written out, derivatives of rectifiers grow with every branch: each is on or off, and "
    "what layers share is computed again.",
    items="N34",
    verdict="holds only if the formula is written out: as a graph it stays short, and along a line "
    "few of the cases occur",
)
def branching_derivatives(*, depths: tuple[int, ...] = (1, 2, 3, 4, 5, 6)) -> Experiment:
    """Differentiate networks of two rectifiers per layer by symbols, and count.

    Parameters
    ----------
    depths : tuple of int
        Layers.
    """
    long, shared, branches, occurring, exact = [], [], [], [], []
    grid = np.linspace(-3, 3, 1201)
    for depth in depths:
        x = Node(0.7, "x")
        y = _folding(x, depth)
        slope = derivative(y, x)
        y.backward()
        exact.append(abs(float(slope.value) - float(np.asarray(x.gradient))))
        long.append(written_size(slope))
        shared.append(sum(bool(node.inputs) for node in slope.order()))
        branches.append(cases(slope))
        line = _folding(Node(grid), depth)
        patterns = np.array(
            [node.inputs[0].value > 0 for node in line.order() if node.kind == "relu"]
        )
        occurring.append(len(np.unique(patterns, axis=1).T))
    growth = np.array(long[1:]) / np.array(long[:-1])
    parts = [
        Proof("cases at the greatest depth, 4 to the depth", branches[-1], 4 ** depths[-1],
              branches == [4**depth for depth in depths]),
        Proof("operations written out grow per layer by", float(growth[-1]), 2.0,
              bool(np.all(growth > 2))),
        Proof("nodes of the same as a graph, written out", shared[-1], long[-1],
              shared[-1] < 0.2 * long[-1]),
        Proof("cases that occur on a line, of all", occurring[-1], branches[-1],
              occurring[-1] < 0.1 * branches[-1]),
        Proof("largest difference from backpropagation", max(exact), 0.0, max(exact) < 1e-9),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"at {depths[-1]} layers the derivative has {branches[-1]:,} cases and "
        f"{long[-1]:,} operations written out, {shared[-1]} as a graph; along a line "
        f"{occurring[-1]} cases occur",
        draw=partial(
            lines_chart,
            list(map(str, depths)),
            {
                "operations, written out": long,
                "cases": branches,
                "nodes of the graph": shared,
                "cases on a line": occurring,
            },
            x_title="layers of two rectifiers",
            y_title="number",
            title="A derivative written out explodes, a graph does not",
            log_y=True,
        ),
    )


def _folding(x: Node, depth: int) -> Node:
    """Return a network that folds the line: each layer has two rectifiers of the one before it."""
    y = x
    for _ in range(depth):
        y = (2.0 * y + 1.0).relu() - (4.0 * y - 1.0).relu()
    return y


@experiment(
    "N-X7",
    claim="Clipping tames a step at a cliff; powers of a matrix vanish or explode with the size of "
    "its eigenvalues.",
    items="N44, N46, E8",
    verdict="holds only if eigenvalues are compared with 1 in size, not with 0 as printed",
)
def clipped_steps(
    *, radii: tuple[float, ...] = (0.8, 1.0, 1.2), powers: int = 40, random_state: int = 0
) -> Experiment:
    """Step off a cliff with and without clipping, and multiply by one matrix again and again.

    Parameters
    ----------
    radii : tuple of float
        Largest sizes of the eigenvalues.
    powers : int
        Number of products.
    random_state : int
        Of the matrix.
    """
    start, plain, clipped = _cliff(None), _cliff(0.5, clip=None), _cliff(0.5, clip=1.0)
    rng = np.random.default_rng(random_state)
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0]
    V = np.eye(6) + 0.2 * Q
    shares = np.linspace(1.0, 0.3, 6)
    lengths, rates = {}, []
    for sign, radius in product((1, -1), radii):
        W = V @ np.diag(sign * radius * shares) @ np.linalg.inv(V)
        power, sizes = np.eye(6), []
        for _ in range(powers):
            power = power @ W
            sizes.append(float(np.linalg.norm(power)))
        rates.append(float((sizes[-1] / sizes[-11]) ** 0.1))
        if sign > 0:
            lengths[f"radius {radius:g}"] = sizes
    parts = [
        Proof("place after a plain step from the edge of the cliff", abs(plain), abs(start),
              abs(plain) > 100),
        Proof("place after a clipped step", clipped, start, abs(clipped - start) <= 0.5 + 1e-12),
        *(Proof(f"growth per product, eigenvalues {'above' if sign > 0 else 'below'} zero, radius "
                f"{radius:g}", rate, radius, abs(rate - radius) < 0.01)
          for (sign, radius), rate in zip(product((1, -1), radii), rates, strict=True)),
    ]  # fmt: skip
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"a plain step from the edge of the cliff lands at {plain:.3g}, a clipped one at "
        f"{clipped:.2f}; after {powers} products the matrix has the size "
        + ", ".join(f"{sizes[-1]:.2g} ({name})" for name, sizes in lengths.items()),
        draw=partial(
            lines_chart,
            np.arange(1, powers + 1),
            lengths,
            x_title="products t",
            y_title="size of W to the power t",
            title="Below radius 1 products vanish, above it they explode",
            subtitle="With the signs of all eigenvalues changed the curves are the same.",
            log_y=True,
            points=False,
        ),
    )


def _cliff(rate: float | None, clip: float | None = None) -> float:
    """Return where a step of descent leads from the edge of a steep fall, or the edge itself."""
    x = Node(0.005, "x")
    (10.0 * (x * 200.0).tanh() + 0.1 * x.square()).backward()
    if rate is None:
        return float(x.value)
    slope = float(np.asarray(x.gradient))
    return float(x.value) - rate * (slope if clip is None else float(np.clip(slope, -clip, clip)))
