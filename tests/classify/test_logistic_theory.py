"""Logistic regression: conditions of the minimum, chunks, shapes, separation, bad input."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import linprog
from sklearn.base import clone

from bottega.classify import LogisticRegression, likelihood_ratio_test
from bottega.classify._logistic.walk import predicted
from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, ParameterError
from bottega.optimize.logistic_path import LogisticSolution


def draw(seed, n, p, K):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 2, p) + rng.normal(size=p)
    score = X[:, 0] - 0.5 * X[:, 1] + 2 * rng.normal(size=n)
    return X, np.digitize(score, np.quantile(score, np.arange(1, K) / K))


def slopes(model, X, y, weight=None):
    """Return the sums over rows of observed minus fitted, times one and each input."""
    Y = (y[:, None] == model.classes_).astype(float) - model.predict_proba(X)
    if weight is not None:
        Y = Y * weight[:, None]
    return Y.sum(axis=0), Y.T @ X


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    shape=st.sampled_from([(60, 3, 2), (90, 3, 3), (120, 2, 4)]),
    C=st.sampled_from([0.01, 1.0, np.inf]),
    weighted=st.booleans(),
)
def test_the_slope_is_that_of_the_penalty(seed, shape, C, weighted):
    X, y = draw(seed, *shape)
    w = np.random.default_rng(seed).integers(1, 4, size=len(y)).astype(float) if weighted else None
    model = LogisticRegression(C=C).fit(X, y, sample_weight=w)
    ends, slope = slopes(model, X, y, w)
    if shape[2] == 2:
        slope = slope[1:]
    # The search ends by the slope per unit of weight, so the sums grow with the weights.
    total = float(len(y) if w is None else w.sum())
    assert_allclose(ends, 0, atol=1e-8 * total)
    assert_allclose(slope, model.coef_ / C, atol=1e-7 * total)
    assert_allclose(model.coef_.sum(axis=0) * (shape[2] > 2), 0, atol=1e-6)


@pytest.mark.parametrize("K", [2, 3])
def test_many_rows_are_fitted_to_the_same_minimum(K):
    # A fit to an eighth of the rows is where it starts.
    X, y = draw(1, 17_000, 2, K)
    model = LogisticRegression(C=2.0).fit(X, y)
    ends, slope = slopes(model, X, y)
    assert model.converged_
    assert_allclose(ends, 0, atol=1e-4)
    assert_allclose(slope[1:] if K == 2 else slope, model.coef_ / 2, atol=1e-3)


@pytest.mark.parametrize("K", [2, 3])
def test_more_columns_than_rows_are_rotated(K):
    X, y = draw(2, 30, 50, K)
    for words in ({"alpha": 0.1}, {"C": 0.5}):
        model = LogisticRegression(**words).fit(X, y)
        scale = X.std(axis=0) if "alpha" in words else np.ones(50)
        _, slope = slopes(model, X, y)
        slope = slope[1:] if K == 2 else slope
        assert_allclose(slope, 30 * model.alpha_ * scale**2 * model.coef_, atol=1e-6)
    curve = LogisticRegression(alphas=8, cv=3).path(X, y)
    alone = LogisticRegression(alpha=curve.values[4]).fit(X, y)
    found = curve.coef[4] if K > 2 else curve.coef[4][None]
    assert_allclose(found, alone.coef_, rtol=1e-5, atol=1e-8)
    assert 1 < curve.df[0] < curve.df[-1] < 30 * (K - 1)


def test_thousands_of_coefficients_are_for_lbfgs():
    rng = np.random.default_rng(3)
    X = sparse.csr_array(sparse.random(700, 900, density=0.02, random_state=rng))
    y = np.digitize(X[:, :50].sum(axis=1), [0.1, 0.4, 0.8])
    model = LogisticRegression(C=1.0).fit(X, y)
    assert model.solver_ == "lbfgs"
    assert model.converged_
    assert_allclose(slopes(model, X, y)[1], model.coef_, atol=1e-4)
    # With fewer rows than columns the rows are rotated, and Newton does it.
    few = LogisticRegression(C=1.0).fit(X[:100], y[:100] > 0)
    assert few.solver_ == "newton"
    assert_allclose(slopes(few, X[:100], y[:100] > 0)[1][1:], few.coef_, atol=1e-6)
    # One fit to hundreds of them is by slopes, without the rotation that a path is worth.
    wide = LogisticRegression(alpha=0.05).fit(X, y > 0)
    assert wide.solver_ == "lbfgs"
    dense = LogisticRegression(alpha=0.05).fit(X.toarray(), y > 0)
    assert dense.solver_ == "newton"
    assert_allclose(wide.coef_, dense.coef_, atol=1e-4)
    tuned = LogisticRegression(alpha="auto", l1_ratio=0.0, alphas=[0.5, 0.05], cv=2).fit(X, y > 0)
    assert tuned.solver_ == "newton"


def test_sparse_rows_with_hundreds_of_coefficients_are_for_lbfgs():
    rng = np.random.default_rng(3)
    X = sparse.random_array((900, 250), density=0.05, rng=rng, format="csr")
    y = np.argmax(X[:, :3] + rng.normal(size=(900, 3)), axis=1)
    model = LogisticRegression(alpha=1e-3).fit(X, y)
    dense = LogisticRegression(alpha=1e-3).fit(X.toarray(), y)
    assert (model.solver_, dense.solver_) == ("lbfgs", "newton")
    # Both are within the tolerance of the objective, 1e-6 of its value without inputs.
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-3 * np.abs(dense.coef_).max())
    np.testing.assert_allclose(model.predict_proba(X), dense.predict_proba(X.toarray()), atol=1e-4)


def test_columns_of_zeros_do_not_stop_lbfgs():
    rng = np.random.default_rng(0)
    X = (rng.random((250, 300)) < 0.05).astype(float)
    X[:, 5:9] = 0  # stems that no text of a fold has
    y = rng.integers(3, size=250)
    model = LogisticRegression(alpha=1e-3, tol=1e-4).fit(sparse.csr_array(X), y)
    assert model.solver_ == "lbfgs"
    assert model.converged_
    assert not model.coef_[:, 5:9].any()
    # Two answers with a relative gap of 1e-4 each.
    assert_allclose(model.coef_, LogisticRegression(alpha=1e-3).fit(X, y).coef_, atol=0.01)


@pytest.mark.parametrize("K", [2, 3])
def test_chunks_give_the_fit_of_all_rows(K):
    X, y = draw(4, 90, 3, K)
    w = np.random.default_rng(0).integers(1, 4, size=90).astype(float)
    cuts = [slice(0, 20), slice(20, 25), slice(25, 90)]
    parts = [(X[c], y[c], w[c]) for c in cuts]
    names = np.array(["a", "b", "c"])
    for words in (
        {},
        {"C": np.inf},
        {"alpha": 0.02, "l1_ratio": 0.5, "class_weight": "balanced", "tol": 1e-11},
        {"alpha": "auto", "l1_ratio": 1.0, "alphas": 8, "cv": 3, "tol": 1e-11},
        {"alpha": "auto", "select": "bic", "alphas": 8},
    ):
        model = LogisticRegression(**words)
        whole = clone(model).fit(X, y, sample_weight=w)
        chunked = clone(model).fit_chunks(parts)
        assert_allclose(chunked.coef_, whole.coef_, rtol=1e-5, atol=1e-6)
        assert chunked.alpha_ == pytest.approx(whole.alpha_)
        row, same = whole.glance().iloc[0], chunked.glance().iloc[0]
        assert_allclose(same["deviance"], row["deviance"], rtol=1e-7)
        assert_allclose(same["train_error"], row["train_error"])
        if "cv" in words:
            assert_allclose(chunked.path_.error, whole.path_.error, rtol=1e-9)
            assert_allclose(chunked.path_.error_se, whole.path_.error_se, rtol=1e-6)
    error = chunked.tidy()["std_error"]
    assert error.isna().all()
    labelled = LogisticRegression().fit_chunks([(X[c], names[y[c]]) for c in cuts])
    assert labelled.predict(X).tolist() == names[LogisticRegression().fit(X, y).predict(X)].tolist()
    with pytest.raises(InputError, match="folds of its own"):
        LogisticRegression(alpha="auto", cv=[(np.arange(80), np.arange(80, 90))]).fit_chunks(parts)


def test_a_relaxed_fit_has_no_penalty_on_what_is_left():
    X, y = draw(5, 150, 6, 2)
    relaxed = LogisticRegression(alpha=0.08, l1_ratio=1.0, relax=True).fit(X, y)
    used = np.flatnonzero(relaxed.coef_[0])
    assert 0 < len(used) < 6
    lasso = LogisticRegression(alpha=0.08, l1_ratio=1.0).fit(X, y)
    assert np.array_equal(np.flatnonzero(lasso.coef_[0]), used)
    free = LogisticRegression(C=np.inf).fit(X[:, used], y)
    assert_allclose(relaxed.coef_[0, used], free.coef_[0], rtol=1e-6)
    assert_allclose(relaxed.intercept_, free.intercept_, rtol=1e-6)
    assert relaxed.glance()["deviance"][0] < lasso.glance()["deviance"][0]
    curve = LogisticRegression(l1_ratio=1.0, relax=True, alphas=10, cv=3).path(X, y)
    assert_allclose(curve.at(9).coef_[0], curve.coef[9])


def test_degrees_of_freedom_of_squares_are_those_of_a_linear_fit():
    X, y = draw(6, 200, 4, 2)
    model = LogisticRegression(alpha=0.05).fit(X, y)
    Z = np.column_stack([np.ones(200), (X - X.mean(axis=0)) / X.std(axis=0)])
    p = model.predict_proba(X)[:, 1]
    H = (Z * (p * (1 - p))[:, None]).T @ Z
    smooth = np.linalg.solve(H + 200 * 0.05 * np.diag([0, 1, 1, 1, 1]), H)
    assert model.df_ == pytest.approx(np.trace(smooth), rel=1e-6)


@pytest.fixture(scope="module")
def many():
    """More than half a million numbers: a walk keeps curvatures from one penalty to the next."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(27_000, 20)) @ (np.eye(20) + 0.1 * rng.normal(size=(20, 20)))
    y = rng.uniform(size=len(X)) < 1 / (1 + np.exp(-X @ rng.normal(size=20) / 3))
    return X, y.astype(int), rng.uniform(0.5, 2, len(X))


