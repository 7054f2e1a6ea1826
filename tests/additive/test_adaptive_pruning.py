"""Removal of terms: every subset is a least-squares fit, and GCV is counted as written."""

from itertools import combinations

import numpy as np
import pytest

from bottega.additive._adaptive.backward import prune
from bottega.additive._adaptive.forward import grow
from bottega.additive._adaptive.rounds import grow_and_prune
from bottega.additive._adaptive.settings import GrowthSettings


def problem(n=60, M=7, q=2, seed=0):
    rng = np.random.default_rng(seed)
    B = np.column_stack([np.ones(n), rng.normal(size=(n, M - 1))])
    B[:, 3] = B[:, 1] + 0.1 * B[:, 3]
    Y = B[:, [1, 2, 4]] @ rng.normal(size=(3, q)) + 0.5 * rng.normal(size=(n, q))
    return B, Y, rng.random(n) + 0.5


def rss_of(B, Y, w):
    root = np.sqrt(w)[:, None]
    coef = np.linalg.lstsq(B * root, Y * root, rcond=None)[0]
    return w @ (Y - B @ coef) ** 2


def test_each_subset_is_fitted_by_least_squares():
    B, Y, w = problem()
    found = prune(B, Y, w, GrowthSettings())
    for m, kept in enumerate(found.subsets, start=1):
        assert len(kept) == m
        assert kept[0] == 0
        assert found.rss[m - 1] == pytest.approx(rss_of(B[:, kept], Y, w), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_exchange_of_two_terms_would_be_better(seed):
    B, Y, w = problem(seed=seed)
    found = prune(B, Y, w, GrowthSettings())
    for kept in found.subsets[1:-1]:
        total = rss_of(B[:, kept], Y, w).sum()
        for out in kept[1:]:
            for into in np.setdiff1d(np.arange(B.shape[1]), kept):
                other = [*kept[kept != out], into]
                assert total <= rss_of(B[:, other], Y, w).sum() * (1 + 1e-8)
        # Here the subsets are even the best of all.
        least = min(
            rss_of(B[:, [0, *some]], Y, w).sum()
            for some in combinations(range(1, B.shape[1]), len(kept) - 1)
        )
        assert total == pytest.approx(least, rel=0.05)


@pytest.mark.parametrize(("degree", "cost"), [(1, 2.0), (2, 3.0), (3, 3.0)])
def test_gcv_counts_terms_and_knots(degree, cost):
    B, Y, _ = problem(q=1)
    found = prune(B, Y[:, 0], None, GrowthSettings(degree=degree))
    m, n = np.arange(1, 8), len(B)
    df = m + cost * (m - 1) / 2
    assert found.df == pytest.approx(df)
    assert found.gcv == pytest.approx(found.rss[:, 0] / n / (1 - df / n) ** 2)
    assert found.best == 1 + np.argmin(found.gcv)


def test_gcv_is_infinite_where_no_degrees_of_freedom_are_left():
    B, Y, _ = problem(n=12)
    found = prune(B, Y, None, GrowthSettings(penalty=6.0))
    assert np.isinf(found.gcv[-1])
    assert np.isfinite(found.gcv[0])
    assert prune(B, Y, None, GrowthSettings(penalty=6.0), n=1000).gcv[-1] < np.inf


@pytest.mark.parametrize("unit", [1e300, 1e-200])
def test_the_choice_does_not_depend_on_units(unit):
    B, Y, w = problem()
    plain, extreme = prune(B, Y, w, GrowthSettings()), prune(B, Y * unit, w, GrowthSettings())
    assert extreme.best == plain.best
    assert all(map(np.array_equal, extreme.subsets, plain.subsets))


def test_further_rounds_lower_gcv():
    rng = np.random.default_rng(0)
    X = rng.random((200, 6))
    y = np.sin(6 * X[:, 0] * X[:, 1]) + X[:, 2] ** 2 + 0.1 * rng.normal(size=200)
    once = grow_and_prune(X, y, None, GrowthSettings(degree=2, max_terms=15))
    again = grow_and_prune(X, y, None, GrowthSettings(degree=2, max_terms=15, rounds=5))
    assert again[1].gcv.min() < once[1].gcv.min()
    grown, pruned = again
    kept = pruned.subsets[pruned.best - 1]
    assert pruned.rss[pruned.best - 1] == pytest.approx(
        rss_of(grown.basis.matrix(X)[:, kept], y[:, None], np.ones(200)), rel=1e-9
    )


def test_growth_goes_on_from_given_terms():
    rng = np.random.default_rng(0)
    X = rng.random((150, 3))
    y = np.abs(X[:, 0] - 0.5) + X[:, 1] ** 2
    some = grow(X, y, None, GrowthSettings(max_terms=3))
    more = grow(X, y, None, GrowthSettings(max_terms=9), start=some.basis)
    assert more.basis.terms[:3] == some.basis.terms
    assert more.rss[1] == pytest.approx(some.rss[-1], rel=1e-9)
