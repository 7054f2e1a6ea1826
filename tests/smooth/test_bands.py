"""Bands: what they cover, what they say that they do not, and for which methods they work."""

import numpy as np
import pytest
from scipy import stats

from bottega.core import f_test
from bottega.core.errors import InputError
from bottega.linear import LeastSquares, Ridge
from bottega.smooth import (
    InterpolatingSpline,
    LocalRegression,
    Loess,
    PSpline,
    RegressionSpline,
    SmoothingSpline,
    TensorSpline,
    ThinPlateSpline,
    bands,
)

MODELS = [
    SmoothingSpline(df=8),
    RegressionSpline(4),
    PSpline(1.0),
    LocalRegression(0.5),
    Loess(0.5),
    ThinPlateSpline(0.05),
    TensorSpline(4),
    Ridge(1.0),
    LeastSquares(),
]
GRID = np.linspace(0.2, 5.8, 60)[:, None]


def curve(n=80, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(0, 6, size=n))
    return x[:, None], np.sin(x) + 0.2 * rng.normal(size=n), rng.uniform(0.5, 2, size=n)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_linear_smoother_has_both_kinds(model, weighted):
    X, y, weight = curve()
    model.fit(X, y, sample_weight=weight if weighted else None)
    narrow, wide = bands(model, GRID), bands(model, GRID, kind="simultaneous")
    low, high = model.interval(GRID)
    assert narrow.lower == pytest.approx(low)
    assert narrow.upper == pytest.approx(high)
    df = model.smoother_.df_residual
    # Between one test and Scheffe's for every curve with as many coefficients as rows.
    assert narrow.critical < wide.critical < np.sqrt(80 * stats.f.ppf(0.95, 80, df))
    # 60 tests at once are at most Bonferroni's; 2% for the simulation.
    assert wide.critical < 1.02 * stats.t.ppf(1 - 0.025 / 60, df)
    assert wide.upper - wide.mean == pytest.approx(wide.critical * wide.std_error)


def test_the_text_of_a_band_carries_the_caution():
    X, y, _ = curve()
    model = SmoothingSpline().fit(X, y)
    text = str(bands(model, GRID))
    assert text.startswith("pointwise 95% band at 60 points")
    for word in ("not a confidence band", "ignores the bias", "one point at a time"):
        assert word in text
    text = str(bands(model, GRID, 0.9, kind="simultaneous"))
    assert text.startswith("simultaneous 90% band")
    for word in ("at all of these points at once", "ignores the bias", "knob as fixed"):
        assert word in text


def test_covariances_from_coefficients_and_from_the_matrix_agree():
    X, y, weight = curve()
    for model in (RegressionSpline(4), PSpline(1.0)):
        model.fit(X, y, sample_weight=weight)
        fast = bands(model, GRID, kind="simultaneous", n_simulations=40_000)
        S = model.matrix(GRID) / np.sqrt(weight)
        F = S / np.linalg.norm(S, axis=1)[:, None]
        rng = np.random.default_rng(5)
        greatest = np.abs(F @ rng.standard_normal((80, 40_000))).max(axis=0)
        df = model.smoother_.df_residual
        greatest /= np.sqrt(rng.chisquare(df, 40_000) / df)
        # Two simulations of 40,000: each knows its quantile to about 0.3% (one sd).
        assert fast.critical == pytest.approx(np.quantile(greatest, 0.95), rel=0.02)


def test_a_line_over_all_x_has_the_critical_value_of_working_and_hotelling():
    X, y, _ = curve()
    model = LeastSquares().fit(X, y)
    # Dense in the angle of (1, x), in which the exact band is even.
    far = 3 + np.tan(np.linspace(-1.57, 1.57, 400))[:, None]
    found = bands(model, far, kind="simultaneous", n_simulations=40_000)
    exact = np.sqrt(2 * stats.f.ppf(0.95, 2, 78))
    assert found.critical == pytest.approx(exact, rel=0.02)  # one sd of the simulation is 0.4%