def freedom_by_hand(X, w, coef, intercept, penalty):
    """Return the trace of (H + P)^-1 H at some coefficients, P on all but the intercept."""
    used = np.flatnonzero(coef)
    mean = np.average(X, axis=0, weights=w)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    Z = np.column_stack([np.ones(len(X)), Z[:, used]])
    p = 1 / (1 + np.exp(-(X @ coef + intercept)))
    H = (Z * (w * p * (1 - p) / w.sum())[:, None]).T @ Z
    return np.trace(np.linalg.solve(H + penalty * np.diag(np.arange(len(H)) > 0), H))


@pytest.mark.parametrize(
    "setting",
    [
        {"alpha": 0.1},
        {"alpha": 0.01, "l1_ratio": 0.5},
        {"alpha": "auto", "alphas": 8, "cv": 2, "select": "one_se"},
        {"alpha": "auto", "alphas": 8, "cv": 2, "select": "min", "l1_ratio": 0.2},
        {"alpha": "auto", "alphas": 8, "select": "bic"},
    ],
)
def test_degrees_of_freedom_of_many_rows_are_those_of_the_fit(many, setting):
    X, y, w = many
    model = LogisticRegression(**setting).fit(X, y, sample_weight=w)
    squares = model.alpha_ * (1 - model.l1_ratio_)
    by_hand = freedom_by_hand(X, w, model.coef_[0], model.intercept_[0], squares)
    assert model.df_ == pytest.approx(by_hand, rel=1e-9)
    glance = model.glance()
    assert glance["aic"][0] == pytest.approx(glance["deviance"][0] + 2 * by_hand, rel=1e-12)


