"""SubsetSelection: its curve, its choice, its reports, and odd or bad inputs."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from bottega.core.errors import DataWarning, InputError
from bottega.core.judge import mean_and_se
from bottega.core.path import CRITERIA
from bottega.linear import SubsetSelection


def draw(seed=0, n=60, p=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 2
    return X, 1 + 2 * X[:, 1] - X[:, 3] + rng.normal(size=n)


def test_the_curve_tells_size_rss_and_coefficients():
    X, y = draw()
    path = SubsetSelection().path(X, y)
    assert_array_equal(path.values, np.arange(7))
    assert_array_equal(path.df, np.arange(1, 8))
    assert path.estimate == "cv"
    assert_allclose(path.train_error[0], np.var(y))
    for i in range(7):
        model = path.at(i)
        assert_array_equal(np.flatnonzero(path.coef[i]), model.support_)
        assert_allclose(path.coef[i], model.coef_)
        assert_allclose(np.mean((y - model.predict(X)) ** 2), path.train_error[i])


@pytest.mark.parametrize("method", ["best", "forward", "backward", "hybrid"])
def test_r_squared_grows_with_size_and_cannot_choose_it(method):
    X, y = draw(1)
    r_squared = [
        SubsetSelection(size, method=method).fit(X, y).glance()["r_squared"][0] for size in range(7)
    ]
    assert np.all(np.diff(r_squared) >= 0)
    assert r_squared[0] == pytest.approx(0, abs=1e-12)


def test_aic_with_known_scale_minus_cp_is_n():
    # The notes' two forms, RSS/sigma^2 + 2p and Cp, differ by n, so they rank alike.
    X, y = draw(2)
    path = SubsetSelection().path(X, y)
    n = len(y)
    rss = path.train_error * n
    sigma2 = rss[-1] / (n - 7)
    aic = rss / sigma2 + 2 * path.df
    assert_allclose(aic - path.criteria["cp"], n)
    assert np.argmin(aic) == path.best("cp")
    assert path.criteria["cp"][-1] == pytest.approx(7)  # of all columns, Cp is their number


@pytest.mark.parametrize("method", ["best", "hybrid"])
def test_cross_validation_searches_again_in_each_fold(method):
    X, y = draw(3, n=40)
    cv = KFold(5, shuffle=True, random_state=0)
    path = SubsetSelection(method=method).path(X, y, cv=cv)
    by_hand = []
    for train, test in cv.split(X):
        fits = [SubsetSelection(s, method=method).fit(X[train], y[train]) for s in range(7)]
        by_hand.append(np.stack([(y[test] - fit.predict(X[test])) ** 2 for fit in fits], axis=1))
    assert_allclose(path.fold_error, [each.mean(axis=0) for each in by_hand], rtol=1e-10)
    expected = mean_and_se(np.concatenate(by_hand))
    assert_allclose((path.error, path.error_se), expected, rtol=1e-9)


def test_honest_error_is_above_that_of_a_search_before_the_folds():
    # Pure noise: choosing columns on all rows first makes cross-validation flatter the model.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 200)), rng.normal(size=50)
    cv = KFold(5)
    honest = SubsetSelection(method="forward", max_features=8).path(X, y, cv=cv)
    chosen = SubsetSelection(8, method="forward", max_features=8).fit(X, y).support_
    cheating = SubsetSelection(method="backward").path(X[:, chosen], y, cv=cv)
    assert cheating.error[-1] < 0.8 * np.var(y) < np.var(y) < honest.error[-1]


@pytest.mark.parametrize("select", ["min", "one_se", *CRITERIA])
def test_auto_picks_by_its_rule(select):
    X, y = draw(4)
    model = SubsetSelection(select=select).fit(X, y)
    path = SubsetSelection().path(X, y)
    assert model.n_features_to_select_ == path.values[path.best(select)]
    assert {1, 3} <= set(model.support_.tolist())


def test_more_columns_than_rows():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 80))
    y = 3 * X[:, 7] - 2 * X[:, 50] + 0.3 * rng.normal(size=30)
    for method in ("forward", "hybrid"):
        model = SubsetSelection(method=method).fit(X, y)
        assert model.support_.tolist() == [7, 50]
        assert len(model.subsets_) == 29  # one degree of freedom is left at the end
        # All columns together leave nothing: the scale is that of half as many as rows.
        scale = np.sqrt(model.rss_[14] / (30 - 15))
        assert model.path_.scale == pytest.approx(scale)
        assert np.all(np.isfinite(model.path_.error))
    for method in ("best", "backward"):
        with pytest.raises(InputError, match=r"starts from the model of all 80 columns.*forward"):
            SubsetSelection(method=method).fit(X, y)
        with pytest.raises(InputError, match="30 rows cannot determine it"):
            SubsetSelection(method=method).path(X[:, :30], y)


def test_too_many_columns_for_the_best():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 61)), rng.normal(size=100)
    with pytest.raises(InputError, match="61 columns are more than the 60"):
        SubsetSelection(2, method="best").fit(X, y)
    assert SubsetSelection(2).fit(X, y).method_ == "forward"
    assert SubsetSelection(2).fit(X[:, :20], y).method_ == "best"


@pytest.mark.parametrize("method", ["best", "backward"])
def test_collinear_columns_are_left_out_and_said(method):
    X, y = draw(6)
    doubled = np.hstack([X, X[:, [1]], np.full((60, 1), 5.0)])
    with pytest.warns(DataWarning, match=r"Collinear inputs: 'x6' can"):
        model = SubsetSelection(method=method).fit(doubled, y)
    alone = SubsetSelection(method=method).fit(X, y)
    assert model.collinear_.tolist() == [6]
    assert_allclose(model.coef_, [*alone.coef_, 0, 0], atol=1e-10)
    assert model.n_features_to_select_ == alone.n_features_to_select_


@pytest.mark.parametrize("method", ["forward", "hybrid"])
def test_walks_pass_by_columns_in_the_span(method):
    X, y = draw(7)
    model = SubsetSelection(8, method=method).fit(np.hstack([X, X[:, [1]] * 2, X[:, [0]] + 1]), y)
    assert model.n_features_to_select_ == 6
    assert_allclose(model.rss_[-1], SubsetSelection(6).fit(X, y).rss_[-1])


def test_constant_response_and_perfect_fit():
    X, _ = draw(8)
    flat = SubsetSelection(select="min").fit(X, np.full(60, 4.0))
    assert flat.n_features_to_select_ == 0
    assert_allclose(flat.predict(X), 4)
    exact = SubsetSelection(select="min").fit(X, 2 * X[:, 0] - X[:, 2])
    assert {0, 2} <= set(exact.support_.tolist())
    assert_allclose(exact.predict(X), 2 * X[:, 0] - X[:, 2], atol=1e-10)


def test_rows_of_weight_zero_count_for_nothing_and_weights_are_copies():
    X, y = draw(9)
    w = np.random.default_rng(0).integers(0, 4, size=60)
    weighted = SubsetSelection(3).fit(X, y, sample_weight=w)
    copies = SubsetSelection(3).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_array_equal(weighted.support_, copies.support_)
    assert_allclose(weighted.coef_, copies.coef_, atol=1e-10)
    assert_allclose(weighted.rss_, copies.rss_)
    kept = w > 0
    some = SubsetSelection().fit(X[kept], y[kept], sample_weight=w[kept])
    assert (
        SubsetSelection().fit(X, y, sample_weight=w).n_features_to_select_
        == some.n_features_to_select_
    )


def test_no_tests_after_the_choice():
    X, y = draw(10)
    model = SubsetSelection(2).fit(pd.DataFrame(X, columns=list("abcdef")), y)
    terms = model.tidy()
    assert terms["term"].tolist() == ["(Intercept)", *"abcdef"]
    assert_allclose(terms["estimate"], [model.intercept_, *model.coef_])
    assert (terms["estimate"] != 0).tolist() == [True, False, True, False, True, False, False]
    assert terms[["std_error", "p_value", "conf_low"]].isna().all().all()
    text = str(model.summary())
    assert "2 of 6 columns" in text
    assert "chosen by looking at the response" in text
    row = model.glance().iloc[0]
    assert row["nobs"] == 60
    assert row["df"] == 3
    assert_allclose(row["sigma"] ** 2 * 57, model.rss_[2])
    path = SubsetSelection().path(X, y)
    assert_allclose([row["aic"], row["bic"]], [path.criteria[c][2] for c in ("aic", "bic")])
    assert_allclose(row["aic"], -2 * row["loglik"] + 2 * (row["df"] + 1))


def test_forced_columns_by_name():
    X, y = draw(11)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = SubsetSelection(force=["f"]).fit(frame, y)
    assert 5 in model.support_
    assert model.path_.values[0] == 1
    with pytest.raises(InputError, match="'g' that X does not have"):
        SubsetSelection(force=["g"]).fit(frame, y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"force": [9]}, "positions from 0 to 5"),
        ({"force": [1, 1]}, "names a column twice"),
        ({"force": "a"}, "is not a list of columns"),
        ({"force": 3}, "is not a list of columns"),
        ({"force": [1, 2], "n_features_to_select": 1}, "less than the 2 columns"),
        ({"force": [1, 2], "max_features": 1}, "at most 1 can be in a model"),
    ],
)
def test_bad_force_is_named(options, words):
    X, y = draw(12)
    with pytest.raises(InputError, match=words):
        SubsetSelection(**options).fit(X, y)


def test_forced_columns_must_be_independent():
    X, y = draw(12)
    X[:, 2] = 2 * X[:, 1]
    with pytest.raises(InputError, match=r"constant or collinear \(\[2\]\)"):
        SubsetSelection(2, force=[1, 2]).fit(X, y)


@pytest.mark.parametrize("values", [[], [7], [-1], [1.5], [[1, 2]]])
def test_bad_values_are_named(values):
    with pytest.raises(InputError, match=r"whole number(s from 0 to 6| in \[0)|give a list"):
        SubsetSelection(cv=2).path(*draw(), values=values)


def test_max_features_ends_the_path_and_keeps_cp():
    X, y = draw(13)
    short, long = SubsetSelection(max_features=3).path(X, y), SubsetSelection().path(X, y)
    assert_array_equal(short.values, [0, 1, 2, 3])
    assert_allclose(short.criteria["cp"], long.criteria["cp"][:4])
    assert_allclose(short.error, long.error[:4])
