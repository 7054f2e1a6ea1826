"""The lasso and the elastic net with what scikit-learn's have: bounds, warm starts, no l1 share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import linear_model

from bottega.core.errors import InputError
from bottega.linear import AdaptiveLasso, ElasticNet, Lasso, Ridge


def draw(seed=0, n=60, p=12):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 0.5 * rng.normal(size=(n, 1))
    coef = np.resize([2.0, -1.0, 0.0, 1.0], p)
    return X, 3 + X @ coef + rng.normal(size=n), rng.integers(1, 4, size=n).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.3])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_positive_coefficients_equal_scikit_learn(container, l1_ratio, shape, intercept, weighted):
    X, y, w = draw(1, *shape)
    w = w if weighted else None
    how = {"l1_ratio": l1_ratio, "fit_intercept": intercept, "positive": True}
    theirs = linear_model.ElasticNet(0.05, tol=1e-14, max_iter=10**6, **how).fit(X, y, w)
    ours = ElasticNet(0.05, standardize=False, **how).fit(container(X), y, w)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    assert np.all(ours.coef_ >= 0)
    assert 0 < np.count_nonzero(ours.coef_) < shape[1]
    assert 0 <= ours.dual_gap_ < 1e-10
    plain = ElasticNet(0.05, standardize=False, **how | {"positive": False}).fit(X, y, w)
    assert np.any(plain.coef_ < 0)


@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
def test_a_positive_path_starts_where_the_first_column_enters(shape):
    X, y, _ = draw(2, *shape)
    curve = Lasso(positive=True, alphas=30).path(X, y)
    assert np.all(curve.coef >= 0)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    assert_allclose(curve.values[0], np.max(scaled.T @ (y - y.mean())) / len(y))
    assert curve.df[0] == 1
    assert curve.df[1] > 1
    for k in (5, 20):
        one = Lasso(curve.values[k], positive=True).fit(X, y)
        assert_allclose(one.coef_, curve.coef[k], atol=1e-10)
    assert np.all(AdaptiveLasso(positive=True).fit(X, y).coef_ >= 0)


@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
def test_free_and_relaxed_columns_keep_the_bound(shape):
    X, y, _ = draw(3, *shape)
    X[:, 0] = -y + X[:, 0]  # it would have a negative coefficient
    weights = np.r_[0.0, np.ones(shape[1] - 1)]
    model = Lasso(0.1, weights=weights, positive=True).fit(X, y)
    assert model.coef_[0] == 0
    relaxed = Lasso(0.1, relax=True, positive=True).fit(X, y)
    assert np.all(relaxed.coef_ >= 0)
    used = relaxed.coef_ > 0
    A = np.column_stack([np.ones(len(y)), X[:, used]])
    assert_allclose(relaxed.coef_[used], np.linalg.lstsq(A, y, rcond=None)[0][1:], rtol=1e-7)
    assert np.all(used <= (Lasso(0.1, positive=True).fit(X, y).coef_ > 0))


@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
@pytest.mark.parametrize("standardize", [True, False])
def test_without_absolute_values_the_elastic_net_is_ridge(shape, standardize):
    X, y, w = draw(4, *shape)
    how = {"standardize": standardize}
    ridge = Ridge(3.0, **how).fit(X, y, w)
    net = ElasticNet(3.0 / w.sum(), l1_ratio=0, **how).fit(X, y, w)
    assert_allclose(net.coef_, ridge.coef_, rtol=1e-8, atol=1e-11)
    alphas = np.array([10.0, 1.0])
    curve = ElasticNet(l1_ratio=0, alphas=alphas, **how).path(X, y)
    assert_allclose(curve.coef, Ridge(**how).path(X, y, values=alphas * len(y)).coef, rtol=1e-8)


@pytest.mark.parametrize("shape", [(60, 12), (25, 60)])
@pytest.mark.parametrize("positive", [True, False])
def test_a_warm_start_saves_sweeps_and_changes_nothing(shape, positive):
    X, y, _ = draw(5, *shape)
    model = Lasso(0.05, warm_start=True, positive=positive)
    cold = model.fit(X, y)
    coef, sweeps = cold.coef_.copy(), cold.n_iter_
    assert sweeps > 0
    assert model.fit(X, y).n_iter_ == 0
    assert_allclose(model.coef_, coef, rtol=1e-13)
    model.set_params(alpha=0.04).fit(X, y)
    assert_allclose(model.coef_, Lasso(0.04, positive=positive).fit(X, y).coef_, atol=1e-10)
    model.fit(X[:, :5], y)  # other inputs: from zero again
    assert_allclose(model.coef_, Lasso(0.04, positive=positive).fit(X[:, :5], y).coef_, atol=1e-10)
    model.coef_ = np.full(5, 1e3)
    model.fit(X[:, :5], y)
    assert_allclose(model.coef_, Lasso(0.04, positive=positive).fit(X[:, :5], y).coef_, atol=1e-9)


def test_the_answer_does_not_depend_on_what_other_solvers_need():
    X, y, _ = draw(6)
    plain = Lasso(0.1).fit(X, y)
    how = {"precompute": X.T @ X, "copy_X": False, "selection": "random", "random_state": 1}
    other = Lasso(0.1, **how).fit(X, y)
    assert np.array_equal(other.coef_, plain.coef_)
    assert_allclose(plain.sparse_coef_.toarray()[0], plain.coef_)
    with pytest.raises(InputError, match="selection='best'"):
        Lasso(0.1, selection="best").fit(X, y)


def test_the_duality_gap_is_that_of_the_objective():
    X, y, _ = draw(7, 40, 6)
    y = y * 100
    with pytest.warns(UserWarning, match="did not converge"):
        model = Lasso(0.5, max_iter=1, tol=1e-12, standardize=False).fit(X, y)
    best = Lasso(0.5, standardize=False).fit(X, y)

    def objective(fit):
        return 0.5 * np.mean((y - fit.predict(X)) ** 2) + 0.5 * np.sum(np.abs(fit.coef_))

    assert objective(model) - objective(best) <= model.dual_gap_ * (1 + 1e-9) + 1e-9


def test_values_of_the_path_may_be_given():
    X, y, _ = draw(8)
    alphas = [0.3, 0.1, 0.03]
    for model in (Lasso(alphas=alphas), ElasticNet(alphas=alphas), Ridge(alphas=alphas)):
        assert_allclose(model.fit(X, y).path_.values, alphas)
        assert model.alpha_ in alphas
    for bad in ([-1.0, 1.0], [], 1, ["a"]):
        with pytest.raises(InputError, match="alphas="):
            Lasso(alphas=bad).fit(X, y)
