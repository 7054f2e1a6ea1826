"""L-BFGS, the solver for few rows, and the losses whose minimum it finds."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, PoissonRegressor

from bottega.core.errors import InputError, ParameterError
from bottega.neural import NetworkClassifier, NetworkRegressor
from bottega.neural._training.limited_memory import LimitedMemory

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2]
COUNTS = RNG.poisson(np.exp(0.5 + X @ [0.6, -0.4, 0.2])).astype(float)


def minimised(f, start, steps=200):
    """Return the point that L-BFGS ends in, and how many steps it took."""
    w, g = torch.tensor(start, dtype=torch.float64), torch.zeros(len(start), dtype=torch.float64)

    def evaluate():
        leaf = w.clone().requires_grad_(True)
        value = f(leaf)
        value.backward()
        g.copy_(leaf.grad)
        return value.item()

    solver = LimitedMemory(w, tol=1e-9)
    while not solver.converged and solver.steps < steps:
        solver.step(w, g, evaluate)
    return w.numpy(), solver.steps


def test_valleys_are_followed_to_their_end():
    found, steps = minimised(lambda x: (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2, [-1.2, 1.0])
    # A fall of f below 2e-9 ends the search, and the valley of Rosenbrock's function is as flat
    # as 0.4 times the squared distance: 1e-4.
    assert found == pytest.approx([1, 1], abs=1e-4)
    assert steps < 60  # SciPy's L-BFGS-B takes 37


def test_corners_do_not_stop_it():
    """The sum of distances |x - k| / k has its corners at 1, 2, 3, 4."""
    goal = torch.arange(1.0, 5.0, dtype=torch.float64)
    found, _ = minimised(lambda x: ((x - goal).abs() / goal).sum(), [9.0, -7.0, 0.3, 11.0])
    assert found == pytest.approx(goal.numpy(), abs=1e-6)


def test_without_hidden_layers_it_is_logistic_regression():
    labels = np.where(Y > 0.3, "up", "down")
    model = NetworkClassifier((), solver="lbfgs", alpha=2.0, standardize=False, tol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(max_iter=200).fit(X, labels)
    peer = LogisticRegression(C=1 / 2.0, tol=1e-10).fit(X, labels)
    # A fall of the loss by 2e-9 ends the search: weights to its root.
    assert model.coefs_[0][:, 0] == pytest.approx(peer.coef_[0], abs=2e-4)
    assert model.intercepts_[0] == pytest.approx(peer.intercept_, abs=2e-4)
    assert np.all(np.diff(model.loss_curve_) <= 0)


def test_poisson_without_hidden_layers_is_its_linear_model():
    model = NetworkRegressor(
        (), loss="poisson", solver="lbfgs", alpha=0.0, standardize=False, tol=1e-8, max_iter=200
    ).fit(X, COUNTS)
    peer = PoissonRegressor(alpha=0, tol=1e-9).fit(X, COUNTS)
    assert model.predict(X) == pytest.approx(peer.predict(X), rel=1e-3)  # as above
    assert model.out_activation_ == "exp"


def test_amounts_do_not_depend_on_their_unit():
    model = NetworkRegressor((5,), loss="poisson", solver="lbfgs", max_iter=15)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        once, far = (model.fit(X, unit * COUNTS).predict(X) for unit in (1.0, 2.0**300))
    assert far / 2.0**300 == pytest.approx(once, rel=1e-9)
    assert once.min() > 0
    assert model.path(X, COUNTS, values=[1, 3]).loss == "half the Poisson deviance"
    for bad in (COUNTS - 5, 0 * COUNTS):
        with pytest.raises(InputError, match="0 and more, not all of them 0"):
            model.fit(X, bad)


@pytest.mark.parametrize("seed", range(3))
def test_means_start_at_the_mean(seed):
    """Exponentials of first outputs by chance would send the first steps far off."""
    model = NetworkRegressor(loss="poisson", max_iter=1, learning_rate_init=1e-12)
    found = model.set_params(random_state=seed).fit(X, COUNTS).predict(X)
    assert found == pytest.approx(np.full(80, COUNTS.mean()), rel=0.1)


def test_the_path_chooses_the_iterations_without_a_warning():
    model = NetworkRegressor((8,), solver="lbfgs", activation="tanh", max_epochs=60).fit(X, Y)
    assert model.n_iter_ == model.max_iter_ < 60
    assert model.arrays_["body.0.weight"].dtype == np.float64


def test_what_limits_it_is_said():
    model = NetworkRegressor((8,), solver="lbfgs", max_iter=500, max_fun=12)
    with pytest.warns(ConvergenceWarning, match="raise max_fun"):
        model.fit(X, Y)
    assert model.n_iter_ <= 12


@pytest.mark.parametrize(
    "more", [{"drop": 0.5}, {"input_noise": 0.1}, {"batch_norm": True}, {"clip": 1.0}]
)
def test_a_function_that_changes_by_chance_is_refused(more):
    with pytest.raises(ParameterError, match="follows one function exactly"):
        NetworkRegressor((4,), solver="lbfgs", max_iter=3, **more).fit(X, Y)


def test_blocks_are_not_all_rows():
    with pytest.raises(AttributeError, match="'partial_fit'") as caught:
        NetworkRegressor(solver="lbfgs").partial_fit(X, Y)
    assert "needs all rows at once" in str(caught.value.__cause__)


def test_first_weights_without_a_finite_loss():
    model = NetworkRegressor((4,), solver="lbfgs", max_iter=3, standardize=False)
    with pytest.raises(ArithmeticError, match="standardize=True"):
        model.fit(X * 1e300, Y)
