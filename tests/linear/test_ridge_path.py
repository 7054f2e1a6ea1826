"""The path of penalties: its grid, its errors and criteria, and what is picked from it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.model_selection import KFold

from bottega.core.errors import InputError, ParameterError
from bottega.core.judge import mean_and_se
from bottega.linear import Ridge

CRITERIA = ("aic", "aicc", "bic", "hq", "gcv", "cp")


def draw(seed=0, n=40, p=5, q=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 1
    y = X @ (rng.normal(size=p) if q is None else rng.normal(size=(p, q)))
    return X, y + 2 * rng.normal(size=y.shape)


def test_default_grid_spans_the_spectrum_from_the_simplest_model():
    X, y = draw()
    A = (X - X.mean(axis=0)) / X.std(axis=0)
    lam = np.linalg.eigvalsh(A.T @ A)
    path = Ridge().path(X, y)
    assert len(path) == 100
    steps = np.diff(np.log(path.values))
    assert_allclose(steps, steps[0], rtol=1e-10)
    assert steps[0] < 0
    # The ends are rounded to a hundredth of a decade.
    assert_allclose(path.values[[0, -1]], [1e3 * lam[-1], 1e-4 * lam[0]], rtol=0.012)
    assert len(Ridge(alphas=7).path(X, y)) == 7


def test_default_grid_stops_at_rounding_where_columns_are_collinear():
    X, y = draw()
    path = Ridge(standardize=False).path(np.hstack([X, X[:, :1] + 3e-5 * X[:, 1:2] ** 2]), y)
    # From 1e3 to 1e-10 of the largest eigenvalue: thirteen decades.
    assert_allclose(np.log10(path.values[0] / path.values[-1]), 13, atol=0.02)
    assert np.all(np.isfinite(path.error))


def test_directions_that_are_rounding_do_not_lengthen_the_default_grid():
    X, y = draw()
    near = np.hstack([X, X[:, :1] + 1e-8 * X[:, 1:2] ** 2])
    path, without = (Ridge(standardize=False).path(each, y) for each in (near, X))
    ratio = np.log10(path.values[-1] / without.values[-1])
    assert abs(ratio) < 1  # the other eigenvalues move a little, the one near 1e-16 is not seen


@pytest.mark.parametrize("q", [None, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_path_is_the_list_of_single_fits(q, weighted):
    X, y = draw(1, q=q)
    w = np.random.default_rng(1).uniform(0.5, 2, size=40) if weighted else None
    values = [0, 0.5, 20.0, 3.0]
    path = Ridge().path(X, y, sample_weight=w, values=values)
    assert_array_equal(path.values, [20, 3, 0.5, 0])
    assert path.estimate == "loo"
    scale = Ridge(0).fit(X, y, w).sigma_
    for i, alpha in enumerate(path.values):
        model = Ridge(alpha).fit(X, y, sample_weight=w)
        assert_allclose(path.coef[i], model.coef_, rtol=1e-10)
        assert_allclose(path.df[i], model.df_, rtol=1e-12)
        residual = np.square(y - model.predict(X)).reshape(40, -1).mean(axis=1)
        assert_allclose(path.train_error[i], np.average(residual, weights=w), rtol=1e-10)
        loss = np.square(model.loo_residuals_).reshape(40, -1).mean(axis=1)
        assert_allclose((path.error[i], path.error_se[i]), mean_and_se(loss, w), rtol=1e-10)
        for name in CRITERIA[:-1]:
            found = getattr(model, f"{name}_")
            assert_allclose(path.criteria[name][i], found, rtol=1e-10, err_msg=name)
        cp = np.sum(model.smoother_.rss / scale**2 - 40 + 2 * model.df_)
        assert_allclose(path.criteria["cp"][i], cp, rtol=1e-9, atol=1e-9)


def test_one_response_as_a_column_is_the_same_fit_in_two_axes():
    X, y = draw(2)
    flat, column = Ridge().fit(X, y), Ridge().fit(X, y[:, None])
    assert flat.alpha_ == column.alpha_
    assert_allclose(column.coef_, flat.coef_[None], rtol=1e-12)
    assert column.predict(X).shape == (40, 1)
    assert column.path_.coef.shape == (100, 1, 5)
    assert_allclose(column.aic_, flat.aic_)


@pytest.mark.parametrize("select", ["min", "one_se", *CRITERIA])
def test_auto_picks_by_its_rule(select):
    X, y = draw(3)
    model = Ridge(select=select).fit(X, y)
    path = Ridge().path(X, y)
    assert model.alpha_ == path.values[path.best(select)]
    assert_array_equal(model.path_.error, path.error)
    fixed = path.at(path.best(select))
    assert_allclose(fixed.coef_, model.coef_, rtol=1e-12)
    if select in CRITERIA:
        # The picked model tells the same criterion as the path, Cp with the path's scale included.
        assert_allclose(getattr(model, f"{select}_"), path.criteria[select].min(), rtol=1e-9)


def test_one_se_is_the_larger_penalty_within_one_standard_error():
    X, y = draw(4)
    path = Ridge().path(X, y)
    least = int(np.argmin(path.error))
    limit = path.error[least] + path.error_se[least]
    picked = path.best("one_se")
    assert path.values[picked] > path.values[least]
    assert path.error[picked] <= limit < path.error[picked - 1]


def test_cp_is_left_out_where_no_model_leaves_a_degree_of_freedom():
    path = Ridge().path([[0.0], [2.0]], [0.0, 4.0], values=[1e-12])
    assert "cp" not in path.criteria
    with pytest.raises(ParameterError, match="no rule 'cp'"):
        path.best("cp")


@pytest.mark.parametrize("q", [None, 2])
def test_cross_validated_path_is_the_mean_of_refitted_folds(q):
    X, y = draw(5, q=q)
    values = [10.0, 0.1]
    cv = KFold(4, shuffle=True, random_state=0)
    path = Ridge().path(X, y, values=values, cv=cv)
    assert path.estimate == "cv"
    by_hand = []
    for train, test in cv.split(X):
        fits = [Ridge(alpha).fit(X[train], y[train]) for alpha in values]
        losses = [(y[test] - fit.predict(X[test])) ** 2 for fit in fits]
        by_hand.append(np.stack([each.reshape(len(test), -1).mean(axis=1) for each in losses], 1))
    assert_allclose(path.fold_error, [each.mean(axis=0) for each in by_hand], rtol=1e-10)
    expected = mean_and_se(np.concatenate(by_hand))
    assert_allclose((path.error, path.error_se), expected, rtol=1e-9)


@pytest.mark.parametrize("values", [[], [-1.0, 2.0], [np.nan], [[1.0, 2.0]], [np.inf]])
def test_bad_values_are_named(values):
    with pytest.raises(
        InputError, match=r"is not allowed; (alpha must be|give a list of values of alpha)"
    ):
        Ridge().path(*draw(), values=values)


def test_a_row_that_alone_spans_a_direction_has_no_error_without_it():
    X, y = draw(6)
    X[:, 0] = 0
    X[3, 0] = 1
    path = Ridge().path(X, y, values=[0, 1.0])
    assert np.isfinite(path.error[0])
    assert path.error[1] > 1e6 * path.error[0] or not np.isfinite(path.error[1])
    assert path.best("min") == 0


@pytest.mark.parametrize("size", [2.0, 1024.0, 1e60])
def test_the_size_of_all_weights_sizes_the_penalty_alone(size):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = X[:, 0] - X[:, 1] ** 2 + 0.3 * rng.normal(size=40)
    w = rng.integers(1, 4, 40).astype(float)
    plain = Ridge().fit(X, y, sample_weight=w)
    sized = Ridge().fit(X, y, sample_weight=size * w)
    assert sized.alpha_ == pytest.approx(size * plain.alpha_)
    assert sized.coef_ == pytest.approx(plain.coef_, rel=1e-10)
