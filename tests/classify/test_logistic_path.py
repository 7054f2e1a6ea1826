"""Logistic regression with a penalty: conditions of the minimum, invariances, path, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import compute_sample_weight

from bottega.classify import LogisticRegression
from bottega.core.errors import ConvergenceWarning, InputError, ParameterError


def lasso(alpha="auto", **given):
    """Return logistic regression with absolute values as its penalty."""
    return LogisticRegression(alpha=alpha, **{"l1_ratio": 1.0, **given})


def draw(seed, n, p, K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + rng.normal(size=p)
    score = X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(60, 4, 2), (20, 40, 2), (60, 4, 3), (30, 40, 3)]),
    alpha=st.floats(0.01, 0.3),
    l1_ratio=st.sampled_from([1.0, 0.5]),
)
def test_conditions_of_the_minimum_hold(seed, shape, alpha, l1_ratio):
    X, y = draw(seed, *shape)
    model = lasso(alpha, l1_ratio=l1_ratio, tol=1e-13).fit(X, y)
    assert model.converged_
    Y = (y[:, None] == np.arange(shape[2])).astype(float)
    residual = Y - model.predict_proba(X)
    if shape[2] == 2:
        residual = residual[:, 1:]
    # The intercepts' condition, then those of the coefficients of scaled inputs.
    assert residual.sum(axis=0) == pytest.approx(0, abs=1e-5)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    b = model.coef_ * X.std(axis=0)
    q = residual.T @ Z / len(y) - alpha * (1 - l1_ratio) * b
    limit = alpha * l1_ratio
    # A gap of 1e-13 bounds the failure of the conditions by about its root.
    assert np.all(np.abs(q[b == 0]) <= limit + 1e-6)
    assert q[b != 0] == pytest.approx(limit * np.sign(b[b != 0]), abs=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_weights_copies_and_sparse_inputs(K):
    X, y = draw(1, 40, 5, K)
    X[np.abs(X) < 0.5] = 0
    w = np.random.default_rng(0).integers(0, 4, 40)
    copies = np.repeat(np.arange(40), w)
    model = lasso(0.03, tol=1e-13)
    weighted = model.fit(X, y, sample_weight=w).coef_
    # Coefficients are known to the root of the gap.
    assert weighted == pytest.approx(model.fit(X[copies], y[copies]).coef_, abs=1e-5)
    assert weighted == pytest.approx(
        model.fit(sparse.csr_array(X), y, sample_weight=w).coef_, abs=1e-5
    )


@pytest.mark.parametrize("shape", [(50, 4, 2), (50, 4, 3), (20, 30, 2)])
def test_path_starts_with_nothing_and_equals_single_fits(shape):
    X, y = draw(2, *shape)
    model = lasso(alphas=12, cv=4, tol=1e-12)
    curve = model.path(X, y)
    assert curve.loss == "misclassification"
    assert not curve.coef[0].any()
    assert curve.coef[1].any()
    for k in (3, 11):
        cold = clone(model).set_params(alpha=curve.values[k]).fit(X, y)
        assert curve.at(k).alpha_ == curve.values[k]
        found = cold.coef_ if shape[2] > 2 else cold.coef_[0]
        assert curve.coef[k] == pytest.approx(found, abs=1e-4)
        assert curve.train_error[k] == pytest.approx(np.mean(cold.predict(X) != y))


def test_two_classes_and_their_names_in_any_form():
    X, y = draw(3, 60, 4, 2)
    numbers = lasso(0.05).fit(X, y)
    names = lasso(0.05).fit(X, np.array(["no", "yes"])[y])
    assert names.predict(X).tolist() == np.array(["no", "yes"])[numbers.predict(X)].tolist()
    turned = lasso(0.05).fit(X, 1 - y)
    assert turned.coef_ == pytest.approx(-numbers.coef_, abs=1e-4)
    assert numbers.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_a_class_of_one_row_is_survived():
    X, y = draw(4, 30, 3, 2)
    y[0] = 2
    model = lasso(alphas=10, cv=3).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.all(np.isfinite(model.path_.error))


def test_bad_input():
    X, y = draw(5, 30, 3, 2)
    with pytest.raises(InputError, match="only one class"):
        lasso().fit(X, np.zeros(30))
    with pytest.raises(ParameterError, match="alpha"):
        lasso(alpha=-1.0).fit(X, y)
    with pytest.raises(InputError, match=r"is not allowed; (alpha must be|give a list)"):
        lasso().path(X, y, values=[0.1, -1.0])
    with pytest.warns(ConvergenceWarning, match="duality gap.*max_iter"):
        lasso(1e-3, max_iter=1).fit(X, y)


@pytest.mark.parametrize("seed", [0, 2, 7])
def test_newton_stops_where_the_likelihood_is_level(seed):
    # Classes that can be separated: some probabilities drift towards zero for hundreds of steps.
    rng = np.random.default_rng(seed)
    group = rng.integers(20, size=60)
    X = np.hstack([rng.normal(size=(60, 5)), np.eye(20)[group]])
    y = np.where(group < 4, 0, np.where(X[:, 0] + 0.2 * X[:, 1] > 0, 1, 2))
    weakest = lasso().path(X, y, cv=2).values[-1]
    model = lasso(weakest).fit(X, y)
    assert model.n_iter_ <= 20
    assert model.converged_


@pytest.mark.parametrize("by_class", ["balanced", {0: 1.0, 1: 3.0}])
def test_weights_of_classes_are_weights_of_their_rows(by_class):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 1).astype(int)
    found = lasso(class_weight=by_class).fit(X, y)
    expected = lasso().fit(X, y, sample_weight=compute_sample_weight(by_class, y))
    assert found.alpha_ == expected.alpha_
    assert found.coef_ == pytest.approx(expected.coef_, abs=1e-12)
    assert found.predict(X).mean() > lasso().fit(X, y).predict(X).mean()
