"""Factor analysis: against R's factanal, scikit-learn, and its own equations."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from scipy.stats import multivariate_normal
from sklearn.decomposition import FactorAnalysis as ScikitLearnFactorAnalysis

from bottega.core.errors import DataWarning, InputError
from bottega.latent import FactorAnalysis
from bottega.latent._rotation.orthomax import orthomax
from bottega.latent._rotation.promax import promax
from bottega.workbench import trusted_types

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/latent/factanal.json").read_text())
CARS = np.array(REFERENCE["X"])
TWO, THREE = REFERENCE["fits"]


def table(n=300, seed=0):
    rng = np.random.default_rng(seed)
    W = np.array([[1.0, 0.8, 0.9, 0, 0, 0.3], [0, 0, 0.2, 1.0, 0.7, 0.8]])
    return rng.normal(size=(n, 2)) @ W + rng.normal(size=(n, 6)) * [0.3, 0.5, 0.7, 0.4, 0.6, 0.5]


def aligned(loadings, expected):
    """Return columns in the order and with the signs of the expected ones."""
    sizes = np.outer(np.sum(loadings**2, axis=0), np.sum(expected**2, axis=0)) ** 0.5
    cosines = loadings.T @ expected / sizes
    expected_column, order = linear_sum_assignment(-np.abs(cosines.T))
    signs = np.sign(cosines[order, expected_column])
    return order, signs


def fitted(expected, **options):
    if expected is THREE:
        with pytest.warns(DataWarning, match="column 'x5' is at its bound lower=0.005"):
            return FactorAnalysis(3, **options).fit(CARS)
    return FactorAnalysis(2, **options).fit(CARS)


@pytest.mark.parametrize("expected", [TWO, THREE], ids=["2 factors", "3 factors, Heywood"])
def test_uniquenesses_and_test_are_those_of_factanal(expected):
    model = fitted(expected)
    # R's L-BFGS-B stops at a relative gain of 1e-12, a slope of 1e-6.
    assert model.uniquenesses_ == pytest.approx(np.array(expected["uniquenesses"]), abs=2e-5)
    assert model.dof_ == expected["dof"]
    assert model.statistic_ == pytest.approx(expected["statistic"], rel=1e-7)
    assert model.p_value_ == pytest.approx(expected["p_value"], rel=1e-5)
    assert model.heywood_.tolist() == ([] if expected is TWO else [5])


@pytest.mark.parametrize("rotation", ["none", "varimax", "promax"])
@pytest.mark.parametrize("expected", [TWO, THREE], ids=["2 factors", "3 factors"])
def test_loadings_are_those_of_factanal(expected, rotation):
    model = fitted(expected, rotation=rotation)
    loadings = np.array(expected[rotation]["loadings"])
    order, signs = aligned(model.loadings_, loadings)
    # Uniquenesses agree to 1e-5; R's varimax stops at a relative gain of 1e-15.
    assert model.loadings_[:, order] * signs == pytest.approx(loadings, abs=1e-4)
    correlation = model.factor_correlation_[np.ix_(order, order)] * np.outer(signs, signs)
    assert correlation == pytest.approx(np.array(expected[rotation]["correlation"]), abs=2e-4)
    sizes = np.sum(model.loadings_**2, axis=0)
    assert np.all(np.diff(sizes) <= 0)
    assert np.max(model.loadings_, axis=0) == pytest.approx(np.max(np.abs(model.loadings_), axis=0))


@pytest.mark.parametrize("scores", ["regression", "bartlett"])
def test_scores_are_those_of_factanal(scores):
    model = FactorAnalysis(2, scores=scores).fit(CARS)
    n = len(CARS)
    expected = np.array(TWO[scores]) * np.sqrt(n / (n - 1))  # R's variances have divisor n - 1
    order, signs = aligned(model.loadings_, np.array(TWO["none"]["loadings"]))
    assert model.transform(CARS)[:, order] * signs == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("rotation", [None, "varimax", "quartimax", "promax"])
def test_rotations_leave_the_density_as_it_is(rotation):
    X = table()
    model = FactorAnalysis(2, rotation=rotation).fit(X)
    W, Phi = model.components_.T, model.factor_correlation_
    C = W @ Phi @ W.T + np.diag(model.noise_variance_)
    assert pytest.approx(FactorAnalysis(2).fit(X).get_covariance(), rel=1e-9) == C
    assert C @ model.get_precision() == pytest.approx(np.eye(6), abs=1e-9)
    density = multivariate_normal(model.mean_, C)
    assert model.score_samples(X) == pytest.approx(density.logpdf(X), rel=1e-9)
    assert model.log_likelihood_ == pytest.approx(density.logpdf(X).sum(), rel=1e-9)
    # The regression scores are the conditional means of the joint normal of (f, x).
    conditional = (X - model.mean_) @ np.linalg.solve(C, W @ Phi)
    assert model.transform(X) == pytest.approx(conditional, rel=1e-8, abs=1e-10)
    assert np.diag(Phi) == pytest.approx(np.ones(2))


def test_likelihood_is_no_less_than_scikit_learn_s():
    X = table()
    for K in (1, 2):
        theirs = ScikitLearnFactorAnalysis(K, tol=1e-8, max_iter=20_000).fit(X)
        ours = FactorAnalysis(K, lower=1e-8).fit(X)
        assert ours.score(X) >= theirs.score(X) - 1e-9
        # EM stops some way before the maximum.
        assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-6)
        assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, abs=2e-3)
        assert ours.get_covariance() == pytest.approx(theirs.get_covariance(), abs=2e-3)


def test_equations_of_the_maximum():
    model = FactorAnalysis(2).fit(CARS)
    R = np.corrcoef(CARS.T)
    C = model.loadings_ @ model.loadings_.T + np.diag(model.uniquenesses_)
    assert np.diag(C) == pytest.approx(np.ones(9), abs=1e-6)
    # Lawley: S Psi^-1 Lambda = Lambda (I + Lambda' Psi^-1 Lambda)
    scaled = model.loadings_ / model.uniquenesses_[:, None]
    assert R @ scaled == pytest.approx(
        model.loadings_ @ (np.eye(2) + model.loadings_.T @ scaled), abs=1e-5
    )


def test_the_path_finds_the_number_of_factors():
    X = table(n=500)
    for select in ("bic", "min"):
        assert FactorAnalysis("auto", select=select).fit(X).n_components_ == 2
    curve = FactorAnalysis("auto").path(X)
    assert curve.values.tolist() == [0, 1, 2, 3]  # three factors of six columns have dof = 0
    assert np.all(np.diff(curve.train_error) < 0)
    none = curve.at(0)
    assert none.noise_variance_ == pytest.approx(X.var(axis=0))
    assert none.log_likelihood_ == pytest.approx(
        sum(multivariate_normal(c.mean(), c.var()).logpdf(c).sum() for c in X.T)
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:FactorAnalysis. the uniqueness")
def test_the_p_value_is_uniform_under_its_hypothesis():
    """Of 200 tables with two factors some 5 % have p < 0.05: between 0 and 23 with probability
    1 - 1e-4.
    """
    small = [FactorAnalysis(2).fit(table(200, seed)).p_value_ < 0.05 for seed in range(200)]
    assert 1 <= sum(small) <= 23
    assert FactorAnalysis(1).fit(table(200)).p_value_ < 1e-6


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6))
def test_units_do_not_matter(seed):
    rng = np.random.default_rng(seed)
    X, scale = table(80), 10.0 ** rng.uniform(-6, 6, 6)
    plain = FactorAnalysis(2, rotation="varimax").fit(X)
    moved = FactorAnalysis(2, rotation="varimax").fit((X + rng.normal(size=6)) * scale)
    assert moved.loadings_ == pytest.approx(plain.loadings_, abs=1e-5)
    assert moved.noise_variance_ / scale**2 == pytest.approx(plain.noise_variance_, rel=1e-4)
    assert moved.log_likelihood_ == pytest.approx(
        plain.log_likelihood_ - 80 * np.log(scale).sum(), rel=1e-8
    )


def test_weights_chunks_and_order():
    X = table(90)
    w = np.random.default_rng(0).integers(0, 3, 90)
    weighted = FactorAnalysis(2).fit(X, sample_weight=w)
    repeated = FactorAnalysis(2).fit(np.repeat(X, w, axis=0))
    assert weighted.loadings_ == pytest.approx(repeated.loadings_, abs=1e-6)
    assert weighted.statistic_ == pytest.approx(repeated.statistic_, rel=1e-7)
    whole = FactorAnalysis("auto").fit(X)
    chunked = FactorAnalysis("auto").fit_chunks([X[50:], X[:50]])
    assert chunked.loadings_ == pytest.approx(whole.loadings_, abs=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.sampled_from([0.0, 1.0]))
def test_rotations_are_orthogonal_and_no_other_angle_is_better(seed, K, gamma):
    rng = np.random.default_rng(seed)
    L = rng.normal(size=(8, K))
    T = orthomax(L, gamma, normalize=False)
    assert pytest.approx(np.eye(K), abs=1e-10) == T.T @ T

    def criterion(B):
        return np.sum(B**4) - gamma / 8 * np.sum(np.sum(B**2, axis=0) ** 2)

    B = L @ T
    for turn in np.linspace(0.1, 3.0, 9):
        G = np.eye(K)
        G[:2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        assert criterion(B @ G) <= criterion(B) + 1e-9
    P = promax(L)
    inverse = np.linalg.inv(P)
    assert np.diag(inverse @ inverse.T) == pytest.approx(np.ones(K))


def test_bad_input_is_refused():
    X = table()
    with pytest.raises(InputError, match="column 'x6' of X does not vary"):
        FactorAnalysis(1).fit(np.column_stack([X, np.ones(len(X))]))
    with pytest.raises(InputError, match="at most 6"):
        FactorAnalysis(7).fit(X)
    with pytest.raises(InputError, match="one number above zero per column"):
        FactorAnalysis(1, noise_variance_init=[1.0]).fit(X)
    with pytest.raises(ValueError, match="NaN"):
        FactorAnalysis(1).fit(np.where(X[0, 0] == X, np.nan, X))
    with pytest.raises(InputError, match="overflow"):
        FactorAnalysis(1).fit(X * 1e160)
    with pytest.raises(InputError, match=r"column of X is up to .* vanish"):
        FactorAnalysis(1).fit(X * [1, 1, 1, 1, 1e-160, 1])


def test_saved_models_say_the_same_and_starts_do_not_matter():
    X = table()
    model = FactorAnalysis("auto", rotation="promax").fit(X)
    content = skops.io.dumps(model)
    copies = [pickle.loads(pickle.dumps(model)), skops.io.loads(content, trusted=trusted_types())]
    for copy in copies:
        assert np.array_equal(copy.transform(X), model.transform(X))
    started = FactorAnalysis(2, rotation="promax", noise_variance_init=np.ones(6)).fit(X)
    assert started.loadings_ == pytest.approx(model.loadings_, abs=1e-5)
    text = str(model.summary())
    assert "test that 2 factors are enough" in text
    assert "uniqueness" in text


def test_samples_have_the_covariance_of_the_model():
    model = FactorAnalysis(2).fit(table())
    C = model.get_covariance()
    drawn = model.sample(40_000, random_state=0)
    spread = np.sqrt(np.diag(C))
    # 5 standard errors of a covariance: alarms once in 10^5.
    assert np.all(np.abs(np.cov(drawn.T) - C) < 5 * np.sqrt(2) * np.outer(spread, spread) / 200)


def test_promax_of_loadings_along_one_direction_is_varimax():
    X = np.vstack([np.random.default_rng(1).normal(size=(60, 4)), np.full((1, 4), 1e12)])
    with pytest.warns(DataWarning, match="varimax is used"):
        model = FactorAnalysis(2, rotation="promax").fit(X)
    assert np.allclose(model.factor_correlation_, np.eye(2))
    assert np.allclose(model.loadings_, FactorAnalysis(2, rotation="varimax").fit(X).loadings_)


@pytest.mark.filterwarnings("error")
def test_rows_whose_squares_overflow_have_no_density():
    X = np.random.default_rng(1).normal(size=(60, 4)) * [1.0, 2.0, 3.0, 0.5]
    X[30:] += 9.0
    model = FactorAnalysis(1).fit(X)
    assert np.all(np.isneginf(model.score_samples(X[:3] * 1e200)))


def test_the_unit_of_weights_that_are_shares_does_not_matter():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 1)) + 0.5 * rng.normal(size=(50, 5))
    w = rng.uniform(0.5, 1.5, size=50)
    w *= 50 / w.sum()
    plain = FactorAnalysis("auto").fit(X, sample_weight=w)
    for factor in (1 / 50, 1e-90, 1e90):
        model = FactorAnalysis("auto").fit(X, sample_weight=w * factor)
        assert model.n_components_ == plain.n_components_
        assert np.allclose(model.path_.criteria["bic"], plain.path_.criteria["bic"])
        assert np.isclose(model.p_value_, plain.p_value_)


def test_the_likelihood_rises_from_iteration_to_iteration():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 1)) @ rng.uniform(0.5, 1.5, (1, 6)) + rng.normal(size=(300, 6))
    model = FactorAnalysis(1).fit(X)
    assert len(model.loglike_) == model.n_iter_ > 1
    # The last steps are rounding of a sum of some hundreds.
    assert np.all(np.diff(model.loglike_) > -1e-9)
    assert model.loglike_[-1] == model.log_likelihood_
