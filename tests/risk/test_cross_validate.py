"""Cross-validation, leave-one-out and one held-out part."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LinearRegression
from sklearn.linear_model import Ridge as PeerRidge
from sklearn.model_selection import GroupKFold, LeaveOneOut, TimeSeriesSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError, ParameterError
from bottega.core.folds import make_folds
from bottega.data import Table, make
from bottega.linear import Lasso, LeastSquares, Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.risk import certify, cross_validate, holdout, leave_one_out
from bottega.smooth import LocalRegression, Loess, SmoothingSpline
from bottega.tree import TreeClassifier

LINE = make.sparse_linear(60, n_features=4, n_informative=2, random_state=3)
WAVE = make.sine(80, random_state=4)
ODD = make.sine(79, random_state=4)
CLASSES = make.two_gaussians(90, random_state=5)


# ---- cross-validation ----------------------------------------------------------------------------


def test_the_notes_example_of_four_folds_of_twenty_rows():
    """A48: S1 = 1..5, S2 = 6..10, ...; the error is the mean of the four fold means."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 2)), rng.normal(size=20)
    found = cross_validate(LinearRegression(), X, y, cv=4, shuffle=False)
    assert found.fold.tolist() == [0] * 5 + [1] * 5 + [2] * 5 + [3] * 5
    by_hand = []
    for i in range(4):
        inside = np.arange(5 * i, 5 * i + 5)
        rest = np.setdiff1d(np.arange(20), inside)
        model = LinearRegression().fit(X[rest], y[rest])
        by_hand.append(np.mean((y[inside] - model.predict(X[inside])) ** 2))
    np.testing.assert_allclose(found.fold_errors, by_hand, rtol=1e-12)  # the same arithmetic
    assert found.error == pytest.approx(np.mean(by_hand))
    # The standard error is that of a mean over rows, as along a path.
    assert found.error_se == pytest.approx(np.std(found.losses, ddof=1) / np.sqrt(20))


def test_the_error_is_over_rows_with_folds_of_two_sizes():
    found = cross_validate(BaselineRegressor(), np.zeros((5, 1)), [0, 0, 0, 0, 9.0], cv=2)
    sizes = found.n_test
    assert sorted(sizes.tolist()) == [2, 3]
    assert found.error == pytest.approx(np.average(found.fold_errors, weights=sizes))
    assert found.error != pytest.approx(found.fold_errors.mean())


def test_predictions_are_scikit_learns_on_the_same_folds():
    found = cross_validate(PeerRidge(), LINE.X, LINE.y, cv=7)
    pairs = [(np.flatnonzero(found.fold != k), np.flatnonzero(found.fold == k)) for k in range(7)]
    theirs = cross_val_predict(PeerRidge(), LINE.X, LINE.y, cv=pairs)
    np.testing.assert_array_equal(found.predictions, theirs)
    np.testing.assert_allclose(found.losses, (LINE.y - theirs) ** 2)


def test_ours_and_scikit_learns_neighbours_have_the_same_errors():
    ours = cross_validate(NearestNeighborsClassifier(n_neighbors=5), CLASSES.X, CLASSES.y)
    theirs = cross_validate(KNeighborsClassifier(5), CLASSES.X, CLASSES.y)
    np.testing.assert_array_equal(ours.fold_errors, theirs.fold_errors)
    assert ours.loss == "misclassification"


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 80), st.integers(2, 12), st.integers(1, 4), st.integers(0, 5))
def test_folds_are_even_in_size_and_class(n, k, classes, seed):
    if k > n:
        return
    y = np.arange(n) % classes
    folds = make_folds(k, n, strata=y, random_state=seed)
    tests = [test for _, test in folds]
    assert sorted(np.concatenate(tests).tolist()) == list(range(n))
    sizes = [len(test) for test in tests]
    assert max(sizes) - min(sizes) <= 1
    for c in range(classes):
        counts = [np.sum(y[test] == c) for test in tests]
        assert max(counts) - min(counts) <= 1


def test_folds_of_groups_and_of_time():
    groups = np.arange(60) // 6
    grouped = cross_validate(
        LinearRegression(), LINE.X, LINE.y, cv=list(GroupKFold(5).split(LINE.X, groups=groups))
    )
    assert all(len(np.unique(grouped.fold[groups == g])) == 1 for g in range(10))
    later = cross_validate(LinearRegression(), LINE.X, LINE.y, cv=TimeSeriesSplit(4))
    assert np.all(later.fold[:12] == -1)
    assert np.all(np.isnan(later.losses[:12]))
    assert later.error == pytest.approx(np.mean(later.losses[12:]))
    masks = [(np.arange(60) < 40, np.arange(60) >= 40)]
    assert cross_validate(LinearRegression(), LINE.X, LINE.y, cv=masks).n_test.tolist() == [20]


