"""Gradients of every layer, loss and penalty against finite differences, in double precision."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.neural import NetworkClassifier, NetworkRegressor
from bottega.neural._training.backpropagation import Backpropagation
from bottega.neural._training.criteria import CRITERIA, HuberCost
from bottega.neural._training.penalties import smoothness

ROWS = 12


def sample(n=ROWS, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2])


def training_of(model, X, y, weight=None):
    """Return a training of all rows as one batch, with weights that are nowhere near zero."""
    model.set_params(dtype="float64", shuffle=False)
    model._check_params()
    work = model._prepare(model._read(X, y, weight))
    training = model._training(work, {})
    drawn = torch.Generator().manual_seed(1)
    noise = torch.empty(len(training.weights), dtype=torch.float64).normal_(0, 0.3, generator=drawn)
    training.weights.values.add_(noise)
    training.module.train()
    return training


def differentiated(training):
    """Return the gradient that a step would use."""
    batch = training.rows.all()
    m = float(len(batch)) if batch.weight is None else float(batch.weight.sum())
    training.differentiate(batch)
    training.rules.penalty.add_gradient(training.weights, m)
    return training.weights.gradient.clone()


def by_differences(training, h=1e-6):
    """Return the gradient by central differences of the objective with its penalties."""
    w, batch = training.weights, training.rows.all()
    m = float(len(batch)) if batch.weight is None else float(batch.weight.sum())

    def value():
        loss = training.objective(batch).detach()
        return float(loss + training.rules.penalty.value(w, m))

    found = torch.zeros_like(w.values)
    for i in range(len(w)):
        kept = float(w.values[i])
        w.values[i] = kept + h
        above = value()
        w.values[i] = kept - h
        below = value()
        w.values[i] = kept
        found[i] = (above - below) / (2 * h)
    return found


def assert_agree(training):
    # Central differences with h = 1e-6 are off by about 1e-10 relative to the loss; 1e-5 is the
    # accuracy that is promised.
    exact, near = differentiated(training), by_differences(training)
    assert float((exact - near).abs().max()) < 1e-5 * max(1.0, float(near.abs().max()))


@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "identity", "leaky_relu"])
@pytest.mark.parametrize("by_hand", [True, False])
def test_activations(activation, by_hand):
    training = training_of(NetworkRegressor((5, 4), activation=activation), *sample())
    assert training.by_hand is not None
    if not by_hand:
        training.by_hand = None
    assert_agree(training)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "poisson"])
def test_losses_of_numbers(loss):
    X, y = sample()
    model = NetworkRegressor((4,), loss=loss, activation="tanh", huber_delta=0.7)
    two = np.column_stack([y, -(y**2)])
    assert_agree(training_of(model, X, np.exp(two) if loss == "poisson" else two))


@pytest.mark.parametrize("out_activation", ["auto", "softmax", "logistic"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_classes(out_activation, classes):
    X, y = sample()
    labels = np.argsort(np.argsort(y)) % classes
    weight = np.random.default_rng(2).uniform(0.5, 2, ROWS)
    model = NetworkClassifier((4,), out_activation=out_activation, activation="tanh")
    assert_agree(training_of(model, X, labels, weight))


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 3.0},
        {"l1": 0.7},
        {"batch_norm": True},
        {"smoothness": 0.5},
        {"alpha": 2.0, "l1": 0.3, "smoothness": 0.1},
    ],
    ids="+".join,
)
def test_penalties_and_normalisation(options):
    assert_agree(training_of(NetworkRegressor((4, 3), activation="tanh", **options), *sample()))


def test_tying_and_weights():
    X, y = sample()
    other = NetworkRegressor((4,), max_iter=2, random_state=7).fit(X, y)
    weight = np.random.default_rng(2).uniform(0.5, 2, ROWS)
    assert_agree(training_of(NetworkRegressor((4,), tie=2.0, tie_to=other), X, y, weight))


def test_embeddings_and_masks():
    X, y = sample()
    X[::4, 0] = np.nan
    X[:, 2] = np.arange(ROWS) % 3
    model = NetworkRegressor((4,), activation="tanh", categorical_features=[2])
    training = training_of(model, X, y)
    assert training.by_hand is None
    assert_agree(training)


@settings(max_examples=25, deadline=None)
@given(
    layers=st.lists(st.integers(1, 6), max_size=3),
    activation=st.sampled_from(["relu", "tanh", "sigmoid", "identity", "leaky_relu"]),
    classes=st.integers(2, 4),
    weighted=st.booleans(),
    seed=st.integers(0, 100),
)
def test_written_out_derivatives_are_those_of_torch(layers, activation, classes, weighted, seed):
    X, y = sample(seed=seed)
    weight = np.arange(1.0, ROWS + 1) if weighted else None
    model = NetworkClassifier(tuple(layers), activation=activation, random_state=seed)
    training = training_of(model, X, np.argsort(np.argsort(y)) % classes, weight)
    loss, by_hand = float(training.differentiate(training.rows.all())), differentiated(training)
    training.by_hand = None
    assert float(training.differentiate(training.rows.all())) == pytest.approx(loss, rel=1e-12)
    assert by_hand.numpy() == pytest.approx(differentiated(training).numpy(), abs=1e-13)


@pytest.mark.parametrize("name", list(CRITERIA))
def test_slopes_are_derivatives_of_the_loss(name):
    criterion = HuberCost(0.6) if name == "huber" else CRITERIA[name]()
    generator = torch.Generator().manual_seed(0)
    outputs = torch.empty(6, 3, dtype=torch.float64).normal_(0, 2, generator=generator)
    y = torch.tensor([0, 1, 2, 2, 1, 0])
    if not criterion.long_targets:
        y = torch.nn.functional.one_hot(y).double()
    weight = torch.arange(1.0, 7.0, dtype=torch.float64)
    for w in (None, weight):
        leaf = outputs.clone().requires_grad_(True)
        criterion.mean(leaf, y, w).backward()
        found = criterion.slopes(outputs, y, w)
        assert found.numpy() == pytest.approx(leaf.grad.numpy(), abs=1e-14)


def test_smoothness_of_a_known_function():
    """Of tanh(2x) the second derivative is -8 t (1 - t^2) with t = tanh(2x)."""
    body = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Tanh(), torch.nn.Linear(1, 1))
    body = body.double()
    for p, value in zip(body.parameters(), (2.0, 0.0, 1.0, 0.0), strict=True):
        p.data.fill_(value)
    x = torch.tensor([[-0.3], [0.1], [0.8]], dtype=torch.float64)
    t = torch.tanh(2 * x)
    expected = float(((8 * t * (1 - t**2)) ** 2).mean())
    assert float(smoothness(body, (x,)).detach()) == pytest.approx(expected, rel=1e-12)
    linear = torch.nn.Linear(2, 1).double()
    assert float(smoothness(linear, (torch.ones(3, 2, dtype=torch.float64),)).detach()) == 0


def test_by_hand_is_for_dense_layers_alone():
    X, y = sample()
    for options in (
        {"keep": 0.5},
        {"batch_norm": True},
        {"input_noise": 0.1},
        {"hidden_noise": 1.0},
    ):
        assert training_of(NetworkRegressor((4,), **options), X, y).by_hand is None
    module = torch.nn.Sequential(torch.nn.Linear(3, 1))
    assert Backpropagation.of(module, CRITERIA["squared_error"]()) is None
