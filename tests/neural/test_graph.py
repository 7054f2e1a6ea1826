"""The computational graph: worked numbers of the notes, and torch on random graphs."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError, ParameterError
from bottega.neural import Node, finite_differences, gradient_ways
from bottega.neural._graph.symbolic import cases, derivative, written_size
from bottega.optimize.separators import separator

torch = pytest.importorskip("torch")


def gradients(*nodes):
    return [float(node.gradient) for node in nodes]


def test_n39_sum_times_z():
    """x = 1, y = -3, z = 4: d = -2, f = -8, and the derivatives 4, -2, 4, 4."""
    x, y, z = Node(1, "x"), Node(-3, "y"), Node(4, "z")
    d = x + y
    f = d * z
    f.backward()
    assert (float(d.value), float(f.value)) == (-2, -8)
    assert gradients(d, z, x, y) == [4, -2, 4, 4]


def test_n38_a_derivative_is_shared_and_another_node_only_multiplies():
    """z = t(f(g(x), h(y))) with t = exp, f = *, g = square, h = log; then V = 3 z."""
    x, y = Node(0.5, "x"), Node(2.0, "y")
    c = x.square() * y.log()
    z = c.exp()
    z.backward()
    assert gradients(c)[0] == pytest.approx(np.exp(0.25 * np.log(2)))
    by_x, by_y = gradients(x, y)
    assert by_x == pytest.approx(gradients(c)[0] * 2 * 0.5 * np.log(2))
    assert by_y == pytest.approx(gradients(c)[0] * 0.25 / 2)
    V = 3 * z
    V.backward()
    assert gradients(x, y) == pytest.approx([3 * by_x, 3 * by_y])


def test_n40_minibatch_with_weight_decay_is_torch():
    rng = np.random.default_rng(0)
    X, A, B = (rng.normal(size=shape) for shape in ((6, 3), (3, 4), (4, 2)))
    labels = np.array([0, 1, 1, 0, 1, 0])
    W1, W2 = Node(A, "W1"), Node(B, "W2")
    logits = (Node(X, "X") @ W1).relu() @ W2
    entropy = logits.exp().row_sums().log().sum() - (logits * np.eye(2)[labels]).sum()
    (entropy + 0.1 * (W1.square().sum() + W2.square().sum())).backward()
    a, b = (torch.tensor(each, requires_grad=True) for each in (A, B))
    out = torch.relu(torch.tensor(X) @ a) @ b
    loss = torch.nn.functional.cross_entropy(out, torch.tensor(labels), reduction="sum")
    (loss + 0.1 * ((a**2).sum() + (b**2).sum())).backward()
    np.testing.assert_allclose(W1.gradient, a.grad, rtol=1e-10)
    np.testing.assert_allclose(W2.gradient, b.grad, rtol=1e-10)


def test_n42_the_recursion_of_errors_by_hand():
    """delta_l = h'(a_l) (W_l delta_{l+1}), with prediction minus target at a linear output."""
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    W0, W1 = Node(rng.normal(size=(3, 4))), Node(rng.normal(size=(4, 2)))
    a = Node(X) @ W0
    z = a.tanh()
    error = 0.5 * (z @ W1 - Y).square().sum()
    error.backward()
    last = z.value @ W1.value - Y
    first = (1 - z.value**2) * (last @ W1.value.T)
    np.testing.assert_allclose(W1.gradient, z.value.T @ last, rtol=1e-12)
    np.testing.assert_allclose(W0.gradient, X.T @ first, rtol=1e-12)


# ---- torch on random graphs ----------------------------------------------------------------------

_UNARY = ["exp", "sigmoid", "tanh", "relu", "square", "log", "sum", "row_sums"]
_BINARY = ["add", "subtract", "multiply", "divide", "matmul"]


@st.composite
def recipes(draw):
    """Draw a graph: shapes of inputs, and steps that name earlier nodes."""
    square = draw(st.booleans())
    steps = draw(
        st.lists(
            st.tuples(st.sampled_from(_UNARY + _BINARY), st.integers(0, 99), st.integers(0, 99)),
            min_size=1,
            max_size=8,
        )
    )
    return square, steps, draw(st.integers(0, 2**31))