def test_a_criterion_chooses_by_the_degrees_of_freedom_of_each_fit(many):
    X, y, w = many
    model = LogisticRegression(alpha="auto", alphas=8, select="bic").fit(X, y, sample_weight=w)
    assert model.df_ in model.path_.df
    for k in (2, 4, 6):
        alone = LogisticRegression(alpha=model.path_.values[k]).fit(X, y, sample_weight=w)
        assert model.path_.df[k] == pytest.approx(alone.df_, rel=1e-4)


def test_a_relaxed_fit_has_the_degrees_of_freedom_of_a_fit_without_a_penalty():
    X, y = draw(5, 150, 6, 2)
    relaxed = LogisticRegression(alpha=0.1, l1_ratio=0.5, relax=True).fit(X, y)
    used = np.flatnonzero(relaxed.coef_[0])
    assert 0 < len(used) < 6
    assert relaxed.df_ == LogisticRegression(C=np.inf).fit(X[:, used], y).df_ == 1 + len(used)


def test_a_warm_start_starts_where_the_last_fit_ended():
    X, y = draw(7, 300, 3, 3)
    model = LogisticRegression(warm_start=True).fit(X, y)
    cold = model.coef_.copy()
    assert model.fit(X, y).n_iter_ <= 1
    assert_allclose(model.coef_, cold, atol=1e-8)
    model.fit(X[:, :2], y)  # other inputs: nothing to start from
    assert model.coef_.shape == (3, 2)


