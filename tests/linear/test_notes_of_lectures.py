"""Claims of the lecture notes on linear models that no other file of this folder tests by name."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special, stats

from bottega.core import f_test
from bottega.linear import (
    AdaptiveLasso,
    Lasso,
    LeastAngle,
    LeastSquares,
    PrincipalComponentsRegression,
    RecursiveLeastSquares,
    Ridge,
    SubsetSelection,
    irrepresentable,
)

seeds = st.integers(0, 10_000)
QUICK = settings(max_examples=15, deadline=None)


def draw(seed=0, n=40, p=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.normal(size=n)


# ---- least squares -------------------------------------------------------------------------------


def test_m401_a_column_of_ones_is_the_intercept():
    X, y = draw()
    model = LeastSquares().fit(X, y)
    absorbed = LeastSquares(fit_intercept=False).fit(np.column_stack([np.ones(40), X]), y)
    assert_allclose(absorbed.coef_, [model.intercept_, *model.coef_], rtol=1e-10)


@given(seeds)
@QUICK
def test_d26_several_responses_are_as_many_regressions(seed):
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    together = LeastSquares().fit(X, Y)
    apart = [LeastSquares().fit(X, y) for y in Y.T]
    assert_allclose(together.coef_, [model.coef_ for model in apart], rtol=1e-9, atol=1e-12)
    assert_allclose(together.sigma_, [model.sigma_ for model in apart], rtol=1e-9)
    A = np.column_stack([np.ones(30), X])
    P = A @ np.linalg.solve(A.T @ A, A.T)
    expected = Y.T @ (np.eye(30) - P) @ Y / (30 - 5)
    assert_allclose(together.residual_covariance_, expected, rtol=1e-9, atol=1e-12)


@given(seeds, st.integers(1, 6))
@QUICK
def test_d32_one_more_row_is_sherman_and_morrison(seed, p):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(p + 6, p)), rng.normal(size=p + 6)
    stream = RecursiveLeastSquares(fit_intercept=False).fit(X[:-1], y[:-1])
    V, x = stream.covariance() / stream.sigma_**2, X[-1]
    stream.partial_fit(X[-1:], y[-1:], row_by_row=True)
    updated = V - np.outer(V @ x, x @ V) / (1 + x @ V @ x)
    assert_allclose(stream.covariance() / stream.sigma_**2, updated, rtol=1e-7, atol=1e-10)


def test_d58_correlation_inflates_the_variance_of_coefficients():
    """E5: with sample correlation rho both variances are 1 / (1 - rho^2) times those without."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(200, 3))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0]
    error = {}
    for rho in (0.0, 0.5, 0.9, 0.99):
        X = np.column_stack([Q[:, 0], rho * Q[:, 0] + np.sqrt(1 - rho**2) * Q[:, 1]])
        # The same residuals for every rho, so that sigma does not change.
        model = LeastSquares().fit(X, X @ [1.0, 1.0] + Q[:, 2])
        error[rho] = model.tidy()["std_error"].to_numpy()[1:]
        assert_allclose(model.vif()["vif"], 1 / (1 - rho**2), rtol=1e-9)
        assert_allclose(error[rho] / error[0.0], (1 - rho**2) ** -0.5, rtol=1e-9)
    assert error[0.99][0] > 7 * error[0.0][0]


# ---- criteria ------------------------------------------------------------------------------------


def test_d50_d56_the_likelihood_and_what_is_added_to_it():
    """-2 log L = n log(D/n) + n + n log 2 pi; 2p, p log n, 2p log log n, and 2p(p+1)/(n-p-1)."""
    X, y = draw(1)
    n, p = 40, 5  # three coefficients, the intercept and the variance
    model = LeastSquares().fit(X, y)
    D = np.sum((y - model.predict(X)) ** 2)
    base = n * np.log(D / n) + n + n * np.log(2 * np.pi)
    assert -2 * model.loglik_ == pytest.approx(base)
    assert model.aic_ - base == pytest.approx(2 * p)
    assert model.bic_ - base == pytest.approx(p * np.log(n))
    assert model.hq_ - base == pytest.approx(2 * p * np.log(np.log(n)))
    assert model.aicc_ - base == pytest.approx(2 * p + 2 * p * (p + 1) / (n - p - 1))


