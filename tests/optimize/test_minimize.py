"""SciPy's solvers behind one result: the same answers, with every iteration."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from bottega.core.errors import InputError, ParameterError
from bottega.optimize import gradient_descent, lbfgs, minimize, nesterov, newton
from bottega.optimize.minimize import METHODS

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
Y = np.where(X @ [1.0, -2.0, 0.5] + rng.logistic(size=60) > 0, 1.0, -1.0)
HALF = rng.normal(size=(8, 5))
MATRIX = HALF.T @ HALF / 8


def logistic(w):
    return float(np.sum(np.logaddexp(0, -Y * (X @ w))) + 0.5 * w @ w)


def logistic_gradient(w):
    return w - X.T @ (Y / (1 + np.exp(Y * (X @ w))))


PROBLEMS = {
    "Rosenbrock": (optimize.rosen, optimize.rosen_der, np.array([-1.2, 1.0])),
    "quadratic": (
        lambda x: float(x @ MATRIX @ x / 2 - x.sum()), lambda x: MATRIX @ x - 1, np.zeros(5),
    ),
    "logistic": (logistic, logistic_gradient, np.zeros(3)),
}  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_reaches_the_minimum(method, problem):
    f, g, start = PROBLEMS[problem]
    best = optimize.minimize(f, start, jac=g, method="BFGS", options={"gtol": 1e-9})
    tol = 1e-10 if method in ("Nelder-Mead", "Powell") else 1e-7  # of values, or of gradients
    found = minimize(f, start, method=method, gradient=g, tol=tol, max_iter=5000)
    assert found.converged, found.message
    assert found.value == pytest.approx(best.fun, abs=1e-8)
    # Methods that only see values, or stop at them, tell x to the root of rounding.
    assert found.x == pytest.approx(best.x, abs=1e-5)
    assert found.trace.values[0] == f(start)
    assert found.trace.values[-1] == found.value == f(found.x)
    assert np.array_equal(found.trace.points[0], start)
    assert len(found.trace.steps) == found.n_iter == len(found.trace.points) - 1
    assert np.all(np.diff(found.trace.evaluations) >= 0)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_our_own_methods_agree_with_scipy(problem):
    f, g, start = PROBLEMS[problem]
    best = optimize.minimize(f, start, jac=g, method="BFGS", options={"gtol": 1e-9})
    runs = [
        newton(f, start, gradient=g, tol=1e-10),
        lbfgs(f, start, gradient=g, tol=1e-7),
        gradient_descent(f, start, gradient=g, tol=1e-9, max_iter=100_000, trace=False),
        nesterov(
            f, start, gradient=g, learning_rate=1e-3 if problem == "Rosenbrock" else 0.04,
            tol=1e-8, max_iter=100_000, trace=False,
        ),
    ]  # fmt: skip
    for found in runs:
        assert found.converged, found.message
        assert found.value == pytest.approx(best.fun, abs=1e-8)
        assert found.x == pytest.approx(best.x, abs=1e-5)


def test_nothing_is_computed_twice():
    f, g, start = PROBLEMS["logistic"]
    calls = []
    found = minimize(lambda w: calls.append(w.copy()) or f(w), start, gradient=g)
    theirs = optimize.minimize(f, start, jac=g, method="BFGS")
    assert found.evaluations == len(calls) == len({w.tobytes() for w in calls})
    assert found.evaluations <= 2 * theirs.nfev


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG", "Nelder-Mead"])
@pytest.mark.parametrize("unit", [1e100, 1e-100])
def test_units_do_not_matter(method, unit):
    f, g, start = PROBLEMS["Rosenbrock"]
    tall = minimize(
        lambda x: unit * f(x), start, method=method, gradient=lambda x: unit * g(x), tol=1e-8
    )
    wide = minimize(
        lambda x: f(x / unit), start * unit, method=method, tol=1e-8,
        gradient=lambda x: g(x / unit) / unit,
    )  # fmt: skip
    assert tall.x == pytest.approx([1.0, 1.0], abs=1e-4)
    assert wide.x / unit == pytest.approx([1.0, 1.0], abs=1e-4)


def test_bounds():
    f, g, start = PROBLEMS["Rosenbrock"]
    for method in ("L-BFGS-B", "SLSQP", "Nelder-Mead", "Powell"):
        found = minimize(f, [0.0, 1.0], method=method, gradient=g, bounds=[(0, 0.5), (0.3, None)])
        assert found.x == pytest.approx([0.5, 0.3], abs=1e-4), method
    assert lbfgs(f, start, gradient=g, bounds=[(None, 0.5), (None, None)]).trace.residuals[
        -1
    ] < 1e-5 * np.max(np.abs(g(start)))
    with pytest.raises(ParameterError, match="takes no bounds"):
        minimize(f, start, method="BFGS", bounds=[(0, 1), (0, 1)])
    for bad in ([(0, 1)], [(1, 0), (0, 1)], [0, 1], "ab"):
        with pytest.raises(InputError, match="pair"):
            lbfgs(f, start, bounds=bad)


def test_torch():
    torch = pytest.importorskip("torch")
    found = lbfgs(lambda x: torch.sum((x - 1) ** 4 + x**2), np.zeros(4), gradient="torch")
    assert found.converged
    assert found.x == pytest.approx(np.full(4, found.x[0]))
    assert 4 * (found.x[0] - 1) ** 3 + 2 * found.x[0] == pytest.approx(0, abs=1e-6)


def test_gone_astray():
    with pytest.warns(ConvergenceWarning, match="without end"):
        found = minimize(lambda x: -float(x @ x), [1.0, 2.0])
    assert found.verdict == "unbounded"
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        found = minimize(optimize.rosen, [-1.2, 1.0], max_iter=3)
    assert found.verdict == "max_iter"
    assert found.n_iter == 3
    with np.errstate(invalid="ignore"), pytest.warns(ConvergenceWarning, match="not finite"):
        # The descent leaves the half line where the root is defined.
        found = minimize(
            lambda x: float(np.sqrt(x[0])) if x[0] > 0 else np.nan, [1.0], method="Newton-CG",
            gradient=np.ones_like, hessian=lambda x: np.diag(0.1 + 0 * x),
        )  # fmt: skip
    assert found.verdict == "not finite"
    assert found.value == 1.0
    with pytest.raises(InputError, match=r"f\(x0\)"):
        minimize(lambda x: np.nan, [1.0])  # noqa: ARG005


def test_starting_at_the_minimum():
    found = lbfgs(lambda x: float(x @ x), [0.0, 0.0], gradient=lambda x: 2 * x)
    assert found.converged
    assert found.n_iter == 0


def test_bad_parameters():
    with pytest.raises(ParameterError, match="Did you mean 'BFGS'"):
        minimize(optimize.rosen, [0.0, 0.0], method="bfgs")
    with pytest.raises(ParameterError, match="memory=0"):
        lbfgs(optimize.rosen, [0.0, 0.0], memory=0)
