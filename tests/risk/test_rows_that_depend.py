"""Weights, groups and time in cross-validation, leave-one-out, tuning and paired comparisons."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold

from bottega.core.errors import InputError
from bottega.data import Table
from bottega.linear import LeastSquares, Ridge
from bottega.risk import compare_errors, cross_validate, holdout, leave_one_out

RNG = np.random.default_rng(5)
N = 60
X = RNG.normal(size=(N, 2))
Y = X @ [1.0, -1.0] + RNG.normal(size=N)
WEIGHT = RNG.integers(1, 4, size=N).astype(float)
GROUPS = np.repeat(np.arange(12), 5)
TIME = np.arange(N)[::-1]


def squared(model, train, test, weight=None):
    fitted = model.fit(X[train], Y[train], sample_weight=None if weight is None else weight[train])
    return (Y[test] - fitted.predict(X[test])) ** 2


def test_weights_count_in_fits_and_errors():
    found = cross_validate(LinearRegression(), X, Y, sample_weight=WEIGHT, cv=5)
    losses = np.empty(N)
    for k in range(5):
        test = np.flatnonzero(found.fold == k)
        train = np.flatnonzero(found.fold != k)
        losses[test] = squared(LinearRegression(), train, test, WEIGHT)
        assert found.fold_errors[k] == pytest.approx(np.average(losses[test], weights=WEIGHT[test]))
    assert_allclose(found.losses, losses)
    assert found.error == pytest.approx(np.average(losses, weights=WEIGHT))
    share = WEIGHT / WEIGHT.sum()
    spread = np.sqrt(N / (N - 1) * np.sum(share**2 * (losses - found.error) ** 2))
    assert found.error_se == pytest.approx(spread)


def test_groups_are_held_out_together_and_are_the_units():
    found = cross_validate(Ridge(), X, Y, groups=GROUPS, cv=4)
    for group in range(12):
        assert len(np.unique(found.fold[group == GROUPS])) == 1
    means = [found.losses[group == GROUPS].mean() for group in range(12)]
    assert found.error == pytest.approx(np.mean(means))
    assert found.error_se == pytest.approx(np.std(means, ddof=1) / np.sqrt(12))
    split = cross_validate(LeastSquares(), X, Y, groups=GROUPS, cv=GroupKFold(3))
    assert len(split.fold_errors) == 3


def test_time_is_judged_on_what_comes_later():
    found = cross_validate(LinearRegression(), X, Y, time=TIME, cv=3)
    assert_array_equal(np.flatnonzero(found.fold == -1), np.arange(45, 60))  # the first stretch
    assert_array_equal(found.n_train, [15, 30, 45])
    test = np.flatnonzero(found.fold == 2)
    assert_allclose(found.losses[test], squared(LinearRegression(), np.arange(15, 60), test))


def test_a_table_brings_its_roles():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y, who=GROUPS, w=WEIGHT)
    table = Table(frame, target="y", group="who", weight="w")
    found = cross_validate(LeastSquares(), table, cv=4)
    other = cross_validate(
        LeastSquares(), frame[["a", "b"]], Y, cv=4, sample_weight=WEIGHT, groups=GROUPS.astype(str)
    )
    assert found.error == other.error
    with pytest.raises(InputError, match="A Table brings its responses"):
        cross_validate(LeastSquares(), table, Y)


def test_leaving_out_weighted_rows_and_groups():
    shortcut = leave_one_out(LeastSquares(), X, Y, sample_weight=WEIGHT)
    refits = leave_one_out(LinearRegression(), X, Y, sample_weight=WEIGHT)
    assert (shortcut.how, refits.how) == ("leverages", "refits")
    assert_allclose(shortcut.predictions, refits.predictions)
    assert shortcut.error == pytest.approx(np.average(refits.losses, weights=WEIGHT))
    shuffled = RNG.permutation(N)
    grouped = leave_one_out(LeastSquares(), X[shuffled], Y[shuffled], groups=GROUPS[shuffled])
    rows = np.flatnonzero(GROUPS == 3)
    by_hand = LinearRegression().fit(np.delete(X, rows, 0), np.delete(Y, rows)).predict(X[rows])
    assert_allclose(grouped.predictions[np.argsort(shuffled)][rows], by_hand)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y, day=TIME)
    with pytest.raises(InputError, match="looks ahead in time"):
        leave_one_out(LeastSquares(), Table(frame, target="y", time="day"))
    with pytest.raises(InputError, match="at least 2"):
        leave_one_out(LeastSquares(), X, Y, groups=np.zeros(N))


@pytest.mark.parametrize("values", [None, {"alpha": [0.1, 10.0]}])
def test_tuning_respects_groups_time_and_weights(values):
    by_group = holdout(Ridge(), X, Y, groups=GROUPS, values=values)
    assert by_group.n_dev % 5 == 0
    later = holdout(Ridge(), X, Y, time=TIME, values=values, validation_fraction=0.25)
    assert (later.n_train, later.n_dev) == (45, 15)
    alpha = by_group.value if values else by_group.model.alpha_
    weighted = holdout(Ridge(), X, Y, sample_weight=WEIGHT, values={"alpha": [alpha]})
    by_hand = Ridge(alpha=alpha).fit(X, Y, sample_weight=WEIGHT)
    assert_allclose(weighted.model.coef_, by_hand.coef_)


def test_pairs_of_groups_are_compared_by_their_means():
    one, other = RNG.uniform(size=(2, N))
    found = compare_errors(one, other, groups=GROUPS)
    means = (one - other).reshape(12, 5).mean(axis=1)
    test = stats.ttest_1samp(means, 0)
    low, high = test.confidence_interval()
    assert (found.lower, found.upper) == pytest.approx((low, high))
    assert found.p_value == pytest.approx(test.pvalue)
    assert "12 groups" in found.method
    right = (one < 0.5).astype(float)
    assert compare_errors(right, 1 - right).mcnemar is not None
    assert compare_errors(right, 1 - right, groups=GROUPS).mcnemar is None


def test_pairs_of_weighted_rows():
    one, other = RNG.uniform(size=(2, N))
    found = compare_errors(one, other, sample_weight=WEIGHT)
    assert found.difference == pytest.approx(np.average(one - other, weights=WEIGHT))
    model = LinearRegression().fit(X, Y)
    same = compare_errors(model, LeastSquares().fit(X, Y), X, Y, sample_weight=WEIGHT)
    assert same.error_a == pytest.approx(np.average((Y - model.predict(X)) ** 2, weights=WEIGHT))


def test_folds_of_groups_are_compared_with_their_weights():
    models = (LeastSquares(), Ridge(alpha=30.0))
    folds = [cross_validate(each, X, Y, groups=GROUPS, sample_weight=WEIGHT) for each in models]
    found = compare_errors(*folds)
    assert found.difference == pytest.approx(folds[0].error - folds[1].error)
    assert found.lower < found.difference < found.upper
    with pytest.raises(InputError, match="bring their weights"):
        compare_errors(*folds, groups=GROUPS)