def test_sparse_rows_are_the_same_rows():
    X = sparse.csc_array(np.where(np.abs(LINE.X) > 1, LINE.X, 0.0))
    thin = cross_validate(Lasso(alpha=0.1), X, LINE.y)
    full = cross_validate(Lasso(alpha=0.1), X.toarray(), LINE.y)
    # 1e-5: both stop at a duality gap of their own.
    np.testing.assert_allclose(thin.losses, full.losses, rtol=1e-5, atol=1e-7)
    model = LinearRegression().fit(X, LINE.y)
    with pytest.raises(InputError, match="fitted to"):
        certify(model, X.tocsr()[:30], LINE.y[:30], X_train=X)


def test_frames_labels_and_losses_of_any_kind():
    frame = pd.DataFrame(CLASSES.X, columns=["u", "v"])
    labels = np.where(CLASSES.y == 1, "yes", "no")
    words = cross_validate(TreeClassifier(ccp_alpha=0.02), frame, labels)
    numbers = cross_validate(TreeClassifier(ccp_alpha=0.02), CLASSES.X, CLASSES.y)
    np.testing.assert_array_equal(words.losses, numbers.losses)
    assert set(words.predictions) == {"no", "yes"}
    absolute = cross_validate(LinearRegression(), LINE.X, LINE.y, loss="absolute_error")
    assert absolute.loss == "absolute error"
    np.testing.assert_allclose(absolute.losses, np.abs(LINE.y - absolute.predictions))
    table = absolute.to_frame()
    assert table["error"].mean() == pytest.approx(absolute.error)
    assert "mean over the rows" in str(absolute)
    assert absolute.plot().to_dict()["title"]["text"] == "10-fold cross-validation"


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "1 folds are not possible"),
        (61, "from 2 to 60"),
        ("five", "number of folds"),
        ([], "no folds"),
        ([([0, 1], [1, 2])], "row 1"),
        ([([0, 1], [60])], "outside 0 to 59"),
        ([([0.5], [1])], "whole numbers"),
        ([([0, 1], [2]), ([0, 1], [2])], "more than once"),
        ([3], "not a pair"),
    ],
)
def test_folds_that_make_no_sense_are_refused(cv, message):
    with pytest.raises(ParameterError, match=message):
        cross_validate(LinearRegression(), LINE.X, LINE.y, cv=cv)


# ---- leave-one-out -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "sample", "how"),
    [
        (LeastSquares(), LINE, "leverages"),
        (Ridge(alpha=3.0, standardize=False), LINE, "leverages"),
        (BaselineRegressor(), LINE, "leverages"),
        (SmoothingSpline(alpha=1e-4), WAVE, "leverages"),
        (LocalRegression(bandwidth=0.2), WAVE, "leverages"),
        (Ridge(alpha=3.0), LINE, "refits"),  # the scales change with the row left out
        (Loess(span=0.5), ODD, "refits"),  # so does the neighbourhood
        (Loess(span=0.5), WAVE, "leverages"),  # 40 of 80 with the row, 39 of 79 without: the same
        (NearestNeighborsRegressor(n_neighbors=5), WAVE, "refits"),
        (PeerRidge(), LINE, "refits"),
    ],
)
def test_leave_one_out_is_brute_force_whichever_way_it_is_done(model, sample, how):
    found = leave_one_out(model, sample.X, sample.y)
    theirs = cross_val_predict(model, sample.X, sample.y, cv=LeaveOneOut())
    assert found.how == how
    # 1e-8: the shortcut divides by 1 - h, which costs a digit or two of the fit's own rounding.
    np.testing.assert_allclose(found.predictions, theirs, atol=1e-8 * np.std(sample.y))
    assert found.error == pytest.approx(np.mean((sample.y - theirs) ** 2), rel=1e-7)


def test_a_knob_chosen_by_the_data_is_chosen_anew_without_each_row():
    small = slice(0, 25)
    X, y = LINE.X[small], LINE.y[small]
    found = leave_one_out(Ridge(standardize=False), X, y)
    assert found.how == "refits"
    assert "alpha is chosen" in found.reason
    first = Ridge(standardize=False).fit(X[1:], y[1:])
    assert found.predictions[0] == pytest.approx(first.predict(X[:1])[0])


