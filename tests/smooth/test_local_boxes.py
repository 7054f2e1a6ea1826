"""Sums over wide windows by boxes of rows: the same as row by row."""

import numpy as np
import pytest

from bottega.smooth import KERNELS, LocalRegression
from bottega.smooth._kernels.boxes import sums_normal, sums_polynomial
from bottega.smooth._local import windows


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    x = np.sort(rng.beta(0.7, 2, size=n))
    return x, np.sin(6 * x) + rng.normal(size=n), rng.uniform(0.5, 2, size=n)


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("h", [0.03, 0.4, 5.0])
def test_sums_are_those_of_the_rows(kernel, h):
    x, y, w = rows(400)
    at = np.append(x[::7], [-0.05, 1.02])
    poly = np.array(KERNELS[kernel].polynomial, dtype=float)
    if len(poly):
        found, trusted = sums_polynomial(x, y, w, at, h, poly, 4)
    else:
        found, trusted = sums_normal(x, y, w, at, h, KERNELS[kernel].reach, 4)
    u = (x - at[:, None]) / h
    shape = np.polynomial.polynomial.polyval(np.minimum(np.abs(u), 1), poly) if len(poly) else None
    t = w * (np.exp(-(u**2) / 2) if shape is None else shape)
    for k in range(5):
        # Rounding is in proportion to the sum without signs.
        size = min(2.0, 1 / h) ** k
        limit = 1e-12 * (np.sum(t * np.abs(u) ** k, axis=1) + size * np.sum(t, axis=1))
        assert np.all(np.abs(found[:, k] - np.sum(t * u**k, axis=1)) <= limit)
        if k < 3:
            limit = 1e-12 * np.sum(t * np.abs(y) * (1 + np.abs(u) ** k), axis=1)
            assert np.all(np.abs(found[:, 5 + k] - np.sum(t * u**k * y, axis=1)) <= limit)
    assert np.mean(trusted) > 0.7  # all but those with hardly a row in their window


@pytest.mark.parametrize("kernel", list(KERNELS))
@pytest.mark.parametrize("degree", [0, 1, 2])
# In a narrow window of a compact function there are few rows: those are left to the other way.
@pytest.mark.parametrize("h", [0.015, 0.2, 50.0])
@pytest.mark.filterwarnings("ignore::bottega.core.errors.DataWarning")
def test_fits_are_the_same_either_way(kernel, degree, h, monkeypatch):
    x, y, w = rows(600, 1)
    X = x.round(4)[:, None]

    def everything():
        model = LocalRegression(h, kernel=kernel, degree=degree).fit(X, y, sample_weight=w)
        mean, std = model.predict(X, return_std=True)
        slopes = model.predict(X, derivative=1) if degree else mean
        return [mean, std, slopes, model.leverage_, [model.smoother_.trace_sst]]

    by_rows = everything()
    monkeypatch.setattr(windows, "_WIDE", -(10**9))
    calls = []
    own = windows.Window._sums
    monkeypatch.setattr(windows.Window, "_sums", lambda *a, **k: calls.append(1) or own(*a, **k))
    for found, expected in zip(everything(), by_rows, strict=True):
        # Sums of the same numbers in another order.
        assert np.max(np.abs(np.subtract(found, expected))) <= 1e-10 * np.max(np.abs(expected))
    assert calls


def test_faint_sums_are_not_trusted():
    x, y, w = rows(300)
    far = np.array([x[-1] + 3.0])
    _, trusted = sums_normal(x, y, w, far, 0.4, KERNELS["normal"].reach, 2)
    assert not trusted[0]
    # The model still answers there, by the rows themselves.
    assert np.isfinite(LocalRegression(0.4).fit(x[:, None], y).predict(far[:, None])[0])


def test_leave_one_out_is_brute_force_in_wide_windows():
    x, y, _ = rows(1700)
    X = x[:, None]
    model = LocalRegression(0.5, kernel="tricube").fit(X, y)
    assert model._surface._boxes_pay(1700)
    for i in (0, 400, 1699):
        others = np.arange(1700) != i
        without = LocalRegression(0.5, kernel="tricube").fit(X[others], y[others])
        assert y[i] - without.predict(X[[i]])[0] == pytest.approx(model.loo_residuals_[i], abs=1e-8)
