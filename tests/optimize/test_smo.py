"""The dual of support vector machines: against a general solver, and in each of its ways."""

import numpy as np
import pytest
from scipy.optimize import minimize

from bottega.optimize import smo
from bottega.optimize.row_cache import RowCache
from bottega.optimize.smo import BoxProblem, solve_dual


class Matrix:
    """A kernel matrix as the solver takes it, with a count of the entries it was asked for."""

    def __init__(self, K):
        self.K, self.n, self.dtype, self.entries = K, len(K), K.dtype, 0

    def block(self, rows, columns):
        found = self.K[rows][:, columns]
        self.entries += found.size
        return np.ascontiguousarray(found)

    def take(self, rows):
        return Matrix(self.K[np.ix_(rows, rows)])


def rows(n, seed=0, gamma=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    distances = np.sum((X[:, None] - X[None]) ** 2, axis=2)
    return np.exp(-gamma * distances), y


def solved(gram, problem, *, cache=None, start=None, **given):
    start = np.zeros(gram.n) if start is None else start
    cache = cache or RowCache(gram, 50, smo.ROWS_AT_ONCE)
    options = {"tol": 1e-3, "max_iter": 10**6, "max_steps": 10**7} | given
    return solve_dual(gram, problem, start, problem.z - gram.K @ start, cache, **options)


def classes(y, C=2.0):
    return BoxProblem(y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0))


def objective(K, problem, beta):
    return 0.5 * beta @ K @ beta - problem.z @ beta + problem.eps * np.abs(beta).sum()


@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_the_minimum_is_that_of_a_general_solver(eps):
    K, y = rows(25)
    problem = classes(y)
    if eps:
        problem = BoxProblem(y + 0.3 * np.arange(25) / 25, np.full(25, -2.0), np.full(25, 2.0), eps)
    found = solved(Matrix(K), problem)
    # The general solver has each coefficient in two parts, so that its objective is smooth.
    both = np.r_[problem.z - eps, -(problem.z + eps)]
    wide = np.block([[K, -K], [-K, K]])
    answer = minimize(
        lambda a: 0.5 * a @ wide @ a - both @ a,
        np.zeros(50),
        jac=lambda a: wide @ a - both,
        bounds=[
            *((0.0, max(high, 0.0)) for high in problem.high),
            *((0.0, max(-low, 0.0)) for low in problem.low),
        ],
        constraints={"type": "eq", "fun": lambda a: a[:25].sum() - a[25:].sum()},
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    assert objective(K, problem, found.beta) == pytest.approx(answer.fun, abs=1e-7)
    assert found.gap < 1e-10
    assert found.beta.sum() == pytest.approx(0, abs=1e-12)
    assert np.all((found.beta >= problem.low) & (found.beta <= problem.high))
    assert found.residual == pytest.approx(problem.z - K @ found.beta, abs=1e-12)


@pytest.fixture(scope="module")
def large():
    K, y = rows(1500, seed=1)
    problem = classes(y)
    return K, problem, solved(Matrix(K), problem)


@pytest.mark.parametrize("megabytes", [50, 0.01])
@pytest.mark.parametrize("shrinking", [True, False])
def test_rows_left_out_and_rows_forgotten_change_nothing(large, shrinking, megabytes, monkeypatch):
    K, problem, expected = large
    monkeypatch.setattr(smo, "WORKING", 64)
    monkeypatch.setattr(smo, "ROWS_AT_ONCE", 128)
    gram = Matrix(K)
    cache = RowCache(gram, megabytes, 128)
    found = solved(gram, problem, cache=cache, shrinking=shrinking)
    assert found.n_iter > 1
    assert found.beta == pytest.approx(expected.beta, abs=1e-8)
    assert found.bias == pytest.approx(expected.bias, abs=1e-9)


def test_single_precision_is_within_the_tolerance(large):
    K, problem, expected = large
    found = solved(Matrix(K.astype(np.float32)), problem, tol=1e-4)
    assert found.converged
    assert objective(K, problem, found.beta) == pytest.approx(
        objective(K, problem, expected.beta), rel=1e-6
    )


def test_rows_are_computed_once_while_there_is_room(large):
    K, problem, _ = large
    gram = Matrix(K)
    cache = RowCache(gram, 50, smo.ROWS_AT_ONCE)
    first = solved(gram, problem, cache=cache)
    before = gram.entries
    wider = BoxProblem(problem.z, 1.1 * problem.low, 1.1 * problem.high)
    again = solved(gram, wider, cache=cache, start=first.beta)
    fresh = Matrix(K)
    cold = solved(fresh, wider)
    assert again.beta == pytest.approx(cold.beta, abs=1e-8)
    assert gram.entries - before < 0.5 * fresh.entries


def test_the_most_rounds_are_kept(large, monkeypatch):
    K, problem, _ = large
    monkeypatch.setattr(smo, "WORKING", 64)
    monkeypatch.setattr(smo, "ROWS_AT_ONCE", 128)
    gram = Matrix(K)
    found = solved(gram, problem, cache=RowCache(gram, 50, 128), max_iter=3)
    assert found.n_iter == 3
    assert not found.converged
    assert found.gap > 1e-3


def test_a_matrix_without_full_rank_has_its_minimum_too():
    """Rows that come twice, and a kernel with two features."""
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(30, 2)), 2, axis=0)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    K = X @ X.T
    found = solved(Matrix(K), classes(y, 5.0))
    assert found.gap < 1e-8
    w = X.T @ found.beta
    assert K @ found.beta == pytest.approx(X @ w, abs=1e-10)


def test_without_free_rows_the_bias_is_halfway():
    y = np.array([1.0, -1.0])
    problem = classes(y, 0.1)
    found = solved(Matrix(np.eye(2)), problem)
    assert np.array_equal(np.abs(found.beta), [0.1, 0.1])
    assert found.bias == pytest.approx(0)
