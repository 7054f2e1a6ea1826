"""Conformal intervals and sets: against their definition, by simulation, and what is refused."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from bottega.core import BaselineRegressor
from bottega.core.errors import DataWarning, InputError
from bottega.data import read
from bottega.linear import LeastSquares
from bottega.risk import (
    PredictionIntervals,
    cross_conformal,
    jackknife_plus,
    split_conformal,
)


class Line:
    """A model given beforehand: what it predicts needs no fit."""

    _estimator_type = "regressor"

    def __init__(self, slope=0.0, level=0.0):
        self.slope, self.level = slope, level

    def __sklearn_tags__(self):
        return LinearRegression().__sklearn_tags__()

    def predict(self, X):
        return self.level + self.slope * np.asarray(X, dtype=float)[:, 0]


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + rng.normal(size=n)


def fold_fits(X, y, k, weight=None, estimator=LinearRegression):
    fold = np.arange(len(y)) % k
    return [
        (
            estimator().fit(X[fold != i], y[fold != i]),
            X[fold == i],
            y[fold == i],
            None if weight is None else weight[fold == i],
        )
        for i in range(k)
    ]


def by_definition(fits, X_new, level, new_weight=1.0):
    """Return the limits of CV+ as Barber et al. define them: sort all n values at each point."""
    lower, upper = [], []
    for x in X_new:
        values, scores, weights = [], [], []
        for model, X, y, w in fits:
            scores += list(np.abs(y - model.predict(X)))
            values += [model.predict(x[None])[0]] * len(y)
            weights += list(np.ones(len(y)) if w is None else w)
        scores, values, weights = map(np.array, (scores, values, weights))
        needed = level * (weights.sum() + new_weight) - 1e-9
        for sign, limits in ((1, upper), (-1, lower)):
            order = np.argsort(sign * values + scores)
            at = np.argmax(np.cumsum(weights[order]) >= needed)
            limits.append(sign * (sign * values + scores)[order][at])
    return np.array(lower), np.array(upper)


# ---- the definition ------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [19, 99, 100, 101])
@pytest.mark.parametrize("percent", [50, 55, 57, 70, 80, 90, 95])
def test_the_half_width_is_the_exact_rank(n, percent):
    """0.55 * 100 is 55.00000000000001 in floating point: the rank is 55, not 56."""
    level = percent / 100
    rank = math.ceil(Fraction(percent, 100) * (n + 1))
    errors = np.random.default_rng(0).permutation(np.arange(1.0, n + 1))
    found = split_conformal(Line(), np.zeros((n, 1)), errors)
    lower, upper = found.interval(np.zeros((2, 1)), level)
    np.testing.assert_array_equal(upper, [rank, rank])
    np.testing.assert_array_equal(lower, [-rank, -rank])


def test_too_few_rows_exclude_nothing_and_say_so():
    found = split_conformal(Line(), np.zeros((9, 1)), np.arange(9.0))
    assert found.largest_level == 0.9
    assert found.interval(np.zeros((1, 1)), 0.9)[1] == 8
    with pytest.warns(DataWarning, match=r"9 calibration rows give a level of at most 0\.9"):
        lower, upper = found.interval(np.zeros((2, 1)), 0.91)
    assert np.all(np.isneginf(lower))
    assert np.all(np.isposinf(upper))


@pytest.mark.parametrize("k", [2, 5, 40])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
@pytest.mark.parametrize("estimator", [LinearRegression, DecisionTreeRegressor])
def test_cv_plus_is_its_definition(k, level, estimator):
    """With 40 folds of one row each this is jackknife+."""
    X, y = rows(40)
    fits = fold_fits(X, y, k, estimator=estimator)
    X_new = rows(25, seed=1)[0]
    found = cross_conformal(fits)
    assert found.kind == ("jackknife+" if k == 40 else "CV+")
    lower, upper = found.interval(X_new, level)
    expected = by_definition(fits, X_new, level)
    np.testing.assert_allclose(lower, expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(upper, expected[1], rtol=1e-12, atol=1e-12)


def test_jackknife_plus_by_hand():
    """Means of three of four responses: 14/3 without 0, 4 without 2, 10/3 without 4, 2 without 8.

    The errors are 14/3, 2, 2/3 and 6, so mu + R is 28/3, 6, 4 and 8; at level 0.6 the third of them
    counts (ceil(0.6 * 5) = 3), 8; and mu - R is 0, 2, 8/3 and -4: the third from above is 0.
    """
    found = jackknife_plus(DummyRegressor(), np.zeros((4, 1)), [0.0, 2.0, 4.0, 8.0])
    lower, upper = found.interval(np.zeros((1, 1)), 0.6)
    assert (lower[0], upper[0]) == (pytest.approx(0, abs=1e-12), pytest.approx(8))
    assert found.guarantee(0.6) == pytest.approx(0.2)


def test_weights_count_as_repeated_rows_would_but_for_the_row_to_come():
    X, y = rows(30)
    weight = np.random.default_rng(3).integers(1, 4, 30).astype(float)
    fits = fold_fits(X, y, 5, weight)
    X_new = rows(10, seed=1)[0]
    found = cross_conformal(fits).interval(X_new, 0.8)
    expected = by_definition(fits, X_new, 0.8, new_weight=weight.max())
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_rows_of_weight_zero_do_not_count():
    X, y = rows(30)
    y[:10] = 1e6
    weight = np.where(np.arange(30) < 10, 0.0, 1.0)
    some = split_conformal(Line(1.0), X, y, sample_weight=weight)
    rest = split_conformal(Line(1.0), X[10:], y[10:])
    assert some.n == rest.n == 20
    np.testing.assert_array_equal(some.interval(X, 0.8), rest.interval(X, 0.8))


def test_groups_count_one_each():
    """Nine groups of equal rows are nine rows; a group of many rows counts no more than others."""
    errors = np.arange(1.0, 10)
    one = split_conformal(Line(), np.zeros((9, 1)), errors)
    size = np.array([1, 1, 50, 1, 2, 3, 1, 1, 1])
    many = split_conformal(
        Line(),
        np.zeros((size.sum(), 1)),
        np.repeat(errors, size),
        groups=np.repeat(np.arange(9), size),
    )
    for level in (0.3, 0.5, 0.8, 0.9):
        assert many.interval(np.zeros((1, 1)), level) == one.interval(np.zeros((1, 1)), level)
    assert many.n_groups == 9
    assert "groups of rows" in many.assumptions[0]


def test_intervals_are_wider_where_the_scale_is():
    X, y = rows(60)
    X = np.abs(X) + 0.1
    found = split_conformal(Line(), X, y, scale=Line(slope=1.0))
    lower, upper = found.interval(X, 0.9)
    q = np.sort(np.abs(y) / X[:, 0])[math.ceil(0.9 * 61) - 1]
    np.testing.assert_allclose(upper - lower, 2 * q * X[:, 0])


# ---- properties ----------------------------------------------------------------------------------


def test_a_higher_level_is_never_narrower():
    X, y = rows(50)
    found = cross_conformal(fold_fits(X, y, 5))
    limits = [found.interval(X, level) for level in (0.1, 0.3, 0.5, 0.7, 0.9, 0.98)]
    for (low, high), (lower, higher) in pairwise(limits):
        assert np.all(lower <= low)
        assert np.all(higher >= high)


@pytest.mark.parametrize(("a", "b"), [(3.0, 0.0), (1e6, -2e6), (1e-6, 5.0), (-2.0, 1.0)])
def test_intervals_follow_the_units_of_the_response(a, b):
    X, y = rows(50)
    one = cross_conformal(fold_fits(X, y, 5)).interval(X, 0.9)
    other = cross_conformal(fold_fits(X, a * y + b, 5)).interval(X, 0.9)
    expected = np.sort(a * np.array(one) + b, axis=0)
    np.testing.assert_allclose(other, expected, rtol=1e-9, atol=1e-9 * abs(a))


def test_the_order_of_rows_and_folds_does_not_matter():
    X, y = rows(50)
    fits = fold_fits(X, y, 5)
    turned = [(model, A[::-1], b[::-1], None) for model, A, b, _ in fits[::-1]]
    np.testing.assert_allclose(
        cross_conformal(fits).interval(X, 0.9),
        cross_conformal(turned).interval(X, 0.9),
        rtol=1e-12,  # a product of matrices may add up in another order
    )


def test_equal_models_give_the_split_interval():
    X, y = rows(60)
    fold = np.arange(60) % 4
    fits = [(Line(1.0), X[fold == k], y[fold == k], None) for k in range(4)]
    split = split_conformal(Line(1.0), X, y)
    np.testing.assert_allclose(
        cross_conformal(fits).interval(X, 0.9), split.interval(X, 0.9), rtol=1e-14
    )


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_extreme_units(scale):
    X, y = rows(30)
    one = cross_conformal(fold_fits(X, y, 3)).interval(X, 0.8)
    far = [(_Scaled(model, scale), A, b * scale, None) for model, A, b, _ in fold_fits(X, y, 3)]
    np.testing.assert_allclose(
        np.array(cross_conformal(far).interval(X, 0.8)) / scale, one, rtol=1e-10
    )


class _Scaled(Line):
    def __init__(self, model, factor):
        self.model, self.factor = model, factor

    def predict(self, X):
        return self.model.predict(X) * self.factor


# ---- what is made, said and stored ---------------------------------------------------------------


def test_folds_of_jackknife_plus_keep_groups_together():
    X, y = rows(24)
    groups = np.repeat(np.arange(6), 4)
    found = jackknife_plus(LeastSquares(), X, y, cv=3, groups=groups)
    assert found.kind == "CV+"
    assert found.n_groups == 6
    assert [len(each) for each in found.scores] == [8, 8, 8]


def test_frames_and_tables_are_taken():
    table = read("diabetes")
    model = LeastSquares().fit(table.X, table.y)
    found = split_conformal(model, table)
    lower, upper = found.interval(table.X, 0.9)
    inside = np.mean((lower <= table.y) & (table.y <= upper))
    assert inside == pytest.approx(0.9, abs=0.005)


def test_the_summary_says_what_is_guaranteed():
    X, y = rows(40)
    text = str(cross_conformal(fold_fits(X, y, 5)).summary())
    assert "CV+, calibrated by 40 rows" in text
    assert "90%" in text
    assert "exchangeable" in text
    assert "half width" in text


def test_few_rows_are_said_to_leave_the_coverage_open():
    """With 23 rows at level 0.9 the 22nd counts: the coverage is distributed as Beta(22, 2)."""
    X, y = rows(23)
    words = split_conformal(Line(1.0), X, y).in_words(0.9)
    low, high = stats.beta.ppf([0.025, 0.975], 22, 2)
    assert "split, calibrated by 23 rows" in words
    assert f"between {100 * low:.3g}% and {100 * high:.3g}%" in words
    assert "at least 80%" in jackknife_plus(LinearRegression(), X, y).in_words(0.9)


@pytest.mark.slow
def test_they_are_stored_in_a_file_without_code():
    io = pytest.importorskip("skops.io")
    from bottega.workbench.persist import trusted_types

    table = read("diabetes")
    fits = fold_fits(np.asarray(table.X, dtype=float), table.y, 3, estimator=LeastSquares)
    for found in (cross_conformal(fits), split_conformal(*fits[0][:3])):
        back = io.loads(io.dumps(found), trusted=trusted_types())
        assert isinstance(back, PredictionIntervals)
        np.testing.assert_array_equal(
            back.interval(fits[0][1], 0.9), found.interval(fits[0][1], 0.9)
        )
        assert back.assumptions == found.assumptions


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 1.5, -0.1, float("nan")])
def test_levels_are_probabilities(level):
    X, y = rows(20)
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        split_conformal(Line(), X, y).interval(X, level)


def test_bad_rows_are_refused():
    X, y = rows(20)
    with pytest.raises(InputError, match="X has 20 rows and y has 19"):
        split_conformal(Line(), X, y[1:])
    with pytest.raises(InputError, match="One response at a time"):
        split_conformal(Line(), X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="all finite"):
        split_conformal(Line(), X, np.where(np.arange(20) == 3, np.nan, y))
    with pytest.raises(InputError, match="All of sample_weight is zero"):
        split_conformal(Line(), X, y, sample_weight=np.zeros(20))
    with pytest.raises(InputError, match="responses are missing"):
        split_conformal(Line(), X)


def test_what_has_no_guarantee_is_refused():
    X, y = rows(20)
    with pytest.raises(InputError, match="both weights and groups"):
        split_conformal(Line(), X, y, sample_weight=np.arange(1.0, 21), groups=np.arange(20) % 5)
    with pytest.raises(InputError, match="at least 2 folds"):
        cross_conformal([(Line(), X, y, None)])
    with pytest.raises(InputError, match="entries for 1 folds; there are 2"):
        cross_conformal([(Line(), X, y, None)] * 2, groups=[np.arange(20)])
    with pytest.raises(InputError, match="must be positive at every row"):
        split_conformal(Line(), X, y, scale=Line(slope=1.0))


def test_a_frame_of_another_order_is_the_models_business():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [1.0, 1.0, 0.0]})
    model = BaselineRegressor().fit(X, [0.0, 1.0, 2.0])
    found = split_conformal(model, X, [0.0, 1.0, 2.0])
    assert found.interval(X, 0.5)[1].tolist() == [2.0, 2.0, 2.0]
