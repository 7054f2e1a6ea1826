"""Stacking: weights that are best, honest and never negative."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError, ParameterError
from bottega.ensemble import StackingClassifier, StackingRegressor
from bottega.linear import LeastSquares, PrincipalComponentsRegression, Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.optimize.nonnegative import nonnegative_least_squares
from bottega.tree import TreeRegressor


def wave(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, X[:, 0] + np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=n)


def blobs(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] + 0.5 * rng.normal(size=n), [-0.5, 0.5])]
    return X, y


def test_fits_to_the_training_rows_favour_the_complex_member_and_unseen_rows_do_not():
    # E33: least squares on fitted values against leave-one-out with weights not negative. One
    # nearest neighbour reproduces the rows it has seen, so the former trusts it alone.
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(100, 1))
    y = X[:, 0] + rng.normal(size=100)
    line, nearest = LeastSquares(), NearestNeighborsRegressor(n_neighbors=1)
    fitted = np.column_stack([model.fit(X, y).predict(X) for model in (line, nearest)])
    naive = np.linalg.lstsq(fitted, y, rcond=None)[0]
    assert naive == pytest.approx([0, 1], abs=1e-9)
    model = StackingRegressor([line, nearest], cv="loo").fit(X, y)
    assert model.weights_[0] > 5 * model.weights_[1] >= 0
    new = rng.uniform(-2, 2, size=(2000, 1))
    truth = new[:, 0]
    nearest_error = np.mean((nearest.predict(new) - truth) ** 2)
    assert np.mean((model.predict(new) - truth) ** 2) < 0.3 * nearest_error


def test_leave_one_out_of_a_smoother_needs_no_refits():
    X, y = wave(40)
    model = StackingRegressor([Ridge(alpha=1.0, standardize=False), BaselineRegressor()], cv="loo")
    model.fit(X, y)
    for i in (0, 7, 39):
        keep = np.arange(40) != i
        ridge = Ridge(alpha=1.0, standardize=False).fit(X[keep], y[keep]).predict(X[[i]])
        mean = y[keep].mean()
        # The shortcut is exact: only rounding separates it from the refit.
        assert model.held_out_[i] == pytest.approx([ridge[0], mean], rel=1e-9)


@pytest.mark.parametrize(
    "base",
    [
        Ridge(alpha=5.0),  # standardised: the scales change with the rows
        Ridge(),  # the penalty is chosen without the row
        PrincipalComponentsRegression(1),  # the directions change with the rows
    ],
)
def test_the_leverage_formula_is_not_used_where_it_is_not_exact(base):
    X, y = wave(30)
    X[:, 1] *= 5
    model = StackingRegressor([base], cv="loo").fit(X, y)
    expected = []
    for i in range(30):
        keep = np.arange(30) != i
        expected.append(clone(base).fit(X[keep], y[keep]).predict(X[[i]])[0])
    assert model.held_out_[:, 0] == pytest.approx(expected, rel=1e-9)
    # And the formula would have been wrong by more than that.
    shortcut = y - clone(base).fit(X, y).loo_residuals_
    assert np.abs(shortcut - expected).max() > 1e-4


def test_other_bases_are_left_out_row_by_row():
    X, y = wave(25)
    model = StackingRegressor([TreeRegressor(ccp_alpha=0)], cv="loo").fit(X, y)
    i = 11
    keep = np.arange(25) != i
    expected = TreeRegressor(ccp_alpha=0).fit(X[keep], y[keep]).predict(X[[i]])
    assert model.held_out_[i] == pytest.approx(expected)


@pytest.mark.parametrize("sum_to_one", [False, True])
def test_on_the_rows_it_was_chosen_by_the_stack_is_no_worse_than_any_base(sum_to_one):
    X, y = wave()
    bases = [LeastSquares(), NearestNeighborsRegressor(), TreeRegressor(ccp_alpha=0)]
    model = StackingRegressor(bases, sum_to_one=sum_to_one).fit(X, y)
    stacked = np.mean((y - model.held_out_ @ model.weights_) ** 2)
    assert stacked <= model.base_errors_.min() + 1e-12
    assert model.base_errors_ == pytest.approx(np.mean((y[:, None] - model.held_out_) ** 2, axis=0))
    # Weights learnt without a fold can only do worse on it than those learnt with it.
    assert model.error_ >= stacked - 1e-12
    assert model.error_ < model.base_errors_.max()
    if sum_to_one:
        assert model.weights_.sum() == pytest.approx(1)


def test_the_prediction_is_the_weighted_sum_of_the_refitted_bases():
    X, y = wave()
    model = StackingRegressor([("line", LeastSquares()), ("knn", NearestNeighborsRegressor())])
    model.fit(X, y)
    assert model.names_ == ["line", "knn"]
    parts = [LeastSquares().fit(X, y).predict(X), NearestNeighborsRegressor().fit(X, y).predict(X)]
    assert model.predict(X) == pytest.approx(model.weights_ @ np.array(parts), abs=1e-9)


def test_equal_bases_share_one_weight_and_one_base_is_nearly_itself():
    X, y = wave()
    one = StackingRegressor([LeastSquares()]).fit(X, y)
    two = StackingRegressor([LeastSquares(), LeastSquares()]).fit(X, y)
    assert two.names_ == ["least_squares", "least_squares 2"]
    assert two.weights_.sum() == pytest.approx(one.weights_.sum(), rel=1e-9)
    assert two.predict(X) == pytest.approx(one.predict(X), rel=1e-9, abs=1e-9)
    alone = StackingRegressor([LeastSquares()], sum_to_one=True).fit(X, y)
    assert alone.weights_.tolist() == [1.0]
    assert alone.predict(X) == pytest.approx(LeastSquares().fit(X, y).predict(X))


def test_class_probabilities_are_stacked_with_one_weight_a_model():
    X, y = blobs()
    bases = [NearestNeighborsClassifier(), LogisticRegression(), BaselineClassifier()]
    model = StackingClassifier(bases).fit(X, y)
    A = model.held_out_.transpose(0, 2, 1).reshape(-1, 3)
    b = (y[:, None] == model.classes_).astype(float).ravel()
    assert model.weights_ == pytest.approx(nonnegative_least_squares(A, b), abs=1e-12)
    total = sum(
        w * each.predict_proba(X) for w, each in zip(model.weights_, model.estimators_, strict=True)
    )
    assert model.predict_proba(X) == pytest.approx(total / total.sum(axis=1, keepdims=True))
    stacked = np.sum((b - A @ model.weights_) ** 2)
    assert np.all(stacked <= ((b[:, None] - A) ** 2).sum(axis=0) + 1e-9)
    by_hand = np.mean(model.classes_[model.held_out_.argmax(axis=2)] != y[:, None], axis=0)
    assert model.base_errors_ == pytest.approx(by_hand)


def test_pipelines_and_bases_without_probabilities_take_part():
    X, y = blobs()
    frame = pl.DataFrame({"p": X[:, 0], "q": X[:, 1]})
    scaled = make_pipeline(StandardScaler(), KNeighborsClassifier())
    model = StackingClassifier([("knn", scaled), ("machine", LinearSVC())]).fit(frame, y)
    assert set(np.unique(model.held_out_[:, 1])) == {0.0, 1.0}
    assert model.score(frame, y) > 0.6
    assert isinstance(model.tidy(), pl.DataFrame)
    assert model.tidy()["term"].to_list() == ["knn", "machine"]


def test_the_results_as_tables():
    X, y = wave()
    model = StackingRegressor([LeastSquares(), NearestNeighborsRegressor()]).fit(X, y)
    glance = model.glance()
    assert isinstance(glance, pd.DataFrame)
    assert glance["nobs"][0] == len(y)
    assert glance["improvement"][0] == pytest.approx(model.base_errors_.min() - model.error_)
    assert glance["best_base"][0] == model.names_[int(np.argmin(model.base_errors_))]
    assert model.tidy()["estimate"].tolist() == model.weights_.tolist()
    assert "least_squares" in str(model.summary())


def test_the_order_of_the_rows_does_not_matter():
    X, y = wave()
    order = np.random.default_rng(2).permutation(len(y))
    bases = [LeastSquares(), TreeRegressor()]
    one, two = StackingRegressor(bases).fit(X, y), StackingRegressor(bases).fit(X[order], y[order])
    assert two.weights_ == pytest.approx(one.weights_, rel=1e-9)
    assert two.held_out_ == pytest.approx(one.held_out_[order], rel=1e-9, abs=1e-9)


def test_bad_input():
    X, y = wave(20)
    with pytest.raises(ParameterError, match="estimators="):
        StackingRegressor([]).fit(X, y)
    with pytest.raises(ParameterError, match="needs a regressor"):
        StackingRegressor([BaselineClassifier()]).fit(X, y)
    with pytest.raises(ParameterError, match="cv=1"):
        StackingRegressor(cv=1).fit(X, y)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        StackingRegressor().fit(X[:1], y[:1])
    with pytest.raises(InputError, match="at least 2 rows"):
        StackingRegressor().fit(pd.DataFrame(X[:1]), y[:1])
