"""Probabilistic principal components with missing values: exact marginal likelihood."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from bottega.core.errors import DataWarning, InputError
from bottega.latent import ProbabilisticPCA
from bottega.latent._ppca import observed
from bottega.latent._ppca.latent_normal import LatentNormal
from bottega.latent._ppca.observed import ObservedMeans, ObservedRows

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference/latent/ppca_missing.json").read_text()
)


def gappy(n=150, p=6, K=2, noise=0.4, share=0.3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, K)) @ rng.normal(size=(K, p)) + rng.normal(size=p)
    X += noise * rng.normal(size=(n, p))
    gone = rng.random(X.shape) < share
    gone[np.arange(n), rng.integers(p, size=n)] = False
    return np.where(gone, np.nan, X), X


def by_hand(model, X):
    """The log-likelihood of each row by the normal density of its observed coordinates (N141)."""
    C, found = model.get_covariance(), []
    for row in X:
        o = np.flatnonzero(~np.isnan(row))
        found.append(multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(row[o]))
    return np.array(found)


@pytest.fixture(scope="module")
def X():
    return gappy()[0]


@pytest.mark.parametrize("expected", REFERENCE["fits"], ids=lambda fit: f"K={fit['K']}")
@pytest.mark.parametrize("method", ["em", "gradient"])
def test_direct_numerical_maximisation_finds_the_same(expected, method):
    X = np.array(REFERENCE["X"], dtype=float)
    model = ProbabilisticPCA(expected["K"], method=method, tol=1e-13, max_iter=5000).fit(X)
    # BFGS with numerical gradients stops 1e-8 below the maximum; parameters have half the digits.
    assert model.log_likelihood_ == pytest.approx(expected["log_likelihood"], abs=1e-6)
    assert model.noise_variance_ == pytest.approx(expected["noise"], rel=2e-4)
    assert model.mean_ == pytest.approx(np.array(expected["mean"]), abs=2e-4)
    assert model.get_covariance() == pytest.approx(np.array(expected["covariance"]), abs=2e-3)
    assert model.score_samples(X) == pytest.approx(by_hand(model, X), rel=1e-9)


@pytest.mark.parametrize("batch", range(5))
def test_the_likelihood_never_decreases(batch):
    """On 100 random tables, most of them with little structure and many missing values."""
    for seed in range(20 * batch, 20 * batch + 20):
        rng = np.random.default_rng(1000 + seed)
        n, p = int(rng.integers(6, 60)), int(rng.integers(2, 8))
        K = int(rng.integers(0, p))
        X, _ = gappy(n, p, max(K, 1), rng.uniform(0.05, 3), rng.uniform(0.05, 0.6), seed)
        if np.isnan(X).all(axis=0).any() or not np.isnan(X).any():
            continue
        with np.errstate(all="raise"):
            model = _quiet(ProbabilisticPCA(K, max_iter=60)).fit(X)
        size = abs(model.trace_[0]) + len(X)
        assert np.all(np.diff(model.trace_) >= -1e-12 * size)
        if model.noise_variance_ > 1e-6 * np.nanvar(X):  # else the covariance has no inverse
            assert model.trace_[-1] == pytest.approx(by_hand(model, X).sum(), rel=1e-7)


class _quiet:  # noqa: N801
    """Fits without warnings: on so little data the likelihood may have no maximum."""

    def __init__(self, model):
        self.model = model

    def fit(self, X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.model.fit(X)


def test_em_beats_every_neighbour(X):
    model = ProbabilisticPCA(2, tol=1e-12).fit(X)
    top = by_hand(model, X).sum()
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = LatentNormal(
            model.mean_ + 1e-3 * rng.normal(size=6),
            model.loadings_ + 1e-3 * rng.normal(size=(6, 2)),
            model.noise_variance_ * (1 + 1e-3 * rng.normal()),
        )
        assert other.log_density(X).sum() < top + 1e-9


def test_without_missing_values_em_is_the_closed_form():
    _, X = gappy()
    spoilt = X.copy()
    spoilt[0, 0] = np.nan
    exact, nearly = ProbabilisticPCA(2).fit(X), ProbabilisticPCA(2, tol=1e-12).fit(spoilt)
    assert nearly.method_ == "em"
    # One entry of 900 is missing.
    assert nearly.get_covariance() == pytest.approx(exact.get_covariance(), rel=0.05, abs=0.02)


def test_common_patterns_as_moments_give_the_same_sums(monkeypatch):
    X, _ = gappy(n=400, p=4, share=0.2)
    w = np.random.default_rng(0).uniform(0.5, 2, len(X))
    model = LatentNormal(np.full(4, 0.1), np.arange(8.0).reshape(4, 2) / 5 + 0.1, 0.7)
    center = ObservedMeans.of(X, w).mean
    one_by_one = ObservedRows(X, w, center)
    assert not one_by_one.groups
    monkeypatch.setattr(observed, "_COMMON", 10)
    grouped = ObservedRows(X, w, center)
    assert len(grouped.groups) > 3
    assert 0 < len(grouped.mask) < 400
    products, entries, weight = grouped.together()
    other = one_by_one.together()
    assert products == pytest.approx(other[0], rel=1e-9, abs=1e-9)
    assert entries == pytest.approx(other[1])
    assert weight == pytest.approx(w.sum())
    a, b = grouped.expect(model), one_by_one.expect(model)
    for name in ("by_column", "cross", "total", "squares", "log_likelihood"):
        assert getattr(a, name) == pytest.approx(getattr(b, name), rel=1e-9, abs=1e-9)
    assert np.sum(entries) == pytest.approx(w @ (~np.isnan(X)).sum(axis=1))


def test_gradient_is_that_of_the_likelihood(X):
    center = np.nanmean(X, axis=0)
    rows = ObservedRows(X, None, center)
    rng = np.random.default_rng(2)
    W, mean, noise = rng.normal(size=(6, 2)), rng.normal(size=6), 0.8
    of_W, of_mean, of_noise = rows.expect(LatentNormal(mean, W, noise)).gradient(
        LatentNormal(mean, W, noise)
    )

    def value(dW=0.0, dm=0.0, dn=0.0):
        return rows.expect(LatentNormal(mean + dm, W + dW, noise * np.exp(dn))).log_likelihood

    step = 1e-5  # central differences: errors of the order of its square
    for direction in np.eye(12)[[0, 5, 11]]:
        d = step * direction.reshape(6, 2)
        assert np.sum(of_W * d) / step == pytest.approx(
            (value(dW=d) - value(dW=-d)) / 2 / step, rel=1e-6
        )
    d = step * np.eye(6)[2]
    assert of_mean[2] == pytest.approx((value(dm=d) - value(dm=-d)) / 2 / step, rel=1e-6)
    assert of_noise == pytest.approx((value(dn=step) - value(dn=-step)) / 2 / step, rel=1e-6)


def test_imputed_values_and_their_uncertainty(X):
    model = ProbabilisticPCA(2).fit(X)
    filled, std = model.impute(X[:20], return_std=True)
    C, mean = model.get_covariance(), model.mean_
    for row, values, spread in zip(X[:20], filled, std, strict=True):
        m, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
        gain = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)])
        assert np.array_equal(values[o], row[o])
        assert np.all(spread[o] == 0)
        assert values[m] == pytest.approx(mean[m] + gain @ (row[o] - mean[o]), rel=1e-8)
        rest = C[np.ix_(m, m)] - gain @ C[np.ix_(o, m)]
        assert spread[m] == pytest.approx(np.sqrt(np.diag(rest)), rel=1e-8)


def test_limits_of_imputed_values_cover():
    """95 % limits hold 95 % of 3,600 values that were taken away: within 5 standard errors, which
    fails by chance once in a million runs.
    """
    X, truth = gappy(n=2000, p=6, seed=3)
    model = ProbabilisticPCA(2).fit(X)
    filled, std = model.impute(X, return_std=True)
    gone = np.isnan(X)
    inside = np.abs(filled - truth)[gone] <= 1.96 * std[gone]
    se = np.sqrt(0.95 * 0.05 / gone.sum())
    assert abs(inside.mean() - 0.95) < 5 * se + 0.002  # of estimated parameters
    by_mean = np.nanmean(X, axis=0) - truth
    assert np.mean((filled - truth)[gone] ** 2) < 0.5 * np.mean(by_mean[gone] ** 2)


def test_the_path_finds_the_number_of_components():
    X, _ = gappy(n=300, p=7, K=2, noise=0.4)
    model = ProbabilisticPCA(cv=3).fit(X)
    assert model.n_components_ == 2
    assert ProbabilisticPCA(select="bic").fit(X).n_components_ == 2
    assert model.path_.estimate == "cv"


def test_chunks_weights_order_and_units(X):
    model = ProbabilisticPCA(2, tol=1e-11).fit(X)
    # Different sums stop at different places of a flat maximum.
    close = {"rel": 1e-4, "abs": 1e-4}
    chunked = ProbabilisticPCA(2, tol=1e-11).fit_chunks([X[:40], X[40:90], X[90:]])
    assert chunked.log_likelihood_ == pytest.approx(model.log_likelihood_, rel=1e-9)
    assert chunked.loadings_ == pytest.approx(model.loadings_, **close)
    w = np.random.default_rng(1).integers(0, 3, len(X))
    weighted = ProbabilisticPCA(2, tol=1e-11).fit(X, sample_weight=w)
    repeated = ProbabilisticPCA(2, tol=1e-11).fit(np.repeat(X, w, axis=0))
    assert weighted.loadings_ == pytest.approx(repeated.loadings_, **close)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-9)
    assert ProbabilisticPCA(2, tol=1e-11).fit(X[::-1]).loadings_ == pytest.approx(
        model.loadings_, **close
    )
    moved = ProbabilisticPCA(2, tol=1e-11).fit((X + 1e7) * 1e3)
    assert moved.loadings_ / 1e3 == pytest.approx(model.loadings_, **close)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_column_means_skip_what_is_missing(seed):
    X, _ = gappy(n=25, p=3, seed=seed)
    w = np.random.default_rng(seed).uniform(0.1, 3, 25)
    expected = [np.average(c[~np.isnan(c)], weights=w[~np.isnan(c)]) for c in X.T]
    first, rest = ObservedMeans.of(X[:9], w[:9]), ObservedMeans.of(X[9:], w[9:])
    assert first.merge(rest).mean == pytest.approx(expected)
    assert ObservedMeans.of(X, None).mean == pytest.approx(np.nanmean(X, axis=0))


def test_rows_and_columns_without_values():
    X, _ = gappy(n=60, p=4)
    blank = np.vstack([X, np.full((2, 4), np.nan)])
    with pytest.warns(DataWarning, match="2 of 62 rows have no observed value"):
        model = ProbabilisticPCA(1).fit(blank)
    assert model.loadings_ == pytest.approx(ProbabilisticPCA(1).fit(X).loadings_, rel=1e-9)
    mean, covariance = model.posterior(blank[-1:])  # the prior
    assert mean == pytest.approx(np.zeros((1, 1)))
    assert covariance == pytest.approx(np.ones((1, 1, 1)))
    assert model.score_samples(blank)[-1] == pytest.approx(0.0)
    assert model.impute(blank)[-1] == pytest.approx(model.mean_)
    X[:, 2] = np.nan
    with pytest.raises(InputError, match="column 'x2' of X has no observed value; leave it out"):
        ProbabilisticPCA(1).fit(X)


def test_the_closed_form_refuses_missing_values(X):
    with pytest.raises(InputError, match="method='closed' needs complete rows"):
        ProbabilisticPCA(2, method="closed").fit(X)


@pytest.mark.parametrize("make", ["pandas", "polars"])
def test_a_frame_is_imputed_as_a_frame(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 3)) + 0.1 * rng.normal(size=(60, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    frame = pd.DataFrame(X, columns=list("abc"), index=[f"row {i}" for i in range(60)])
    given = frame if make == "pandas" else pl.from_pandas(frame.reset_index(drop=True))
    model = ProbabilisticPCA(1).fit(given)
    filled, std = model.impute(given, return_std=True)
    plain, spread = ProbabilisticPCA(1).fit(X).impute(X, return_std=True)
    for found, array in ((filled, plain), (std, spread), (model.impute(given), plain)):
        assert type(found) is type(given)
        assert list(found.columns) == ["a", "b", "c"]
        np.testing.assert_allclose(found.to_numpy(), array, rtol=1e-12)
    if make == "pandas":
        assert filled.index.equals(frame.index)
    assert model.plot_imputed(given).to_dict()  # reads the frame once more, without warnings
