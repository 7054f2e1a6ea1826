"""The searches themselves: exact against brute force, and the rules the walks follow."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bottega.linear import SubsetSelection
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._subset.search import best_subsets, search_subsets


def rss_of(X, y, columns, w=None, intercept=True):
    A = np.column_stack([np.ones(len(y)), X[:, columns]]) if intercept else X[:, columns]
    root = np.ones(len(y)) if w is None else np.sqrt(w)
    b = np.linalg.lstsq(A * root[:, None], y * root, rcond=None)[0]
    return float(np.sum(root**2 * (y - A @ b) ** 2))


def brute_force(X, y, size, must=(), **how):
    return min(
        rss_of(X, y, list(each), **how)
        for each in combinations(range(X.shape[1]), size)
        if set(must) <= set(each)
    )


def draw(seed, n=40, p=6, rho=0.0, signal=2, noise=1.0):
    rng = np.random.default_rng(seed)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, p)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    b = np.zeros(p)
    b[:signal] = rng.choice([-1.0, 0.5, 2.0], size=signal)
    return X, 3 + X @ b + noise * rng.normal(size=n)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    p=st.integers(1, 8),
    rho=st.sampled_from([0.0, 0.5, 0.99]),
    signal=st.integers(0, 3),
    noise=st.sampled_from([0.01, 1.0, 10.0]),
    weighted=st.booleans(),
    intercept=st.booleans(),
)
def test_best_is_brute_force(seed, p, rho, signal, noise, weighted, intercept):
    X, y = draw(seed, 20, p, rho, min(signal, p), noise)
    w = np.random.default_rng(seed).uniform(0.2, 3, size=20) if weighted else None
    found = SubsetSelection(1, fit_intercept=intercept).fit(X, y, sample_weight=w)
    assert [len(each) for each in found.subsets_] == list(range(p + 1))
    for size, (subset, rss) in enumerate(zip(found.subsets_, found.rss_, strict=True)):
        least = brute_force(X, y, size, w=w, intercept=intercept)
        assert rss == pytest.approx(rss_of(X, y, list(subset), w=w, intercept=intercept), rel=1e-8)
        assert rss <= least * (1 + 1e-8)


# Chains and cancelling pairs are where greedy bounds fail and bounds by eigenvalues are loose.
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["chain", "powers", "suppressors", "factors"])
def test_best_is_brute_force_on_hard_designs(kind, seed):
    rng = np.random.default_rng(seed)
    n, p = 60, 10
    Z = rng.normal(size=(n, p))
    if kind == "chain":
        X = np.cumsum(Z, axis=1)
        y = X[:, 3] - X[:, 5] + rng.normal(size=n)
    elif kind == "powers":
        x = rng.uniform(-1, 1, size=n)
        X = x[:, None] ** np.arange(1, p + 1)
        y = np.sin(3 * x) + 0.1 * rng.normal(size=n)
    elif kind == "suppressors":  # each pair explains together what neither does alone
        X = Z.copy()
        X[:, 5:] = Z[:, :5] + 0.05 * Z[:, 5:]
        y = (X[:, 0] - X[:, 5]) * 20 + (X[:, 1] - X[:, 6]) * 10 + rng.normal(size=n)
    else:
        X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + 0.2 * Z
        y = rng.normal(size=n)
    found = SubsetSelection(1).fit(X, y)
    for size in range(p + 1):
        # The powers of one input are conditioned at 1e4, squared in the bounds: 1e-6 is safe.
        assert found.rss_[size] <= brute_force(X, y, size) * (1 + 1e-6)


def test_branch_and_bound_looks_at_few_of_all_subsets():
    X, y = draw(1, n=300, p=25, signal=5)
    A, b = X - X.mean(axis=0), y - y.mean()
    subsets, nodes = best_subsets(A, b, 0.0, 300, 25)
    assert_array_equal(subsets.sum(axis=1), np.arange(26))
    assert nodes < 2**25 / 1000


@pytest.mark.parametrize("method", ["best", "forward", "backward", "hybrid"])
def test_forced_columns_are_in_every_subset(method):
    X, y = draw(3, p=7)
    found = SubsetSelection(3, method=method, force=[6, 4]).fit(X, y)
    assert [each.tolist() for each in found.subsets_[:1]] == [[4, 6]]
    for subset in found.subsets_:
        assert {4, 6} <= set(subset.tolist())
    if method == "best":
        for size in range(2, 8):
            assert found.rss_[size - 2] == pytest.approx(brute_force(X, y, size, must=(4, 6)))
    assert_allclose(found.rss_[-1], rss_of(X, y, list(range(7))))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), rho=st.sampled_from([0.0, 0.8]))
def test_walks_take_the_best_single_step(seed, rho):
    X, y = draw(seed, 30, 6, rho)
    ahead = SubsetSelection(1, method="forward").fit(X, y).subsets_
    for small, large in pairwise(ahead):
        others = [j for j in range(6) if j not in small]
        gains = [rss_of(X, y, [*small, j]) for j in others]
        assert set(large) - set(small) == {others[int(np.argmin(gains))]}
    behind = SubsetSelection(1, method="backward").fit(X, y).subsets_[::-1]
    for large, small in pairwise(behind):
        losses = [rss_of(X, y, [k for k in large if k != j]) for j in large]
        assert set(large) - set(small) == {large[int(np.argmin(losses))]}


def test_hybrid_leaves_a_column_that_others_made_useless():
    # x0 is nearly x1 + x2, which are the truth: forward takes x0 first and never lets it go.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(100, 3))
    X[:, 0] = X[:, 1] + X[:, 2] + 0.3 * rng.normal(size=100)
    y = X[:, 1] + X[:, 2] + 0.1 * rng.normal(size=100)
    assert SubsetSelection(2, method="forward").fit(X, y).support_.tolist() != [1, 2]
    assert SubsetSelection(2, method="hybrid").fit(X, y).support_.tolist() == [1, 2]
    assert SubsetSelection(2, method="best").fit(X, y).support_.tolist() == [1, 2]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.sampled_from([8, 40]))
def test_hybrid_ends_and_is_never_worse_than_the_first_step(seed, n):
    X, y = draw(seed, n, 10, 0.7, 4)
    found = SubsetSelection(1, method="hybrid").fit(X, y)
    sizes = [len(each) for each in found.subsets_]
    assert sizes == list(range(min(10, n - 2) + 1))
    assert np.all(np.diff(found.rss_) <= 1e-9 * found.rss_[0])


def test_independent_columns():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(20, 5))
    A[:, 2] = A[:, 0] - 3 * A[:, 1]
    A[:, 4] = 0
    assert independent_columns(A).tolist() == [True, True, False, True, False]
    wide = np.column_stack([A[:3], A[:3]])
    assert independent_columns(wide).tolist() == [True, True, False, True] + [False] * 6
    assert independent_columns(np.zeros((4, 0))).tolist() == []


def test_coefficients_are_those_of_least_squares():
    X, y = draw(5, p=6)
    A, b = X - X.mean(axis=0), y - y.mean()
    found = search_subsets(A, b, method="best", forced=np.array([], dtype=int), most=6, n=40)
    for subset, coef in zip(found.subsets, found.coef, strict=True):
        expected = np.linalg.lstsq(A[:, subset], b, rcond=None)[0]
        assert_allclose(coef[subset], expected, atol=1e-10)
        assert np.all(np.delete(coef, subset) == 0)
