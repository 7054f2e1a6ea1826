"""Sizes, filters, counts and activations: the worked numbers of the notes, and torch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal

from bottega.core.errors import InputError, ParameterError
from bottega.neural import (
    ACTIVATIONS,
    FILTERS,
    activation_table,
    conv_parameters,
    conv_size,
    convolve,
    count_parameters,
    dense_parameters,
    plot_activations,
    pool,
)

torch = pytest.importorskip("torch")


@pytest.mark.parametrize(
    ("size", "kernel", "padding", "expected"),
    [(15, 3, "valid", 13), (5, 3, "valid", 3), (15, 3, "same", 15), (15, 3, "full", 17)],
)
def test_n68_to_n70_sizes(size, kernel, padding, expected):
    assert conv_size(size, kernel, padding=padding) == expected
    image = np.ones((size, size))
    assert convolve(image, np.ones((kernel, kernel)), padding=padding).shape == (expected,) * 2


def test_n71_and_n207_strides():
    """28 to 14, 7 and 4 with one zero on each side: 14.5, 7.5 and 4 before the floor."""
    sizes = [28]
    for _ in range(3):
        sizes.append(conv_size(sizes[-1], 3, padding=1, stride=2))
    assert sizes == [28, 14, 7, 4]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    size=st.integers(1, 20),
    kernel=st.integers(1, 6),
    padding=st.integers(0, 4),
    stride=st.integers(1, 4),
    dilation=st.integers(1, 3),
)
def test_sizes_are_those_of_torch(size, kernel, padding, stride, dilation):
    layer = torch.nn.Conv1d(1, 1, kernel, stride=stride, padding=padding, dilation=dilation)
    given = {"padding": padding, "stride": stride, "dilation": dilation}
    if size + 2 * padding < dilation * (kernel - 1) + 1:
        with pytest.raises(InputError, match="does not fit"):
            conv_size(size, kernel, **given)
        return
    assert conv_size(size, kernel, **given) == layer(torch.zeros(1, 1, size)).shape[-1]


def test_bad_sizes_are_refused():
    with pytest.raises(ParameterError, match="conv_size: kernel=0"):
        conv_size(5, 0)
    with pytest.raises(ParameterError, match=r"padding='SAME'.*'valid', 'same', 'full'"):
        conv_size(5, 3, padding="SAME")


def test_n54_n62_n207_counts():
    assert dense_parameters(100 * 100, 1000, bias=False) == 10_000_000
    assert conv_parameters(5, 1, 1000, bias=False) == 25_000
    layers = [conv_parameters(3, a, b) for a, b in ((1, 16), (16, 16), (16, 10))]
    assert layers == [160, 2320, 1450]
    net = torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 28, 28)),
        *(torch.nn.Conv2d(1, 16, 3, stride=2, padding=1), torch.nn.ReLU()),
        *(torch.nn.Conv2d(16, 16, 3, stride=2, padding=1), torch.nn.ReLU()),
        *(torch.nn.Conv2d(16, 10, 3, stride=2, padding=1), torch.nn.ReLU()),
        *(torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()),
    )
    assert count_parameters(net) == sum(layers) == 3930
    out = net(torch.randn(5, 784))
    assert out.shape == (5, 10)
    assert float(out.detach().min()) >= 0  # the last rectifier lets no logit below zero
    assert dense_parameters(2, 2, 1, bias=True) == 9
    net[1].weight.requires_grad_(False)
    assert count_parameters(net) == 3930 - 144
    assert count_parameters(net, trainable=False) == 3930
    with pytest.raises(InputError, match="no weights to count"):
        count_parameters([3, 4])
    with pytest.raises(InputError, match="too few"):
        dense_parameters(3)


# The image whose patches give the printed sum of six terms at the first place (N63).
IMAGE = np.array(
    [[1, 1, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 0, 1, 1, 0], [0, 1, 1, 0, 0]]
)
CROSS = np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]])


def test_n63_five_by_five():
    found = convolve(IMAGE, CROSS)
    assert found.shape == (3, 3)
    assert found[0, 0] == 4 == sum([1 * 1, 1 * 0, 1 * 1, 1 * 1, 1 * 0, 1 * 1])
    assert found.tolist() == [[4, 3, 4], [2, 4, 3], [2, 3, 4]]


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    h=st.integers(3, 9),
    w=st.integers(3, 9),
    k=st.integers(1, 3),
    mode=st.sampled_from(["valid", "same", "full"]),
    seed=st.integers(0, 2**31),
)
def test_convolution_is_that_of_scipy_and_torch(h, w, k, mode, seed):
    rng = np.random.default_rng(seed)
    I, K = rng.normal(size=(h, w)), rng.normal(size=(k, k))  # noqa: E741
    if k % 2:  # the middle of an even filter is a matter of taste
        expected = signal.correlate2d(I, K, mode=mode)
        np.testing.assert_allclose(convolve(I, K, padding=mode), expected, atol=1e-12)
    flipped = signal.convolve2d(I, K, mode="full")
    np.testing.assert_allclose(convolve(I, K, padding="full", flip=True), flipped, atol=1e-12)
    theirs = torch.conv2d(torch.tensor(I)[None, None], torch.tensor(K)[None, None], stride=2)
    np.testing.assert_allclose(convolve(I, K, stride=2), theirs[0, 0], atol=1e-12)


def test_n57_a_convolution_commutes_and_n61_follows_shifts():
    rng = np.random.default_rng(0)
    x, k = rng.normal(size=9), rng.normal(size=4)
    full = {"padding": "full", "flip": True}
    np.testing.assert_allclose(convolve(x, k, **full), convolve(k, x, **full))
    image = np.zeros((9, 9))
    image[2:5, 2:5] = rng.normal(size=(3, 3))
    moved = np.roll(image, (2, 1), axis=(0, 1))
    kernel = rng.normal(size=(3, 3))
    np.testing.assert_allclose(
        convolve(moved, kernel, padding="same"),
        np.roll(convolve(image, kernel, padding="same"), (2, 1), axis=(0, 1)),
    )


def test_n59_an_input_reaches_as_many_outputs_as_the_filter_is_long():
    x = np.zeros(7)
    x[3] = 1
    assert np.count_nonzero(convolve(x, np.ones(3), padding="same")) == 3


def test_n64_to_n66_filters():
    flat = np.full((5, 5), 7.0)
    np.testing.assert_allclose(convolve(flat, "blur"), np.full((3, 3), 7.0))
    assert FILTERS["vertical_edges"].tolist() == [[1, -1, 0]] * 3
    assert np.array_equal(FILTERS["horizontal_edges"], FILTERS["vertical_edges"].T)
    for name in ("vertical_edges", "horizontal_edges"):
        assert not convolve(flat, name).any()
    edge = np.zeros((5, 6))
    edge[:, 3:] = 1.0
    assert convolve(edge, "vertical_edges").tolist() == [[0, 0, -3, 0]] * 3
    assert not convolve(edge, "horizontal_edges").any()


def test_n73_to_n75_pooling_is_that_of_torch():
    rng = np.random.default_rng(0)
    I = rng.normal(size=(7, 8))  # noqa: E741
    T = torch.tensor(I)[None, None]
    layers = {
        "max": torch.nn.MaxPool2d(2),
        "mean": torch.nn.AvgPool2d(2),
        "norm": torch.nn.LPPool2d(2, 2),
    }
    for kind, layer in layers.items():
        np.testing.assert_allclose(pool(I, 2, kind), layer(T)[0, 0], rtol=1e-12)
    np.testing.assert_allclose(pool(I, 3, "mean", stride=1), convolve(I, "blur"))
    with pytest.raises(ParameterError, match="pool: kind='median'"):
        pool(I, 2, "median")
    with pytest.raises(InputError, match="two axes"):
        pool(I[0])


def test_filters_refuse_what_does_not_fit():
    with pytest.raises(InputError, match="there are blur"):
        convolve(IMAGE, "sharpen")
    with pytest.raises(InputError, match="both one axis, or both two"):
        convolve(IMAGE, [1, 2])
    with pytest.raises(InputError, match="does not fit"):
        convolve(IMAGE, np.ones((6, 6)))


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_and_their_slopes_are_those_of_torch(name):
    each = ACTIVATIONS[name]
    x = torch.linspace(-4, 4, 80, dtype=torch.float64, requires_grad=True)  # without zero
    y = {
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "relu": torch.relu,
        "leaky_relu": torch.nn.functional.leaky_relu,
        "identity": torch.nn.Identity(),
    }[name](x)
    y.sum().backward()
    at = x.detach().numpy()
    np.testing.assert_allclose(each.function(at), y.detach(), rtol=1e-12)
    np.testing.assert_allclose(each.slope(at), x.grad, rtol=1e-9)
    ends = each.function(np.array([-1e3, 1e3]))
    assert each.low - 1e-12 <= ends[0] < ends[1] <= each.high + 1e-12
    dull = {"both sides": (0, 0), "below zero": (0, 1), "nowhere": (1, 1)}[each.saturates]
    assert ((each.slope(np.array([-1e3, 1e3])) > 1e-6) == np.array(dull)).all()


def test_d233_tanh_is_a_sigmoid_and_d235_the_slope_at_zero_is_zero():
    x = np.linspace(-5, 5, 41)
    sigmoid = ACTIVATIONS["sigmoid"].function
    np.testing.assert_allclose(np.tanh(x), 2 * sigmoid(2 * x) - 1, atol=1e-15)
    assert ACTIVATIONS["relu"].slope(0.0) == 0


def test_the_table_and_the_picture_name_every_activation():
    table = activation_table()
    assert table["name"].tolist() == list(ACTIVATIONS)
    assert table["steepest"].tolist() == [0.25, 1, 1, 1, 1]
    rows = plot_activations().to_dict()["data"]["values"]
    assert {row["name"] for row in rows} == set(ACTIVATIONS)


@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_n102_batch_normalisation_can_be_undone(eps):
    """With gamma the root of the variance plus eps, and beta the mean, nothing is changed."""
    z = torch.tensor(np.random.default_rng(0).normal(3, 2, size=(50, 4)))
    layer = torch.nn.BatchNorm1d(4, eps=eps).double()
    normal = layer(z).detach()
    mean, var = z.mean(0), z.var(0, correction=0)
    np.testing.assert_allclose(normal, (z - mean) / torch.sqrt(var + eps), rtol=1e-10)
    with torch.no_grad():
        layer.weight.copy_(torch.sqrt(var + eps))
        layer.bias.copy_(mean)
    np.testing.assert_allclose(layer(z).detach(), z, rtol=1e-12)