def grow(values, steps, own):
    """Return the last node of a recipe, either of ours or of torch."""
    nodes = list(values)
    for kind, i, j in steps:
        a, b = nodes[i % len(nodes)], nodes[j % len(nodes)]
        if kind in ("exp", "log", "square", "divide"):  # kept where they are tame
            a = a.tanh()
        if kind == "log":
            a = a * a + 1.0
        if kind == "divide":
            b = b.tanh() * b.tanh() + 1.0
        if kind in _BINARY:
            made = {
                "add": lambda a, b: a + b,
                "subtract": lambda a, b: a - b,
                "multiply": lambda a, b: a.tanh() * b,
                "divide": lambda a, b: a / b,
                "matmul": lambda a, b: a.tanh() @ b.tanh()
                if np.ndim(shape(a)) and len(shape(a)) == len(shape(b)) == 2
                and shape(a)[1] == shape(b)[0] else a + b,
            }[kind](a, b)  # fmt: skip
        elif own:
            made = getattr(a, kind)()
        else:
            made = {
                "row_sums": lambda a: a.sum(-1, keepdim=True) if a.ndim else a.sum(),
                "sum": torch.sum,
            }.get(kind, getattr(torch, kind, None))(a)
        nodes.append(made)
    return nodes[-1].sum()


def shape(node):
    return node.value.shape if isinstance(node, Node) else tuple(node.shape)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(recipes())
def test_random_graphs_have_the_gradients_of_torch(recipe):
    square, steps, seed = recipe
    rng = np.random.default_rng(seed)
    shapes = [(3, 3), (3, 3), (1, 3)] if square else [(2, 3), (1, 3), (2, 1)]
    arrays = [rng.normal(size=each) for each in shapes]
    nodes = [Node(each) for each in arrays]
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    ours, theirs = grow(nodes, steps, True), grow(tensors, steps, False)
    assert float(ours.value) == pytest.approx(float(theirs.detach()), rel=1e-9, abs=1e-9)
    ours.backward()
    theirs.backward()
    for node, tensor in zip(nodes, tensors, strict=True):
        if node.gradient is None:
            assert tensor.grad is None or not tensor.grad.abs().max()
        else:
            scale = 1 + float(np.max(np.abs(node.gradient)))
            assert np.max(np.abs(node.gradient - tensor.grad.numpy())) < 1e-9 * scale


# ---- four ways -----------------------------------------------------------------------------------


def test_four_ways_agree():
    x, y, z = Node(1, "x"), Node(-3, "y"), Node(4, "z")
    found = gradient_ways((x + y) * z, [x, y, z], by_hand=lambda x, y, z: (z, z, x + y))
    assert list(found.gradients) == ["by hand", "finite differences", "symbolic", "backpropagation"]
    assert found.formulas == {"x": "z", "y": "z", "z": "(x + y)"}
    assert found.operations["finite differences"] == 4 * 2
    assert found.operations["backpropagation"] == 2 * 2
    errors = found.errors()
    assert errors["by hand"] == errors["symbolic"] == 0
    assert errors["finite differences"] < 1e-8
    assert "Gradient by 3 weights" in str(found.summary())


@pytest.mark.parametrize(("central", "order"), [(False, 1), (True, 2)])
def test_n33_the_error_of_differences_is_of_its_order(central, order):
    x = Node(0.7, "x")
    y = x.exp() * x.tanh()
    y.backward()
    exact = float(x.gradient)
    steps = np.array([1e-1, 1e-2, 1e-3])
    wrong = [abs(float(finite_differences(y, [x], h, central)[0]) - exact) for h in steps]
    slope = np.polyfit(np.log(steps), np.log(wrong), 1)[0]
    assert slope == pytest.approx(order, abs=0.05)
    assert float(y.value) == pytest.approx(np.exp(0.7) * np.tanh(0.7))  # weights were put back


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_symbols_and_backpropagation_agree(numbers):
    a, b, c, d = (Node(each, name) for each, name in zip(numbers, "abcd", strict=True))
    y = ((a * b).tanh() + c.sigmoid() / (d.square() + 1.0)).exp() - (a - d).relu() * -b
    found = gradient_ways(y, [a, b, c, d])
    assert found.gradients["symbolic"] == pytest.approx(found.gradients["backpropagation"])


