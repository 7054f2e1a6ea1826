"""What the notes say about the lasso: D79, D82, D85, D86, D91, with the corrected formulas."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.linear import AdaptiveLasso, ElasticNet, Lasso, LeastSquares


def soft(b, alpha):
    """D91 and D82 as corrected (M8): sgn(b) (|b| - alpha)_+."""
    return np.sign(b) * np.maximum(np.abs(b) - alpha, 0)


def draw(seed, n, p, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + rng.normal(size=p)
    X[:, 1:] += 0.5 * X[:, :1]
    return X, X[:, : min(p, 3)].sum(axis=1) + noise * rng.normal(size=n)


def optimality(model, X, y, weights, w=None):
    """Return by how much the conditions of the minimum fail, against the largest product."""
    w = np.ones(len(y)) if w is None else w
    center = w @ X / w.sum()
    scale = np.sqrt(w @ (X - center) ** 2 / w.sum())
    Z = (X - center) / scale
    residual = y - model.predict(X)
    b = model.coef_ * scale
    q = Z.T @ (w * residual) / w.sum()
    q -= model.alpha_ * weights * (1 - model.l1_ratio) * b
    limit = model.alpha_ * weights * model.l1_ratio
    inside = np.abs(q - limit * np.sign(b))[b != 0]
    outside = (np.abs(q) - limit)[b == 0]
    top = np.max(np.abs(Z.T @ (w * (y - np.average(y, weights=w)))) / w.sum())
    return max(np.max(inside, initial=0), np.max(outside, initial=0)) / top


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(30, 4), (12, 30), (25, 25), (60, 12)]),
    share=st.floats(0.005, 1.1),
    l1_ratio=st.sampled_from([1.0, 0.5, 0.05]),
    weighted=st.booleans(),
)
def test_conditions_of_the_minimum_hold(seed, shape, share, l1_ratio, weighted):
    X, y = draw(seed, *shape)
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.5, 1.0, 2.0], shape[1])
    weights[0] = 0.0
    w = rng.uniform(0.2, 3, shape[0]) if weighted else None
    alpha = share * np.std(y) / l1_ratio
    model = ElasticNet(alpha, l1_ratio=l1_ratio, weights=weights).fit(X, y, sample_weight=w)
    assert model.converged_
    # The linear solve leaves rounding alone: cond(G) times 1e-16, at most 1e-9 in these designs.
    assert optimality(model, X, y, weights, w) < 1e-9


def test_orthogonal_inputs_are_thresholded_softly():
    Q, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(40, 6)))
    Q -= Q.mean(axis=0)
    X = np.linalg.qr(Q)[0] * np.sqrt(40)  # columns of mean 0 and mean square 1
    b = np.array([2.0, 0.3, -2.0, 0.5, -0.51, 0.0])
    model = Lasso(0.5, standardize=False).fit(X, X @ b)
    assert model.coef_ == pytest.approx(soft(b, 0.5), abs=1e-12)
    # D82's numbers: 2 -> 1.5 and 0.3 -> 0.
    assert model.coef_[0] == pytest.approx(1.5)
    assert model.coef_[1] == 0


def test_one_input_agrees_with_a_search_of_the_objective():
    X, y = draw(5, 25, 1)
    model = Lasso(0.4, standardize=False).fit(X, y)
    x, r = X[:, 0] - X.mean(), y - y.mean()
    grid = np.linspace(-3, 3, 200_001)
    objective = (r @ r - 2 * grid * (x @ r) + grid**2 * (x @ x)) / 50 + 0.4 * np.abs(grid)
    assert model.coef_[0] == pytest.approx(grid[np.argmin(objective)], abs=6e-5)  # two grid steps


def test_unit_weights_are_the_lasso():
    X, y = draw(1, 40, 8)
    plain, weighted = Lasso(0.2).fit(X, y), Lasso(0.2, weights=np.ones(8)).fit(X, y)
    assert np.array_equal(plain.coef_, weighted.coef_)
    assert Lasso(0.2).fit(X, y).coef_ == pytest.approx(
        ElasticNet(0.2, l1_ratio=1.0).fit(X, y).coef_
    )


def test_adaptive_lasso_is_the_lasso_on_rescaled_columns():
    X, y = draw(2, 60, 6)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    pilot = LeastSquares().fit(Z, y).coef_
    rescaled = Lasso(0.1, standardize=False).fit(Z * np.abs(pilot), y)
    model = AdaptiveLasso(0.1).fit(X, y)
    assert model.coef_ * X.std(axis=0) == pytest.approx(rescaled.coef_ * np.abs(pilot), abs=1e-10)
    assert model.coef_ == pytest.approx(Lasso(0.1, adaptive=True).fit(X, y).coef_, abs=0)
    by_hand = Lasso(0.1, weights=1 / np.abs(pilot)).fit(X, y)
    assert model.coef_ == pytest.approx(by_hand.coef_, abs=1e-10)


def test_adaptive_lasso_finds_the_inputs_that_the_lasso_cannot():
    # The third input stands so between the other two that the lasso takes it in first (the
    # irrepresentable condition fails); with 2000 rows the pilot tells.
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3))
    X[:, 2] = 2 / 3 * X[:, 0] + 2 / 3 * X[:, 1] + 1 / 3 * X[:, 2]
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=2000)
    for alpha in Lasso().path(X, y).values[5:60:5]:
        assert Lasso(alpha).fit(X, y).coef_[2] != 0
    assert AdaptiveLasso().fit(X, y).coef_.nonzero()[0].tolist() == [0, 1]


@pytest.mark.parametrize("shape", [(30, 5), (15, 40)])
def test_smallest_penalty_without_inputs_is_exact(shape):
    X, y = draw(7, *shape)
    for model in (Lasso(), ElasticNet(l1_ratio=0.3), Lasso(weights=[0.0] + [1.0] * (shape[1] - 1))):
        curve = model.path(X, y)
        model.set_params(**curve.settings[0])
        free = 0 if model.weights is None else 1
        assert np.count_nonzero(model.fit(X, y).coef_) == free
        model.set_params(alpha=model.alpha * (1 - 1e-9))
        assert np.count_nonzero(model.fit(X, y).coef_) > free


@pytest.mark.parametrize("shape", [(25, 4), (12, 30)])
def test_weights_of_rows_are_copies_of_them(shape):
    X, y = draw(9, *shape)
    w = np.random.default_rng(0).integers(0, 4, shape[0])
    copies = np.repeat(np.arange(shape[0]), w)
    models = [Lasso(0.2), ElasticNet(0.1)]
    if shape[0] > shape[1]:  # a ridge pilot picks its penalty by leaving out rows, not copies
        models.append(AdaptiveLasso(0.05))
    for model in models:
        weighted = model.fit(X, y, sample_weight=w).coef_
        assert weighted == pytest.approx(model.fit(X[copies], y[copies]).coef_, abs=1e-9)
        assert weighted == pytest.approx(
            model.fit(X[w > 0], y[w > 0], sample_weight=w[w > 0]).coef_, abs=1e-12
        )


def test_excluded_and_free_inputs():
    X, y = draw(11, 50, 5)
    model = Lasso(0.3, weights=[0, np.inf, 1, 1, 1]).fit(X, y)
    assert model.coef_[1] == 0
    without = Lasso(0.3, weights=[0, 1, 1, 1]).fit(np.delete(X, 1, axis=1), y)
    assert np.delete(model.coef_, 1) == pytest.approx(without.coef_, abs=1e-12)
    # A free input has residuals without correlation with it.
    assert X[:, 0] @ (y - model.predict(X)) == pytest.approx(0, abs=1e-9)


def test_no_penalty_is_least_squares():
    X, y = draw(13, 40, 6)
    expected = LeastSquares().fit(X, y)
    model = Lasso(0.0).fit(X, y)
    assert model.coef_ == pytest.approx(expected.coef_, rel=1e-9)
    assert model.intercept_ == pytest.approx(expected.intercept_, rel=1e-9)
    relaxed = Lasso(1e-6, relax=True).fit(X, y)
    assert relaxed.coef_ == pytest.approx(expected.coef_, rel=1e-9)


def test_relaxed_fit_is_least_squares_on_what_was_picked():
    for shape in ((60, 8), (20, 50)):
        X, y = draw(15, *shape)
        picked = Lasso(0.4).fit(X, y).coef_.nonzero()[0]
        relaxed = Lasso(0.4, relax=True).fit(X, y)
        expected = LeastSquares().fit(X[:, picked], y)
        assert relaxed.coef_.nonzero()[0].tolist() == picked.tolist()
        assert relaxed.coef_[picked] == pytest.approx(expected.coef_, rel=1e-8)
        assert relaxed.intercept_ == pytest.approx(expected.intercept_, rel=1e-8)
        curve = Lasso(relax=True).path(X, y)
        plain = Lasso().path(X, y)
        assert np.all(curve.train_error <= plain.train_error * (1 + 1e-9))
