"""Least squares against R's lm, on Longley's notoriously collinear data among others."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

from bottega.core.errors import DataWarning
from bottega.linear import LeastSquares

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "linear" / "least_squares.json").read_text()
)
CASES = {case["name"]: case for case in REFERENCE["cases"]}
# The condition number of Longley's columns is 5e7 with the constant, 1e2 centred and scaled. Both
# solutions are backward stable, lm's on the former: 5e7 times the rounding unit is 1e-8.
TIGHT = {"rtol": 1e-8, "atol": 1e-8}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture(params=["auto", "qr", "cholesky"])
def fitted(request, case):
    expected = case["fit"]
    model = LeastSquares(method=request.param, fit_intercept=expected["intercept"])
    X, y = np.array(case["X"], dtype=float), np.array(case["y"], dtype=float)
    return model.fit(X, y, sample_weight=expected["weight"]), expected


def test_terms_are_those_of_lm(fitted):
    model, expected = fitted
    table = np.array(expected["table"])
    terms = model.tidy(level=0.9)
    columns = ("estimate", "std_error", "statistic", "p_value")
    for name, column in zip(columns, table.T, strict=True):
        assert_allclose(terms[name], column, rtol=1e-8, err_msg=name)
    assert_allclose(terms["conf_low"], expected["conf_low"], rtol=1e-8)
    assert_allclose(terms["conf_high"], expected["conf_high"], rtol=1e-8)
    first = int(expected["intercept"])
    vcov = np.array(expected["vcov"])[first:, first:]
    for kind in ("sampling", "posterior"):
        assert_allclose(model.covariance(kind), vcov, rtol=1e-7)  # products of two errors of 1e-8


def test_glance_and_summary_are_those_of_lm(fitted):
    model, expected = fitted
    row = model.glance().iloc[0]
    names = ["sigma", "deviance", "loglik", "aic", "bic"]
    if expected["intercept"]:  # without one, lm's R squared is about zero and ours about the mean
        names.append("r_squared")
        assert f"adjusted R squared {expected['adj_r_squared']:.4g}" in str(model.summary())
    for name in names:
        assert_allclose(row[name], expected[name], rtol=1e-8, err_msg=name)
    statistic, df, df_residual = expected["f"]
    assert_allclose(row["statistic"], statistic, rtol=1e-8)
    assert row["df"] == df + expected["intercept"]
    assert row["df_residual"] == df_residual
    assert_allclose(row["p_value"], expected["f_p"], rtol=1e-6)  # a tail is worse conditioned
    assert f"F = {statistic:.4g} on {df:g} and {df_residual:g} df" in str(model.summary())
    assert_allclose(model.residual_covariance_, [[expected["sigma"] ** 2]], rtol=1e-8)


def test_diagnostics_are_those_of_lm(fitted):
    model, expected = fitted
    rows = model.augment()
    assert_allclose(rows["fitted"], expected["fitted"], **TIGHT)
    assert_allclose(rows["leverage"], expected["hat"], **TIGHT)
    assert_allclose(rows["std_residual"], expected["rstandard"], **TIGHT)
    assert_allclose(rows["cooks"], expected["cooks"], **TIGHT)
    if expected["intercept"]:
        assert_allclose(model.vif()["vif"], expected["vif"], rtol=1e-7)  # squares of 1e-8


def test_bands_are_those_of_lm(fitted):
    model, expected = fitted
    new = np.array(expected["new"])
    mean, std = model.predict(new, return_std=True)
    assert_allclose(std, expected["se_fit"], rtol=1e-8)
    for kind in ("confidence", "prediction"):
        limits = np.array(expected[kind])
        assert_allclose(mean, limits[:, 0], rtol=1e-8)
        low, high = model.interval(new, level=0.9, kind=kind)
        assert_allclose(low, limits[:, 1], rtol=1e-8)
        assert_allclose(high, limits[:, 2], rtol=1e-8)


def test_several_responses_are_those_of_lm():
    many = REFERENCE["many"]
    X, Y = np.array(many["X"]), np.array(many["Y"])
    model = LeastSquares().fit(X, Y)
    coef = np.array(many["coef"])
    assert_allclose(model.intercept_, coef[0], rtol=1e-9)
    assert_allclose(model.coef_, coef[1:].T, rtol=1e-9)
    assert_allclose(model.residual_covariance_, many["covariance"], rtol=1e-9)
    assert_allclose(model.sigma_, np.sqrt(np.diag(many["covariance"])), rtol=1e-9)
    assert np.isnan(model.glance()["statistic"][0])
    assert_allclose(
        LeastSquares().fit_chunks([(X[:9], Y[:9]), (X[9:], Y[9:])]).residual_covariance_,
        many["covariance"],
        rtol=1e-9,
    )


@pytest.mark.parametrize("method", ["auto", "qr", "cholesky"])
def test_aliased_columns_are_those_of_lm(method):
    case = REFERENCE["aliased"]
    frame = pd.DataFrame(case["X"], columns=case["names"])
    with pytest.warns(DataWarning, match="'twice', 'both' can be written by the columns before"):
        model = LeastSquares(method=method).fit(frame, case["y"])
    assert_array_equal(model.aliased_, case["aliased"])
    estimate = np.array(case["estimate"], dtype=float)  # null is missing
    terms = model.tidy()
    assert_allclose(terms["estimate"], estimate, rtol=1e-8)
    for name in ("std_error", "statistic", "p_value", "conf_low", "conf_high"):
        assert_array_equal(np.isnan(terms[name]), np.isnan(estimate), err_msg=name)
    table = np.array(case["table"])
    kept = ~np.isnan(estimate)
    assert_allclose(terms["std_error"][kept], table[:, 1], rtol=1e-8)
    assert_allclose(terms["p_value"][kept], table[:, 3], rtol=1e-8)
    assert_allclose(model.coef_, np.nan_to_num(estimate[1:]), rtol=1e-8)
    assert model.df_ == case["df"]
    assert_allclose(model.sigma_, case["sigma"], rtol=1e-8)
    assert_allclose(model.predict(frame), case["fitted"], rtol=1e-8)
    assert_array_equal(np.isnan(model.vif()["vif"]), case["aliased"])
    assert_array_equal(np.isnan(np.diag(model.covariance())), case["aliased"])
    assert "Aliased, with a zero coefficient: 'twice', 'flat', 'both'" in str(model.summary())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("columns", ["full rank", "collinear", "wide"])
def test_rank_and_singular_values_equal_scikit_learn(columns, intercept, weighted):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)) * [1, 10, 0.1, 3] + 2
    if columns == "collinear":
        X = np.column_stack([X, X[:, 0] - X[:, 1]])
    elif columns == "wide":
        X = rng.normal(size=(4, 7))
    y, w = rng.normal(size=len(X)), rng.uniform(0.5, 2, size=len(X)) if weighted else None
    theirs = LinearRegression(fit_intercept=intercept).fit(X, y, w)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        ours = LeastSquares(fit_intercept=intercept).fit(X, y, w)
    assert ours.rank_ == theirs.rank_
    # The squares of singular values are known to rounding of the largest.
    assert_allclose(ours.singular_, theirs.singular_, rtol=1e-8, atol=1e-6 * ours.singular_[0])
