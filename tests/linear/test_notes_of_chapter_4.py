"""Worked claims of the course's chapter on linear regression, with the package's own classes."""

import numpy as np
import pytest
from scipy import stats

from bottega.basis import Polynomial
from bottega.data import make
from bottega.linear import LeastSquares, Ridge


def fit_polynomial(degree, sample):
    expand = Polynomial(degree, orthogonal=False)
    return expand, LeastSquares().fit(expand.fit_transform(sample.X), sample.y)


def draw(n=40, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


def test_solution_is_the_pseudo_inverse_and_has_no_gradient():
    """M403, M404, A62: X'Xw - X'y = 0 at w = X^+ y."""
    X, y = draw()
    w = LeastSquares(fit_intercept=False).fit(X, y).coef_
    assert w == pytest.approx(np.linalg.pinv(X) @ y, rel=1e-12)
    assert X.T @ X @ w - X.T @ y == pytest.approx(np.zeros(3), abs=1e-10)


def test_ridge_without_intercept_is_its_closed_form():
    """A63: (alpha I + S'S)^-1 S'y, the penalty not divided by the number of rows."""
    X, y = draw()
    w = Ridge(2.5, fit_intercept=False, standardize=False).fit(X, y).coef_
    assert w == pytest.approx(np.linalg.solve(2.5 * np.eye(3) + X.T @ X, X.T @ y), rel=1e-12)


def test_likelihood_and_noise_at_the_maximum():
    """M421, M423: E_ML is minus the sum of log densities; 1/beta is the mean squared residual."""
    X, y = draw()
    model = LeastSquares().fit(X, y)
    residuals = y - model.predict(X)
    beta = 1 / np.mean(residuals**2)
    by_formula = (
        beta / 2 * np.sum(residuals**2) - 40 / 2 * np.log(beta) + 40 / 2 * np.log(2 * np.pi)
    )
    assert -model.loglik_ == pytest.approx(by_formula)
    assert model.loglik_ == pytest.approx(stats.norm.logpdf(residuals, scale=beta**-0.5).sum())


def test_root_mean_square_error_is_the_square_root_of_twice_the_loss_a_row():
    """M402, M411: E_RMS = sqrt(2 E / N) with E half the sum of squared residuals."""
    X, y = draw()
    model = LeastSquares().fit(X, y)
    loss = 0.5 * model.glance()["deviance"].iloc[0]
    assert np.sqrt(2 * loss / 40) == pytest.approx(np.sqrt(np.mean((y - model.predict(X)) ** 2)))


def test_coefficients_blow_up_and_training_error_vanishes_with_the_degree():
    """M410, M412: ten noisy points of a sine, degrees 0, 1, 3 and 9."""
    sample, fresh = (
        make.sine(10, noise=0.3, random_state=3),
        make.sine(1000, noise=0.3, random_state=4),
    )
    size, train, test = [], [], []
    for degree in (1, 3, 9):
        expand, model = fit_polynomial(degree, sample)
        size.append(np.max(np.abs(model.coef_)))
        train.append(np.mean((sample.y - model.predict(expand.transform(sample.X))) ** 2))
        test.append(np.mean((fresh.y - model.predict(expand.transform(fresh.X))) ** 2))
    assert size[0] < size[1] < size[2]
    assert size[2] > 100 * size[1]
    assert train[0] > train[1] > train[2]
    assert train[2] == pytest.approx(0, abs=1e-6)
    assert test[2] > 10 * test[1]
    assert test[1] < test[0]


def test_more_rows_cure_the_overfitting_of_a_degree():
    """M413: the same degree 9, from 15 rows to 300: the error comes down to the noise."""
    fresh = make.sine(2000, noise=0.3, random_state=5)
    errors = []
    for n in (15, 300):
        expand, model = fit_polynomial(9, make.sine(n, noise=0.3, random_state=6))
        errors.append(np.mean((fresh.y - model.predict(expand.transform(fresh.X))) ** 2))
    assert errors[0] > 1.5 * errors[1]
    assert errors[1] == pytest.approx(0.09, rel=0.15)


def test_variance_and_squared_bias_add_up_to_the_mean_squared_error():
    """M416, D39: exact for averages over the same data sets, whatever the penalty."""
    x, truth = np.linspace(0, 1, 25)[:, None], None
    for alpha in (1e-6, 1.0, 100.0):
        fits = []
        for seed in range(30):
            sample = make.sine(25, random_state=seed)
            expand = Polynomial(9).fit(sample.X)
            truth = sample.bayes(x)
            fitted = Ridge(alpha).fit(expand.transform(sample.X), sample.y)
            fits.append(fitted.predict(expand.transform(x)))
        fits = np.array(fits)
        mse = np.mean((fits - truth) ** 2, axis=0)
        bias = fits.mean(axis=0) - truth
        assert mse == pytest.approx(bias**2 + fits.var(axis=0))
