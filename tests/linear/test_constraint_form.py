"""A penalty and its bound: every alpha has its s, and every s that binds its alpha (D72, D79)."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bottega.core.errors import InputError
from bottega.linear import AdaptiveLasso, ElasticNet, Lasso, LeastSquares, Ridge


def draw(seed=0, n=40, p=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + rng.normal(size=p)
    return X, X @ np.linspace(2, -1, p) + rng.normal(size=n)


MODELS = [Ridge(), Ridge(standardize=False), Lasso(), ElasticNet(l1_ratio=0.3), AdaptiveLasso()]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("shape", [(40, 4), (20, 30)])
def test_there_and_back(model, shape):
    X, y = draw(1, *shape)
    w = np.random.default_rng(2).integers(0, 3, len(y)).astype(float)
    before = np.inf
    for alpha in np.quantile(model.path(X, y, sample_weight=w).values, [0.3, 0.6, 0.9]):
        s = model.bound(X, y, alpha, sample_weight=w)
        assert s < before  # a stronger penalty is a tighter bound
        assert model.alpha_of_bound(X, y, s, sample_weight=w) == pytest.approx(alpha, rel=1e-6)
        before = s


def test_the_bound_is_that_of_the_fitted_coefficients_as_they_are_penalised():
    X, y = draw(3)
    scale = X.std(axis=0)
    b = Ridge(7.0).fit(X, y).coef_ * scale
    assert Ridge().bound(X, y, 7.0) == pytest.approx(np.sum(b**2))
    b = Lasso(0.3).fit(X, y).coef_ * scale
    assert Lasso().bound(X, y, 0.3) == pytest.approx(np.abs(b).sum())
    model = ElasticNet(0.3, l1_ratio=0.4, weights=[1, 2, 0, np.inf]).fit(X, y)
    b = (model.coef_ * scale)[:2]
    expected = np.array([1, 2]) @ (0.4 * np.abs(b) + 0.3 * b**2)
    assert model.bound(X, y, 0.3) == pytest.approx(expected)


@pytest.mark.parametrize("q", [1, 2])
def test_least_squares_within_the_bound_is_the_penalised_fit(q):
    """An independent solver of the constrained problem: SLSQP on split coefficients."""
    X, y = draw(4, p=3)
    A, b = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    model = Lasso() if q == 1 else Ridge()
    s = 0.5 * model.bound(X, y, 1e-6)

    def split(v):
        return v[:3] - v[3:]

    size = {1: np.sum, 2: lambda v: np.sum(split(v) ** 2)}[q]
    found = minimize(
        lambda v: np.sum((b - A @ split(v)) ** 2),
        np.full(6, 0.1),
        jac=lambda v: np.append(*[sign * 2 * A.T @ (A @ split(v) - b) for sign in (1, -1)]),
        bounds=[(0, None)] * 6,
        constraints={"type": "ineq", "fun": lambda v: s - size(v)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    fit = type(model)(model.alpha_of_bound(X, y, s)).fit(X, y)
    assert fit.coef_ * X.std(axis=0) == pytest.approx(split(found.x), abs=1e-5)


def test_a_bound_that_does_not_bind_is_no_penalty():
    X, y = draw(5)
    free = LeastSquares().fit(X, y).coef_ * X.std(axis=0)
    assert Lasso().alpha_of_bound(X, y, 1.01 * np.abs(free).sum()) == 0
    assert Ridge().alpha_of_bound(X, y, 1.01 * np.sum(free**2)) == 0
    assert Ridge().alpha_of_bound(X, y, 1e-9) > 1e5  # ridge shrinks without end


def test_bad_numbers_are_named():
    X, y = draw(6)
    for bad in (0, -1.0, np.nan, [1.0]):
        with pytest.raises(InputError, match="s must be a positive number"):
            Lasso().alpha_of_bound(X, y, bad)
        with pytest.raises(InputError, match="alpha must be a positive number"):
            Ridge().bound(X, y, bad)
