"""What a network says of itself: faults that are there are found, with their remedies."""

import numpy as np
import pytest

from bottega.neural import NetworkClassifier, NetworkRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] * X[:, 1]
STILL = {"max_iter": 1, "learning_rate_init": 1e-12}


def test_a_healthy_network_has_nothing_to_say():
    found = NetworkRegressor((8, 6), max_iter=30).fit(X, Y).diagnose(X, Y)
    assert found.healthy
    assert [layer.name for layer in found.layers] == ["hidden 1", "hidden 2", "output"]
    assert "Nothing is wrong" in repr(found)


def test_dead_units_are_found():
    start = [RNG.normal(size=(3, 4)), np.ones((4, 1))], [np.full(4, -100.0), np.zeros(1)]
    found = NetworkRegressor((4,), init=start, **STILL).fit(X, Y).diagnose(X, Y)
    assert found.layers[0].dead == 1
    assert any("100% of the units are dead" in each for each in found.findings)
    assert any("No gradient reaches the first layer" in each for each in found.findings)


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_saturation_is_found(activation):
    model = NetworkRegressor((10,), activation=activation, init="gaussian", init_scale=50, **STILL)
    found = model.fit(X, Y).diagnose(X, Y)
    assert found.layers[0].saturated > 0.8
    assert any("are saturated" in each for each in found.findings)


def test_weight_symmetry_is_found_and_lasts():
    """Units with equal weights have equal gradients for ever (N86)."""
    start = [np.full((3, 5), 0.3), np.full((5, 1), 0.2)], [np.zeros(5), np.zeros(1)]
    model = NetworkRegressor((5,), init=start, max_iter=20, activation="tanh").fit(X, Y)
    found = model.diagnose(X, Y)
    assert found.layers[0].twins == 5
    assert any("5 units have the same weights" in each for each in found.findings)


def test_gradients_of_sigmoids_vanish_with_depth_and_those_of_relu_do_not():
    """D-E20: the gradient of the first layer relative to the last."""
    ratio = {}
    for activation in ("sigmoid", "relu"):
        model = NetworkRegressor((20,) * 7, activation=activation, init="auto", **STILL)
        layers = model.fit(X, Y).diagnose(X, Y).layers
        ratio[activation] = layers[0].gradient / layers[-1].gradient
    assert ratio["sigmoid"] < 1e-3
    assert ratio["relu"] > 1e-2


def test_one_batch_is_learned_by_heart():
    model = NetworkClassifier((32,), alpha=10.0, keep=0.5, learning_rate_init=0.02)
    labels = RNG.integers(0, 3, 80)
    found = model.overfit_one_batch(X, labels, n_rows=16, steps=200)
    assert found.passed
    assert found.n_rows == 16
    assert "learns these rows by heart" in repr(found)
    assert not hasattr(model, "arrays_")
    same = np.ones((40, 3))
    broken = model.overfit_one_batch(same, labels[:40], steps=60)
    assert not broken.passed
    assert "equal rows" in repr(broken)


def test_pictures():
    model = NetworkClassifier((6, 5), max_iter=30, early_stopping=True).fit(X, Y > 0)
    curves = model.plot().to_dict()
    assert curves["title"]["text"] == "Loss over the epochs"
    assert {row["line"] for row in curves["data"]["values"]} == {"training rows", "rows held out"}
    layers = model.plot_activations(X, Y > 0).to_dict()
    assert len({row["panel"] for row in layers["data"]["values"]}) == 2
    surface = NetworkClassifier((6,)).plot_surface(X[:, :2], Y > 0, epochs=(1, 4)).to_dict()
    assert len({row["panel"].partition(":")[0] for row in surface["data"]["values"]}) == 2
