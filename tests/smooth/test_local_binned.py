"""Binned local regression: as good as it says, against exact fits."""

import numpy as np
import pytest

from bottega.smooth import KERNELS, LocalRegression, binned_curve
from bottega.smooth._kernels.bins import bin_linear, look_up
from bottega.smooth._local.binned import Grid


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.beta(0.7, 2, size=n)
    return x[:, None], np.sin(8 * x) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_error_is_within_what_is_stated(kernel, degree, seed):
    X, y = rows(1500, seed)
    h = 0.04 / KERNELS[kernel].deviation
    exact = LocalRegression(h, kernel=kernel, degree=degree, method="exact").fit(X, y)
    binned = LocalRegression(h, kernel=kernel, degree=degree, method="binned").fit(X, y)
    assert (exact.method_, binned.method_, exact.binning_error_) == ("exact", "binned", 0.0)
    error = np.max(np.abs(binned.predict(X) - exact.predict(X)))
    assert error <= binned.binning_error_
    # And the statement says something: it is small beside the noise of the curve.
    assert binned.binning_error_ < 0.5 * np.median(exact.predict(X, return_std=True)[1])
    # What is interpolated besides the curve.
    assert binned.df_ == pytest.approx(exact.df_, rel=0.01)
    assert binned.smoother_.trace_sst == pytest.approx(exact.smoother_.trace_sst, rel=0.01)
    # Leverages are off by about as much as df is.
    assert binned.loo_ == pytest.approx(exact.loo_, rel=3e-3)
    std, exact_std = (m.predict(X, return_std=True)[1] for m in (binned, exact))
    assert std == pytest.approx(exact_std, rel=0.05)


def test_error_falls_with_the_square_of_the_step():
    X, y = rows(1500)
    exact = LocalRegression(0.05, method="exact").fit(X, y).predict(X)
    errors = [
        np.max(
            np.abs(LocalRegression(0.05, method="binned", n_bins=m).fit(X, y).predict(X) - exact)
        )
        for m in (101, 201, 401, 801)
    ]
    # A quarter a halving, give or take where the worst row lies.
    assert np.all(np.array(errors[:-1]) / errors[1:] > 2.8)


@pytest.mark.parametrize("kind", ["fixed", "nearest"])
def test_weights_and_nearest_fractions(kind):
    X, y = rows(1200)
    w = np.random.default_rng(1).integers(0, 4, size=1200).astype(float)
    bandwidth = 0.2 if kind == "nearest" else 0.1
    options = {"kind": kind, "kernel": "tricube"}
    exact = LocalRegression(bandwidth, method="exact", **options).fit(X, y, sample_weight=w)
    binned = LocalRegression(bandwidth, method="binned", **options).fit(X, y, sample_weight=w)
    # The radius of the nearest fraction is that of binned rows too: not in the stated error.
    limit = binned.binning_error_ * (1 if kind == "fixed" else 5)
    assert np.max(np.abs(binned.predict(X) - exact.predict(X))) <= limit
    assert binned.smoother_.trace_sst == pytest.approx(exact.smoother_.trace_sst, rel=0.02)
    assert binned.smoother_.n == exact.smoother_.n == np.count_nonzero(w)


def test_auto_bins_many_distinct_values_only():
    X, y = rows(6000)
    assert LocalRegression(0.1).fit(X, y).method_ == "binned"
    assert LocalRegression(0.1).fit(X[:5000], y[:5000]).method_ == "exact"
    assert LocalRegression(0.1).fit(X.round(3), y).method_ == "exact"
    assert LocalRegression(0.1, n_bins=1200).fit(X, y)._surface.found.shape == (1201, 2)


def test_sharing_rows_is_by_nearness():
    count, total, square = bin_linear(
        np.array([0.0, 0.25, 2.0]),
        np.array([1.0, 2.0, 5.0]),
        np.array([1.0, 2.0, 3.0]),
        0.0,
        1.0,
        3,
    )
    assert count.tolist() == [1 + 1.5, 0.5, 3.0]
    assert total.tolist() == [1 + 3.0, 1.0, 15.0]
    assert square.tolist() == [1 + 3.0, 1.0, 9.0]
    values = np.array([[0.0], [2.0], [10.0]])
    found = look_up(np.array([-1.0, 0.5, 1.25, 2.0, 9.0]), 0.0, 1.0, values)
    assert found[:, 0].tolist() == [0.0, 1.0, 4.0, 10.0, 10.0]


def test_halving_a_grid_is_sharing_on_the_coarse_one():
    x, y = np.random.default_rng(0).uniform(size=(2, 50))
    w = np.random.default_rng(1).uniform(size=50)
    fine = Grid(0.0, 0.05, *bin_linear(x, y, w, 0.0, 0.05, 21)).halved()
    for found, expected in zip(
        (fine.weight, fine.total, fine.square), bin_linear(x, y, w, 0.0, 0.1, 11), strict=True
    ):
        assert found == pytest.approx(expected, abs=1e-12)


def test_curve_leaves_out_rows_beyond_its_limits_and_takes_weights():
    X, y = rows(800)
    x = X[:, 0]
    w = np.random.default_rng(1).integers(0, 3, size=800)
    grid, curve = binned_curve(x, y, 0.05, limits=(0.1, 0.6), sample_weight=w)
    kept = (x >= 0.1) & (x <= 0.6)
    copies = np.repeat(np.flatnonzero(kept), w[kept])
    _, repeated = binned_curve(x[copies], y[copies], 0.05, limits=(0.1, 0.6))
    assert (grid[0], grid[-1], len(grid)) == (0.1, pytest.approx(0.6), 401)
    assert curve == pytest.approx(repeated, rel=1e-10)