def test_a_row_the_fit_must_pass_through_is_refitted():
    X = np.column_stack([np.arange(8.0), np.eye(8)[7]])
    found = leave_one_out(Ridge(alpha=1e-12, standardize=False), X, np.arange(8.0) ** 2)
    assert found.how == "refits"
    assert "leverage 1" in found.reason


def test_leave_one_out_of_classes_and_its_words():
    found = leave_one_out(NearestNeighborsClassifier(n_neighbors=3), CLASSES.X, CLASSES.y)
    curve = NearestNeighborsClassifier().path(CLASSES.X, CLASSES.y, values=[3])
    assert found.error == pytest.approx(curve.error[0])  # its own exact leave-one-out
    assert found.error_se == pytest.approx(curve.error_se[0])
    assert "n = 90, by refits" in str(found)
    assert len(found.to_frame()) == 90


# ---- one held-out part ---------------------------------------------------------------------------


def test_holdout_chooses_on_the_part_and_fits_to_all_rows():
    """A49: the value with the least error on the part, then the procedure on the whole sample."""
    grid = [1, 3, 10, 30]
    found = holdout(NearestNeighborsRegressor(), WAVE.X, WAVE.y, values=grid, random_state=2)
    assert (found.n_train, found.n_dev) == (60, 20)
    named = holdout(
        NearestNeighborsRegressor(), WAVE.X, WAVE.y, values={"n_neighbors": grid}, random_state=2
    )
    # The path starts with the simplest model: the largest k.
    np.testing.assert_allclose(found.errors, named.errors[::-1])
    assert found.values == grid[::-1]
    assert found.value == named.value == found.values[int(np.argmin(found.errors))]
    assert found.model.search_.n == 80
    whole = NearestNeighborsRegressor(n_neighbors=found.value).fit(WAVE.X, WAVE.y)
    np.testing.assert_array_equal(found.model.predict(WAVE.X), whole.predict(WAVE.X))


def test_holdout_of_classes_keeps_their_shares():
    y = np.repeat(["a", "b", "c"], [60, 30, 10])
    X = np.random.default_rng(0).normal(size=(100, 2))
    found = holdout(NearestNeighborsClassifier(), X, y, values=[1, 5], validation_fraction=0.2)
    assert found.n_dev == 20
    alone = holdout(BaselineClassifier(), X, y, values={}, validation_fraction=0.2)
    assert alone.error == pytest.approx(0.4)  # 12 of the 20 held-out rows are of class a
    codes = holdout(NearestNeighborsClassifier(), X, np.unique(y, return_inverse=True)[1],
                    values=[1, 5], validation_fraction=0.2)  # fmt: skip
    np.testing.assert_array_equal(found.errors, codes.errors)


def test_one_standard_error_takes_the_simplest_within_it():
    least = holdout(Ridge(), LINE.X, LINE.y)
    simple = holdout(Ridge(), LINE.X, LINE.y, select="one_se")
    limit = least.errors[least.best] + least.errors_se[least.best]
    assert simple.best <= least.best
    assert simple.error <= limit
    assert simple.best == 0 or least.errors[simple.best - 1] > limit
    assert simple.model.alpha_ == simple.value


def test_several_parameters_of_any_estimator():
    grid = {"max_depth": [1, 3], "min_samples_leaf": [1, 5]}
    found = holdout(DecisionTreeRegressor(random_state=0), WAVE.X, WAVE.y, values=grid)
    assert len(found.values) == 4
    assert found.model.get_params()["max_depth"] == found.value["max_depth"]
    assert found.to_frame()["chosen"].sum() == 1
    assert "fitted to all 80" in str(found)
    assert found.plot().to_dict()["title"]["text"] == "Tuning by a held-out part"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"validation_fraction": 0}, "validation_fraction"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"select": "aic"}, "select"),
        ({"values": {"fit_intercept": [True]}, "select": "one_se"}, "order of simplicity"),
        ({}, "no knob"),
    ],
)
def test_holdouts_that_make_no_sense_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        holdout(LinearRegression(), LINE.X, LINE.y, **given)
    with pytest.raises(InputError, match="at least 2"):
        holdout(Ridge(), LINE.X[:1], LINE.y[:1])


def test_copies_of_a_table_are_held_out_together():
    """Nothing can be learnt of labels that are noise, but by a row from its copy."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    frame["y"] = rng.choice(["p", "q"], 150)
    table = Table(pd.concat([frame, frame], ignore_index=True), target="y")
    found = cross_validate(NearestNeighborsClassifier(n_neighbors=1), table, random_state=0)
    assert found.error > 0.35  # 0.5 but for chance: 4 standard errors of 150 rows below