def test_coverage_of_the_mean_of_a_smooth():
    """Without bias a simultaneous band covers the whole curve at its level; a pointwise does not.

    2,000 replications: the share has sd 0.005, the simulated critical value adds 0.002. The
    limits are four sd away: a right band fails with probability below 1e-4.
    """
    X, y, weight = curve()
    model = RegressionSpline(4).fit(X, y, sample_weight=weight)
    truth_at, truth = 1 - X[:, 0] ** 2 / 9, 1 - GRID[:, 0] ** 2 / 9  # in the space of the splines
    wide, narrow = bands(model, GRID, kind="simultaneous"), bands(model, GRID)
    H, S = model.matrix(X), model.matrix(GRID)
    unit = np.sqrt((S**2 / weight).sum(axis=1))
    rng = np.random.default_rng(1)
    Y = truth_at[:, None] + rng.normal(size=(80, 2_000)) / np.sqrt(weight)[:, None]
    sigma = np.sqrt((weight[:, None] * (Y - H @ Y) ** 2).sum(axis=0) / (80 - 8))
    error = np.abs(S @ Y - truth[:, None]) / unit[:, None] / sigma
    assert np.mean(error.max(axis=0) <= wide.critical) == pytest.approx(0.95, abs=0.022)
    assert np.mean(error[30] <= narrow.critical) == pytest.approx(0.95, abs=0.022)
    assert np.mean(error.max(axis=0) <= narrow.critical) < 0.8


def test_an_oversmoothed_peak_lies_beside_its_band():
    """D105: the band is about noise alone. At the top of a peak the smooth is biased."""
    x = np.linspace(0, 1, 200)
    truth = np.exp(-200 * (x - 0.5) ** 2)
    model = SmoothingSpline(df=8).fit(x[:, None], truth)
    rng = np.random.default_rng(0)
    inside_top, inside_flank = [], []
    for _ in range(100):
        model.fit(x[:, None], truth + 0.1 * rng.normal(size=200))
        band = bands(model, [[0.5], [0.1]], kind="simultaneous")
        inside = (band.lower <= [1.0, 0.0]) & (band.upper >= [1.0, 0.0])
        inside_top.append(inside[0])
        inside_flank.append(inside[1])
    # A right 95% band would cover at least 80 of 100 with probability 1 - 1e-7. Here the bias at
    # the top is many standard errors; far from the peak there is little.
    assert np.mean(inside_top) < 0.1
    assert np.mean(inside_flank) >= 0.8


def test_surfaces_have_bands_too():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(150, 2))
    y = X.prod(axis=1) + 0.1 * rng.normal(size=150)
    for model in (ThinPlateSpline(0.01), TensorSpline(1)):
        found = bands(model.fit(X, y), X[:40], kind="simultaneous")
        S = model.matrix(X[:40])
        assert found.std_error == pytest.approx(model.sigma_ * np.linalg.norm(S, axis=1), rel=1e-7)
        assert 2.5 < found.critical < 4


def test_nested_smooths_are_compared_by_f():
    X, y, _ = curve()
    bent = f_test(RegressionSpline(0, degree=1).fit(X, y), RegressionSpline(2).fit(X, y))
    assert bent.p_value < 1e-6
    straight = X[:, 0] + np.random.default_rng(2).normal(size=80)
    flat = f_test(ThinPlateSpline(1e9).fit(X, straight), SmoothingSpline(df=6).fit(X, straight))
    assert flat.p_value > 0.01


def test_the_same_seed_gives_the_same_band():
    X, y, _ = curve()
    model = PSpline(1.0).fit(X, y)
    first, second, third = (
        bands(model, GRID, kind="simultaneous", n_simulations=500, random_state=seed).critical
        for seed in (0, 0, 1)
    )
    assert first == second != third


def test_a_band_is_a_frame_and_a_picture():
    X, y, _ = curve()
    band = bands(SmoothingSpline().fit(X, y), GRID)
    frame = band.to_frame()
    assert list(frame.columns) == ["x", "mean", "std_error", "conf_low", "conf_high"]
    assert frame["conf_high"].to_numpy() == pytest.approx(band.upper)
    spec = band.plot(points=(X[:, 0], y), truth=np.sin(GRID[:, 0])).to_dict()
    assert "bias is not in it" in spec["title"]["subtitle"][1]


def test_bad_requests_are_refused():
    X, y, _ = curve()
    model = SmoothingSpline().fit(X, y)
    with pytest.raises(InputError, match="kind='joint'"):
        bands(model, GRID, kind="joint")
    with pytest.raises(InputError, match="level=95"):
        bands(model, GRID, level=95)
    with pytest.raises(InputError, match="n_simulations=10"):
        bands(model, GRID, kind="simultaneous", n_simulations=10)
    with pytest.raises(InputError, match="InterpolatingSpline is not a linear smoother"):
        bands(InterpolatingSpline().fit(X, y), GRID)
    with pytest.raises(InputError, match="leaves 0 of 80 degrees"):
        bands(SmoothingSpline(0.0).fit(X, y), GRID)
    with pytest.raises(InputError, match="at most 5,000"):
        bands(model, np.zeros((5_001, 1)), kind="simultaneous")
