"""Support vector machines against e1071 (libsvm), scikit-learn, and what must hold of a minimum."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.svm import SVC, SVR, OneClassSVM

from bottega.core.errors import ConvergenceWarning, DataWarning, InputError, ParameterError
from bottega.kernel import (
    GaussianKernel,
    OneClass,
    SpectrumKernel,
    SupportVectorClassifier,
    SupportVectorRegressor,
)
from bottega.kernel._support.span import left_out

REFERENCE = json.loads(
    (Path(__file__).parents[1] / "reference" / "kernel" / "support_vectors.json").read_text()
)
X, NEW = np.array(REFERENCE["X"]), np.array(REFERENCE["new"])
TWO, THREE = np.array(REFERENCE["two"]), np.array(REFERENCE["three"])
NUMBER = np.array(REFERENCE["number"])
BINARY = {
    "rbf": {"gamma": 0.3, "C": 2.0},
    "linear": {"kernel": "linear", "C": 0.5},
    "polynomial": {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    "weighted": {"gamma": 0.3, "C": 2.0, "class_weight": {"no": 1.0, "yes": 4.0}},
}
# libsvm keeps its kernels in single precision; ours are exact here.
CLOSE = {"rel": 2e-5, "abs": 2e-5}


@pytest.fixture(scope="module")
def model():
    return SupportVectorClassifier(2.0, gamma=0.3).fit(X, TWO)


@pytest.mark.parametrize("case", BINARY)
def test_two_classes_are_those_of_e1071(case):
    expected = REFERENCE[case]
    model = SupportVectorClassifier(**BINARY[case]).fit(X, TWO)
    sign = 1 if expected["pairs"] == "yes/no" else -1
    decisions = sign * np.array(expected["decisions"])[:, 0]
    assert model.decision_function(NEW) == pytest.approx(decisions, **CLOSE)
    assert np.array_equal(np.sort(model.support_), expected["support"])
    assert np.array_equal(model.predict(NEW), expected["predicted"])


def test_several_classes_are_those_of_e1071():
    expected = REFERENCE["several"]
    model = SupportVectorClassifier(2.0, gamma=0.3, decision_function_shape="ovo").fit(X, THREE)
    found = dict(zip(["a/b", "a/c", "b/c"], model.decision_function(NEW).T, strict=True))
    for pair, values in zip(expected["pairs"], np.array(expected["decisions"]).T, strict=True):
        first, second = pair.split("/")
        sign = 1 if first < second else -1
        ours = sign * found["/".join(sorted([first, second]))]
        assert ours == pytest.approx(values, **CLOSE)
    assert np.array_equal(np.sort(model.support_), expected["support"])
    assert np.array_equal(model.predict(NEW), expected["predicted"])


def test_the_regression_is_that_of_e1071():
    expected = REFERENCE["regression"]
    model = SupportVectorRegressor(2.0, gamma=0.3, epsilon=0.1).fit(X, NUMBER)
    assert model.predict(NEW) == pytest.approx(expected["predicted"], **CLOSE)
    assert np.array_equal(model.support_, expected["support"])


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_attributes_are_those_of_scikit_learn(kernel, shape):
    given = {
        "kernel": kernel,
        "C": 3.0,
        "decision_function_shape": shape,
        "class_weight": "balanced",
    }
    for y in (TWO, THREE):
        theirs = SVC(tol=1e-7, **given).fit(X, y)
        ours = SupportVectorClassifier(**given).fit(X, y)
        assert ours.decision_function(NEW) == pytest.approx(theirs.decision_function(NEW), abs=1e-4)
        assert np.array_equal(ours.support_, theirs.support_)
        assert np.array_equal(ours.n_support_, theirs.n_support_)
        assert ours.dual_coef_ == pytest.approx(theirs.dual_coef_, abs=1e-3)
        assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)
        assert np.array_equal(ours.predict(NEW), theirs.predict(NEW))
        assert ours.shape_fit_ == theirs.shape_fit_
        assert ours.fit_status_ == theirs.fit_status_ == 0
        if kernel == "linear":
            assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-4)


def test_the_status_of_a_fit_is_that_of_scikit_learn():
    weight = np.arange(len(X)) % 3.0  # rows without weight count as rows of the fit
    for ours, theirs in (
        (SupportVectorClassifier(max_iter=1, probability=False), SVC(max_iter=1)),
        (SupportVectorRegressor(max_iter=1), SVR(max_iter=1)),
        (OneClass(max_iter=1), OneClassSVM(max_iter=1)),
    ):
        # More rows than one round takes.
        many = np.random.default_rng(0).normal(size=(1500, 3))
        y = many[:, 0] > np.sin(9 * many[:, 1])
        with pytest.warns(ConvergenceWarning):
            stopped = ours.fit(many, y)
        with pytest.warns(ConvergenceWarning):
            assert stopped.fit_status_ == theirs.fit(many, y).fit_status_ == 1
        ours, theirs = (each.set_params(max_iter=-1) for each in (ours, theirs))
        for each in (ours, theirs):
            each.fit(X, TWO == "yes", sample_weight=weight)
        assert ours.fit_status_ == theirs.fit_status_ == 0
        assert ours.shape_fit_ == theirs.shape_fit_ == X.shape


def test_weights_are_those_of_scikit_learn():
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    theirs = SVC(gamma=0.4, tol=1e-7).fit(X, TWO, sample_weight=weight)
    ours = SupportVectorClassifier(gamma=0.4).fit(X, TWO, sample_weight=weight)
    assert ours.decision_function(NEW) == pytest.approx(theirs.decision_function(NEW), abs=1e-4)
    # scikit-learn counts the rows that have a weight.
    assert np.array_equal(ours.support_, np.flatnonzero(weight)[theirs.support_])
    theirs = SVR(gamma=0.4, epsilon=0.2, tol=1e-7).fit(X, NUMBER, sample_weight=weight)
    ours = SupportVectorRegressor(1.0, gamma=0.4, epsilon=0.2).fit(X, NUMBER, weight)
    assert ours.predict(NEW) == pytest.approx(theirs.predict(NEW), abs=1e-4)


def test_a_break_of_ties_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(80, 2)), rng.integers(0, 4, 80)
    theirs = SVC(break_ties=True, tol=1e-6).fit(Z, y)
    ours = SupportVectorClassifier(break_ties=True).fit(Z, y)
    grid = rng.normal(size=(300, 2))
    assert np.array_equal(ours.predict(grid), theirs.predict(grid))
    with pytest.raises(ParameterError, match="break_ties"):
        SupportVectorClassifier(break_ties=True, decision_function_shape="ovo").fit(Z, y)


def test_the_conditions_of_the_minimum_hold(model):
    y = np.where(TWO == "yes", 1.0, -1.0)
    table = model.slack_table()
    alpha, slack, f = (table[name].to_numpy() for name in ("alpha", "slack", "decision"))
    assert model.decision_function(X) == pytest.approx(f, abs=1e-10)
    assert np.all((alpha >= 0) & (alpha <= 2))
    assert y @ alpha == pytest.approx(0, abs=1e-10)
    assert np.all(y * f >= 1 - slack - 1e-9)
    free = (alpha > 0) & (alpha < 2)
    assert y[free] * f[free] == pytest.approx(np.ones(free.sum()), abs=1e-9)
    assert np.all(slack[alpha == 0] == 0)
    assert np.all(y[alpha == 2] * f[alpha == 2] <= 1 + 1e-9)
    half = 0.5 * (y * alpha) @ GaussianKernel(0.3)(X) @ (y * alpha)
    assert model.primal_objective_ == pytest.approx(half + 2 * slack.sum())
    assert model.dual_objective_ == pytest.approx(alpha.sum() - half)
    assert model.primal_objective_ == pytest.approx(model.dual_objective_, rel=1e-10)
    assert model.kkt_residual_ < 1e-9
    assert model.margin_ == pytest.approx(2 / np.sqrt(2 * half))
    # The sum of the slacks bounds the number of errors.
    assert slack.sum() >= np.sum(model.predict(X) != TWO)


def test_the_slack_table_names_each_case(model):
    table = model.slack_table()
    y, f = np.where(TWO == "yes", 1, -1), table["decision"].to_numpy()
    case = table["case"].to_numpy()
    assert np.array_equal(case == "misclassified", y * f < 0)
    assert np.array_equal(table["row"][case != "outside"], np.sort(model.support_))
    assert set(case) == {"outside", "on the margin", "inside the margin", "misclassified"}
    several = SupportVectorClassifier().fit(X, THREE).slack_table()
    assert list(several["pair"].unique()) == ["a, b", "a, c", "b, c"]


def test_two_points_have_half_a_dual_variable_each():
    model = SupportVectorClassifier(np.inf, kernel="linear").fit([[1.0], [-1.0]], [1, -1])
    assert model.dual_coef_ == pytest.approx(np.array([[-0.5, 0.5]]))
    assert model.coef_ == pytest.approx(np.array([[1.0]]))
    assert model.intercept_ == pytest.approx(0)
    assert model.margin_ == pytest.approx(2)


def test_a_hard_margin_separates_or_is_refused():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(40, 2))
    y = Z @ [1.0, 2.0] > 0.1
    kept = np.abs(Z @ [1.0, 2.0] - 0.1) > 0.3
    hard = SupportVectorClassifier(np.inf, kernel="linear").fit(Z[kept], y[kept])
    assert np.all(hard.slack_table()["slack"] == 0)
    signs = np.where(y[kept], 1, -1)
    assert np.min(signs * hard.decision_function(Z[kept])) == pytest.approx(1)
    soft = SupportVectorClassifier(1e6, kernel="linear").fit(Z[kept], y[kept])
    assert hard.coef_ == pytest.approx(soft.coef_, rel=1e-8)
    y[:3] = ~y[:3]
    with pytest.raises(InputError, match="no machine with this kernel separates"):
        SupportVectorClassifier(np.inf, kernel="linear").fit(Z, y)
    assert np.array_equal(SupportVectorClassifier(np.inf, gamma=20.0).fit(Z, y).predict(Z), y)


@settings(max_examples=15, deadline=None)
@example(seed=296, C=0.125, gamma=0.05078125)  # every row at its bound
@given(seed=st.integers(0, 10**6), C=st.floats(0.05, 50), gamma=st.floats(0.05, 5))
def test_only_support_vectors_matter(seed, C, gamma):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 2))
    y = np.where(Z[:, 0] + 0.7 * rng.normal(size=40) > 0, 1, 0)
    y[:2] = 0, 1
    model = SupportVectorClassifier(C, gamma=gamma).fit(Z, y)
    assert model.kkt_residual_ < 1e-7
    assert model.primal_objective_ == pytest.approx(model.dual_objective_, rel=1e-6)
    again = SupportVectorClassifier(C, gamma=gamma).fit(Z[model.support_], y[model.support_])
    first, second = (each.decision_function(Z) - each.intercept_ for each in (model, again))
    assert second == pytest.approx(first, abs=1e-6)
    if np.any(np.abs(model.dual_coef_) < C):  # else there is an interval of biases
        assert again.intercept_ == pytest.approx(model.intercept_, abs=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), C=st.floats(0.05, 50), epsilon=st.floats(0, 1))
def test_the_tube_holds_what_has_no_coefficient(seed, C, epsilon):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(40, 2))
    y = np.sin(Z[:, 0]) + 0.3 * rng.normal(size=40)
    model = SupportVectorRegressor(C, gamma=0.5, epsilon=epsilon).fit(Z, y)
    gap = np.abs(y - model.predict(Z))
    inside = np.setdiff1d(np.arange(40), model.support_)
    assert np.all(gap[inside] <= epsilon + 1e-7)
    assert np.all(gap[model.support_] >= epsilon - 1e-7)
    assert model.dual_coef_.sum() == pytest.approx(0, abs=1e-8)
    assert model.primal_objective_ == pytest.approx(model.dual_objective_, rel=1e-6, abs=1e-8)


def test_probabilities_are_sound():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(600, 2))
    y = rng.random(600) < 1 / (1 + np.exp(-2 * Z[:, 0]))
    test = rng.normal(size=(4000, 2))
    truth = 1 / (1 + np.exp(-2 * test[:, 0]))
    for how in ("sigmoid", "isotonic"):
        model = SupportVectorClassifier(0.1, probability=how).fit(Z, y)
        shares = model.predict_proba(test)
        assert shares.sum(axis=1) == pytest.approx(1)
        # The best logistic regression of 600 rows misses these by about 0.02.
        assert np.mean(np.abs(shares[:, 1] - truth)) < 0.08
    several = SupportVectorClassifier().fit(X, THREE).predict_proba(NEW)
    assert several.shape == (20, 3)
    assert several.sum(axis=1) == pytest.approx(1)
    with pytest.raises(AttributeError) as raised:
        SupportVectorClassifier(probability=False).fit(X, TWO).predict_proba(NEW)
    assert "set probability=True" in str(raised.value.__cause__)
    assert not hasattr(SupportVectorClassifier(probability=False), "predict_proba")


def test_left_out_values_are_those_of_refits():
    """The span rule is exact for rows without coefficient, and close for the others."""
    model = SupportVectorClassifier(1.0, gamma=0.3)
    rows = model._read(X, TWO, None)
    work = model._prepare(rows)
    (machine,) = model._at(work, {"C": 1.0})
    K = GaussianKernel(0.3)(X)
    found = left_out(machine, lambda a, b: K[np.ix_(a, b)])
    exact = np.empty(len(X))
    for i in range(len(X)):
        rest = np.delete(np.arange(len(X)), i)
        refit = SupportVectorClassifier(1.0, gamma=0.3, probability=False).fit(X[rest], TWO[rest])
        exact[i] = refit.decision_function(X[i : i + 1])[0]
    held = machine.beta == 0
    assert found[held] == pytest.approx(exact[held], abs=1e-9)
    assert np.corrcoef(found, exact)[0, 1] > 0.99
    gap, naive = (np.abs(each - exact)[~held].mean() for each in (found, machine.fitted))
    assert gap < 0.4 * naive


def test_kernels_given_in_other_ways_are_the_same(model):
    kernel, expected = GaussianKernel(0.3), model.decision_function(NEW)
    for other in (kernel, kernel.__call__):
        found = SupportVectorClassifier(2.0, kernel=other).fit(X, TWO).decision_function(NEW)
        assert found == pytest.approx(expected, abs=1e-8)
    matrix = SupportVectorClassifier(2.0, kernel="precomputed").fit(kernel(X), TWO)
    assert matrix.decision_function(kernel(NEW, X)) == pytest.approx(expected, abs=1e-8)
    table = SupportVectorClassifier(2.0, gamma=0.3).fit(sparse.csr_array(X), TWO)
    assert table.decision_function(sparse.csr_array(NEW)) == pytest.approx(expected, abs=1e-8)


def test_points_may_be_texts():
    texts = ["banana", "bandana", "ananas", "cabana", "lemonade", "melon", "lemon", "melons"]
    model = SupportVectorClassifier(kernel=SpectrumKernel(2)).fit(texts, [1, 1, 1, 1, 0, 0, 0, 0])
    assert model.predict(["bananas", "melonade"]).tolist() == [1, 0]


def test_bad_input_is_named():
    with pytest.raises(InputError, match="only one class"):
        SupportVectorClassifier().fit(X, np.zeros(len(X)))
    for bad in ({"C": 0.0}, {"C": -1.0}, {"gamma": 0.0}, {"gamma": "wide"}, {"tol": 0.0}):
        name = next(iter(bad))
        with pytest.raises(ParameterError, match=f"SupportVectorClassifier: {name}="):
            SupportVectorClassifier(**bad).fit(X, TWO)
    with pytest.raises(ParameterError, match="epsilon="):
        SupportVectorRegressor(epsilon=-0.1).fit(X, NUMBER)
    with pytest.raises(ValueError, match="NaN"):
        SupportVectorClassifier().fit(np.where(X > 2, np.nan, X), TWO)
    with pytest.raises(ValueError, match="Unknown label type"):
        SupportVectorClassifier().fit(X, NUMBER)
    for kernel in ("linear", "poly"):
        with pytest.raises(InputError, match="beyond the range of numbers"):
            SupportVectorClassifier(kernel=kernel, gamma=1.0).fit(X * 1e155, TWO)
    with pytest.raises(AttributeError, match="linear kernel"):
        _ = SupportVectorClassifier().fit(X, TWO).coef_
    one_row = np.where(np.arange(len(X)) == 3, "rare", "often")
    assert SupportVectorClassifier(100.0, gamma=5.0).fit(X, one_row).predict(X)[3] == "rare"


def test_a_kernel_that_is_none_is_said_with_its_eigenvalue():
    with pytest.warns(DataWarning, match="negative eigenvalue -"):
        SupportVectorClassifier(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SupportVectorClassifier(kernel="poly", coef0=1.0).fit(X, TWO)