def test_d52_a_superfluous_column_gains_a_chi_square_of_mean_one():
    """E28. Exactly, RSS1/RSS0 is Beta(48, 1/2); five standard errors of 4000 draws, twice: 2e-6."""
    rng = np.random.default_rng(0)
    n, draws = 100, 4000
    X = rng.normal(size=(n, 3))
    Y = (1 + X[:, :2] @ [1.0, -1.0])[:, None] + rng.normal(size=(n, draws))
    rss = [LeastSquares().fit(X[:, :k], Y).sigma_ ** 2 * (n - k - 1) for k in (2, 3)]
    gain = n * np.log(rss[0] / rss[1])  # of twice the log-likelihood
    assert np.all(gain > 0)  # so the likelihood alone always prefers the larger model
    mean = n * (special.digamma((n - 3) / 2) - special.digamma((n - 4) / 2))
    assert mean == pytest.approx(1, rel=0.05)
    assert abs(gain.mean() - mean) < 5 * gain.std() / np.sqrt(draws)
    # AIC takes the column in just when the gain is above 2: about one time in six.
    share = stats.beta.cdf(np.exp(-2 / n), (n - 4) / 2, 0.5)
    assert share == pytest.approx(stats.chi2.sf(2, 1), rel=0.1)
    assert abs(np.mean(gain > 2) - share) < 5 * np.sqrt(share * (1 - share) / draws)


def test_d62_the_f_test_is_for_nested_models_and_r_squared_never_falls():
    X, y = draw(2, p=6)
    fits = [LeastSquares().fit(X[:, :k], y) for k in range(1, 7)]
    assert np.all(np.diff([fit.smoother_.r_squared for fit in fits]) > 0)
    # The squared t of the added coefficient is the F with one degree of freedom.
    found = f_test(fits[4], fits[5])
    assert found.p_value < 1e-6  # the last coefficient is 6
    assert found.statistic == pytest.approx(fits[5].tidy()["statistic"].to_numpy()[-1] ** 2)


def test_d63_d64_forward_never_lets_go_and_backward_cannot_start_from_too_many():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 50))
    y = 3 * X[:, 4] + rng.normal(size=20)
    walk = SubsetSelection(3, method="forward").fit(X, y).subsets_
    assert all(set(a) < set(b) for a, b in pairwise(walk))
    assert 4 in walk[1]
    with pytest.raises(ValueError, match="forward"):
        SubsetSelection(3, method="backward").fit(X, y)


def test_d66_the_error_along_the_steps_comes_with_its_deviation():
    X, y = draw(4, p=6)
    curve = SubsetSelection(method="forward").path(X, y)
    assert curve.estimate == "cv"
    assert len(curve) == 7
    assert np.all(curve.error_se > 0)
    assert curve.best("one_se") <= curve.best("min")


def test_d68_the_first_component_is_the_line_of_least_orthogonal_distances():
    """Fig. 10: the least-squares line, of vertical distances, is flatter."""
    rng = np.random.default_rng(17)
    x = rng.normal(size=200)
    plane = np.column_stack([x, 0.8 * x + 0.5 * rng.normal(size=200)])
    model = PrincipalComponentsRegression(1, standardize=False).fit(plane, x)
    angles = np.linspace(-np.pi / 2, np.pi / 2, 20_001)
    across = np.stack([-np.sin(angles), np.cos(angles)])
    distances = np.sum(((plane - plane.mean(axis=0)) @ across) ** 2, axis=0)
    best = np.tan(angles[np.argmin(distances)])
    slope = model.rotation_[1, 0] / model.rotation_[0, 0]
    assert slope == pytest.approx(best, abs=4e-4)  # a step of the grid
    assert LeastSquares().fit(plane[:, :1], plane[:, 1]).coef_[0] < slope


# ---- ridge ---------------------------------------------------------------------------------------


