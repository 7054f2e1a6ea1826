"""Columns that differ in size: small variances are as exact as large ones."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.latent import PCA, ProbabilisticPCA
from bottega.latent._decomposition.graded import axes_of_factor, axes_of_scatter
from bottega.scale import source

UNITS = np.array([1e-6, 1e7, 1.0, 1.0])


def correlated(n=600):
    """Four columns that share a part."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 1)) + rng.normal(size=(n, 4))


def exact(X):
    """Return variances along the principal axes in sixty digits."""
    mp = pytest.importorskip("mpmath")
    with mp.workdps(60):
        rows = [[mp.mpf(float(value)) for value in row] for row in X]
        mean = [mp.fsum(column) / len(X) for column in zip(*rows, strict=True)]
        A = mp.matrix([[a - m for a, m in zip(row, mean, strict=True)] for row in rows])
        return np.array([float(each) for each in mp.eigsy(A.T * A)[0]])[::-1] / (len(X) - 1)


@pytest.mark.parametrize("level", [0.0, 1e3])
def test_small_columns_keep_their_digits_beside_large_ones(level):
    X = (correlated() + level) * UNITS
    truth = exact(X)
    whole = PCA().fit(X)
    assert whole.solver_ == "full"
    found = [whole, PCA(svd_solver="covariance_eigh").fit(X)]
    found += [PCA().fit(source(X, rows=rows)) for rows in (600, 77)]
    stream = PCA()
    for rows in np.array_split(X, 5):
        stream.partial_fit(rows)
    for model in [*found, stream]:
        assert_allclose(model.explained_variance_, truth, rtol=1e-11)
        assert_allclose(model.components_, whole.components_, rtol=0, atol=1e-11)


def test_a_combination_of_large_and_small_columns_has_no_variance():
    X = correlated() * UNITS
    X[:, 0] = X[:, 1] + X[:, 2]
    whole, parts = PCA().fit(X), PCA().fit(source(X, rows=77))
    for model in (whole, parts):
        assert model.explained_variance_[3] == 0
    assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-9)
    constant = np.column_stack([correlated() * UNITS, np.full(600, 0.1)])
    for model in (PCA().fit(constant), PCA().fit(source(constant))):
        assert model.explained_variance_[4] == 0
        assert model.explained_variance_[3] > 0


def test_digits_that_squares_lose_come_from_a_further_pass(monkeypatch):
    X = correlated() + 100
    X[:, 0] = X[:, 1] + 1e-5 * X[:, 0]
    truth, rows = exact(X), source(X, rows=77)
    for model in (PCA().fit(rows), PCA(3).fit(rows)):
        assert model.solver_ == "qr"
        assert_allclose(model.explained_variance_, truth[: model.n_components_], rtol=1e-9)
        assert model.noise_variance_ == pytest.approx(0 if model.n_components_ == 4 else truth[3])
    w = np.random.default_rng(1).integers(0, 3, 600)
    repeated = PCA().fit(np.repeat(X, w, axis=0))
    weighted = PCA().fit_chunks([(X[:50], None, w[:50]), (X[50:], None, w[50:])])
    assert_allclose(weighted.explained_variance_, repeated.explained_variance_, rtol=1e-9)
    # Two components, and the sum of the others, do not need it; a solver that is named stays.
    assert PCA(2).fit(rows).solver_ == "covariance_eigh"
    assert PCA(svd_solver="covariance_eigh").fit(rows).solver_ == "covariance_eigh"
    # Many rows in memory are decomposed by their moments, too.
    monkeypatch.setattr("bottega.latent._pca.solvers.SMALL", 0)
    large = PCA().fit(X)
    assert large.solver_ == "qr"
    assert_allclose(large.explained_variance_, truth, rtol=1e-9)


def test_noise_and_density_do_not_depend_on_the_chunks():
    for units in (UNITS, [1e-3, 1e3, 1, 1], [1, 1e5, 1, 1]):
        X = correlated() * units
        for k in (1, 2, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of rows in a plane, up to what noise may be
                whole = ProbabilisticPCA(k).fit(X)
                parts = ProbabilisticPCA(k).fit(source(X, rows=77))
            assert parts.noise_variance_ == pytest.approx(whole.noise_variance_, rel=1e-12)
            # Half of squared distances in units of the noise, whose variance has 12 digits: of the
            # rows farthest out, where they are tens, one digit less is left.
            assert_allclose(parts.score_samples(X), whole.score_samples(X), rtol=1e-11)
            assert whole.score_samples(X).sum() == pytest.approx(whole.log_likelihood_, rel=1e-12)


@pytest.mark.parametrize("p", [1, 3, 30])
def test_axes_are_those_of_the_matrix(p):
    rng = np.random.default_rng(p)
    A = rng.normal(size=(2 * p, p)) * 10.0 ** rng.uniform(-8, 8, p)
    A[:, p // 2] *= p == 1  # a column of zeros
    for found in (axes_of_scatter(A.T @ A), axes_of_factor(A, 2 * p)):
        assert np.all(np.diff(found.values) <= 0)
        assert found.sure.all()
        assert_allclose(found.V.T @ found.V, np.eye(p), atol=1e-12)
        image = np.linalg.norm(A @ found.V, axis=0)
        assert_allclose(image[:2], np.sqrt(found.values[:2]), rtol=1e-9)
    assert_allclose(axes_of_scatter(A.T @ A).values, axes_of_factor(A, 2 * p).values, rtol=1e-9)
