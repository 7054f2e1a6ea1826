"""Mixtures of probabilistic principal components."""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.mixture import GaussianMixture

from bottega.core.errors import ConvergenceWarning, DataWarning, InputError
from bottega.latent import MixtureOfPPCA, ProbabilisticPCA
from bottega.workbench import trusted_types

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/latent/mclust_vvv.json").read_text())


def clusters(n=150, seed=0, p=4):
    """Two planes of rows, turned against each other, and a ball."""
    rng = np.random.default_rng(seed)
    parts = []
    for k, center in enumerate(([0, 0, 0, 0], [6, 0, 0, 0], [0, 7, 0, 0])):
        W = np.zeros((1, p)) if k == 2 else 1.5 * rng.normal(size=(1, p))
        parts.append(rng.normal(size=(n - 30 * k, 1)) @ W + center)
    X = np.vstack(parts)
    return X + 0.4 * rng.normal(size=X.shape)


@pytest.fixture(scope="module")
def X():
    return clusters()


def test_one_cluster_is_probabilistic_pca(X):
    mixture = MixtureOfPPCA(1, 2, random_state=0).fit(X)
    one = ProbabilisticPCA(2).fit(X)
    assert mixture.log_likelihood_ == pytest.approx(one.log_likelihood_, rel=1e-10)
    assert mixture.loadings_[0] == pytest.approx(one.loadings_, rel=1e-8)
    assert mixture.score_samples(X) == pytest.approx(one.score_samples(X), rel=1e-9)
    mean, covariance = mixture.posterior(X[:5])
    expected = one.posterior(X[:5])
    assert mean[:, 0] == pytest.approx(expected[0], rel=1e-7)
    assert covariance[0] == pytest.approx(expected[1][0], rel=1e-7)


@pytest.mark.parametrize(("K", "covariance_type"), [(0, "spherical"), (3, "full")])
def test_the_ends_are_scikit_learn_s_gaussian_mixtures(X, K, covariance_type):
    ours = MixtureOfPPCA(3, K, tol=1e-12, max_iter=2000, random_state=0).fit(X)
    theirs = GaussianMixture(
        3, covariance_type=covariance_type, tol=1e-12, max_iter=2000, reg_covar=0, random_state=0,
        means_init=ours.means_,
    ).fit(X)  # fmt: skip
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-6)
    order = np.argsort(-theirs.weights_)
    assert ours.weights_ == pytest.approx(theirs.weights_[order], abs=1e-4)
    assert ours.means_ == pytest.approx(theirs.means_[order], abs=1e-3)


def test_full_clusters_of_iris_are_those_of_mclust():
    """With p - 1 directions every covariance is possible: mclust's model VVV."""
    X = np.array(REFERENCE["X"])
    model = MixtureOfPPCA(2, 3, tol=1e-12, random_state=0).fit(X)
    # mclust stops at a relative gain of 1e-5.
    assert model.log_likelihood_ == pytest.approx(REFERENCE["loglik"], abs=1e-3)
    curve = MixtureOfPPCA(n_components=3, random_state=0).path(X, values=[2])
    assert curve.df[0] == REFERENCE["df"]
    assert curve.criteria["bic"][0] == pytest.approx(-REFERENCE["bic"], abs=2e-2)
    assert np.sort(model.weights_) == pytest.approx(np.sort(REFERENCE["pro"]), abs=1e-4)


def test_the_likelihood_never_decreases_and_responsibilities_sum_to_one():
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(20, 60)), 4)) ** 3
        model = MixtureOfPPCA(3, 1, tol=1e-9, max_iter=2000, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            model.fit(X)
        assert model.trace_.monotone
        level = model.trace_.log_likelihood
        assert np.all(np.diff(level) >= -1e-9 * (1 + np.abs(level[:-1])))
        assert np.all(model.trace_.kl >= -1e-9 * (1 + np.abs(level[1:])))
        assert len(level) == model.n_iter_ + 1
        share = model.predict_proba(X)
        assert share.sum(axis=1) == pytest.approx(np.ones(len(X)))
        assert np.array_equal(model.predict(X), np.argmax(share, axis=1))
        assert model.score_samples(X).sum() == pytest.approx(model.log_likelihood_, rel=1e-6)


def test_the_path_finds_clusters_and_directions(X):
    model = MixtureOfPPCA(random_state=0).fit(X)
    assert (model.n_clusters_, model.n_components_) == (3, 1)
    curve = model.path_
    assert set(curve.knobs) == {"n_clusters", "n_components"}
    held_out = MixtureOfPPCA(n_components=1, select="min", cv=3, random_state=0).fit(X)
    assert held_out.n_clusters_ == 3
    assert held_out.path_.estimate == "cv"
    assert MixtureOfPPCA(3, select="bic", random_state=0).fit(X).n_components_ == 1


def test_neither_order_nor_repetition_nor_units_matter(X):
    w = np.random.default_rng(1).integers(0, 3, len(X))
    fit = {"n_clusters": 3, "n_components": 1, "random_state": 0}
    weighted = MixtureOfPPCA(**fit).fit(X, sample_weight=w)
    repeated = MixtureOfPPCA(**fit).fit(np.repeat(X, w, axis=0)[::-1])
    assert weighted.means_ == pytest.approx(repeated.means_, rel=1e-7, abs=1e-9)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-9)
    plain = MixtureOfPPCA(**fit).fit(X)
    moved = MixtureOfPPCA(**fit).fit((X + 1e5) * 1e3)
    # Adding 1e5 leaves eleven digits of X.
    assert moved.loadings_ / 1e3 == pytest.approx(plain.loadings_, rel=1e-4, abs=1e-4)