def test_n34_written_out_derivatives_explode():
    x = Node(1.0, "x")
    sizes, branches, y = [], [], x
    for _ in range(4):
        y = (y * 1.5 - 0.2).relu() + (y * 0.5 + 0.1).relu()
        slope = derivative(y, x)
        sizes.append(written_size(slope))
        branches.append(cases(slope))
    assert branches == [4, 16, 64, 256]  # two rectifiers more each time, each on or off
    assert all(b > 2 * a for a, b in pairwise(sizes))
    y.backward()
    assert float(slope.value) == pytest.approx(float(x.gradient))


def test_a_constant_has_no_derivative():
    x, y = Node(2.0, "x"), Node(3.0, "y")
    assert derivative(y.exp(), x) is None
    assert derivative(x.step() * y, x) is None
    assert written_size(None) == 0
    assert cases(None) == cases(1.0) == 1


def test_bad_graphs_are_refused():
    x = Node([1.0, 2.0], "x")
    with pytest.raises(InputError, match=r"'x' has 2 values.*sum\(\)"):
        x.backward()
    with pytest.raises(InputError, match="symbolic derivatives are of numbers"):
        derivative(x.sum(), x)
    y = x.sum()
    with pytest.raises(InputError, match="inputs of the graph"):
        gradient_ways(y, [y])
    with pytest.raises(InputError, match="inputs of the graph"):
        gradient_ways(y, [Node(1.0)])
    with pytest.raises(ParameterError, match="step=0"):
        finite_differences(y, [x], step=0)


def test_the_graph_is_drawn_with_its_numbers():
    x, y = Node(1.0, "x"), Node(2.0, "y")
    f = x * y + x * 3.0
    before = f.plot().to_dict()
    assert before["title"]["subtitle"] == ["Value of each node."]
    f.backward()
    rows = f.plot().to_dict()["data"]["values"]
    assert {row["name"] for row in rows if row["kind"] == "node"} == {
        "x",
        "y",
        "3",
        "*",
        "* (2)",
        "+",
    }
    assert "1 ← 5" in {row["text"] for row in rows if row["kind"] == "note"}


# ---- networks with the weights of the notes ------------------------------------------------------

CORNERS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])


def test_n4_two_rectifiers_compute_an_exclusive_or():
    W, c, w = np.ones((2, 2)), np.array([0.0, -1.0]), np.array([[1.0], [-2.0]])
    a = Node(CORNERS) @ W + c
    assert a.value.tolist() == [[0, -1], [1, 0], [1, 0], [2, 1]]
    h = a.relu()
    assert h.value.tolist() == [[0, 0], [1, 0], [1, 0], [2, 1]]
    assert (h @ w).value.ravel().tolist() == [0, 1, 1, 0]


def test_n7_sigmoid_basis_and_its_bias():
    """The printed net has no bias at the output, and then no threshold of 1/2 separates (E2)."""
    W = np.array([[5, 5], [1, -1], [1, -1]])
    rows = np.column_stack([np.ones(4), CORNERS])
    phi = (Node(rows) @ W).sigmoid().value
    expected = [(0.99331, 0.99331), (0.99753, 0.98201), (0.99753, 0.98201), (0.99909, 0.95257)]
    assert phi == pytest.approx(np.array(expected), abs=5e-6)
    far = (Node([[1, 5, 5], [1, -5, -5]]) @ W).sigmoid().value
    assert far == pytest.approx(np.array([[1.0, 0.00669], [0.00669, 1.0]]), abs=5e-6)
    sign = np.array([-1, 1, 1, -1])
    for scale, shift in ((1, 0), (5, 0), (10, 0), (1, 0.5), (5, 0.5)):
        rows = np.column_stack([np.ones(4), scale * (CORNERS - shift)])
        phi = (Node(rows) @ W).sigmoid().value
        with_bias = np.column_stack([phi, np.ones(4)])
        assert separator(sign[:, None] * with_bias) is not None
        assert separator(sign[:, None] * phi) is None


def test_n11_linear_layers_are_one_matrix():
    rng = np.random.default_rng(0)
    X, A, B, C = (rng.normal(size=shape) for shape in ((7, 3), (3, 4), (4, 4), (4, 2)))
    deep = Node(X) @ A @ B @ C
    np.testing.assert_allclose(deep.value, X @ (A @ B @ C), rtol=1e-12)
