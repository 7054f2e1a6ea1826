"""One problem, four decompositions; sums of losses block by block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bottega.core.judge import LossSums, mean_and_se
from bottega.core.rows import Rows
from bottega.linear import Ridge
from bottega.linear._decomposition import leave_one_out, problem
from bottega.linear._decomposition.problem import (
    decompose_moments,
    decompose_rows,
    moments_of,
)
from bottega.linear._decomposition.spectrum import by_dual_gram, by_gram, by_svd, by_triangle


def draw(n, p, q=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X - X.mean(axis=0), rng.normal(size=(n, q))


def decompositions(X, y):
    if X.shape[0] > X.shape[1]:
        yield by_gram(X.T @ X, X.T @ y)
        R = np.linalg.qr(np.hstack([X, y]), mode="r")
        p = X.shape[1]
        yield by_triangle(R[:p, :p], R[:p, p:], len(X))
    else:
        yield by_dual_gram(X @ X.T, X.T, y, len(X) - 1)[0]


@pytest.mark.parametrize("shape", [(30, 5), (8, 20)])
def test_every_decomposition_gives_the_same_answers(shape):
    X, y = draw(*shape)
    alphas = np.array([10.0, 0.1])
    svd, U = by_svd(X, y)
    assert svd.rank == min(shape[0] - 1, shape[1])
    assert_allclose(U.T @ U, np.eye(svd.rank), atol=1e-12)
    P = np.linalg.inv(X.T @ X + 10 * np.eye(shape[1]))
    assert_allclose(svd.coef(alphas)[0], (P @ X.T @ y).T, rtol=1e-9, atol=1e-12)
    points = np.random.default_rng(1).normal(size=(4, shape[1]))
    norms = np.sum(points**2, axis=1)
    for kind, M in (("sampling", P @ X.T @ X @ P), ("posterior", P)):
        assert_allclose(svd.matrix(10.0, kind), M, rtol=1e-9, atol=1e-12)
        assert_allclose(
            svd.quadratic(points @ svd.V, norms, 10.0, kind),
            np.einsum("ij,jk,ik->i", points, M, points),
            rtol=1e-9,
        )
    for other in decompositions(X, y):
        assert_allclose(other.lam, svd.lam, rtol=1e-10)
        assert_allclose(other.coef(alphas), svd.coef(alphas), rtol=1e-9, atol=1e-12)
        assert_allclose(np.abs(other.rotated), np.abs(svd.rotated), rtol=1e-8, atol=1e-10)
        assert_allclose(other.matrix(0.1, "posterior"), svd.matrix(0.1, "posterior"), atol=1e-8)


def test_gram_matrices_that_lose_digits_are_refused():
    X, y = draw(30, 3)
    near = np.column_stack([X, X[:, 0] + 1e-5 * X[:, 1]])
    assert by_gram(near.T @ near, near.T @ y) is None
    assert by_gram(np.zeros((2, 2)), np.zeros((2, 1))) is None
    wide, y = draw(6, 20)
    wide[1] = wide[0] + 1e-6 * wide[2]
    wide -= wide.mean(axis=0)
    assert by_dual_gram(wide @ wide.T, wide.T, y, 5) is None


@pytest.mark.parametrize(
    ("shape", "collinear", "solver"),
    [
        ((40, 4), False, "svd"),
        ((4, 40), False, "svd"),
        ((9000, 60), False, "gram"),
        ((9000, 60), True, "qr"),
        ((100, 2500), False, "dual"),
        ((100, 2500), True, "svd"),
    ],
)
def test_the_solver_suits_the_data_and_all_agree(shape, collinear, solver, monkeypatch):
    rng = np.random.default_rng(3)
    X = rng.normal(size=shape) + 1
    y = X[:, :3].sum(axis=1) + rng.normal(size=shape[0])
    if collinear and shape[0] > shape[1]:
        X[:, -1] = X[:, 0] + X[:, 1]
    elif collinear:
        X[-1] = X[0]
    model = Ridge(select="min").fit(X, y)
    assert model.solver_ == solver
    monkeypatch.setattr(problem, "_SMALL", np.inf)
    exact = Ridge(select="min").fit(X, y)
    assert exact.solver_ == "svd"
    assert model.alpha_ == exact.alpha_
    assert_allclose(model.coef_, exact.coef_, rtol=1e-8, atol=1e-10)
    assert_allclose(model.path_.error, exact.path_.error, rtol=1e-8)
    assert_allclose(model.leverage_, exact.leverage_, rtol=1e-8)
    assert_allclose(model.smoother_.fitted, exact.smoother_.fitted, rtol=1e-8, atol=1e-8)
    assert_allclose(
        model.predict(X[:5], return_std=True), exact.predict(X[:5], return_std=True), rtol=1e-8
    )


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 49), max_size=5), st.booleans())
@settings(max_examples=40, deadline=None)
def test_loss_sums_equal_the_mean_and_its_standard_error(seed, cuts, weighted):
    rng = np.random.default_rng(seed)
    loss = rng.exponential(size=(50, 3)) * [1, 1e6, 0] + [0, 0, 2.0]
    w = rng.uniform(0.1, 5, size=50) if weighted else None
    sums = LossSums()
    for rows in np.split(np.arange(50), sorted(cuts)):
        part = LossSums()
        if len(rows):
            part.update(loss[rows], None if w is None else w[rows])
        sums.merge(part)
    # The third column is constant: its standard error is exactly zero but for rounding.
    assert_allclose(sums.mean_and_se(), mean_and_se(loss, w), rtol=1e-10, atol=1e-14)


def test_blocks_of_any_size_give_the_same_errors(monkeypatch):
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    w = rng.uniform(0.5, 2, size=50)
    alphas = np.array([5.0, 0.5, 0.0])
    how = {"standardize": True, "fit_intercept": True}
    whole = decompose_rows(Rows(X, y, w), **how)
    expected = leave_one_out.leave_one_out(whole.reduce, whole.spectrum, alphas)
    monkeypatch.setattr(leave_one_out, "BLOCK", 7)
    monkeypatch.setattr(problem, "_STREAM", 11)
    parts = decompose_moments(moments_of([(X, y, w)]), [(X, y, w)], 2, **how)
    found = leave_one_out.leave_one_out(parts.reduce, parts.spectrum, alphas)
    for name in ("error", "error_se", "rss"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-10, err_msg=name)
    assert_allclose(parts.tss, whole.tss, rtol=1e-12)
    assert_allclose(parts.log_weights, whole.log_weights, rtol=1e-12)


def test_saturated_fits_keep_their_digits_at_tiny_penalties():
    # With more columns than rows residual and leverage gap both vanish with alpha; their ratio,
    # the leave-one-out residual, tends to K^-1 y / diag K^-1 on centred rows (here: refits).
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    path = Ridge(standardize=False).path(X, y, values=[1e-10])
    errors = []
    for i in range(10):
        rest = np.arange(10) != i
        A = X[rest] - X[rest].mean(axis=0)
        coef = np.linalg.pinv(A) @ (y[rest] - y[rest].mean())
        errors.append(y[i] - y[rest].mean() - (X[i] - X[rest].mean(axis=0)) @ coef)
    assert_allclose(path.error[0], np.mean(np.square(errors)), rtol=1e-8)
