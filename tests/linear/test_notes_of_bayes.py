"""Claims of the lecture notes on bases and on the Bayesian reading of linear models."""

import numpy as np
import pytest
from hypothesis import settings
from numpy.testing import assert_allclose
from scipy import optimize, stats

from bottega.basis import GaussianBasis, Polynomial
from bottega.data import make
from bottega.linear import BayesianRegression, LeastSquares, Ridge

QUICK = settings(max_examples=15, deadline=None)


def draw(seed=0, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


@pytest.mark.parametrize(
    "basis",
    [Polynomial(4, orthogonal=False), Polynomial(4), GaussianBasis([0.0, 0.25, 0.5, 0.75, 1.0])],
    ids=["powers", "orthogonal", "gaussian"],
)
def test_m406_m409_any_basis_is_linear_in_its_coefficients(basis):
    sample = make.sine(50, random_state=0)
    design = np.column_stack([np.ones(50), basis.fit_transform(sample.X)])
    model = LeastSquares().fit(design[:, 1:], sample.y)
    w = np.array([model.intercept_, *model.coef_])
    assert_allclose(w, np.linalg.pinv(design) @ sample.y, rtol=1e-6)
    new = np.linspace(0, 1, 7)[:, None]
    fitted = model.predict(basis.transform(new))
    assert_allclose(fitted, np.column_stack([np.ones(7), basis.transform(new)]) @ w)
    if isinstance(basis, Polynomial) and not basis.orthogonal:
        assert_allclose(fitted, np.polyval(w[::-1], new[:, 0]))


def test_m422_m425_maximum_likelihood_and_posterior_mode_by_a_search():
    X, y = draw(12)
    alpha, beta = 3.0, 0.7

    def minus_log_likelihood(w, precision):
        return -stats.norm.logpdf(y, loc=X @ w, scale=precision**-0.5).sum()

    def minus_log_posterior(w):
        prior = stats.norm.logpdf(w, scale=alpha**-0.5).sum()
        return minus_log_likelihood(w, beta) - prior

    options = {"method": "BFGS", "options": {"gtol": 1e-8}}
    ml = optimize.minimize(
        lambda v: minus_log_likelihood(v[:3], np.exp(v[3])), np.zeros(4), **options
    ).x
    least = LeastSquares(fit_intercept=False).fit(X, y)
    assert_allclose(ml[:3], least.coef_, rtol=1e-5)
    assert np.exp(-ml[3]) == pytest.approx(np.mean((y - least.predict(X)) ** 2), rel=1e-5)
    mode = optimize.minimize(minus_log_posterior, np.zeros(3), **options).x
    bayes = BayesianRegression(alpha, beta, fit_intercept=False).fit(X, y)
    ridge = Ridge(alpha / beta, fit_intercept=False, standardize=False).fit(X, y)
    assert_allclose(bayes.coef_, mode, rtol=1e-5)
    assert_allclose(ridge.coef_, mode, rtol=1e-5)


@pytest.mark.parametrize("w", [np.zeros(3), np.array([1.0, -2.0, 0.3])])
def test_m424_bayes_rule_with_the_exponent_of_the_prior(w):
    """E23: the prior's constant is (alpha/2 pi)^(dim w / 2), so that Bayes' rule holds at any w."""
    X, y = draw(13)
    alpha, beta = 0.8, 1.7
    model = BayesianRegression(alpha, beta, fit_intercept=False).fit(X, y)
    log_prior = 3 / 2 * np.log(alpha / (2 * np.pi)) - alpha / 2 * w @ w
    log_likelihood = stats.norm.logpdf(y, loc=X @ w, scale=beta**-0.5).sum()
    log_posterior = stats.multivariate_normal.logpdf(w, model.coef_, model.covariance_)
    assert log_likelihood + log_prior - log_posterior == pytest.approx(model.evidence_, rel=1e-10)


def test_m429_six_lines_draw_together_as_points_come():
    """y = -0.3 + 0.5 x. Seeded: the spread of six lines falls, and the truth stays in reach."""
    rng = np.random.default_rng(14)
    x = rng.uniform(-1, 1, size=40)
    A, truth = np.column_stack([np.ones(40), x]), np.array([-0.3, 0.5])
    y = A @ truth + 0.2 * rng.normal(size=40)
    model = BayesianRegression(2.0, 25.0, fit_intercept=False)
    ends = np.array([[1.0, -1.0], [1.0, 1.0]])
    volume, spread = [], []
    for rows in np.split(np.arange(40), [1, 2, 20]):
        model.partial_fit(A[rows], y[rows])
        volume.append(np.linalg.det(model.covariance_))
        lines = model.sample(6, random_state=1) @ ends.T
        assert lines.shape == (6, 2)
        spread.append(np.sqrt(lines.var(axis=0).sum()))
        distance = truth - model.coef_
        # A chi square with two degrees of freedom; above 27.6 once in a million.
        assert distance @ np.linalg.solve(model.covariance_, distance) < 27.6
    assert volume[0] < 1 / 4  # that of the prior, 1 / alpha^2
    assert np.all(np.diff(volume) < 0)
    assert spread[1] < spread[0] / 2  # two points already fix a line roughly
    assert spread[3] < spread[1]


def test_m430_m432_predictive_variance_is_the_noise_and_what_is_not_known_of_the_line():
    rng = np.random.default_rng(15)
    X = rng.normal(size=(5000, 2))
    y = X @ [1.0, 2.0] + 0.5 * rng.normal(size=5000)
    points = np.array([[0.0, 0.0], [2.0, -2.0], [6.0, 6.0]])
    few, many = (
        np.ptp(
            BayesianRegression(1.0, 4.0).fit(X[:n], y[:n]).interval(points, kind="prediction"),
            axis=0,
        )
        / (2 * stats.norm.ppf(0.975))
        for n in (10, 5000)
    )
    # The plug-in predictions (M430, M431) have the standard deviation beta^(-1/2) everywhere.
    assert np.all(few > many)
    assert np.all(many > 0.5)
    assert few[2] > few[1] > few[0]
    assert many == pytest.approx(0.5, rel=0.01)


def test_m433_the_band_is_narrow_where_there_are_data():
    """The sine, seen on its left half only."""
    left = make.sine(400, noise=0.2, random_state=16)
    rows = left.X[:, 0] < 0.5
    basis = Polynomial(5).fit(left.X)
    model = BayesianRegression(1e-3, 25.0).fit(basis.transform(left.X[rows]), left.y[rows])
    grid = np.linspace(0, 1, 21)[:, None]
    mean, std = model.predict(basis.transform(grid), return_std=True)
    seen = grid[:, 0] <= 0.5
    new = np.sqrt(std**2 + 0.04)  # of a new response
    assert new[seen].max() < 0.25
    assert new[-1] > 5 * new[seen].max()
    # Five standard deviations of the posterior at eleven points: a false alarm below 1e-5.
    off = np.abs(mean - left.bayes(grid))[seen]
    assert np.all(off < 5 * std[seen] + 0.01)  # and the sine's seventh power
    curves = model.sample(6, random_state=0)
    assert curves.shape == (6, 6)
