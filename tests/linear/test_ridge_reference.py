"""Ridge against R (MASS::lm.ridge, lm, refits by hand) and against scikit-learn."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.linear_model import RidgeCV

from bottega.core import f_test
from bottega.core.errors import InputError, NotKept
from bottega.linear import Ridge

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "ridge.json").read_text()
)
CASES = {case["name"]: case for case in REFERENCE["cases"]}
LM = REFERENCE["lm"]

# Two backward-stable solutions of one problem differ by the condition number of the penalised
# inputs (at most 1e4 in these data) times the rounding unit and the 15 digits that JSON keeps:
# 1e-9 would do, 1e-8 leaves room for other BLAS libraries.
TIGHT = {"rtol": 1e-8, "atol": 1e-8}


def arrays(case):
    return np.array(case["X"], dtype=float), np.array(case["y"], dtype=float)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_equal_lm_ridge(name, intercept):
    case = CASES[name]
    X, y = arrays(case)
    expected = case["lm_ridge" if intercept else "lm_ridge_no_intercept"]
    for i, alpha in enumerate(case["lambda"]):
        model = Ridge(alpha, fit_intercept=intercept).fit(X, y)
        assert_allclose(model.coef_, expected["coef"][i], **TIGHT)
        assert_allclose(model.intercept_, expected["intercept"][i], **TIGHT)


@pytest.mark.parametrize("name", CASES)
def test_path_and_gcv_equal_lm_ridge(name):
    case = CASES[name]
    X, y = arrays(case)
    n = len(y)
    path = Ridge().path(X, y, values=case["lambda"])
    expected = case["lm_ridge"]
    assert_allclose(path.values, case["lambda"][::-1])
    assert_allclose(path.coef, expected["coef"][::-1], **TIGHT)
    # lm.ridge leaves the intercept out of df and has no factor n.
    theirs = path.train_error * n / (n - (path.df - 1)) ** 2
    assert_allclose(theirs, expected["gcv"][::-1], rtol=1e-8)
    assert_allclose(path.criteria["gcv"], n * n * path.train_error / (n - path.df) ** 2)


@pytest.mark.parametrize("name", CASES)
def test_leave_one_out_equals_refits_in_r(name):
    case = CASES[name]
    X, y = arrays(case)
    for expected in case["loo"]:
        model = Ridge(expected["alpha"]).fit(X, y)
        assert_allclose(model.loo_residuals_, expected["residuals"], **TIGHT)
        path = Ridge().path(X, y, values=[expected["alpha"]])
        squared = np.square(expected["residuals"])
        assert_allclose(path.error, squared.mean(), rtol=1e-8)
        assert_allclose(path.error_se, squared.std(ddof=1) / np.sqrt(len(y)), rtol=1e-8)


# Unscaled, the columns of longley differ in size by 1e4: refits by normal equations lose too much.
@pytest.mark.parametrize("name", [name for name in CASES if name != "longley"])
def test_weighted_leave_one_out_equals_refits_in_r(name):
    case = CASES[name]
    X, y = arrays(case)
    w = np.array(case["weight"])
    for expected in case["loo_weighted"]:
        model = Ridge(expected["alpha"], standardize=False).fit(X, y, sample_weight=w)
        assert_allclose(model.loo_residuals_, expected["residuals"], **TIGHT)
        assert_allclose(model.loo_, np.average(np.square(expected["residuals"]), weights=w))


@pytest.fixture(params=["plain", "weighted"])
def least_squares(request):
    expected = LM[request.param]
    X, y = arrays(LM)
    weight = None if request.param == "plain" else np.array(expected["weight"])
    return Ridge(alpha=0).fit(X, y, sample_weight=weight), expected


def test_no_penalty_is_lm(least_squares):
    model, expected = least_squares
    table = np.array(expected["table"])
    terms = model.tidy(level=0.9)
    assert terms["term"].tolist() == ["(Intercept)", "x0", "x1", "x2", "x3"]
    assert_allclose(terms["estimate"], table[:, 0], rtol=1e-8)
    assert_allclose(terms["std_error"], table[:, 1], rtol=1e-8)
    assert_allclose(terms["statistic"], table[:, 2], rtol=1e-8)
    assert_allclose(terms["p_value"], table[:, 3], rtol=1e-8)
    assert_allclose(terms["conf_low"], expected["conf_low"], rtol=1e-8)
    assert_allclose(terms["conf_high"], expected["conf_high"], rtol=1e-8)
    vcov = np.array(expected["vcov"])[1:, 1:]
    assert_allclose(model.covariance("sampling"), vcov, rtol=1e-8)
    assert_allclose(model.covariance("posterior"), vcov, rtol=1e-8)


def test_no_penalty_has_the_diagnostics_of_lm(least_squares):
    model, expected = least_squares
    row = model.glance().iloc[0]
    for name in ("sigma", "loglik", "aic", "bic", "r_squared", "deviance"):
        assert_allclose(row[name], expected[name], rtol=1e-8, err_msg=name)
    assert row["nobs"] == 32
    assert_allclose(row["df"], 5)
    rows = model.augment()
    assert_allclose(rows["fitted"], expected["fitted"], rtol=1e-8)
    assert_allclose(rows["leverage"], expected["hat"], rtol=1e-8)
    # A residual near zero keeps the absolute, not the relative, precision of y.
    assert_allclose(rows["std_residual"], expected["rstandard"], **TIGHT)
    assert_allclose(rows["cooks"], expected["cooks"], **TIGHT)
    assert_allclose(model.loo_residuals_, expected["loo"], **TIGHT)


def test_no_penalty_has_the_bands_of_lm(least_squares):
    model, expected = least_squares
    new = np.array(expected["new"])
    mean, std = model.predict(new, return_std=True)
    assert_allclose(std, expected["se_fit"], rtol=1e-8)
    for kind in ("confidence", "prediction"):
        limits = np.array(expected[kind])
        assert_allclose(mean, limits[:, 0], rtol=1e-8)
        low, high = model.interval(new, level=0.9, kind=kind)
        assert_allclose(low, limits[:, 1], rtol=1e-8)
        assert_allclose(high, limits[:, 2], rtol=1e-8)


def test_f_test_of_nested_least_squares_is_anova(least_squares):
    big, expected = least_squares
    X, y = arrays(LM)
    small = Ridge(alpha=0).fit(X[:, :2], y, sample_weight=big.smoother_.weight)
    found = f_test(small, big)
    assert_allclose(found.statistic, expected["f"], rtol=1e-8)
    assert_allclose(found.df, expected["f_df"])
    assert_allclose(found.p_value, expected["f_p"], rtol=1e-7)  # a tail is worse conditioned


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_equals_scikit_learn_at_a_fixed_penalty(intercept, weighted):
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(40, 6)) + 3, rng.normal(size=(40, 2))
    w = rng.uniform(0.5, 2, size=40) if weighted else None
    ours = Ridge(2.5, standardize=False, fit_intercept=intercept).fit(X, Y, sample_weight=w)
    theirs = SklearnRidge(2.5, fit_intercept=intercept).fit(X, Y, sample_weight=w)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-12)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("columns", [10, 60])
def test_path_equals_ridge_cv(columns):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:50] * 20, y[:50]
    if columns > 10:
        X = np.hstack([X, np.random.default_rng(0).normal(size=(50, columns - 10))])
    alphas = np.logspace(-2, 4, 30)
    theirs = RidgeCV(alphas, store_cv_results=True).fit(X, y)
    path = Ridge(standardize=False).path(X, y, values=alphas)
    assert_allclose(path.error[::-1], theirs.cv_results_.mean(axis=0), rtol=1e-8)
    assert path.values[path.best("min")] == theirs.alpha_


@pytest.mark.parametrize("positive", [False, True])
def test_a_penalty_for_each_response_equals_scikit_learn(positive):
    rng = np.random.default_rng(3)
    X, Y = rng.normal(size=(40, 6)) + 3, rng.normal(size=(40, 3))
    alphas = [0.0, 1.0, 50.0]
    ours = Ridge(alphas, standardize=False, positive=positive).fit(X, Y)
    for k, alpha in enumerate(alphas):
        alone = Ridge(alpha, standardize=False, positive=positive).fit(X, Y[:, k])
        assert_allclose(ours.coef_[k], alone.coef_, rtol=1e-9, atol=1e-12)
    if not positive:
        theirs = SklearnRidge(np.array(alphas)).fit(X, Y)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
        assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    assert_allclose(ours.alpha_, alphas)
    with pytest.raises(NotKept, match="one by one"):
        ours.glance()
    some_zero = Ridge(alphas, standardize=False).fit(X, Y, sample_weight=np.arange(40) > 0)
    assert_allclose(some_zero.coef_, Ridge(alphas, standardize=False).fit(X[1:], Y[1:]).coef_)
    with pytest.raises(InputError, match="2 != 3"):
        Ridge([1.0, 2.0]).fit(X, Y)
    with pytest.raises(InputError, match="alpha="):
        Ridge([1.0, -2.0, 1.0]).fit(X, Y)


def test_the_answer_does_not_depend_on_what_other_solvers_need():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    plain = Ridge(1.0).fit(X, y).coef_
    for solver in ("svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga"):
        other = Ridge(1.0, solver=solver, max_iter=1, tol=0.5, copy_X=False, random_state=0)
        assert np.array_equal(other.fit(X, y).coef_, plain)
    with pytest.raises(InputError, match="solver='fast'"):
        Ridge(1.0, solver="fast").fit(X, y)