def test_collinear_columns_have_no_standard_errors():
    X, y = draw(8, 100, 2, 2)
    double = np.column_stack([X, X[:, 0], np.ones(100)])
    model = LogisticRegression(C=np.inf).fit(double, y)
    single = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(model.predict_proba(double), single.predict_proba(X), atol=1e-8)
    error = model.tidy()["std_error"]
    assert error.isna().tolist() == [False, True, False, True, True]
    assert_allclose(error[2], single.tidy()["std_error"][2], rtol=1e-6)


# ---- separation ----------------------------------------------------------------------------------


def test_separation_is_said_and_named():
    x = np.arange(8.0)
    frame = pd.DataFrame({"dose": x, "noise": [3.0, 1, 4, 1, 5, 9, 2, 6]})
    with pytest.warns(DataWarning, match=r"dose.*separate the classes completely.*alpha > 0"):
        model = LogisticRegression(C=np.inf).fit(frame, x > 3)
    assert model.separated_
    assert not model.converged_
    assert model.tidy()["std_error"].isna().all()
    assert "no maximum" in str(model.summary())
    with pytest.raises(InputError, match="the classes can be separated"):
        model.profile_intervals(frame, x > 3)
    # One row on the boundary of each class: in part.
    group = np.array([0, 0, 0, 1, 1, 1, 1, 1])
    with pytest.warns(DataWarning, match="separate the classes in part"):
        LogisticRegression(penalty=None).fit(group[:, None], [0, 0, 0, 1, 0, 1, 0, 1])
    three = np.repeat([0, 1, 2], 4)
    rng = np.random.default_rng(0)
    Z = np.column_stack([three == 2, rng.normal(size=12)])
    with pytest.warns(DataWarning, match="separate the classes in part"):
        LogisticRegression(C=np.inf).fit(Z, three)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n=st.integers(6, 25))
