"""Stacking: weights that are best, honest and never negative."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core.errors import InputError, ParameterError
from bottega.ensemble import StackingClassifier, StackingRegressor
from bottega.ensemble.stack_weights import stack_weights
from bottega.linear import LeastSquares, Ridge
from bottega.neighbors import NearestNeighborsClassifier, NearestNeighborsRegressor
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


problems = st.tuples(st.integers(0, 10_000), st.integers(1, 4), st.booleans())


@settings(max_examples=40, deadline=None)
@given(problem=problems)
def test_weights_satisfy_the_conditions_of_a_minimum(problem):
    seed, m, sum_to_one = problem
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, m)) + rng.normal(size=(12, 1))
    b = A @ rng.normal(size=m) + rng.normal(size=12)
    w = stack_weights(A, b, sum_to_one=sum_to_one)
    slope = A.T @ (A @ w - b)
    assert np.all(w >= 0)
    if sum_to_one:
        assert w.sum() == pytest.approx(1, abs=1e-12)
        slope = slope - slope @ w  # the multiplier of the sum: the common slope where w > 0
    # Karush-Kuhn-Tucker: no slope where there is weight, no descent where there is none. The
    # tolerance is rounding on numbers of size 100.
    assert np.abs(slope[w > 0]).max(initial=0) < 1e-8
    assert slope[w == 0].min(initial=0) > -1e-8


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_weights_on_the_simplex_are_found_by_brute_force_too(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(8, 3)), 2 * rng.normal(size=8)
    w = stack_weights(A, b, sum_to_one=True)
    ticks = np.linspace(0, 1, 101)
    grid = np.array([(p, q, 1 - p - q) for p in ticks for q in ticks if p + q <= 1 + 1e-12])
    best = ((A @ grid.T - b[:, None]) ** 2).sum(axis=0).min()
    found = ((A @ w - b) ** 2).sum()
    assert found <= best + 1e-9
    # A grid of step 0.01 comes this near: half the curvature times the squared distance to it.
    assert found >= best - np.linalg.norm(A, 2) ** 2 * 2 * 0.01**2 - 4 * 0.01 * np.linalg.norm(
        A, 2
    ) * np.linalg.norm(A @ w - b)


def test_weights_do_not_depend_on_the_size_of_the_numbers():
    rng = np.random.default_rng(0)
    A, b = rng.uniform(1, 2, size=(30, 3)), rng.uniform(1, 2, size=30)
    for sum_to_one in (False, True):
        plain = stack_weights(A, b, sum_to_one=sum_to_one)
        for scale in (1e-8, 1e8):
            assert stack_weights(scale * A, scale * b, sum_to_one=sum_to_one) == pytest.approx(
                plain, rel=1e-9, abs=1e-12
            )
    perfect = stack_weights(np.column_stack([b, A]), b, sum_to_one=True)
    assert perfect == pytest.approx([1, 0, 0, 0], abs=1e-9)
    with pytest.raises(InputError, match="not finite"):
        stack_weights(np.array([[np.nan], [1.0]]), np.ones(2))


def test_fits_to_the_training_rows_favour_the_complex_member_and_unseen_rows_do_not():
    # E33: least squares on fitted values against leave-one-out with weights not negative. One
    # nearest neighbour reproduces the rows it has seen, so the former trusts it alone.
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(100, 1))
    y = X[:, 0] + rng.normal(size=100)
    line, nearest = LeastSquares(), NearestNeighborsRegressor(k=1)
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


def test_other_bases_are_left_out_row_by_row():
    X, y = wave(25)
    model = StackingRegressor([TreeRegressor(alpha=0)], cv="loo").fit(X, y)
    i = 11
    keep = np.arange(25) != i
    expected = TreeRegressor(alpha=0).fit(X[keep], y[keep]).predict(X[[i]])
    assert model.held_out_[i] == pytest.approx(expected)


@pytest.mark.parametrize("sum_to_one", [False, True])
def test_on_the_rows_it_was_chosen_by_the_stack_is_no_worse_than_any_base(sum_to_one):
    X, y = wave()
    bases = [LeastSquares(), NearestNeighborsRegressor(), TreeRegressor(alpha=0)]
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
    assert model.weights_ == pytest.approx(stack_weights(A, b), abs=1e-12)
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
    with pytest.raises(ParameterError, match="bases="):
        StackingRegressor([]).fit(X, y)
    with pytest.raises(ParameterError, match="needs a regressor"):
        StackingRegressor([BaselineClassifier()]).fit(X, y)
    with pytest.raises(ParameterError, match="cv=1"):
        StackingRegressor(cv=1).fit(X, y)
    with pytest.raises(InputError, match="n_samples = 1"):
        StackingRegressor().fit(X[:1], y[:1])
