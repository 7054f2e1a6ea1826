"""The exact path: conditions at every knot, its ends, and scikit-learn's lars_path."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, lars_path

from bottega.core.errors import ConvergenceWarning
from bottega.linear import LeastAngle


def draw(seed=0, n=40, p=8, rho=0.5, signal=3):
    rng = np.random.default_rng(seed)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, p)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    b = np.zeros(p)
    b[:signal] = [2.0, -1.0, 0.5][:signal]
    return X * rng.uniform(0.5, 3, size=p) + 4, X @ b + rng.normal(size=n)


def scaled(X, y, w=None):
    w = np.ones(len(y)) if w is None else w
    A = X - np.average(X, axis=0, weights=w)
    scale = np.sqrt(np.average(A**2, axis=0, weights=w))
    return A / scale, y - np.average(y, weights=w), w / w.sum(), scale


def conditions(model, X, y, w=None):
    """Return, for each knot, the correlations and coefficients on the path's own scale."""
    A, Y, share, scale = scaled(X, y, w)
    for alpha, coef in zip(model.alphas_, model.coef_path_ * scale, strict=True):
        yield alpha, coef, A.T @ (share * (Y - A @ coef))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(40, 8), (30, 29), (12, 30), (10, 10), (25, 1)]),
    rho=st.sampled_from([0.0, 0.5, 0.95]),
    weighted=st.booleans(),
)
def test_every_knot_of_the_lasso_keeps_the_optimality_conditions(seed, shape, rho, weighted):
    n, p = shape
    X, y = draw(seed, n, p, rho, min(p, 3))
    w = np.random.default_rng(seed).uniform(0.3, 2, size=n) if weighted else None
    model = LeastAngle(1, method="lasso").fit(X, y, sample_weight=w)
    for alpha, coef, c in conditions(model, X, y, w):
        inside = coef != 0
        assert_allclose(c[inside], alpha * np.sign(coef[inside]), atol=1e-8)
        assert np.all(np.abs(c) <= alpha + 1e-8)
    assert np.all(np.diff(model.alphas_) <= 0)
    assert model.alphas_[-1] == 0


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(40, 8), (30, 29), (12, 30)]),
    rho=st.sampled_from([0.0, 0.95]),
)
def test_active_columns_of_lar_tie_all_along(seed, shape, rho):
    n, p = shape
    X, y = draw(seed, n, p, rho)
    model = LeastAngle(1).fit(X, y)
    assert len(model.alphas_) == min(n - 1, p) + 1
    for step, (alpha, _, c) in enumerate(conditions(model, X, y)):
        tied = model.active_[step - 1] if step else []
        assert len(tied) == step
        assert_allclose(np.abs(c[tied]), alpha, atol=1e-8)
        assert np.all(np.abs(c) <= alpha + 1e-8)


@pytest.mark.parametrize("mode", ["lar", "lasso"])
@pytest.mark.parametrize("intercept", [True, False])
def test_the_walk_ends_at_least_squares(mode, intercept):
    X, y = draw(1)
    model = LeastAngle(99, method=mode, fit_intercept=intercept).fit(X, y)
    A = np.column_stack([np.ones(40), X]) if intercept else X
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    # Backward-stable on data conditioned at about 1e2.
    assert_allclose(model.coef_, expected[-8:], rtol=1e-9)
    assert model.alpha_ == 0
    assert model.n_nonzero_coefs_ == len(model.alphas_) - 1


def test_ill_conditioned_data_keep_their_digits():
    # The condition number is 1e6: its square, that of a Gram matrix, would leave four digits.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4))
    X[:, 3] = X[:, 2] + 1e-6 * rng.normal(size=50)
    y = X @ [1.0, 2.0, 3.0, 1.0] + rng.normal(size=50)
    expected = np.linalg.lstsq(np.column_stack([np.ones(50), X]), y, rcond=None)[0][1:]
    assert_allclose(LeastAngle(9).fit(X, y).coef_, expected, rtol=1e-8)


def peer(X, y, mode, steps=500):
    A, Y, _, scale = scaled(X, y)
    alphas, _, coefs = lars_path(A, Y, method=mode, max_iter=steps)
    return alphas, coefs.T / scale


SETS = {
    "diabetes": load_diabetes(return_X_y=True),
    "drawn": draw(2, 100, 20),
    "wide": draw(3, 30, 60),
    "related": draw(4, 80, 15, 0.95),
}


@pytest.mark.parametrize("name", SETS)
def test_lasso_knots_and_coefficients_equal_scikit_learn(name):
    X, y = SETS[name]
    model = LeastAngle(1, method="lasso").fit(X, y)
    alphas, coefs = peer(X, y, "lasso")
    assert_allclose(model.alphas_, alphas, atol=1e-8 * alphas[0])
    assert_allclose(model.coef_path_, coefs, atol=1e-8 * np.abs(coefs).max())


@pytest.mark.parametrize("name", SETS)
def test_lar_knots_and_coefficients_equal_scikit_learn(name):
    X, y = SETS[name]
    model = LeastAngle(1).fit(X, y)
    # scikit-learn's "lar" loses the ties of its active columns once a coefficient changes its
    # sign (a test above shows that ours keeps them), so the two agree up to the first change.
    # Beyond it, it may even take columns for dependent, depending on the processor.
    signs = np.sign(model.coef_path_)
    change = np.any(signs[1:] * signs[:-1] < 0, axis=1)
    same = 1 + (int(np.argmax(change)) if change.any() else len(change))
    assert same >= min(6, len(model.alphas_))
    alphas, coefs = peer(X, y, "lar", same - 1)
    assert_allclose(model.alphas_[:same], alphas, atol=1e-8 * alphas[0])
    assert_allclose(model.coef_path_[:same], coefs, atol=1e-8 * np.abs(coefs).max())


