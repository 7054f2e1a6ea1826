"""The linear support vector machine: against liblinear and libsvm, its gap, path and solvers."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import LinearSVC
from sklearn.utils import compute_sample_weight

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError
from bottega.kernel import LinearSVM

R = json.loads((Path(__file__).parents[1] / "reference/kernel/kernels.json").read_text())
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4))
Y = np.where(X[:, 0] - X[:, 1] + RNG.normal(size=200) > 0.3, "b", "a")
THREE = np.argmax(X @ RNG.normal(size=(4, 3)) + RNG.normal(size=(200, 3)), axis=1)
WEIGHT = RNG.uniform(0.2, 2, 200)


@pytest.mark.parametrize("C", [0.1, 1.0])
def test_decisions_are_those_of_libsvm_in_r(C):
    """libsvm does not penalise the intercept; a large constant leaves next to no penalty on it."""
    expected = next(each for each in R["svm"] if each["C"] == C)
    model = LinearSVM(C, loss="hinge", tol=1e-6, max_iter=10**6, intercept_scaling=20.0)
    model.fit(R["X"], R["label"])
    assert model.decision_function(R["Z"]) == pytest.approx(expected["decision"], abs=1e-4)
    assert model.n_support_[0] == expected["n_support"]


@pytest.mark.parametrize(
    ("loss", "solver"), [("squared_hinge", "newton"), ("squared_hinge", "dual"), ("hinge", "dual")]
)
@pytest.mark.parametrize("C", [0.02, 1.0])
def test_answers_are_those_of_liblinear(loss, solver, C):
    theirs = LinearSVC(C=C, loss=loss, dual=True, tol=1e-9, max_iter=10**6)
    theirs.fit(X, Y, sample_weight=WEIGHT)
    for rows in (X, sparse.csr_array(X)):
        model = LinearSVM(C, loss=loss, solver=solver, tol=1e-8, max_iter=10**6)
        model.fit(rows, Y, sample_weight=WEIGHT)
        # Both stop within their tolerance.
        assert model.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
        assert model.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
        assert abs(model.gap_[0]) <= 1e-7 * model.objective_[0]
        assert np.array_equal(model.predict(rows), theirs.predict(X))


def test_several_classes_are_taken_one_against_the_others():
    # liblinear itself weighs a class where it is alone, not where it is one of the others.
    weight = compute_sample_weight("balanced", THREE)
    theirs = LinearSVC(C=0.5, tol=1e-9, max_iter=10**6).fit(X, THREE, sample_weight=weight)
    model = LinearSVM(0.5, class_weight="balanced").fit(X, THREE)
    assert model.solver_ == "newton"
    assert model.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert model.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-6)
    assert np.array_equal(model.predict(X), theirs.predict(X))


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(1e-3, 10), st.booleans(), st.booleans())
def test_no_point_is_lower(seed, C, squared, intercept):
    """The gap bounds the distance from the least objective; neighbors have no lower one."""
    rng = np.random.default_rng(seed)
    rows, y = rng.normal(size=(25, 3)), rng.integers(2, size=25)
    y[:2] = 0, 1
    loss = "squared_hinge" if squared else "hinge"
    model = LinearSVM(C, loss=loss, fit_intercept=intercept, tol=1e-9, max_iter=10**5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows, y)
    signs = 2 * y - 1

    def objective(w, b):
        slack = np.maximum(0, 1 - signs * (rows @ w + b))
        return 0.5 * (w @ w + b * b) + C * np.sum(slack**2 if squared else slack)

    least = objective(model.coef_[0], model.intercept_[0])
    assert model.objective_[0] == pytest.approx(least, rel=1e-9)
    assert -1e-9 * least <= model.gap_[0] <= 1e-4 * least
    for _ in range(5):
        w = model.coef_[0] + 0.01 * rng.normal(size=3)
        b = model.intercept_[0] + (0.01 * rng.normal() if intercept else 0.0)
        assert least <= objective(w, b) + model.gap_[0] + 1e-9 * least


def test_random_steps_come_near():
    """Pegasos: an objective within a percent of the least after 200 passes."""
    exact = LinearSVM(0.05, loss="hinge", tol=1e-8, max_iter=10**5).fit(X, Y)
    for rows in (X, sparse.csr_array(X)):
        rough = LinearSVM(0.05, loss="hinge", solver="pegasos", max_iter=200).fit(rows, Y)
        assert rough.objective_[0] <= 1.01 * exact.objective_[0]
        assert rough.gap_[0] >= rough.objective_[0] - exact.objective_[0] - 1e-9
    again = LinearSVM(0.05, loss="hinge", solver="pegasos", max_iter=200).fit(X, Y)
    assert np.array_equal(again.coef_, rough.coef_)
    other = LinearSVM(0.05, loss="hinge", solver="pegasos", max_iter=200, random_state=1)
    assert not np.array_equal(other.fit(X, Y).coef_, rough.coef_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_path_is_that_of_single_fits(loss):
    given = {"loss": loss, "tol": 1e-7, "max_iter": 10**5}
    curve = LinearSVM("auto", Cs=[0.01, 0.1, 1.0], **given).path(X, Y, cv=4)
    assert curve.values.tolist() == [0.01, 0.1, 1.0]
    for i, C in enumerate(curve.values):
        alone = LinearSVM(C, **given).fit(X, Y)
        assert curve.train_error[i] == pytest.approx(np.mean(alone.predict(X) != Y))
    model = LinearSVM("auto", loss=loss, select="min", tol=1e-2, max_iter=10**5).fit(X, Y)
    assert model.path_.values[model.path_.best("min")] == model.C_
    assert len(model.path_) == 10


def test_wide_sparse_rows_take_the_dual():
    rng = np.random.default_rng(2)
    rows = sparse.csr_array(sparse.random(60, 900, density=0.05, random_state=rng))
    y = rng.integers(2, size=60)
    model = LinearSVM(1.0, tol=1e-6, max_iter=10**5).fit(rows, y)
    assert model.solver_ == "dual"
    theirs = LinearSVC(C=1.0, tol=1e-8, max_iter=10**5, dual=True).fit(rows, y)
    assert model.decision_function(rows) == pytest.approx(theirs.decision_function(rows), abs=1e-4)


def test_a_fit_that_stops_early_says_how_far_it_is():
    with pytest.warns(ConvergenceWarning, match="at most .* above the least one"):
        model = LinearSVM(100.0, loss="hinge", tol=1e-10, max_iter=3).fit(X, Y)
    assert not model.converged_
    with pytest.warns(ConvergenceWarning, match="2 of 2 values of C"):
        LinearSVM(loss="hinge", tol=1e-10, max_iter=2).path(X, Y, values=[1.0, 2.0], cv=2)
    assert model.n_iter_ == 3
    assert model.gap_[0] > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"C": 0.0}, "C=0.0"),
        ({"C": -1.0}, "C=-1.0"),
        ({"loss": "logistic"}, "loss='logistic'"),
        ({"solver": "newton", "loss": "hinge"}, "is for loss='squared_hinge'"),
        ({"solver": "pegasos"}, "is for loss='hinge'"),
        ({"class_weight": "even"}, "class_weight"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        LinearSVM(**given).fit(X, Y)


def test_labels_and_rows_that_are_refused():
    with pytest.raises(InputError, match="one class, 'a'"):
        LinearSVM().fit(X, np.full(200, "a"))
    with pytest.raises(InputError, match="overflow"):
        LinearSVM().fit(1e160 * X, Y)
    with pytest.raises(ValueError, match="Unknown label type"):
        LinearSVM().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="NaN"):
        LinearSVM().fit(np.where(X > 2, np.nan, X), Y)
    one = LinearSVM().fit(X, np.arange(200) == 3)
    assert one.predict(X).shape == (200,)
    with pytest.raises(AttributeError, match="predict_proba"):
        one.predict_proba(X)


def test_scikit_learns_words_for_the_penalty_are_taken():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    plain = LinearSVM().fit(X, y)
    for dual in (True, False):
        assert np.array_equal(LinearSVM(penalty="l2", dual=dual).fit(X, y).coef_, plain.coef_)
    with pytest.raises(ParameterError, match="penalty='l1' is not allowed"):
        LinearSVM(penalty="l1").fit(X, y)
