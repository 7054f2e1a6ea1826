"""Statements of the notes on latent structure that are misprinted, in their corrected form.

The others stand beside what they are about: E18 and E20 (probabilistic components), E22, E25 and
E27 (factors of ratings), E23 (`metrics.recommendations`).
"""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.cluster import GaussianMixture, KMeans
from bottega.core.errors import InputError
from bottega.latent import PCA, MatrixFactorization, ProbabilisticPCA, svd


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(4)
    return rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4)) + rng.normal(size=4)


def test_a_map_of_rows_stands_at_the_right_and_its_transpose_at_the_left(X):
    """E13: with X' = X F the mean is m F and the covariance F' S F, not F m and F S F'."""
    F = PCA(4).fit(X).components_.T  # not symmetric: the two differ
    moved, S = X @ F, np.cov(X.T, bias=True)
    assert_allclose(moved.mean(axis=0), X.mean(axis=0) @ F)
    assert_allclose(np.cov(moved.T, bias=True), F.T @ S @ F, atol=1e-10)
    assert np.max(np.abs(F.T @ S @ F - F @ S @ F.T)) > 0.1


def test_a_negative_covariance_is_dependence():
    """E14: its sign is a direction; uncorrelated is zero, and even then columns may depend."""
    t = np.linspace(-1, 1, 41)
    falling = PCA().fit(np.column_stack([t, -2 * t]))
    assert falling.get_covariance()[0, 1] < 0
    assert falling.explained_variance_ratio_[0] == pytest.approx(1)  # one follows from the other
    bent = np.cov(t, t**2)[0, 1]
    assert bent == pytest.approx(0, abs=1e-15)


def test_eigenvectors_are_orthogonal_and_not_symmetric(X):
    """E15: Gamma' Gamma = I, which is what makes the covariance of the scores diagonal."""
    G = PCA().fit(X).components_.T
    assert_allclose(G.T @ G, np.eye(4), atol=1e-12)
    assert np.max(np.abs(G - G.T)) > 0.1


def test_deflation_takes_away_the_product_of_the_eigenvector_with_itself(X):
    """E17: A g = lambda g; A - lambda g g' has the other eigenvalues, A less the vector has not."""
    A = np.cov(X.T)
    first = PCA(1, svd_solver="power", iterated_power=3000, random_state=0).fit(X)
    g, top = first.components_[0], first.explained_variance_[0]
    assert_allclose(A @ g, top * g, rtol=1e-6)
    left = np.sort(np.linalg.eigvalsh(A - top * np.outer(g, g)))
    exact = np.sort(np.r_[0.0, PCA().fit(X).explained_variance_[1:]])
    assert_allclose(left, exact, atol=1e-8)
    assert np.max(np.abs(np.linalg.eigvals(A - g) - exact)) > 0.1


def test_missing_values_are_of_the_probabilistic_model(X):
    """E19: principal components have no density to take marginals of."""
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(InputError, match="missing"):
        PCA(2).fit(holed)
    assert ProbabilisticPCA(2).fit(holed).impute(holed)[3, 1] == pytest.approx(X[3, 1], abs=3)


def test_singular_vectors_exist_where_eigenvectors_do_not():
    """E21: a matrix need not be diagonal, nor square; V' has r rows, and U and V are vectors."""
    A = np.array([[0.0, 1.0, 2.0], [0.0, 0.0, 1.0]])
    found = svd(A)
    assert found.U.shape == (2, 2)
    assert found.Vt.shape == (2, 3)
    assert_allclose((found.U * found.singular_values) @ found.Vt, A, atol=1e-14)
    assert_allclose(found.singular_values**2, np.sort(np.linalg.eigvalsh(A @ A.T))[::-1])


def test_rows_are_users_and_columns_items_throughout():
    """E24: the notes swap q and p; here r = q_user . p_item, and the transpose swaps them."""
    rng = np.random.default_rng(0)
    R = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 4))
    how = {"alpha": 0.0, "biases": False, "max_iter": 200, "tol": 1e-12}
    one, other = (MatrixFactorization(2, **how).fit(table) for table in (R, R.T))
    assert one.user_factors_.shape == (6, 2)
    assert one.item_factors_.shape == (4, 2)
    assert_allclose(one.user_factors_ @ one.item_factors_.T, R, atol=1e-6)
    assert_allclose(other.item_factors_ @ other.user_factors_.T, R, atol=1e-6)


def test_the_penalty_is_the_square_of_the_length():
    """E26: not its root. The objective at the minimum is the sum of squares and squared lengths."""
    rng = np.random.default_rng(1)
    R = rng.normal(size=(8, 3)) @ rng.normal(size=(3, 5))
    model = MatrixFactorization(2, alpha=0.7, biases=False, max_iter=500, tol=1e-12).fit(R)
    P, Q = model.user_factors_, model.item_factors_
    squares = np.sum((R - P @ Q.T) ** 2) + 0.7 * (np.sum(P**2) + np.sum(Q**2))
    assert model.objective_[-1] == pytest.approx(squares, rel=1e-9)


def test_there_are_k_to_the_n_assignments():
    """E28: K^N of them, not N^K; each row is in one cluster. The best is what k-means finds."""
    X = np.array([[0.0], [0.3], [1.0], [4.0], [4.5], [9.0]])
    n, K = len(X), 3
    tried = list(itertools.product(range(K), repeat=n))
    assert len(tried) == K**n != n**K
    least = min(
        sum(np.sum((X[of] - X[of].mean()) ** 2) for k in range(K) if (of := z == k).any())
        for z in map(np.array, tried)
    )
    model = KMeans(K, n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(least)
    assert np.bincount(model.labels_).sum() == n


def test_diagonal_covariances_that_are_shared_have_a_linear_boundary():
    """E29: a quadratic boundary needs covariances that differ, not diagonal ones."""
    rng = np.random.default_rng(2)
    X = np.r_[rng.normal(size=(80, 2)), rng.normal([3, 1], [1, 2], size=(80, 2))]
    line = np.linspace([-2.0, -2.0], [5.0, 3.0], 5)
    for kind, curved in (("EEI", False), ("VVI", True)):
        logs = (
            GaussianMixture(2, covariance_type=kind, random_state=0).fit(X).predict_log_proba(line)
        )
        bend = np.max(np.abs(np.diff(logs[:, 0] - logs[:, 1], n=2)))
        assert bool(bend > 1e-4) == curved
