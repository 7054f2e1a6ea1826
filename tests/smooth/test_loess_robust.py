"""The robust family of loess."""

import numpy as np
import pytest

from bottega.smooth import Loess
from bottega.smooth._loess.procedure import bisquare_weights, pseudo_values


def spoiled(n=150, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 6, size=n))
    y = np.sin(x) + 0.1 * rng.normal(size=n)
    bad = rng.choice(n, size=n // 10, replace=False)
    y[bad] += rng.choice([-1, 1], size=len(bad)) * rng.uniform(3, 6, size=len(bad))
    return x[:, None], y, np.sin(x), bad


@pytest.mark.parametrize("surface", ["direct", "interpolate"])
def test_outliers_lose_their_pull(surface):
    X, y, truth, bad = spoiled()
    plain, robust = (
        Loess(0.4, family=family, surface=surface).fit(X, y) for family in ("gaussian", "symmetric")
    )
    assert np.all(robust.robust_weight_[bad] == 0)
    assert np.all(robust.leverage_[bad] == 0)
    assert np.median(np.delete(robust.robust_weight_, bad)) > 0.9
    errors = [np.mean((model.predict(X) - truth) ** 2) for model in (plain, robust)]
    assert errors[1] < errors[0] / 20
    # The scale is that of the good rows, within the error of its estimate from 150 of them.
    assert robust.sigma_ == pytest.approx(0.1, rel=0.25)
    assert plain.sigma_ > 1


def test_every_fit_but_the_first_takes_the_residuals_of_the_one_before():
    X, y, _, _ = spoiled(60)
    assert np.array_equal(
        Loess(0.5, family="symmetric", iterations=1).fit(X, y).predict(X),
        Loess(0.5).fit(X, y).predict(X),
    )
    once = Loess(0.5).fit(X, y)
    weight = bisquare_weights(y - once.predict(X))
    by_hand = Loess(0.5, span_of="rows").fit(X, y, sample_weight=weight)
    twice = Loess(0.5, family="symmetric", iterations=2).fit(X, y)
    assert np.array_equal(twice.robust_weight_, weight)
    assert twice.predict(X) == pytest.approx(by_hand.predict(X), rel=1e-12)


def test_statistics_are_of_the_smoother_without_robustness():
    X, y, _, _ = spoiled(60)
    plain, robust = (Loess(0.5, family=f).fit(X, y) for f in ("gaussian", "symmetric"))
    assert robust.statistics_ == pytest.approx(plain.statistics_, rel=1e-12)
    assert robust.df_ != pytest.approx(plain.df_, rel=1e-3)


def test_without_a_scale_every_row_counts():
    assert np.array_equal(bisquare_weights(np.array([0.0, 0.0, 0.0, 9.0])), np.ones(4))
    y = np.zeros(40)
    y[20] = 5.0
    x = np.arange(40.0)[:, None]
    model = Loess(0.3, degree=1, family="symmetric").fit(x, y)
    assert np.all(np.isfinite(model.predict(x)))
    same = pseudo_values(np.zeros(3), np.zeros(3), np.ones(3), np.ones(3))
    assert np.array_equal(same, np.zeros(3))
