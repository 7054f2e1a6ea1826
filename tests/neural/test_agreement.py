"""Networks against scikit-learn's from the same start, step for step, and special cases."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor

from bottega.neural import NetworkClassifier, NetworkRegressor

PLAIN = {"standardize": False, "shuffle": False, "dtype": "float64", "tol": 0.0}


def sample(n=70, p=4):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, p))
    return X, X[:, 0] - X[:, 1] ** 2 + 0.2 * rng.normal(size=n)


def continued(peer, X, y, epochs):
    """Return a start, and scikit-learn's network after further epochs from it.

    With a warm start its optimiser begins anew at the weights of the fit before.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        peer.set_params(max_iter=1, warm_start=True).fit(X, y)
        start = [w.copy() for w in peer.coefs_], [b.copy() for b in peer.intercepts_]
        peer.set_params(max_iter=epochs).fit(X, y)
    return start, peer


SOLVERS = [
    {"solver": "adam"},
    {"solver": "sgd", "momentum": 0.9, "nesterovs_momentum": True},
    {"solver": "sgd", "momentum": 0.8, "nesterovs_momentum": False},
    {"solver": "sgd", "momentum": 0.0},
    {"solver": "sgd", "learning_rate": "adaptive", "momentum": 0.5},
    {"solver": "adam", "learning_rate": "invscaling"},  # a word of SGD: constant
]


@pytest.mark.parametrize(
    "options", SOLVERS, ids=lambda options: "-".join(map(str, options.values()))
)
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic"])
def test_regression_follows_scikit_learn_step_for_step(options, activation):
    X, y = sample()
    steps = {"learning_rate": "constant", "learning_rate_init": 0.01, "batch_size": 20}
    common = {"activation": activation, **steps, **options}
    still = {"shuffle": False, "tol": 0.0, "n_iter_no_change": 1000}
    peer = MLPRegressor(hidden_layer_sizes=(6, 5), alpha=0.3, random_state=0, **still, **common)
    start, peer = continued(peer, X, y, 8)
    ours = NetworkRegressor(
        (6, 5), alpha=0.3, init=start, max_iter=8, n_iter_no_change=1000, **PLAIN, **common
    ).fit(X, y)
    # The same sums in another order, over 32 steps.
    for mine, theirs in zip(
        ours.coefs_ + ours.intercepts_, peer.coefs_ + peer.intercepts_, strict=True
    ):
        assert mine == pytest.approx(theirs, rel=1e-8, abs=1e-10)
    assert ours.predict(X) == pytest.approx(peer.predict(X), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_classification_follows_scikit_learn_step_for_step(classes):
    X, signal = sample()
    y = np.array(["a", "b", "c"])[np.argsort(np.argsort(signal)) * classes // len(signal)]
    steps = {"learning_rate": "constant", "learning_rate_init": 0.01, "batch_size": 16}
    common = {"alpha": 0.0, **steps}
    peer = MLPClassifier(
        (7,), shuffle=False, tol=0.0, n_iter_no_change=1000, random_state=1, **common
    )
    start, peer = continued(peer, X, y, 6)
    ours = NetworkClassifier(
        (7,), init=start, max_iter=6, n_iter_no_change=1000, **PLAIN, **common
    ).fit(X, y)
    assert ours.out_activation_ == peer.out_activation_
    assert ours.n_layers_ == peer.n_layers_
    assert ours.n_outputs_ == peer.n_outputs_
    assert ours.predict_proba(X) == pytest.approx(peer.predict_proba(X), rel=1e-7, abs=1e-10)
    assert ours.loss_curve_ == pytest.approx(peer.loss_curve_[-6:], rel=1e-9)
    assert np.array_equal(ours.predict(X), peer.predict(X))


def test_without_hidden_layers_it_is_logistic_regression():
    """One logistic node: the notes' smallest network."""
    X, signal = sample(200)
    y = (signal > 0).astype(int)
    alpha = 2.0
    peer = LogisticRegression(C=1 / alpha, tol=1e-10, max_iter=1000).fit(X, y)
    ours = NetworkClassifier(
        (),
        alpha=alpha,
        solver="sgd",
        learning_rate="constant",
        learning_rate_init=0.5,
        max_iter=600,
        n_iter_no_change=1000,
        **PLAIN,
    ).fit(X, y)
    # Both minimise the same strictly convex function; the steps have come to rest by 1e-9.
    assert ours.coefs_[0][:, 0] == pytest.approx(peer.coef_[0], abs=1e-6)
    assert ours.intercepts_[0] == pytest.approx(peer.intercept_, abs=1e-6)


def test_softmax_of_two_classes_is_the_logistic_function_of_the_difference():
    X, signal = sample()
    y = (signal > 0).astype(int)
    model = NetworkClassifier((4,), max_iter=3, out_activation="softmax", dtype="float64").fit(X, y)
    outputs = model._raw_outputs(model._check_new(X)).numpy()
    assert outputs.shape == (len(X), 2)
    shares = 1 / (1 + np.exp(outputs[:, 0] - outputs[:, 1]))
    assert model.predict_proba(X)[:, 1] == pytest.approx(shares, rel=1e-12)


def test_the_notes_network_for_xor():
    """Two ReLU units with fixed weights solve what no line can (N4)."""
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    start = [np.ones((2, 2)), np.array([[1.0], [-2.0]])], [np.array([0.0, -1.0]), np.zeros(1)]
    model = NetworkRegressor(
        (2,), init=start, standardize=False, learning_rate_init=1e-300, max_iter=1, alpha=0.0
    ).fit(X, [0.0, 1, 1, 0])
    assert model.predict(X) == pytest.approx([0, 1, 1, 0], abs=1e-12)


def test_linear_activations_are_one_matrix():
    """N11: a deep network of identities is the product of its matrices."""
    X, y = sample()
    model = NetworkRegressor((5, 3), activation="identity", max_iter=5, **PLAIN).fit(X, y)
    A, B, C = model.coefs_
    a, b, c = model.intercepts_
    expected = X @ (A @ B @ C) + ((a @ B + b) @ C + c)
    assert model.predict(X) == pytest.approx(expected[:, 0], rel=1e-10)


def test_deep_weight_scales_of_the_first_weights():
    """Xavier's variance is 2 / (in + out), He's 2 / in (N89)."""
    X = np.random.default_rng(0).normal(size=(30, 200))
    for init, variance in (("xavier", 2 / 500), ("he", 2 / 200), ("near_zero", 1e-4)):
        model = NetworkRegressor((300,), init=init, learning_rate_init=1e-12, max_iter=1)
        drawn = model.fit(X, X[:, 0]).coefs_[0]
        # 60,000 draws: the variance has a relative standard error of 0.6 %; 3 % is five of them.
        assert drawn.var() == pytest.approx(variance, rel=0.03)
