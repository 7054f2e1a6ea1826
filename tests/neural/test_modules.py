"""Modules for images, sequences and attention against PyTorch's own, and by hand."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from bottega.neural import conv_size, convolve, count_parameters, pool  # noqa: E402
from bottega.neural._modules.attention import (  # noqa: E402
    AttentionNetwork,
    SelfAttention,
    positions,
)
from bottega.neural._modules.augmentation import ChangedImages  # noqa: E402
from bottega.neural._modules.autoencoder import autoencoder_network  # noqa: E402
from bottega.neural._modules.convolution import BorderedConvolution, convolutions  # noqa: E402
from bottega.neural._modules.pooling import make_pooling  # noqa: E402
from bottega.neural._modules.recurrent import OutputRecurrence, SequenceNetwork  # noqa: E402


@pytest.fixture(autouse=True)
def same_weights():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield


def draws(*shape, seed=0):
    return torch.tensor(np.random.default_rng(seed).normal(size=shape))


# ---- gradients of every layer against differences ------------------------------------------------

ROWS = draws(3, 4, 2)
LENGTHS = torch.tensor([4, 1, 3])


def sequences(module):
    return lambda: module(ROWS, LENGTHS).square().sum()


def layers():
    """Yield each kind of layer with a number that is made of it."""
    torch.manual_seed(0)
    images = draws(2, 2, 5, 5)
    for padding in ("valid", "same", "full"):
        layer = BorderedConvolution(2, 3, 2, padding, stride=2)
        yield f"convolution {padding}", layer, lambda layer=layer: layer(images).square().sum()
    for kind in ("max", "mean", "norm"):
        body = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 2), make_pooling(kind, (2, 2)))
        yield f"{kind} pooling", body, lambda body=body: body(images).square().sum()
    for cell in ("vanilla", "gru", "lstm"):
        net = SequenceNetwork(2, 3, 2, cell=cell, layers=2, bidirectional=True)
        yield cell, net, sequences(net)
    for pattern in ("every", "output"):
        net = SequenceNetwork(2, 3, 2, cell="vanilla", pattern=pattern)
        yield f"pattern {pattern}", net, sequences(net)
    for kind in ("softmax", "dot"):
        net = AttentionNetwork(2, 4, 2, heads=2, kind=kind, activation="tanh")
        yield f"{kind} attention", net, sequences(net)


@pytest.mark.parametrize(
    ("module", "number"), [each[1:] for each in layers()], ids=[each[0] for each in layers()]
)
def test_gradients_are_those_of_differences(module, number):
    module.double().zero_grad()
    number().backward()
    rng = np.random.default_rng(1)
    for p in module.parameters():
        direction = torch.tensor(rng.normal(size=p.shape))
        exact = float((p.grad * direction).sum())
        with torch.no_grad():
            p.add_(direction, alpha=1e-6)
            above = float(number())
            p.sub_(direction, alpha=2e-6)
            below = float(number())
            p.add_(direction, alpha=1e-6)
        # A central difference errs by some 1e-10 of the size of the function's derivatives.
        assert exact == pytest.approx((above - below) / 2e-6, rel=1e-5, abs=1e-5)


# ---- images --------------------------------------------------------------------------------------


@pytest.mark.parametrize("padding", ["valid", "same", "full", 2])
@pytest.mark.parametrize("stride", [1, 2])
def test_a_convolution_is_the_one_by_hand(padding, stride):
    layer = BorderedConvolution(1, 1, 3, padding, stride).double()
    with torch.no_grad():
        layer.bias.zero_()
    image = draws(7, 6)
    found = layer(image[None, None])[0, 0].detach().numpy()
    kernel = layer.weight[0, 0].detach().numpy()
    by_hand = convolve(image.numpy(), kernel, padding=padding, stride=stride)
    np.testing.assert_allclose(found, by_hand, atol=1e-12)
    assert found.shape == tuple(conv_size(k, 3, padding=padding, stride=stride) for k in (7, 6))


@pytest.mark.parametrize("kind", ["max", "mean", "norm"])
def test_poolings_are_those_by_hand(kind):
    image = draws(7, 6)
    found = make_pooling(kind, (2, 2))(image[None, None])[0, 0]
    np.testing.assert_allclose(found, pool(image.numpy(), 2, kind), atol=1e-7)


def test_the_slope_of_a_norm_is_finite_where_the_window_is_zero():
    x = torch.zeros(1, 1, 2, 2, requires_grad=True)
    make_pooling("norm", (2, 2))(x).sum().backward()
    assert torch.isfinite(x.grad).all()


def test_thin_images_are_pooled_along_their_length():
    layers, shape = convolutions((1, 1, 9), (4, 5))
    assert shape == (5, 1, 2)
    assert layers(torch.zeros(2, 1, 1, 9)).shape == (2, *shape)


def test_changes_keep_images_in_prediction_and_change_them_in_training():
    x = draws(5, 1, 8, 8)
    for kind in ("shift", "rotate", "scale", "brightness", "flip", "turn"):
        layer = ChangedImages([kind])
        layer.generator = torch.Generator().manual_seed(0)
        assert not torch.equal(layer(x), x)
        assert layer.eval()(x) is x
    assert ChangedImages(())(x) is x
    flat = torch.ones(3, 1, 6, 6, dtype=torch.float64)
    layer = ChangedImages(["shift", "rotate", "scale"])
    np.testing.assert_allclose(layer(flat), flat, atol=1e-12)  # borders are repeated


def test_a_turn_is_by_half_a_circle():
    six = torch.arange(6.0).reshape(1, 1, 2, 3).repeat(40, 1, 1, 1)
    layer = ChangedImages(["turn"])
    layer.generator = torch.Generator().manual_seed(0)
    found = {tuple(each.flatten().tolist()) for each in layer(six)}
    assert found == {(0, 1, 2, 3, 4, 5), (5, 4, 3, 2, 1, 0)}


# ---- sequences -----------------------------------------------------------------------------------


def test_n79_a_vanilla_step_by_hand():
    net = SequenceNetwork(2, 3, 1, cell="vanilla").double()
    x = draws(1, 4, 2)
    cell, h = net.steps, torch.zeros(3, dtype=torch.float64)
    for t in range(4):
        z = cell.weight_hh_l0 @ h + cell.weight_ih_l0 @ x[0, t] + cell.bias_ih_l0 + cell.bias_hh_l0
        h = torch.tanh(z)
    np.testing.assert_allclose(net(x)[0].detach(), net.leave(h).detach(), rtol=1e-12)


def test_n81_what_goes_on_is_the_output():
    net = OutputRecurrence(2, 3, 1).double()
    x = draws(1, 3, 2)
    o = torch.zeros(1, dtype=torch.float64)
    for t in range(3):
        o = net.leave(torch.tanh(net.enter(x[0, t]) + net.again(o)))
    np.testing.assert_allclose(net(x)[0, -1].detach(), o.detach(), rtol=1e-12)


@pytest.mark.parametrize("cell", ["vanilla", "gru", "lstm"])
@pytest.mark.parametrize("pattern", ["last", "every"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_what_fills_sequences_up_has_no_influence(cell, pattern, bidirectional):
    net = SequenceNetwork(2, 3, 2, cell=cell, pattern=pattern, bidirectional=bidirectional).double()
    alone = [net(ROWS[i : i + 1, :k], LENGTHS[i : i + 1]) for i, k in enumerate(LENGTHS)]
    filled = ROWS.clone()
    for i, k in enumerate(LENGTHS):
        filled[i, k:] = 1e3
    np.testing.assert_allclose(net(filled, LENGTHS).detach(), torch.cat(alone).detach(), rtol=1e-10)


def test_n85_weights_do_not_depend_on_the_length():
    net = SequenceNetwork(2, 5, 1, cell="vanilla")
    assert count_parameters(net) == 5 * 5 + 5 * 2 + 2 * 5 + 5 + 1
    assert net(torch.zeros(1, 3, 2)).shape == net(torch.zeros(1, 30, 2)).shape


# ---- attention -----------------------------------------------------------------------------------


def test_n107_softmax_attention_is_that_of_torch():
    x, mask = draws(2, 5, 4), torch.ones(2, 5, dtype=torch.float64)
    for scaled in (True, False):
        layer = SelfAttention(4, scaled=scaled).double()
        q, k, v = (each(x)[:, None] for each in (layer.query, layer.key, layer.value))
        expected = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, scale=None if scaled else 1.0
        )
        np.testing.assert_allclose(
            layer(x, mask).detach(), expected[:, 0].detach(), rtol=1e-10, atol=1e-12
        )


def test_n106_dot_products_are_divided_by_the_number_of_places_and_e11_do_not_sum_to_one():
    x, mask = draws(1, 5, 4), torch.ones(1, 5, dtype=torch.float64)
    dot, soft = SelfAttention(4, kind="dot", scaled=False).double(), SelfAttention(4).double()
    weights = dot.weights(x, mask)[0, 0].detach()
    by_hand = dot.query(x)[0] @ dot.key(x)[0].T / 5
    np.testing.assert_allclose(weights, by_hand.detach(), rtol=1e-12)
    assert not np.allclose(weights.sum(1), 1, atol=0.1)
    np.testing.assert_allclose(soft.weights(x, mask).sum(3).detach(), 1, rtol=1e-12)


@pytest.mark.parametrize("kind", ["softmax", "dot"])
def test_attention_does_not_look_behind_the_end(kind):
    net = AttentionNetwork(2, 4, 2, kind=kind, layers=2).double()
    alone = [net(ROWS[i : i + 1, :k], LENGTHS[i : i + 1]) for i, k in enumerate(LENGTHS)]
    filled = ROWS.clone()
    filled[1, 1:] = 1e3
    filled[2, 3:] = -1e3
    np.testing.assert_allclose(
        net(filled, LENGTHS).detach(), torch.cat(alone).detach(), rtol=1e-9, atol=1e-12
    )
    maps = net.maps(filled, LENGTHS)
    assert maps.shape == (3, 2, 1, 4, 4)
    assert not maps[1, :, :, :, 1:].any()
    assert not maps[1, :, :, 1:].any()


def test_without_positions_a_sequence_is_a_bag():
    x = draws(1, 6, 2)
    for positional in (False, True):
        net = AttentionNetwork(2, 4, 1, positional=positional).double()
        same = torch.allclose(net(x), net(x.flip(1)), rtol=1e-10)
        assert same is not positional
    assert positions(4, 5).shape == (4, 5)


# ---- autoencoders --------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 8, 8), (2, 7, 5), (1, 1, 3), (1, 1, 1)])
@pytest.mark.parametrize("channels", [(), (3,), (3, 4)])
def test_what_comes_out_has_the_shape_of_what_goes_in(shape, channels):
    p = int(np.prod(shape))
    net = autoencoder_network(
        {
            "n_inputs": p, "n_components": 2, "hidden_layer_sizes": [6], "channels": channels,
            "image_shape": shape, "activation": "relu", "noise": 0.5,
        }
    ).eval()  # fmt: skip
    x = torch.zeros(3, p)
    assert net(x).shape == (3, p)
    assert net.encoder(x).shape == (3, 2)
    assert torch.equal(net(x), net.decoder(net.encoder(x)))  # no noise in prediction
    assert not torch.equal(net.train().noise(x), x)
