"""Momentum, Nesterov, AdaGrad, Adam: step for step as PyTorch, and what theory says of them."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import ParameterError
from bottega.optimize import adagrad, adam, gradient_descent, momentum, nesterov

CURVATURE = np.array([1.0, 30.0, 300.0])
START = np.array([2.0, -1.0, 0.5])


def f(x):
    return float(np.sum(CURVATURE * np.cosh(x)))


def gradient(x):
    return CURVATURE * np.sinh(x)


PAIRS = {
    "momentum": (momentum, {"learning_rate": 1e-3, "momentum": 0.5}, "SGD",
                 {"lr": 1e-3, "momentum": 0.5}),
    "Nesterov": (nesterov, {"learning_rate": 1e-3, "momentum": 0.8}, "SGD",
                 {"lr": 1e-3, "momentum": 0.8, "nesterov": True}),
    "AdaGrad": (adagrad, {"learning_rate": 0.3}, "Adagrad", {"lr": 0.3}),
    "Adam": (adam, {"learning_rate": 0.05, "beta_1": 0.8, "beta_2": 0.95}, "Adam",
             {"lr": 0.05, "betas": (0.8, 0.95)}),
    "Adam, all defaults": (adam, {}, "Adam", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_steps_are_those_of_torch(name):
    torch = pytest.importorskip("torch")
    ours, settings, theirs, options = PAIRS[name]
    steps = 60
    found = ours(f, START, gradient=gradient, tol=0.0, max_iter=steps, **settings)
    x = torch.tensor(START, requires_grad=True)
    optimizer = getattr(torch.optim, theirs)([x], **options)
    for t in range(1, steps + 1):
        optimizer.zero_grad()
        torch.sum(torch.tensor(CURVATURE) * torch.cosh(x)).backward()
        optimizer.step()
        # Sums in another order, 60 times.
        assert found.trace.points[t] == pytest.approx(x.detach().numpy(), abs=1e-12)


def test_momentum_without_memory_is_gradient_descent():
    plain = gradient_descent(
        f, START, gradient=gradient, line_search="fixed", learning_rate=1e-3, tol=1e-2
    )
    found = momentum(f, START, gradient=gradient, learning_rate=1e-3, momentum=0.0, tol=1e-2)
    assert found.trace.points == pytest.approx(plain.trace.points, rel=1e-12)
    ahead = nesterov(f, START, gradient=gradient, learning_rate=1e-3, momentum=0.0, tol=1e-2)
    assert ahead.trace.points == pytest.approx(plain.trace.points, rel=1e-12)


def test_first_steps():
    """Without bias Adam's first step is the rate in every entry, as AdaGrad's is."""
    for method in (adam, adagrad):
        with pytest.warns(ConvergenceWarning):
            found = method(f, START, gradient=gradient, learning_rate=0.1, max_iter=1)
        assert found.x == pytest.approx(START - 0.1 * np.sign(START), rel=1e-7)


def test_momentum_beats_gradient_descent_in_a_narrow_valley():
    """At their best constant steps: rates (k - 1) / (k + 1) and (sqrt k - 1) / (sqrt k + 1)."""
    k = 400.0
    curvature = np.array([1.0, k])

    def valley(x):
        return float(x @ (curvature * x)) / 2

    options = {"gradient": lambda x: curvature * x, "max_iter": 5000, "tol": 1e-8}
    plain = gradient_descent(
        valley, [1.0, 1.0], line_search="fixed", learning_rate=2 / (1 + k), **options
    )
    root = np.sqrt(k)
    heavy = momentum(
        valley, [1.0, 1.0], learning_rate=(2 / (root + 1)) ** 2,
        momentum=((root - 1) / (root + 1)) ** 2, **options,
    )  # fmt: skip
    ahead = nesterov(
        valley, [1.0, 1.0], learning_rate=1 / k, momentum=(root - 1) / (root + 1), **options
    )
    assert heavy.n_iter < plain.n_iter / 5
    assert ahead.n_iter < plain.n_iter / 5


def test_nesterov_keeps_its_bound():
    """f(x_t) - f* <= 2 L |x_0 - x*|^2 / (t + 1)^2 for the points after the gradient step."""
    curvature = np.linspace(1e-4, 1.0, 20)
    start = np.ones(20)

    def flat(x):
        return float(x @ (curvature * x)) / 2

    with pytest.warns(ConvergenceWarning):
        found = nesterov(
            flat, start, gradient=lambda x: curvature * x, learning_rate=1.0, max_iter=200, tol=0.0
        )
    after = found.trace.points - found.trace.gradients
    t = np.arange(1, len(after) + 1)
    assert np.all([flat(x) for x in after] <= 2 * 20 / (t + 1) ** 2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scale_of_f_does_not_matter_to_adam_and_adagrad():
    for method in (adam, adagrad):
        plain = method(f, START, gradient=gradient, epsilon=0.0, learning_rate=0.1, max_iter=50)
        for unit in (1e100, 1e-100):
            scaled = method(
                lambda x, u=unit: u * f(x), START, gradient=lambda x, u=unit: u * gradient(x),
                epsilon=0.0, learning_rate=0.1, max_iter=50,
            )  # fmt: skip
            assert scaled.x == pytest.approx(plain.x, rel=1e-9)


def test_long_steps_are_stopped():
    for method in (momentum, nesterov):
        with pytest.warns(ConvergenceWarning, match="too long"):
            found = method(lambda x: float(x @ x), [1.0], learning_rate=4.0)
        assert found.verdict == "diverged"
        assert found.value <= 1.0


@pytest.mark.parametrize(
    ("method", "wrong", "match"),
    [
        (momentum, {"momentum": 1.0}, "momentum=1.0"),
        (nesterov, {"momentum": -0.1}, "momentum=-0.1"),
        (momentum, {"learning_rate": -1}, "learning_rate=-1"),
        (adagrad, {"epsilon": -1e-8}, "epsilon"),
        (adam, {"beta_1": 1.0}, "beta_1"),
        (adam, {"beta_2": "high"}, "beta_2='high'"),
    ],
)
def test_bad_parameters(method, wrong, match):
    with pytest.raises(ParameterError, match=match):
        method(f, START, **wrong)
