"""Newton's method: one step on a quadratic, twice the digits, no matter the coordinates."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import newton

TURN = np.array([[1.0, 2.0], [0.5, -30.0]])


def f(x):  # smooth, convex, not quadratic; a minimum at (log 2, -log(3) / 2)
    return float(np.exp(x[0]) - 2 * x[0] + np.exp(-2 * x[1]) + 6 * x[1])


def gradient(x):
    return np.array([np.exp(x[0]) - 2, 6 - 2 * np.exp(-2 * x[1])])


def hessian(x):
    return np.diag([np.exp(x[0]), 4 * np.exp(-2 * x[1])])


BEST = np.array([np.log(2), -np.log(3) / 2])


def test_quadratic_in_one_step():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(6, 5))
    matrix, target = half.T @ half, rng.normal(size=5)
    found = newton(
        lambda x: float((x - target) @ matrix @ (x - target)),
        np.zeros(5),
        gradient=lambda x: 2 * matrix @ (x - target),
        hessian=lambda x: 2 * matrix,  # noqa: ARG005
    )
    assert found.n_iter == 1
    assert found.x == pytest.approx(target, rel=1e-9)


def test_digits_double():
    found = newton(f, [3.0, 1.0], gradient=gradient, hessian=hessian, tol=1e-13)
    assert found.converged
    error = np.max(np.abs(found.trace.points - BEST), axis=1)
    near = np.flatnonzero((error < 0.3) & (error > 1e-7))
    assert len(near) >= 2
    # |e'| <= C e^2 with C = max|f'''| / (2 min f'') = 1 here; rounding is all that is left after.
    assert np.all(error[near + 1] <= 1.2 * error[near] ** 2 + 1e-14)
    assert found.trace.steps[near] == pytest.approx(1.0)


def test_iterates_go_with_the_coordinates():
    plain = newton(f, [3.0, 1.0], gradient=gradient, hessian=hessian)
    start = np.linalg.solve(TURN, [3.0, 1.0])
    turned = newton(
        lambda z: f(TURN @ z),
        start,
        gradient=lambda z: TURN.T @ gradient(TURN @ z),
        hessian=lambda z: TURN.T @ hessian(TURN @ z) @ TURN,
    )
    shared = min(plain.n_iter, turned.n_iter) + 1
    assert shared > 5
    # The condition number of the change is about 30, and errors pass through five solves.
    assert turned.trace.points[:shared] @ TURN.T == pytest.approx(
        plain.trace.points[:shared], abs=1e-10
    )


@pytest.mark.parametrize("unit", [1e100, 1e-100])
def test_units_do_not_matter(unit):
    tall = newton(
        lambda x: unit * f(x), [3.0, 1.0],
        gradient=lambda x: unit * gradient(x), hessian=lambda x: unit * hessian(x),
    )  # fmt: skip
    wide = newton(
        lambda x: f(x / unit), np.array([3.0, 1.0]) * unit,
        gradient=lambda x: gradient(x / unit) / unit,
        hessian=lambda x: hessian(x / unit) / unit / unit,
    )  # fmt: skip
    assert tall.x == pytest.approx(BEST, rel=1e-8)
    assert wide.x / unit == pytest.approx(BEST, rel=1e-8)


def test_derivatives_by_differences_and_torch():
    torch = pytest.importorskip("torch")
    for found in (
        newton(f, [3.0, 1.0]),
        newton(f, [3.0, 1.0], gradient=gradient),
        newton(
            lambda x: torch.exp(x[0]) - 2 * x[0] + torch.exp(-2 * x[1]) + 6 * x[1],
            [3.0, 1.0],
            gradient="torch",
        ),
    ):
        assert found.converged
        assert found.x == pytest.approx(BEST, abs=1e-7)


def test_pure_method_goes_astray_where_damping_does_not():
    """sqrt(1 + x^2) has Newton steps -x^3: from 1.5 they explode."""

    def root(x):
        return float(np.sqrt(1 + x[0] ** 2))

    options = {
        "gradient": lambda x: x / np.sqrt(1 + x**2),
        "hessian": lambda x: np.array([[(1 + x[0] ** 2) ** -1.5]]),
    }
    damped = newton(root, [1.5], **options)
    assert damped.converged
    assert damped.x == pytest.approx([0.0], abs=1e-8)
    with pytest.warns(ConvergenceWarning):
        pure = newton(root, [1.5], line_search="fixed", **options)
    assert not pure.converged


def test_not_convex_is_handled_and_said():
    """(x^2 - 1)^2 + y^2 curves down between its minima."""
    found = newton(lambda x: (x[0] ** 2 - 1) ** 2 + x[1] ** 2, [0.1, 1.0])
    assert found.converged
    assert np.abs(found.x) == pytest.approx([1.0, 0.0], abs=1e-6)
    assert np.all(np.diff(found.trace.values) < 0)
    assert "not positive definite" in found.message
    assert "not positive definite" not in newton(lambda x: float(x @ x), [1.0]).message


def test_logistic_regression_agrees_with_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    y = np.where(X @ [1.0, -2.0, 0.5] + rng.logistic(size=80) > 0, 1, -1)

    def loss(w):
        return float(np.sum(np.logaddexp(0, -y * (X @ w))) + w @ w / 2)

    theirs = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-12, max_iter=1000).fit(X, y)
    assert newton(loss, np.zeros(3)).x == pytest.approx(theirs.coef_[0], abs=1e-6)


def test_bad_input():
    with pytest.raises(InputError, match=r"hessian returned an array of shape \(2,\)"):
        newton(f, [0.0, 0.0], gradient=gradient, hessian=gradient)
    with pytest.raises(ParameterError, match="line_search"):
        newton(f, [0.0, 0.0], line_search="none")
    with pytest.warns(ConvergenceWarning, match="has not fallen"):
        found = newton(f, [0.0, 0.0], gradient=gradient, hessian=lambda x: hessian(x) * np.nan)
    assert found.verdict == "stalled"


def test_whole_steps_that_overshoot_are_said_to_diverge():
    """On sqrt(1 + x^2) a whole step goes from x to -x^3."""
    with pytest.warns(ConvergenceWarning, match="rose to"):
        found = newton(
            lambda x: float(np.hypot(1, x[0])),
            [2.0],
            gradient=lambda x: x / np.hypot(1, x),
            hessian=lambda x: np.atleast_2d(np.hypot(1, x) ** -3.0),
            line_search="fixed",
        )
    assert found.verdict == "diverged"
    assert found.x == pytest.approx([2.0])  # the best point met
    assert found.trace.points[:3, 0] == pytest.approx([2, -8, 512])