@given(seeds)
@QUICK
def test_d75_some_penalty_has_a_smaller_expected_error(seed):
    """E6, exactly: from the expectation and the covariance, at sigma^2 / max b^2 and below."""
    rng = np.random.default_rng(seed)
    X, beta, sigma = rng.normal(size=(20, 4)), rng.normal(size=4), 2.0

    def expected_error(alpha):
        model = Ridge(alpha, fit_intercept=False, standardize=False)
        # Linear in y: the fit to the mean of y is the mean of the fits.
        bias = model.fit(X, X @ beta).coef_ - beta
        noisy = model.fit(X, X @ beta + rng.normal(size=20))
        return bias @ bias + np.trace(noisy.covariance()) * sigma**2 / noisy.sigma_**2

    V = np.linalg.svd(X)[2]
    good = sigma**2 / np.max((V @ beta) ** 2)
    assert expected_error(good) < expected_error(0.0)
    assert expected_error(good / 10) < expected_error(0.0)


def test_d71_selection_varies_more_than_shrinkage():
    """E6. The same 60 responses; ridge has at least the df of the subsets and still less spread.

    The ratio of spreads is near 3.95 and varies by 0.12 over such sets of draws, so 3 is eight
    standard errors away.
    """
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 8)) + 1.5 * rng.normal(size=(40, 1))
    beta = np.full(8, 0.4)
    subset, ridge, df = [], [], []
    for _ in range(60):
        y = X @ beta + 2 * rng.normal(size=40)
        subset.append(SubsetSelection(3, method="best").fit(X, y).coef_)
        shrunk = Ridge(20.0).fit(X, y)
        ridge.append(shrunk.coef_)
        df.append(shrunk.df_)
    assert min(df) >= 4
    spread = [np.sqrt(np.var(each, axis=0).sum()) for each in (subset, ridge)]
    assert spread[0] > 3 * spread[1]


# ---- lasso ---------------------------------------------------------------------------------------


