"""LeastAngle: its curve, its choice, its reports, and bad inputs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes
from sklearn.model_selection import KFold

from bottega.core.errors import InputError
from bottega.core.judge import mean_and_se
from bottega.core.path import CRITERIA
from bottega.linear import LeastAngle

DIABETES = load_diabetes(return_X_y=True)


def draw(seed=0, n=60, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, 1 + 2 * X[:, 1] - X[:, 3] + rng.normal(size=n)


@pytest.mark.parametrize("mode", ["lar", "lasso"])
def test_the_curve_tells_steps_df_and_criteria(mode):
    X, y = DIABETES
    n = len(y)
    path = LeastAngle(method=mode).path(X, y)
    model = LeastAngle(0, method=mode).fit(X, y)
    assert_allclose(path.coef, model.coef_path_)
    assert_allclose(path.df, 1 + np.count_nonzero(model.coef_path_, axis=1))
    residuals = (y - y.mean())[:, None] - (X - X.mean(axis=0)) @ model.coef_path_.T
    rss = np.sum(residuals**2, axis=0)
    assert_allclose(path.train_error, rss / n)
    sigma2 = rss[-1] / (n - 11)
    assert_allclose(path.criteria["cp"], rss / sigma2 - n + 2 * path.df, rtol=1e-8, atol=1e-8)
    assert path.criteria["cp"][-1] == pytest.approx(11)
    at = path.at(3)
    assert_allclose(at.coef_, path.coef[3])
    assert at.alpha_ == at.alphas_[3]


def test_folds_of_lar_are_judged_after_as_many_steps():
    X, y = draw(1)
    cv = KFold(5, shuffle=True, random_state=0)
    path = LeastAngle().path(X, y, cv=cv)
    by_hand = [
        np.stack(
            [
                (y[test] - LeastAngle(k).fit(X[train], y[train]).predict(X[test])) ** 2
                for k in range(7)
            ],
            axis=1,
        )
        for train, test in cv.split(X)
    ]
    assert_allclose(path.fold_error, [each.mean(axis=0) for each in by_hand], rtol=1e-10)
    expected = mean_and_se(np.concatenate(by_hand))
    assert_allclose((path.error, path.error_se), expected, rtol=1e-9)


def test_folds_of_the_lasso_are_judged_at_the_same_alpha():
    X, y = draw(2)
    cv = KFold(4, shuffle=True, random_state=0)
    path = LeastAngle(method="lasso").path(X, y, cv=cv)
    whole = LeastAngle(0, method="lasso").fit(X, y)
    alphas = whole.alphas_[path.values]
    by_hand = []
    for train, test in cv.split(X):
        fold = LeastAngle(0, method="lasso").fit(X[train], y[train])
        # Coefficient by coefficient, linear in alpha between the fold's own knots.
        coef = np.column_stack(
            [np.interp(alphas, fold.alphas_[::-1], b[::-1]) for b in fold.coef_path_.T]
        )
        mean = y[train].mean() - coef @ X[train].mean(axis=0)
        predicted = X[test] @ coef.T + mean
        by_hand.append(np.mean((y[test][:, None] - predicted) ** 2, axis=0))
    assert_allclose(path.error, np.mean(by_hand, axis=0), rtol=1e-9)


@pytest.mark.parametrize("mode", ["lar", "lasso"])
@pytest.mark.parametrize("select", ["min", "one_se", *CRITERIA])
def test_auto_picks_by_its_rule(mode, select):
    X, y = draw(3)
    model = LeastAngle(method=mode, select=select).fit(X, y)
    path = LeastAngle(method=mode).path(X, y)
    assert model.n_nonzero_coefs_ == path.values[path.best(select)]
    assert_allclose(model.coef_, model.coef_path_[model.n_nonzero_coefs_])
    assert {1, 3} <= set(model.support_.tolist())


def test_a_path_with_several_drops_in_a_row_is_ordered_by_df():
    # Found by trying seeds: the count of columns falls on the way.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(25, 40)) + 2 * rng.normal(size=(25, 1))
    y = X[:, :5] @ [3.0, -3, 2, -2, 1] + rng.normal(size=25)
    model = LeastAngle(0, method="lasso").fit(X, y)
    count = np.count_nonzero(model.coef_path_, axis=1)
    assert np.any(np.diff(count) < 0)
    path = LeastAngle(method="lasso").path(X, y)
    assert np.all(np.diff(path.df) >= 0)
    assert sorted(path.values) == list(range(len(model.alphas_)))
    assert_allclose(path.df, 1 + count[path.values])


def test_more_columns_than_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 80))
    y = 3 * X[:, 7] - 2 * X[:, 50] + 0.3 * rng.normal(size=30)
    for mode in ("lar", "lasso"):
        model = LeastAngle(method=mode).fit(X, y)
        assert {7, 50} <= set(model.support_.tolist())
        # Least squares on all columns leaves nothing: the scale is that of half as many.
        rich = np.flatnonzero(model.path_.df <= 15)[-1]
        scale = np.sqrt(30 * model.path_.train_error[rich] / (30 - model.path_.df[rich]))
        assert model.path_.scale == pytest.approx(scale)
        last = LeastAngle(999, method=mode).fit(X, y)
        assert len(last.support_) == 29
        assert_allclose(last.predict(X), y, atol=1e-8)
        assert last.collinear_.tolist() == []
        # With no degree of freedom left a criterion must not flatter the model.
        full = model.path_.df >= 30
        assert full.any()
        assert np.all(np.isinf(model.path_.criteria["aic"][full]))


def test_weights_are_copies_and_scales_do_not_matter():
    X, y = draw(6)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = LeastAngle(3, method="lasso").fit(X, y, sample_weight=w)
    copies = LeastAngle(3, method="lasso").fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.coef_path_, copies.coef_path_, atol=1e-10)
    assert_allclose(weighted.alphas_, copies.alphas_, atol=1e-12)
    factor = np.array([1, 10, 0.1, 100, 1, 1e-3])
    rescaled = LeastAngle(3, method="lasso").fit(X * factor, y, sample_weight=w)
    assert_allclose(rescaled.coef_ * factor, weighted.coef_, atol=1e-10)
    unscaled = LeastAngle(1, standardize=False).fit(X * factor, y)
    assert unscaled.entered_[0] == 3


def test_reports():
    X, y = draw(7)
    model = LeastAngle(2).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    terms = model.tidy()
    assert terms["term"].tolist() == ["(Intercept)", *"abcdef"]
    assert_allclose(terms["estimate"], [model.intercept_, *model.coef_])
    assert terms["p_value"].isna().all()
    assert "none are shown" in str(model.summary())
    row = model.glance().iloc[0]
    residuals = y - model.predict(pd.DataFrame(X, columns=list("abcdef")))
    assert_allclose(row["deviance"], residuals @ residuals)
    assert_allclose(row["r_squared"], 1 - residuals @ residuals / np.sum((y - y.mean()) ** 2))
    assert row["df"] == 3


@pytest.mark.parametrize("values", [[], [7], [-1], [1.5], [[1, 2]]])
def test_bad_values_are_named(values):
    with pytest.raises(InputError, match=r"whole number(s from 0 to 6| in \[0)|give a list"):
        LeastAngle().path(*draw(), values=values)


def test_one_weighted_row_is_not_enough():
    X, y = draw(8)
    with pytest.raises(InputError, match="at least 2 rows with positive weight; found 1"):
        LeastAngle().fit(X, y, sample_weight=np.eye(60)[0])


def test_zero_steps_are_the_mean():
    X, y = draw(9)
    model = LeastAngle(0).fit(X, y)
    assert_array_equal(model.coef_, 0)
    assert model.intercept_ == pytest.approx(y.mean())
