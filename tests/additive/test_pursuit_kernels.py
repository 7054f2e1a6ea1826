"""Cells along a projection, smooths on them, and running lines, against plain computations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.additive._kernels.pursuit_cells import at_rows, cell_means, place_rows
from bottega.additive._kernels.pursuit_spline import choose_ratio, trial
from bottega.additive._kernels.supersmoother import running_lines, supersmooth
from bottega.additive._pursuit.ridge import Projector, Smoothing
from bottega.smooth import SmoothingSpline

SPLINE = Smoothing(True, 0.0, 1.0, 0.0, 0.0)


def placed(z, w, most=64):
    cell = np.empty(len(z), dtype=np.int32)
    return (*place_rows(z, w, most, cell), cell)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=200),
    st.integers(0, 2**32 - 1),
)
def test_cells_keep_the_order_and_the_sums(values, seed):
    z = np.array(values)
    rng = np.random.default_rng(seed)
    w, t = rng.uniform(0.5, 2, len(z)), rng.normal(size=len(z))
    low, span, m, cell = placed(z, w)
    order = np.argsort(z, kind="stable")
    assert np.all(np.diff(cell[order]) >= 0)
    assert np.array_equal(np.unique(cell), np.arange(m))
    (knots, mean, total), pure, _ = cell_means(cell, z, t, w, low, span, m)
    assert np.all(np.diff(knots) > 0)
    assert total.sum() == pytest.approx(w.sum())
    assert total @ mean == pytest.approx(w @ t, abs=1e-9)
    assert total @ mean**2 + pure == pytest.approx(w @ t**2)


def test_no_cell_is_wide_or_heavy():
    rng = np.random.default_rng(0)
    z = np.append(rng.normal(size=5000), [300.0, -1000.0])  # the rest is in a seven-hundredth
    low, span, _, cell = placed(z, np.ones(len(z)), most=256)
    assert np.bincount(cell).max() < 3 * 2 * len(z) / 256
    for c in np.unique(cell):
        assert np.ptp(z[cell == c]) <= 1.01 * span * 2 / 256
    assert low == -1000.0


def test_a_smooth_on_cells_is_the_smoothing_spline():
    rng = np.random.default_rng(1)
    z = np.sort(rng.normal(size=60))
    t = np.sin(2 * z) + 0.2 * rng.normal(size=60)
    projector = Projector(z[:, None].copy(), np.ones(60), 60.0, SPLINE)
    found = projector.smooth(np.ones(1), t, np.ones(60), np.log(1e-3))
    spread = cell_means(found.cell, z, t, np.ones(60), found.low, found.span, found.curve.shape[1])
    plain = SmoothingSpline(1e-3 * 60 * spread[2] ** 3, knots="all").fit(z[:, None], t)
    # Rows in the same cell are one: some of the 60 are.
    assert projector.values(found) == pytest.approx(plain.predict(z[:, None]), abs=3e-3)
    assert found.df == pytest.approx(plain.df_, abs=0.02)


def test_slopes_at_rows_are_derivatives():
    rng = np.random.default_rng(2)
    z = rng.normal(size=300)
    projector = Projector(z[:, None].copy(), np.ones(300), 300.0, SPLINE)
    ridge = projector.smooth(np.ones(1), np.sin(z), np.ones(300))
    f, slope, ahead, unused = np.empty((4, 300))
    at_rows(z, ridge.cell, ridge.low, ridge.span, ridge.curve, f, slope)
    at_rows(z + 1e-6, ridge.cell, ridge.low, ridge.span, ridge.curve, ahead, unused)
    assert (ahead - f) / 1e-6 == pytest.approx(slope, abs=1e-4)
    assert f == pytest.approx(np.sin(z), abs=0.02)


def test_the_penalty_is_that_of_least_gcv_or_of_given_df():
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(size=80))
    y, w, h = np.sin(9 * x) + 0.3 * rng.normal(size=80), np.ones(80), np.diff(x)
    scratch = np.empty((7, 80))
    found = choose_ratio(y, w, h, 1.0, 0.0, 80.0, 1.0, 6.5, np.nan)
    assert trial(found, y, w, h, 1.0, scratch)[0] == pytest.approx(6.5, abs=1e-6)

    def gcv(at):
        df, rss = trial(at, y, w, h, 1.0, scratch)
        return rss / (80 - df) ** 2

    best = choose_ratio(y, w, h, 1.0, 0.0, 80.0, 1.0, 0.0, np.nan)
    grid = np.linspace(np.log(1e-7), np.log(1e4), 400)
    assert gcv(best) <= 1.001 * min(map(gcv, grid))
    smoother = choose_ratio(y, w, h, 1.0, 0.0, 80.0, 3.0, 0.0, best)
    assert smoother > best
    known = choose_ratio(y / 0.3, w, h, 1.0, 0.0, 0.0, 1.0, 0.0, np.nan)  # of variance one
    assert trial(known, y, w, h, 1.0, scratch)[0] == pytest.approx(
        trial(best, y, w, h, 1.0, scratch)[0], abs=3
    )


def test_turning_a_direction_never_loses():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 4))
    t = np.cos(X[:, 0] + X[:, 1]) + 0.1 * rng.normal(size=300)
    projector = Projector(X, np.ones(300), 300.0, SPLINE)
    start = np.array([1.0, 0.3, 0.3, -0.2])
    ridge = projector.smooth(start / np.sqrt(start @ start), t, np.ones(300))
    losses = [ridge.loss]
    for _ in range(8):
        ridge = projector.improve(ridge, t, np.ones(300), 1, 0.0)
        losses.append(ridge.loss)
    assert np.all(np.diff(losses) <= 0)
    assert abs(ridge.a @ [1, 1, 0, 0]) / np.sqrt(2) > 0.999


def brute_line(x, y, w, keep, at):
    root = np.sqrt(w[keep])
    A = np.column_stack([np.ones(keep.sum()), x[keep]]) * root[:, None]
    intercept, slope = np.linalg.lstsq(A, y[keep] * root, rcond=None)[0]
    return intercept + slope * at


def test_running_lines_are_weighted_least_squares():
    rng = np.random.default_rng(5)
    x, y, w = np.sort(rng.uniform(size=50)), rng.normal(size=50), rng.integers(1, 4, 50) * 1.0
    fitted, gap, leverage = np.empty((3, 50))
    running_lines(x, y, w, 0.3, fitted, gap, leverage)
    middle, width = np.cumsum(w) - w / 2, 0.3 * w.sum()
    for g in range(50):
        start = np.clip(middle[g] - width / 2, 0, w.sum() - width)
        keep = (middle >= start) & (middle <= start + width)
        assert fitted[g] == pytest.approx(brute_line(x, y, w, keep, x[g]))
        without = keep.copy()
        without[g] = False
        assert gap[g] == pytest.approx(y[g] - brute_line(x, y, w, without, x[g]))


def test_running_lines_keep_their_digits_in_a_narrow_window():
    """All but two cells lie within a millionth of the range."""
    x = np.concatenate([[0.0], 0.5 + 1e-6 * np.linspace(0, 1, 60), [1.0]])
    y = np.concatenate([[0.0], 3 * np.linspace(0, 1, 60), [0.0]])
    fitted, gap, leverage = np.empty((3, 62))
    running_lines(x, y, np.ones(62), 0.2, fitted, gap, leverage)
    assert fitted[10:-10] == pytest.approx(y[10:-10], abs=1e-6)


def test_the_span_follows_the_roughness():
    """Left a line, right a wave: the supersmoother is smooth here and follows there."""
    rng = np.random.default_rng(6)
    x = np.linspace(0, 1, 400)
    truth = np.where(x < 0.5, 0.0, np.sin(12 * np.pi * (x - 0.5)))
    y = truth + 0.2 * rng.normal(size=400)
    w = np.ones(400)
    found, df = supersmooth(x, y, w, 0.0, 0.0)
    wide, _ = supersmooth(x, y, w, 0.5, 0.0)
    narrow, _ = supersmooth(x, y, w, 0.03, 0.0)
    left, right = x < 0.4, x > 0.6

    def error(smooth, part):
        return np.mean((smooth - truth)[part] ** 2)

    assert error(found, left) < 0.5 * error(narrow, left)
    assert error(found, right) < 0.5 * error(wide, right)
    assert 10 < df < 60
    bass, fewer = supersmooth(x, y, w, 0.0, 9.0)
    assert fewer < df
    assert np.sum(np.diff(bass, 2) ** 2) < np.sum(np.diff(found, 2) ** 2)
    line, _ = supersmooth(x, 2 * x - 1, w, 0.0, 0.0)
    assert line == pytest.approx(2 * x - 1)