def test_separation_is_that_of_a_linear_program(seed, n):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 2)), rng.integers(2, size=n)
    y[:2] = 0, 1
    rows = np.column_stack([np.ones(n), X]) * (2 * y - 1)[:, None]
    # The largest of the least margins over a box is positive where a hyperplane separates.
    found = largest_margin(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LogisticRegression(C=np.inf).fit(X, y)
    if abs(found) > 1e-6:
        assert model.separated_ == (found > 0)


def largest_margin(rows):
    d = rows.shape[1]
    answer = linprog(
        np.append(np.zeros(d), -1.0),
        A_ub=np.column_stack([-rows, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * d + [(None, 1)],
    )
    # Zero is always reached: below it only by rounding, and then nothing separates.
    return -answer.fun if -answer.fun > 1e-9 else -1.0


# ---- bad input -----------------------------------------------------------------------------------


def test_bad_input_is_said():
    X, y = draw(9, 40, 2, 2)
    for bad in ({"C": 0.0}, {"C": -1.0}, {"alpha": -0.1}, {"penalty": "l3"}, {"l1_ratio": 2.0}):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            LogisticRegression(**bad).fit(X, y)
    with pytest.raises(ParameterError, match="contradict"):
        LogisticRegression(penalty=None, alpha=0.1).fit(X, y)
    with pytest.raises(InputError, match="only one class"):
        LogisticRegression().fit(X, np.ones(40))
    with pytest.raises(ValueError, match="NaN"):
        LogisticRegression().fit(np.where(X > 2, np.nan, X), y)
    with pytest.raises(ValueError, match="continuous"):
        LogisticRegression().fit(X, X[:, 0])
    with pytest.raises(ParameterError, match="class_weight"):
        LogisticRegression(class_weight={7: 1.0}).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        LogisticRegression(C=1e4, max_iter=1, tol=1e-12).fit(X, y)
    model = LogisticRegression().fit(X, y)
    for call in (lambda: model.wald_test("x0"), lambda: model.drop_terms(X, y)):
        with pytest.raises(InputError, match="there is a penalty"):
            call()
    free = LogisticRegression(C=np.inf).fit(X, y)
    with pytest.raises(InputError, match="no term 'x9'"):
        free.wald_test("x9")
    with pytest.raises(InputError, match="not the rows of the fit"):
        free.drop_terms(X[::-1], y)
    with pytest.raises(InputError, match="not one of the classes"):
        free.tidy(reference="b")
    with pytest.raises(InputError, match="first fit must be the smaller"):
        likelihood_ratio_test(free, free)
    with pytest.raises(InputError, match="without a penalty"):
        likelihood_ratio_test(model, free)
    with pytest.raises(InputError, match="not one of the classes"):
        free.profile_intervals(X, y, reference="b")


def test_a_class_of_one_row():
    X, y = draw(10, 40, 2, 2)
    y[0] = 2
    model = LogisticRegression().fit(X, y)
    assert model.predict_proba(X).shape == (40, 3)
    assert np.all(np.isfinite(model.coef_))


@pytest.mark.filterwarnings("ignore::bottega.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
@pytest.mark.parametrize("scale", [1e8, 1e12, 1e50])
def test_a_penalty_lost_in_the_rounding_of_the_curvature_is_none(scale, l1_ratio):
    X, y = draw(5, 90, 3, 3)
    fitted = LogisticRegression(l1_ratio=l1_ratio, standardize=False).fit(X * scale, y)
    free = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(fitted.predict_proba(X * scale), free.predict_proba(X), atol=1e-6)


def test_columns_of_very_different_units_meet_the_conditions_of_the_minimum():
    X, y = draw(5, 90, 3, 3)
    units = np.array([1e6, 1.0, 1e-6])
    fitted = LogisticRegression(standardize=False).fit(X * units, y)
    _, pull = slopes(fitted, X * units, y)
    assert_allclose(pull / units, fitted.coef_ / units, atol=1e-7)


@pytest.mark.filterwarnings("ignore::bottega.core.errors.ConvergenceWarning")
@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_weights_beside_which_the_penalty_is_nothing(l1_ratio):
    X, y = draw(5, 90, 3, 3)
    heavy = LogisticRegression(l1_ratio=l1_ratio).fit(X, y, sample_weight=np.full(90, 1e90))
    free = LogisticRegression(C=np.inf).fit(X, y)
    assert_allclose(heavy.predict_proba(X), free.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("size", [1e3, 1e14, 1e200, 1.7e308])
def test_the_largest_score_wins_however_far_behind_the_least_is(size):
    """Classes along a line: far out on either side it is the one at that end."""
    x = np.repeat([0.0, 1.0, 2.0], 20) + 0.3 * np.random.default_rng(0).normal(size=60)
    y = np.repeat(["a", "b", "c"], 20)
    X = np.column_stack([x, x])
    model = LogisticRegression(alpha=1e-3).fit(X, y)
    far = size * np.array([[1.0, 1.0], [-1.0, -1.0]])
    assert model.predict(far).tolist() == ["c", "a"]
    assert np.all(np.isfinite(model.decision_function(far)))
    assert model.predict_proba(far)[[0, 1], [2, 0]] == pytest.approx(1)
    # The same of many fits at once, as a path is judged.
    found = LogisticSolution(*[np.zeros(1)] * 7)
    found = replace(found, coef=model.coef_[None], intercept=model.intercept_[None])
    if size < 1e300:
        assert predicted(far, found, np.arange(3), 3, "predict").tolist() == [[2], [0]]
