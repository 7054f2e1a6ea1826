"""The path, its cross-validation, chunks, and bad input."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.core.judge import mean_and_se
from bottega.linear import PrincipalComponentsRegression

CRITERIA = ("df_", "sigma_", "loo_", "gcv_", "aic_", "aicc_", "bic_", "hq_", "loglik_")


def draw(seed=0, n=60, p=4, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, size=p) + rng.normal(size=p)
    y = X @ (rng.normal(size=p) if q is None else rng.normal(size=(p, q)))
    return X, y + rng.normal(size=y.shape), rng.integers(0, 4, size=n).astype(float)


def cut(cuts, *arrays):
    edges = [0, *sorted(cuts), len(arrays[0])]
    return [tuple(each[a:b] for each in arrays) for a, b in pairwise(edges)]


# ---- cross-validation ---------------------------------------------------------------------------


def test_the_error_of_discrete_data_is_that_of_leave_one_out():
    # Four different rows only: folds that keep copies together, or spread them evenly, would be off
    # by far more than chance. Over 60 data sets of 40 rows the optimism of the training error is
    # 2 sigma^2 df / n = 0.017, estimated by either way to about a tenth of that.
    rng = np.random.default_rng(0)
    optimism = np.zeros((60, 2))
    for row in optimism:
        x = rng.integers(0, 2, size=(40, 1)).astype(float)
        y = (rng.uniform(size=40) < 0.2 + 0.6 * x[:, 0]).astype(float)
        for j, cv in enumerate((10, "loo")):
            path = PrincipalComponentsRegression(cv=cv).path(x, y)
            row[j] = path.error[1] - path.train_error[1]
    tenfold, loo = optimism.mean(axis=0)
    assert loo == pytest.approx(0.017, rel=0.3)
    # Ten folds train on a tenth less, and so pay up to a fifth more.
    assert 0.7 * loo < tenfold < 1.6 * loo


def test_components_are_computed_anew_in_each_fold():
    X, y, _ = draw(1, n=40)
    path = PrincipalComponentsRegression(cv=4).path(X, y)
    losses = np.zeros((4, 10, 5))
    for k, (train, test) in enumerate(make_folds(4, 40, X=X, y=y)):
        center, spread = X[train].mean(axis=0), X[train].std(axis=0)
        A, B = (X[train] - center) / spread, (X[test] - center) / spread
        V = np.linalg.svd(A)[2].T
        for count in range(5):
            Z = A @ V[:, :count]
            gamma = np.linalg.lstsq(Z, y[train] - y[train].mean(), rcond=None)[0]
            predicted = y[train].mean() + B @ V[:, :count] @ gamma
            losses[k, :, count] = (y[test] - predicted) ** 2
    assert_allclose(path.fold_error, losses.mean(axis=1), rtol=1e-9)
    expected = mean_and_se(losses.reshape(40, 5))
    assert_allclose((path.error, path.error_se), expected, rtol=1e-9)
    assert path.estimate == "cv"


def test_more_columns_than_rows():
    X, y, _ = draw(2, n=15, p=40)
    model = PrincipalComponentsRegression().fit(X, y)
    assert len(model.path_) == 15  # 0 to 14 components
    assert np.all(np.isfinite(model.path_.error))
    assert model.path_.train_error[-1] == pytest.approx(0, abs=1e-20)
    # A fit that leaves no residuals is never the best by a criterion.
    for rule in ("aic", "aicc", "bic", "hq", "gcv"):
        assert model.path_.criteria[rule][-1] == np.inf
        assert model.path_.best(rule) < 14
    whole = PrincipalComponentsRegression(14).fit(X, y)
    assert_allclose(whole.predict(X), y, rtol=1e-9)
    assert np.isnan(whole.sigma_)


def test_leave_one_out_where_there_are_no_more_rows_than_folds():
    X, y, w = draw(3, n=9)
    few = PrincipalComponentsRegression(cv=10).path(X, y)
    every = PrincipalComponentsRegression(cv="loo").path(X, y)
    assert few.estimate == every.estimate == "loo"
    assert_allclose(few.error, every.error)
    w[:4] = 2
    weighted = PrincipalComponentsRegression(cv="loo").path(X, y, sample_weight=w)
    rows = np.flatnonzero(w)
    losses = []
    for i in rows:
        rest = np.setdiff1d(rows, i)
        fit = PrincipalComponentsRegression(2).fit(X[rest], y[rest], sample_weight=w[rest])
        losses.append((fit.predict(X[[i]])[0] - y[i]) ** 2)
    assert_allclose(weighted.error[2], np.average(losses, weights=w[rows]), rtol=1e-9)


def test_criteria_follow_from_the_residual_sums():
    X, y, _ = draw(4)
    path = PrincipalComponentsRegression().path(X, y)
    n, rss, p = 60, 60 * path.train_error, path.df + 1
    minus_two = n * (np.log(2 * np.pi * rss / n) + 1)
    assert_allclose(path.df, np.arange(5) + 1)
    assert_allclose(path.criteria["aic"], minus_two + 2 * p)
    assert_allclose(path.criteria["bic"], minus_two + np.log(n) * p)
    assert_allclose(path.criteria["cp"], rss / (rss[-1] / (n - 5)) - n + 2 * path.df)
    for rule in ("aic", "bic", "cp", "gcv", "min"):
        model = PrincipalComponentsRegression(select=rule).fit(X, y)
        assert model.n_components_ == path.values[path.best(rule)]
    assert_allclose(model.cp_, path.criteria["cp"][model.n_components_])


def test_rows_of_weight_zero_are_as_if_removed():
    X, y, w = draw(5)
    model = PrincipalComponentsRegression().fit(X, y, sample_weight=w)
    rest = PrincipalComponentsRegression().fit(X[w > 0], y[w > 0], sample_weight=w[w > 0])
    assert model.n_components_ == rest.n_components_
    assert_allclose(model.path_.error, rest.path_.error, rtol=1e-10)
    assert_allclose(model.coef_, rest.coef_, rtol=1e-10)
    assert_array_equal(model.leverage_[w == 0], 0)
    assert_allclose(model.augment()["fitted"], model.predict(X), rtol=1e-10)


# ---- chunks -------------------------------------------------------------------------------------


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.integers(0, 60), max_size=5),
    st.booleans(),
    st.booleans(),
    st.sampled_from([None, 2]),
)
@settings(max_examples=25, deadline=None)
def test_any_split_gives_the_fit_in_memory_at_fixed_components(seed, cuts, scaled, weighted, q):
    X, y, w = draw(seed, q=q)
    arrays = (X, y, w) if weighted else (X, y)
    for count in (0, 2, 4):
        whole = PrincipalComponentsRegression(count, standardize=scaled).fit(*arrays)
        parts = PrincipalComponentsRegression(count, standardize=scaled)
        parts.fit_chunks(cut(cuts, *arrays))
        # Close singular values turn their directions by rounding divided by their gap.
        assert_allclose(parts.coef_, whole.coef_, rtol=1e-7, atol=1e-7)
        assert_allclose(parts.intercept_, whole.intercept_, rtol=1e-7, atol=1e-7)
        assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-9)
        for name in CRITERIA:
            assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-7, err_msg=name)


def test_auto_in_chunks_does_not_depend_on_the_cuts_and_equals_all_rows_together():
    X, y, w = draw(6)
    w += 0.5
    one = PrincipalComponentsRegression(cv=6).fit_chunks([(X, y, w)])
    many = PrincipalComponentsRegression(cv=6).fit_chunks(cut([1, 7, 30, 31], X, y, w))
    assert one.n_components_ == many.n_components_
    assert_allclose(one.path_.error, many.path_.error, rtol=1e-10)
    together = PrincipalComponentsRegression(cv=6).path(X, y, sample_weight=w)
    assert_allclose(one.path_.error, together.error, rtol=1e-9)
    assert_allclose(one.path_.error_se, together.error_se, rtol=1e-9)
    assert_allclose(one.path_.criteria["bic"], together.criteria["bic"], rtol=1e-10)


def test_auto_in_chunks_of_collinear_and_few_rows():
    X, y, _ = draw(7, n=8)
    X = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(8)])
    model = PrincipalComponentsRegression().fit_chunks(cut([3], X, y))
    assert len(model.path_) == 5  # rank 4
    loo = PrincipalComponentsRegression(cv="loo").path(X, y)
    # Eight rows in ten folds are left out one by one; of sums of squares half the digits are left.
    assert_allclose(model.path_.error, loo.error, rtol=1e-6)


def test_leave_one_out_in_chunks_is_refused():
    X, y, _ = draw()
    with pytest.raises(InputError, match=r"cv='loo'.*give cv= a number of folds"):
        PrincipalComponentsRegression(cv="loo").fit_chunks([(X, y)])
    with pytest.raises(InputError, match="no chunks"):
        PrincipalComponentsRegression().fit_chunks([])


# ---- bad input ----------------------------------------------------------------------------------


def test_constant_and_duplicated_columns():
    X, y, _ = draw(8)
    odd = np.column_stack([X, X[:, 0], np.full(60, 7.0)])
    model = PrincipalComponentsRegression(4).fit(odd, y)
    assert model.coef_[5] == 0
    assert len(model.explained_variance_) == 4
    full = PrincipalComponentsRegression(4).fit(X, y)
    assert_allclose(model.predict(odd), full.predict(X), rtol=1e-9)
    with pytest.raises(InputError, match="n_components=5 is more than the 4 directions"):
        PrincipalComponentsRegression(5).fit(odd, y)
    with pytest.raises(InputError, match="n_components=5 is more than the 4 directions"):
        PrincipalComponentsRegression(5).fit_chunks([(odd, y)])
    with pytest.raises(InputError, match="n_components=9 is more"):
        PrincipalComponentsRegression().path(odd, y, values=[1, 9])


def test_only_constant_columns_and_a_constant_response():
    y = np.array([1.0, 2.0, 6.0])
    model = PrincipalComponentsRegression().fit(np.ones((3, 2)), y)
    assert (model.n_components_, model.intercept_) == (0, 3)
    assert_array_equal(model.coef_, 0)
    X, _, _ = draw()
    flat = PrincipalComponentsRegression().fit(X, np.full(60, 0.1))
    assert_allclose(flat.predict(X), 0.1, rtol=1e-14)
    assert flat.n_components_ == 0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_components": -1}, r"n_components=-1 is not allowed"),
        ({"n_components": 1.5}, "n_components=1.5 is not allowed"),
        ({"cv": 1}, "cv=1 is not allowed; cv must be .*'loo'"),
        ({"cv": "ten"}, "cv='ten' is not allowed"),
        ({"select": "best"}, "select='best' is not allowed"),
    ],
)
def test_bad_parameters_are_named(bad, message):
    with pytest.raises(ParameterError, match=message):
        PrincipalComponentsRegression(**bad).fit(*draw()[:2])


def test_bad_values_and_rows_are_named():
    X, y, _ = draw()
    for values in ([], [-1], [0.5], [[1]]):
        with pytest.raises(InputError, match=r"is not allowed; (n_components must be|give a list)"):
            PrincipalComponentsRegression().path(X, y, values=values)
    with pytest.raises(InputError, match="There are 2 rows"):
        PrincipalComponentsRegression().fit(X[:2], y[:2])
    assert PrincipalComponentsRegression(1).fit(X[:2], y[:2]).predict(X[:2]) == pytest.approx(y[:2])
    with pytest.raises(InputError, match="kind='posterior'"):
        PrincipalComponentsRegression(1).fit(X, y).covariance("posterior")
    with pytest.raises(ValueError, match="NaN"):
        PrincipalComponentsRegression().fit(np.where(X > 1, np.nan, X), y)


def test_summary_says_how_much_variance_is_kept():
    X, y, _ = draw()
    model = PrincipalComponentsRegression(2).fit(X, y)
    share = model.explained_variance_[:2].sum() / 4
    text = str(model.summary())
    assert f"2 of 4 components of standardised inputs, with {share:.1%} of their variance" in text
    assert "no tests" in text
    assert "Penalty" not in text