def test_between_knots_the_path_is_linear_and_is_the_lasso():
    X, y = draw(5)
    A, Y, _, scale = scaled(X, y)
    model = LeastAngle(1, method="lasso").fit(X, y)
    for i in range(1, len(model.alphas_) - 1):
        alpha = (model.alphas_[i] + model.alphas_[i + 1]) / 2
        middle = (model.coef_path_[i] + model.coef_path_[i + 1]) / 2 * scale
        found = Lasso(alpha, fit_intercept=False, tol=1e-14, max_iter=100_000).fit(A, Y).coef_
        assert_allclose(middle, found, atol=1e-7)  # coordinate descent stops at its own tolerance


def test_lar_is_the_lasso_until_a_coefficient_comes_back_to_zero():
    X, y = load_diabetes(return_X_y=True)
    lar, lasso = LeastAngle(1).fit(X, y), LeastAngle(1, method="lasso").fit(X, y)
    (drop, column), *_ = lasso.drops_
    assert_allclose(lar.coef_path_[:drop], lasso.coef_path_[:drop], atol=1e-9)
    assert len(lar.drops_) == 0
    assert len(lasso.alphas_) == len(lar.alphas_) + 2 * len(lasso.drops_)
    assert lasso.coef_path_[drop, column] == 0
    assert column in lasso.active_[drop - 1]
    assert column not in lasso.active_[drop]
    assert lasso.entered_[drop] == -1


def test_an_exact_tie_lets_both_in_at_one_alpha():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    for mode in ("lar", "lasso"):
        model = LeastAngle(9, method=mode).fit(X, y)
        assert model.alphas_[0] == pytest.approx(model.alphas_[1])
        assert model.entered_[:2].tolist() == [0, 1]
        assert_allclose(model.coef_, [1, 1])


@pytest.mark.parametrize("mode", ["lar", "lasso"])
def test_columns_in_the_span_are_passed_by_and_named(mode):
    X, y = draw(6)
    more = np.column_stack([X, 3 * X[:, 0] + 1, X[:, 1] - X[:, 2], np.full(40, 7.0)])
    model = LeastAngle(99, method=mode).fit(more, y)
    assert_allclose(model.predict(more), LeastAngle(99).fit(X, y).predict(X), atol=1e-8)
    assert model.coef_[10] == 0
    assert np.count_nonzero(model.coef_) == 8
    # One column of each dependent set is out: a copy, and one of three that add up to zero.
    assert len(model.collinear_) == 2
    assert not set(model.collinear_) & set(model.support_)
    for alpha, _, c in conditions_of_some(model, more[:, :10], y):
        assert np.all(np.abs(c) <= alpha + 1e-8)


def conditions_of_some(model, X, y):
    A, Y, share, scale = scaled(X, y)
    for alpha, coef in zip(model.alphas_, model.coef_path_[:, :10] * scale, strict=True):
        yield alpha, coef, A.T @ (share * (Y - A @ coef))


def test_nothing_to_explain():
    X, _ = draw(7)
    model = LeastAngle(5).fit(X, np.full(40, 3.0))
    assert_array_equal(model.coef_, 0)
    assert model.alphas_.tolist() == [0]
    assert_allclose(model.predict(X), 3)


def test_a_perfect_fit_ends_early():
    X, _ = draw(8)
    y = 2 * X[:, 0] - X[:, 4]
    model = LeastAngle(99, method="lasso").fit(X, y)
    assert_allclose(model.coef_, [2, 0, 0, 0, -1, 0, 0, 0], atol=1e-9)


def test_max_iter_cuts_the_walk_without_a_warning():
    X, y = load_diabetes(return_X_y=True)
    whole = LeastAngle(1, method="lasso").fit(X, y)
    part = LeastAngle(99, method="lasso", max_iter=4).fit(X, y)
    assert part.n_nonzero_coefs_ == 4
    assert_allclose(part.coef_path_, whole.coef_path_[:5])
    curve = LeastAngle(method="lasso", max_iter=4).path(X, y)
    full = LeastAngle(method="lasso").path(X, y)
    assert_allclose(curve.criteria["cp"], full.criteria["cp"][:5])


def test_a_path_that_needs_more_room_gets_it(monkeypatch):
    from bottega.linear._least_angle import angle_path

    X, y = draw(9, 60, 40, 0.9)
    expected = LeastAngle(1, method="lasso").fit(X, y)
    asked = []

    def narrow(A, z, W, lasso, most_active, room):
        asked.append(room)
        return walk(A, z, W, lasso, most_active, room if len(asked) > 2 else 5)

    walk = angle_path.walk_path
    monkeypatch.setattr(angle_path, "walk_path", narrow)
    found = LeastAngle(1, method="lasso").fit(X, y)
    assert len(asked) == 3
    assert_allclose(found.coef_path_, expected.coef_path_)
    monkeypatch.setattr(angle_path, "walk_path", lambda *given: walk(*given[:-1], 5))
    with pytest.warns(ConvergenceWarning, match="Give max_iter="):
        LeastAngle(1, method="lasso").fit(X, y)