def test_samples_come_from_the_clusters(X):
    model = MixtureOfPPCA(3, 1, random_state=0).fit(X)
    drawn, labels = model.sample(20_000, random_state=1)
    share = np.bincount(labels, minlength=3) / 20_000
    # 5 standard errors of a share: alarms once in a million.
    assert np.all(np.abs(share - model.weights_) < 5 * np.sqrt(0.25 / 20_000))
    for k in range(3):
        C = model.loadings_[k] @ model.loadings_[k].T + model.noise_variances_[k] * np.eye(4)
        found = drawn[labels == k]
        spread = np.sqrt(np.diag(C))
        limit = 5 * np.sqrt(2 / len(found)) * np.outer(spread, spread)
        assert np.all(np.abs(np.cov(found.T) - C) < limit)


def test_a_cluster_that_collapses_is_said_and_not_picked():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 3)), [[50, 50, 50], [50 + 1e-4, 50, 50]]])
    with pytest.warns(DataWarning, match="1 of 2 clusters"):
        model = MixtureOfPPCA(2, 1, random_state=0).fit(X)
    assert np.all(np.isfinite(model.score_samples(X)))
    curve = MixtureOfPPCA(n_components=1, random_state=0).path(X, values=[1, 2])
    assert np.isinf(curve.criteria["bic"][1])
    assert curve.best("bic") == 0


def test_bad_input_is_refused(X):
    with pytest.raises(InputError, match="more than the 3 distinct rows"):
        MixtureOfPPCA(4, 0).fit(np.repeat(X[:3], 5, axis=0))
    with pytest.raises(InputError, match="at most 3"):
        MixtureOfPPCA(2, 4).fit(X)
    with pytest.raises(InputError, match="do not differ"):
        MixtureOfPPCA(1, 0).fit(np.ones((4, 2)))
    with pytest.raises(ValueError, match="NaN"):
        MixtureOfPPCA(1, 0).fit(np.where(X[0, 0] == X, np.nan, X))
    with pytest.raises(InputError, match="units"):
        MixtureOfPPCA(1, 0).fit(X * 1e150)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MixtureOfPPCA(3, 1, max_iter=1, tol=0.0, random_state=0).fit(X)


def test_saved_models_say_the_same(X):
    model = MixtureOfPPCA(3, 1, random_state=0).fit(X)
    content = skops.io.dumps(model)
    copies = [pickle.loads(pickle.dumps(model)), skops.io.loads(content, trusted=trusted_types())]
    for copy in copies:
        assert np.array_equal(copy.score_samples(X), model.score_samples(X))
    assert "3 clusters" in str(model.summary())


@pytest.mark.filterwarnings("error")
def test_rows_whose_squares_overflow_have_no_density():
    X = np.random.default_rng(1).normal(size=(60, 4)) * [1.0, 2.0, 3.0, 0.5]
    X[30:] += 9.0
    model = MixtureOfPPCA(2, 1, random_state=0).fit(X)
    assert np.all(np.isneginf(model.score_samples(X[:3] * 1e200)))
    assert np.allclose(model.predict_proba(X[:3] * 1e200), model.predict_proba(X[:3] * 1e100))


def test_the_unit_of_weights_that_are_shares_does_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3)) * [1.0, 2.0, 0.5]
    X[20:] += 5.0
    w = rng.uniform(0.5, 1.5, size=40)
    w *= 40 / w.sum()
    plain = MixtureOfPPCA(random_state=0).fit(X, sample_weight=w)
    for factor in (1 / 40, 1e-90, 1e90):
        model = MixtureOfPPCA(random_state=0).fit(X, sample_weight=w * factor)
        assert model.n_clusters_ == plain.n_clusters_
        assert model.n_components_ == plain.n_components_
        assert np.allclose(model.path_.criteria["bic"], plain.path_.criteria["bic"])
    counts = rng.integers(1, 4, size=40)
    model = MixtureOfPPCA(random_state=0).fit(X, sample_weight=counts)
    repeated = MixtureOfPPCA(random_state=0).fit(np.repeat(X, counts, axis=0))
    assert np.isclose(model.log_likelihood_, repeated.log_likelihood_)