@given(seeds, st.floats(-0.95, 0.95))
@QUICK
def test_d80_some_bound_gives_a_zero_to_the_lasso_and_none_to_ridge(seed, rho):
    """E7: random ellipses; the exception, contours symmetric about a bisector, is a tie."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, 2)) @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    y = X @ rng.normal(size=2) + rng.normal(size=50)
    first, second, *_ = LeastAngle(method="lasso").fit(X, y).alphas_
    sparse = Lasso((first + second) / 2).fit(X, y).coef_
    assert np.count_nonzero(sparse) == 1
    assert np.all(Ridge().path(X, y).coef != 0)


def test_d80_the_exception_is_a_tie():
    Q = np.linalg.qr(np.column_stack([np.ones(30), draw(6, n=30)[0]]))[0][:, 1:]
    model = LeastAngle(method="lasso", standardize=False).fit(Q, Q[:, 0] + Q[:, 1])
    first, second, last = model.alphas_
    assert first == pytest.approx(second)
    assert last == pytest.approx(0, abs=1e-12)


def test_d81_profiles_start_at_nothing_and_end_at_least_squares():
    X, y = draw(7, n=60, p=5)
    curve = Lasso(eps=1e-7).path(X, y)
    scaled = curve.coef * X.std(axis=0)
    assert not scaled[0].any()
    assert_allclose(curve.coef[-1], LeastSquares().fit(X, y).coef_, rtol=1e-5)
    assert np.all(np.diff(np.abs(scaled).sum(axis=1)) >= -1e-10)


def recovered(X, y, model):
    return np.flatnonzero(model.fit(X, y).coef_).tolist() == [0, 1, 2]


@pytest.mark.parametrize("holds", [True, False])
def test_d84_support_recovery_hinges_on_the_condition_and_the_penalty(holds):
    """E8: n and p grow, the penalty is twice sigma sqrt(2 log p / n), or a quarter of that.

    At the last size a useless column passes the larger threshold with probability below 1e-5 (4.5
    standard errors, the correlations of the sample allowed for), one of 97 below 1e-3, and so in
    three or more of 30 draws below 1e-5. A quarter of it each passes one time in ten, so that none
    of 97 does has probability 1e-4, and three draws of 30 below 1e-8. Where the condition fails
    (value 1.5) the column that leans on the others stays out with a six-sigma event.
    """
    share = []
    for n, p in ((30, 10), (400, 100)):
        rng = np.random.default_rng(8)
        found = {"lasso": 0, "weak": 0, "adaptive": 0}
        alpha = 2 * 0.5 * np.sqrt(2 * np.log(p) / n)
        for _ in range(30):
            X = rng.normal(size=(n, p))
            if not holds:
                X[:, 3] = (X[:, 0] + X[:, 1] + X[:, 2] + X[:, 3]) / 2
            X = (X - X.mean(axis=0)) / X.std(axis=0)
            y = X[:, :3].sum(axis=1) + 0.5 * rng.normal(size=n)
            found["lasso"] += recovered(X, y, Lasso(alpha))
            found["weak"] += recovered(X, y, Lasso(alpha / 4))
            found["adaptive"] += recovered(X, y, AdaptiveLasso(alpha))
        share.append(found)
    assert irrepresentable(X, [0, 1, 2]).holds is holds
    last = share[-1]
    assert last["weak"] <= 2
    assert last["adaptive"] >= 28
    assert last["adaptive"] >= share[0]["adaptive"]
    if holds:
        assert last["lasso"] >= 28
    else:
        assert last["lasso"] <= 2


def test_d88_the_penalty_is_minus_the_logarithm_of_a_prior():
    """q = 1 is Laplace's density, q = 2 the normal one: the mode on a grid, no formula used."""
    X, y = draw(9, n=25, p=1)
    x, r = X[:, 0] - X.mean(), y - y.mean()
    sigma, scale = 1.3, 0.2
    grid = np.linspace(-1, 3, 40_001)
    likelihood = stats.norm.logpdf(r[:, None], loc=x[:, None] * grid, scale=sigma).sum(axis=0)
    laplace = grid[np.argmax(likelihood + stats.laplace.logpdf(grid, scale=scale))]
    normal = grid[np.argmax(likelihood + stats.norm.logpdf(grid, scale=scale))]
    lasso = Lasso(sigma**2 / (25 * scale), standardize=False).fit(X, y)
    ridge = Ridge(sigma**2 / scale**2, standardize=False).fit(X, y)
    assert_allclose([lasso.coef_[0], ridge.coef_[0]], [laplace, normal], atol=1e-4)  # a grid step


def test_d92_the_notes_sweep_over_the_coordinates():
    """(1/2) RSS + lam ||b||_1 with columns of length one; alpha is lam / n on our scale."""
    X, y = draw(10, n=30, p=5)
    X = X - X.mean(axis=0)
    X, y, lam = X / np.linalg.norm(X, axis=0), y - y.mean(), 8.0
    b = np.zeros(5)
    for _ in range(500):
        for j in range(5):
            partial = y - X @ b + X[:, j] * b[j]  # the sum over k != j (misprinted j != j)
            rho = X[:, j] @ partial
            b[j] = np.sign(rho) * max(abs(rho) - lam, 0)
    assert 0 < np.count_nonzero(b) < 5
    assert_allclose(Lasso(lam / 30, standardize=False).fit(X, y).coef_, b, atol=1e-9)


@pytest.mark.parametrize("shape", [(200, 40), (60, 300)])
def test_d93_a_warm_start_saves_sweeps(shape):
    rng = np.random.default_rng(11)
    X = rng.normal(size=shape) + rng.normal(size=(shape[0], 1))
    y = X[:, :40] @ np.arange(1.0, 41) + rng.normal(size=shape[0])
    alphas = np.geomspace(20, 0.2, 60)
    model = Lasso()
    warm = model._prepare(model._read(X, y, None)).walk(alphas, 1.0)
    for k in (20, 40, 59):
        cold = Lasso(alphas[k]).fit(X, y)
        assert_allclose(warm.coef[k], cold.coef_, atol=1e-8)
        assert 2 * warm.n_iter[k] < cold.n_iter_
