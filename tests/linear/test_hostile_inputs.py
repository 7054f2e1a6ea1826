"""Inputs that broke a linear method once: offsets, extremes, weights, ties, few rows."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bottega.core.errors import ConvergenceWarning, DataWarning, InputError
from bottega.linear import (
    AdaptiveLasso,
    BayesianRegression,
    ElasticNet,
    Lasso,
    LeastAngle,
    LeastSquares,
    PrincipalComponentsRegression,
    RecursiveLeastSquares,
    Ridge,
    SubsetSelection,
)

REGRESSORS = [
    AdaptiveLasso,
    BayesianRegression,
    ElasticNet,
    Lasso,
    LeastAngle,
    LeastSquares,
    PrincipalComponentsRegression,
    RecursiveLeastSquares,
    Ridge,
    SubsetSelection,
]


def draw(seed=0, n=40, p=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    return X, 1 + X @ np.linspace(2, -1, p) + 0.3 * rng.normal(size=n)


@pytest.mark.parametrize("by_row", [False, True])
@pytest.mark.parametrize("offset", [1e7, -1e9])
def test_recursive_least_squares_at_a_large_offset(offset, by_row):
    X, y = draw()
    X = np.round(X * 2**10) / 2**10 + offset  # exact at either level
    plain = LeastSquares().fit(X - offset, y)
    model = RecursiveLeastSquares()
    model = model.partial_fit(X, y, row_by_row=True) if by_row else model.fit(X, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-9)
    assert_allclose(model.predict(X), plain.predict(X - offset), rtol=1e-8)


def test_recursive_least_squares_warns_of_collinear_columns():
    X, y = draw()
    X = np.column_stack([X, X[:, 0] + 1e-9 * np.random.default_rng(1).normal(size=40)])
    with pytest.warns(DataWarning, match="Collinear inputs: 'x2'"):
        model = RecursiveLeastSquares().fit(X, y)
    assert_array_equal(model.aliased_, [False, False, True])
    with pytest.warns(DataWarning, match="Collinear inputs: 'x2'"):
        RecursiveLeastSquares().fit_chunks([(X[:20], y[:20]), (X[20:], y[20:])])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RecursiveLeastSquares().fit(X[:3], y[:3])  # more rows may tell them apart
        RecursiveLeastSquares().partial_fit(X, y)
        RecursiveLeastSquares().fit(np.column_stack([X[:, :2], np.ones(40)]), y)


def test_warnings_are_at_the_line_of_the_user():
    X, y = draw()
    wide = np.random.default_rng(0).normal(size=(40, 60))
    for fit in (
        lambda: LeastSquares().fit(np.column_stack([X, X[:, 0]]), y),
        lambda: Lasso(0.01, max_iter=1, tol=1e-14).fit(wide, y),
        lambda: Lasso(max_iter=1, tol=1e-14).path(wide, y),
    ):
        with pytest.warns((DataWarning, ConvergenceWarning)) as caught:
            fit()
        assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("each", REGRESSORS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e150, 1e153, 1e155, 1e300])
def test_inputs_whose_squares_are_lost_are_refused(each, scale):
    X, y = draw()
    for units in (np.full(2, scale), np.array([1.0, scale])):
        with pytest.raises(InputError, match=r"overflow|vanish"), np.errstate(all="ignore"):
            each().fit(X * units, y)


@pytest.mark.parametrize("each", REGRESSORS, ids=lambda each: each.__name__)
@pytest.mark.parametrize("scale", [1e-130, 1e130])
def test_inputs_whose_squares_are_kept_are_not(each, scale):
    X, y = draw()
    expected = each().fit(X, y).predict(X)
    assert_allclose(each().fit(X * scale, y).predict(X * scale), expected, rtol=1e-6)


# ---- units ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0.1, 0.5, "auto"])
@pytest.mark.parametrize("shape", [(60, 4), (20, 40)])
def test_the_path_of_the_elastic_net_has_no_units(ratio, shape):
    """The path in units of y a thousand times smaller is a thousand times larger: as glmnet's."""
    X, y = draw(2, *shape)
    model = ElasticNet(l1_ratio=ratio, alphas=25)
    plain = model.path(X, y)
    for unit in (1e3, 1e5):
        found = model.path(X, unit * y)
        assert_allclose(found.coef, unit * plain.coef, rtol=1e-6, atol=1e-9 * unit)
        assert_allclose(found.error, unit**2 * plain.error, rtol=1e-6)
        assert_array_equal(found.df, plain.df)
        at = found.settings[5]
        # What a setting says is the objective as it is written.
        again = ElasticNet(**at).fit(X, unit * y)
        assert_allclose(again.coef_, found.coef[5], rtol=1e-6, atol=1e-9 * unit)


def test_a_response_of_unit_spread_has_the_share_as_stated():
    X, y = draw(3)
    y = (y - y.mean()) / y.std()
    assert ElasticNet(l1_ratio=0.3).fit(X, y).l1_ratio_ == pytest.approx(0.3)
    assert ElasticNet(l1_ratio=0.3, standardize=False).fit(X, 10 * y).l1_ratio_ == 0.3
    assert ElasticNet(0.1, l1_ratio=0.3).fit(X, 10 * y).l1_ratio_ == 0.3
