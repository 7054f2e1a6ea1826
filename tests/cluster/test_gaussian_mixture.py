"""Properties of mixtures: the bound, missing values, weights, units, chunks, paths."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import skops.io
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from bottega.cluster import GaussianMixture, NormalDensities
from bottega.cluster._mixture.density import Centred, Expanded
from bottega.cluster._mixture.families import FAMILIES, WORDS
from bottega.cluster._mixture.missing import sums_of_observed
from bottega.cluster._mixture.parameters import MixtureParameters
from bottega.core.errors import DataWarning
from bottega.workbench import trusted_types


def blobs(n=120, p=2, seed=0, apart=5.0):
    rng = np.random.default_rng(seed)
    sizes = [n // 2, n // 3, n - n // 2 - n // 3]
    parts = [
        rng.normal(size=(size, p)) @ rng.normal(size=(p, p)) + apart * rng.normal(size=p)
        for size in sizes
    ]
    return np.concatenate(parts)[rng.permutation(n)]


def quiet(model, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", DataWarning)
        return model.fit(X, **more)


@pytest.mark.parametrize("seed", range(100))
def test_the_bound_never_falls(seed):
    """A hundred data sets, every family in turn, every third with missing values."""
    rng = np.random.default_rng(seed)
    p, k = int(rng.integers(1, 5)), int(rng.integers(1, 6))
    X = rng.normal(size=(int(rng.integers(12, 60)), p)) * 10.0 ** rng.integers(-3, 4, size=p)
    if seed % 3 == 0 and p > 1:
        gone = rng.uniform(size=X.shape) < 0.2
        gone[np.arange(len(X)), rng.integers(p, size=len(X))] = False
        X[gone] = np.nan
    family = FAMILIES[seed % len(FAMILIES)]
    how = ("random", "kmeans", "hierarchical")[seed % 3]
    model = GaussianMixture(
        k, covariance_type=family, init_params=how, max_iter=60, tol=0.0, random_state=seed
    )
    quiet(model, X)
    trace = model.trace_
    slack = 1e-9 * (1 + np.abs(trace.log_likelihood).max())
    assert trace.monotone
    assert np.all(np.diff(trace.log_likelihood) >= -slack)
    assert np.all(trace.after_m >= trace.after_e[:-1] - slack)  # an M step raises the bound
    assert np.all(trace.kl >= -slack)  # which stays below the likelihood
    assert trace.log_likelihood[-1] == pytest.approx(model.score_samples(X).sum(), rel=1e-7)


def test_log_likelihood_is_bound_plus_divergence():
    """KL(q || posterior) from its definition, for the second iteration."""
    X = blobs()
    options = {"init_params": "random", "random_state": 1, "tol": 0.0}
    one = quiet(GaussianMixture(3, max_iter=1, **options), X)
    two = quiet(GaussianMixture(3, max_iter=2, **options), X)
    q, posterior = one.predict_proba(X), two.predict_proba(X)
    assert two.trace_.kl[1] == pytest.approx(float(np.sum(q * np.log(q / posterior))), rel=1e-6)
    assert two.trace_.entropy[1] == pytest.approx(-float(np.sum(q * np.log(q))), rel=1e-6)


def test_sum_of_densities_is_no_normal_density():
    """Two components far apart: the density between them is nearly zero, that of a normal not."""
    X = np.array([[-5.1], [-4.9], [-5.0], [4.9], [5.0], [5.1]])
    model = GaussianMixture(2, covariance_type="tied", random_state=0).fit(X)
    by_hand = 0.5 * sum(
        stats.norm.pdf(0.3, mean, np.sqrt(model.covariances_[0, 0])) for mean in model.means_[:, 0]
    )
    assert by_hand == pytest.approx(0, abs=1e-100)
    grid = np.linspace(-8, 8, 4001)[:, None]
    density = np.exp(model.score_samples(grid))
    assert np.sum(density) * 0.004 == pytest.approx(1, abs=1e-6)
    middle = density[2000]
    assert middle < 1e-6 * density.max()


def test_boundaries_are_linear_with_one_covariance_and_quadratic_with_several():
    """Log ratios of responsibilities: no curvature if shared, whatever is diagonal (corrected)."""
    X = blobs(300, apart=2.0)
    rng = np.random.default_rng(1)
    step = rng.normal(size=2)
    line = X.mean(axis=0) + np.linspace(-1, 1, 5)[:, None] * step
    for kind, curved in (("tied", False), ("EEI", False), ("diag", True), ("full", True)):
        model = quiet(GaussianMixture(2, covariance_type=kind, random_state=0), X)
        logs = model.predict_log_proba(line)
        second = np.diff(logs[:, 0] - logs[:, 1], n=2)
        assert bool(np.max(np.abs(second)) > 1e-4) == curved, kind


def test_responsibilities_by_hand():
    X = np.array([[0.0], [1.0], [4.0], [6.0]])
    model = quiet(
        GaussianMixture(
            2, weights_init=[0.3, 0.7], means_init=[[0.0], [5.0]],
            precisions_init=[[[1.0]], [[0.25]]], max_iter=1, tol=0.0,
        ),
        X,
    )  # fmt: skip
    first = 0.3 * stats.norm.pdf(X[:, 0], 0, 1)
    second = 0.7 * stats.norm.pdf(X[:, 0], 5, 2)
    gamma = first / (first + second)
    mass = gamma.sum()
    mean = gamma @ X[:, 0] / mass
    assert model.weights_[0] == pytest.approx(mass / 4)
    assert model.means_[0, 0] == pytest.approx(mean)
    # The variance is about the new mean.
    assert model.covariances_[0, 0, 0] == pytest.approx(gamma @ (X[:, 0] - mean) ** 2 / mass)
    assert model.lower_bounds_[0] == pytest.approx(np.mean(np.log(first + second)))


# ---- missing values ------------------------------------------------------------------------------


def test_missing_values_by_direct_maximisation():
    """The likelihood of what was observed, written down and maximised by another way."""
    rng = np.random.default_rng(5)
    X = rng.multivariate_normal([1.0, -2.0], [[2.0, 1.2], [1.2, 1.5]], size=60)
    X[:20, 0], X[20:35, 1] = np.nan, np.nan
    model = GaussianMixture(1, tol=1e-13, max_iter=5_000, reg_covar=0.0).fit(X)

    def minus_log_likelihood(theta):
        root = np.array([[np.exp(theta[2]), 0.0], [theta[3], np.exp(theta[4])]])
        mean, sigma = theta[:2], root @ root.T
        both = X[35:]
        total = stats.multivariate_normal.logpdf(both, mean, sigma).sum()
        total += stats.norm.logpdf(X[:20, 1], mean[1], np.sqrt(sigma[1, 1])).sum()
        total += stats.norm.logpdf(X[20:35, 0], mean[0], np.sqrt(sigma[0, 0])).sum()
        return -total

    found = optimize.minimize(minus_log_likelihood, [0.0, 0.0, 0.0, 0.0, 0.0], tol=1e-10)
    assert model.log_likelihood_ == pytest.approx(-found.fun, rel=1e-8)
    assert model.means_[0] == pytest.approx(found.x[:2], abs=1e-4)
    assert model.score_samples(X).sum() == pytest.approx(model.log_likelihood_, rel=1e-10)


def test_missing_values_are_imputed_by_their_expectation():
    X = blobs(200, apart=8.0)
    model = GaussianMixture(1).fit(X)
    mean, sigma = model.means_[0], model.covariances_[0]
    row = np.array([[np.nan, 3.0]])
    guess = mean[0] + sigma[0, 1] / sigma[1, 1] * (3.0 - mean[1])
    assert model.impute(row)[0] == pytest.approx([guess, 3.0])
    assert model.score_samples(row)[0] == pytest.approx(
        stats.norm.logpdf(3.0, mean[1], np.sqrt(sigma[1, 1]))
    )
    mix = GaussianMixture(3, random_state=0).fit(X)
    nothing = np.full((1, 2), np.nan)
    assert mix.predict_proba(nothing)[0] == pytest.approx(mix.weights_)
    assert mix.score_samples(nothing)[0] == pytest.approx(0, abs=1e-12)
    assert np.array_equal(mix.impute(X), X)
    frame = pd.DataFrame({"a": [np.nan, 1.0], "b": [3.0, 2.0]}, index=["p", "q"])
    named = GaussianMixture(1).fit(pd.DataFrame(X, columns=["a", "b"])).impute(frame)
    assert list(named.columns) == ["a", "b"]
    assert list(named.index) == ["p", "q"]
    assert named.loc["p"].tolist() == pytest.approx([guess, 3.0])


@pytest.mark.parametrize("family", ["VVV", "EEI", "VEV"])
def test_sums_of_rows_with_gaps_merge_with_those_of_complete_rows(family):
    """The E step of rows with gaps, given complete rows, is that of complete rows."""
    Z = blobs(50, p=3).T / 5
    rng = np.random.default_rng(0)
    values, vectors = rng.uniform(0.5, 2, (2, 3)), np.linalg.qr(rng.normal(size=(2, 3, 3)))[0]
    theta = MixtureParameters(
        np.array([0.3, 0.7]), rng.normal(size=(2, 3)), values,
        None if family == "EEI" else vectors, np.zeros(2, bool),
    )  # fmt: skip
    weight = rng.uniform(0.5, 2, 50)
    for density in (Expanded(theta), Centred(theta)):
        plain = density.sums(Z, weight)
        general = sums_of_observed(Z, weight, density, theta)
        for name in ("mass", "first", "second", "totals"):
            assert getattr(general, name) == pytest.approx(getattr(plain, name), rel=1e-9, abs=1e-9)


# ---- weights, units, order -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "VEV"])
def test_weights_are_repeated_rows(kind):
    X = blobs(60)
    w = np.random.default_rng(1).integers(0, 4, 60)
    labels = np.arange(60) % 2
    options = {"covariance_type": kind, "max_iter": 10, "tol": 0.0}
    kept = w > 0
    weighted = quiet(
        GaussianMixture(2, init_params=labels[kept], **options), X[kept], sample_weight=w[kept]
    )
    repeated = quiet(
        GaussianMixture(2, init_params=np.repeat(labels, w), **options), np.repeat(X, w, axis=0)
    )
    assert weighted.means_ == pytest.approx(repeated.means_)
    assert weighted.bic_ == pytest.approx(repeated.bic_)
    assert weighted.icl_ == pytest.approx(repeated.icl_)


@pytest.mark.parametrize("kind", FAMILIES)
def test_units_do_not_matter(kind):
    X = blobs(90, p=3)
    scale, shift = 1e3, 50.0
    plain = quiet(GaussianMixture(2, covariance_type=kind, random_state=0), X)
    other = quiet(GaussianMixture(2, covariance_type=kind, random_state=0), X * scale + shift)
    assert other.means_ == pytest.approx(plain.means_ * scale + shift, rel=1e-6)
    assert other.log_likelihood_ == pytest.approx(
        plain.log_likelihood_ - X.size * np.log(scale), rel=1e-8
    )
    if kind in ("EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "VVV"):
        units = np.array([1e-4, 1.0, 1e5])
        own = quiet(GaussianMixture(2, covariance_type=kind, random_state=0), X * units)
        assert own.means_ == pytest.approx(plain.means_ * units, rel=1e-6)


@pytest.mark.parametrize("how", ["kmeans", "k-means++", "random_from_data", "hierarchical"])
def test_order_of_the_rows_does_not_matter(how):
    X = blobs(100)
    order = np.random.default_rng(3).permutation(100)
    first = GaussianMixture(3, init_params=how, random_state=1, max_iter=500).fit(X)
    second = GaussianMixture(3, init_params=how, random_state=1, max_iter=500).fit(X[order])
    assert np.array_equal(first.predict(X), second.predict(X))
    assert first.bic_ == pytest.approx(second.bic_, rel=1e-8)


@pytest.mark.parametrize("factor", [1e-150, 1e-30, 1e30, 1e148])
def test_extreme_units(factor):
    X = blobs(60)
    plain = GaussianMixture(2, random_state=0, max_iter=500).fit(X)
    model = GaussianMixture(2, random_state=0, max_iter=500).fit(X * factor)
    assert np.array_equal(model.predict(X * factor), plain.predict(X))
    assert np.all(np.isfinite(model.score_samples(X * factor)))


def test_far_from_zero():
    X = blobs(60)
    plain = GaussianMixture(2, random_state=0, max_iter=500).fit(X)
    model = GaussianMixture(2, random_state=0, max_iter=500).fit(X + 1e7)
    # Numbers near 1e7 keep nine digits behind the point.
    assert model.means_ - 1e7 == pytest.approx(plain.means_, abs=1e-5)
    assert model.covariances_ == pytest.approx(plain.covariances_, rel=1e-5, abs=1e-5)


# ---- chunks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical", "EEV"])
@pytest.mark.parametrize("gaps", [False, True])
def test_chunks_give_the_same_answer(kind, gaps):
    X = blobs(150, p=3)
    if gaps:
        X[::7, 1] = np.nan
    w = np.random.default_rng(0).uniform(0.5, 2, 150)
    options = {"covariance_type": kind, "random_state": 0, "max_iter": 300}
    whole = GaussianMixture(3, **options).fit(X, sample_weight=w)
    pieces = [(X[a : a + 40], None, w[a : a + 40]) for a in range(0, 150, 40)]
    model = GaussianMixture(3, **options).fit_chunks(pieces)
    assert model.means_ == pytest.approx(whole.means_, rel=1e-6)
    assert model.bic_ == pytest.approx(whole.bic_, rel=1e-9)
    assert model.n_iter_ == whole.n_iter_


def test_chunks_choose_by_a_criterion():
    X = blobs(150)
    options = {"covariance_type": ["VII", "VVV"], "random_state": 0, "max_iter": 300}
    whole = GaussianMixture("auto", **options).fit(X)
    model = GaussianMixture("auto", **options).fit_chunks([X[:60], X[60:]])
    assert model.n_components_ == whole.n_components_
    assert model.bic_ == pytest.approx(whole.bic_, rel=1e-9)
    assert model.covariance_type_ == whole.covariance_type_


# ---- the path ------------------------------------------------------------------------------------


def test_path_over_size_and_family():
    X = blobs(200)
    model = GaussianMixture("auto", covariance_type=["EII", "tied", "full"], random_state=0)
    curve = model.path(X, values=[1, 2, 3, 4])
    assert len(curve) == 12
    assert curve.knobs == ("n_components", "covariance_type")
    assert np.all(np.diff(curve.df) >= 0)
    for i in (0, 5, curve.best("bic")):
        setting = curve.settings[i]
        alone = quiet(clone(model).set_params(**setting), X)
        assert curve.criteria["bic"][i] == pytest.approx(alone.bic_)
        assert curve.criteria["icl"][i] == pytest.approx(alone.icl_)
        assert curve.train_error[i] == pytest.approx(-alone.lower_bound_)
    best = curve.settings[curve.best("bic")]
    assert best == {"n_components": 3, "covariance_type": "full"}
    fitted = model.fit(X)
    assert (fitted.n_components_, fitted.covariance_type_) == (3, "full")
    assert fitted.path_.select == "bic"


@pytest.mark.parametrize("rule", ["min", "one_se", "icl", "aic"])
def test_rules_pick_from_the_path(rule):
    X = blobs(240, apart=9.0)
    model = GaussianMixture("auto", select=rule, cv=3, random_state=0, n_init=3)
    model = quiet(model, X)
    assert model.n_components_ >= 3
    if rule != "aic":  # AIC takes more components than there are
        assert model.n_components_ <= 5


def test_held_out_likelihood_is_that_of_folds_fitted_by_hand():
    X = blobs(90)
    folds = [(np.setdiff1d(np.arange(90), test), test) for test in np.arange(90).reshape(3, 30)]
    model = GaussianMixture("auto", random_state=0, max_iter=300)
    curve = model.path(X, values=[1, 2], cv=folds)
    for i, setting in enumerate(curve.settings):
        by_hand = [
            -quiet(clone(model).set_params(**setting), X[train]).score(X[test])
            for train, test in folds
        ]
        assert curve.error[i] == pytest.approx(np.mean(by_hand), rel=1e-6)


def test_all_families_are_walked():
    X = blobs(90)
    curve = GaussianMixture("auto", covariance_type="auto", random_state=0).path(X, values=[1, 2])
    assert {setting["covariance_type"] for setting in curve.settings} == set(FAMILIES)


# ---- what else it answers ------------------------------------------------------------------------


def test_samples_have_the_moments_of_the_mixture():
    X = blobs(300)
    model = GaussianMixture(3, covariance_type="VVV", random_state=0).fit(X)
    rows, components = model.sample(40_000)
    assert np.bincount(components) / 40_000 == pytest.approx(model.weights_, abs=0.015)
    for j in range(3):
        mine = rows[components == j]
        # Five standard errors of a mean of some 8,000 rows.
        error = 5 * np.sqrt(np.diag(model.covariances_[j]) / len(mine))
        assert np.all(np.abs(mine.mean(axis=0) - model.means_[j]) < error)
        assert np.cov(mine.T) == pytest.approx(model.covariances_[j], rel=0.15, abs=0.3)


def test_samples_have_a_seed_of_their_own():
    model = GaussianMixture(2, random_state=0).fit(blobs())
    plain, labels = model.sample(5)
    assert np.array_equal(model.sample(5)[0], plain)
    assert np.array_equal(model.sample(5, random_state=0)[0], plain)
    other, _ = model.sample(n_samples=5, random_state=1)
    assert np.array_equal(model.sample(5, random_state=1)[0], other)
    assert not np.array_equal(other, plain)
    rng = np.random.default_rng(0)
    assert not np.array_equal(
        model.sample(5, random_state=rng)[0], model.sample(5, random_state=rng)[0]
    )
    assert labels.shape == (5,)


def test_outlier_scores_are_tail_probabilities():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3))
    model = GaussianMixture(1).fit(X)
    scores = model.outlier_scores(X)
    # About one row in ten scores above 1, one in a hundred above 2 (five standard errors).
    assert np.mean(scores > 1) == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 4000))
    assert np.mean(scores > 2) == pytest.approx(0.01, abs=5 * np.sqrt(0.0099 / 4000))
    gap = np.array([4.0, 0.0, 0.0]) - model.means_[0]
    square = gap @ model.precisions_[0] @ gap
    assert model.outlier_scores([[4.0, 0.0, 0.0]])[0] == pytest.approx(
        -np.log10(stats.chi2.sf(square, 3))
    )
    assert model.outlier_scores([[1e6, 0, 0]])[0] > 100  # ranked beyond what a probability holds


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_outlier_scores_follow_from_weights_means_and_covariances(kind):
    X = blobs(200, 3)
    model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    covariances = model.full_covariances()
    assert covariances.shape == (2, 3, 3)
    holed = X[:50].copy()
    holed[:20, 0] = holed[10:30, 2] = np.nan
    given = NormalDensities(model.weights_, model.means_, covariances)
    assert given.outlier_scores(holed) == pytest.approx(model.outlier_scores(holed), rel=1e-8)
    assert np.array_equal(given.predict(holed), model.predict(holed))
    # By hand: a row whose first column alone is known.
    row = np.array([[X[0, 0], np.nan, np.nan]])
    deviation = np.sqrt(covariances[:, 0, 0])
    density = model.weights_ * stats.norm.pdf(row[0, 0], model.means_[:, 0], deviation)
    tails = 2 * stats.norm.sf(np.abs(row[0, 0] - model.means_[:, 0]) / deviation)
    expected = -np.log10(tails @ density / density.sum())
    assert given.outlier_scores(row)[0] == pytest.approx(expected)
    assert np.isnan(given.outlier_scores(np.full((1, 3), np.nan))[0])


def test_stored_models_answer_the_same():
    X = blobs(90)
    X[3, 0] = np.nan
    model = GaussianMixture("auto", covariance_type=["VVV", "diag"], random_state=0).fit(X)
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    for copy in (
        pickle.loads(pickle.dumps(model)),
        skops.io.loads(content, trusted=trusted_types()),
    ):
        assert np.array_equal(copy.predict_proba(X), model.predict_proba(X))
        assert np.array_equal(copy.sample(5)[0], model.sample(5)[0])


def test_warm_start_goes_on():
    X = blobs(120)
    model = GaussianMixture(3, init_params="random", random_state=0, warm_start=True, max_iter=3)
    first = quiet(model, X).log_likelihood_
    second = quiet(model, X)
    assert second.log_likelihood_ > first
    assert second.trace_.log_likelihood[0] == pytest.approx(first)


def test_several_starts_keep_the_best():
    X = blobs(120, seed=4)
    found = [
        quiet(GaussianMixture(4, init_params="random_from_data", random_state=s), X).log_likelihood_
        for s in range(3)
    ]
    several = GaussianMixture(4, init_params="random_from_data", n_init=8, random_state=0)
    assert quiet(several, X).log_likelihood_ >= min(found)
    assert quiet(clone(several), X).log_likelihood_ == several.log_likelihood_


def test_frames_and_summary():
    X = blobs(90)
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = GaussianMixture(2, random_state=0).fit(frame)
    assert model.feature_names_in_.tolist() == ["length", "width"]
    text = str(model.summary())
    assert "mean length" in text
    assert "VVV" in text
    assert np.array_equal(model.predict(frame), GaussianMixture(2, random_state=0).fit_predict(X))


def test_words_and_letters_are_the_same_family():
    X = blobs(90)
    for word, family in WORDS.items():
        one = quiet(GaussianMixture(2, covariance_type=word, random_state=0), X)
        two = quiet(GaussianMixture(2, covariance_type=family, random_state=0), X)
        assert one.bic_ == two.bic_
