"""Paths of support vector machines: over C with warm starts, over gamma, and what they keep."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC, SVR

from bottega.core.errors import ModelFileError
from bottega.kernel import GaussianKernel, SupportVectorClassifier, SupportVectorRegressor
from bottega.workbench import persist

RNG = np.random.default_rng(7)
X = RNG.normal(size=(150, 3))
SIGNAL = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * RNG.normal(size=150)
Y = np.where(SIGNAL > 0, "yes", "no")
THREE = np.digitize(SIGNAL, [-0.5, 0.5])
COSTS = [0.1, 1.0, 10.0, 100.0]


@pytest.mark.parametrize("y", [Y, THREE], ids=["two", "three"])
def test_each_machine_of_the_path_is_that_of_a_fit(y):
    curve = SupportVectorClassifier("auto", Cs=COSTS, cv=3).path(X, y)
    assert curve.values.tolist() == COSTS
    for i, cost in enumerate(COSTS):
        alone = SupportVectorClassifier(cost).fit(X, y)
        along = curve.at(i)
        assert along.decision_function(X) == pytest.approx(alone.decision_function(X), abs=1e-8)
        assert np.array_equal(along.support_, alone.support_)
        assert curve.train_error[i] == np.mean(alone.predict(X) != y)


def test_the_error_is_that_of_a_grid_search():
    folds = list(StratifiedKFold(4).split(X, Y))
    gammas = [0.05, 0.3, 2.0]
    model = SupportVectorClassifier("auto", gamma=gammas, Cs=COSTS, cv=folds).fit(X, Y)
    search = GridSearchCV(SVC(), {"C": COSTS, "gamma": gammas}, cv=folds).fit(X, Y)
    scores = {
        (each["C"], each["gamma"]): score
        for each, score in zip(
            search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
        )
    }
    found = model.path_.fold_error.mean(axis=0)
    expected = [1 - scores[each["C"], each["gamma"]] for each in model.path_.settings]
    # A row on the boundary may fall to either side at the tolerance of libsvm.
    assert np.max(np.abs(found - expected)) <= 1 / 37
    assert (model.C_, model.gamma_) == tuple(
        model.path_.settings[model.path_.best("min")][name] for name in ("C", "gamma")
    )
    assert model.kernel_ == GaussianKernel(model.gamma_)


def test_gamma_alone_is_chosen_at_a_given_C():
    model = SupportVectorClassifier(5.0, gamma=[0.01, 0.2, 50.0], cv=4).fit(X, Y)
    assert model.path_.knob == "gamma"
    assert model.gamma_ == 0.2
    assert model.C_ == 5.0


def test_the_path_of_a_regression():
    y = SIGNAL
    folds = [(np.arange(50, 150), np.arange(50)), (np.arange(100), np.arange(100, 150))]
    curve = SupportVectorRegressor(epsilon=0.2, gamma=0.3).path(X, y, values=COSTS, cv=folds)
    for i, cost in enumerate(COSTS):
        expected = []
        for train, test in folds:
            peer = SVR(C=cost, epsilon=0.2, gamma=0.3, tol=1e-7).fit(X[train], y[train])
            expected.append(np.mean((y[test] - peer.predict(X[test])) ** 2))
        assert curve.fold_error[:, i] == pytest.approx(expected, rel=1e-4)


def test_a_larger_C_has_less_slack_and_a_narrower_margin():
    fits = [SupportVectorClassifier(cost).fit(X, Y) for cost in COSTS]
    slack = [model.slack_table()["slack"].sum() for model in fits]
    margin = [model.margin_ for model in fits]
    assert np.all(np.diff(slack) < 0)
    assert np.all(np.diff(margin) < 0)


@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_with_gamma_scale_the_unit_of_the_inputs_does_not_matter(unit):
    given = {"Cs": COSTS, "cv": 4}
    labels = [SupportVectorClassifier("auto", **given).fit(Z, Y).predict(Z) for Z in (X, X * unit)]
    assert np.array_equal(*labels)
    first, second = (
        SupportVectorRegressor("auto", **given).fit(Z, SIGNAL).predict(Z) for Z in (X, X * unit)
    )
    assert second == pytest.approx(first, rel=1e-7, abs=1e-7)


def test_a_matrix_of_kernels_has_a_path_too():
    K = GaussianKernel(0.3)(X)
    given = {"Cs": COSTS, "cv": list(StratifiedKFold(4).split(X, Y))}
    matrix = SupportVectorClassifier("auto", kernel="precomputed", **given).fit(K, Y)
    table = SupportVectorClassifier("auto", kernel=GaussianKernel(0.3), **given).fit(X, Y)
    assert matrix.C_ == table.C_
    assert matrix.path_.error == pytest.approx(table.path_.error)
    dealt = SupportVectorClassifier("auto", kernel="precomputed", Cs=COSTS, cv=4).fit(K, Y)
    assert dealt.path_.fold_error.shape == (4, 4)
    assert np.array_equal(matrix.predict(K), table.predict(X))


def test_more_than_two_thousand_rows_agree_with_scikit_learn():
    """Kernels in single precision first, working sets, shrinking and few rows kept."""
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(2600, 5))
    y = Z[:, 0] * Z[:, 1] + 0.3 * rng.normal(size=2600) > 0
    theirs = SVC(tol=1e-5).fit(Z, y)
    for given in ({}, {"cache_size": 1.0}, {"tol": 1e-6}):
        ours = SupportVectorClassifier(probability=False, **given).fit(Z, y)
        assert ours.converged_
        gap = np.max(np.abs(ours.decision_function(Z) - theirs.decision_function(Z)))
        assert gap < (1e-4 if "tol" in given else 2e-3)
        assert len(np.setxor1d(ours.support_, theirs.support_)) <= (0 if "tol" in given else 3)
    assert ours.kkt_residual_ <= 1e-6
    assert ours.primal_objective_ == pytest.approx(ours.dual_objective_, rel=1e-6)


def test_results_are_shown():
    model = SupportVectorClassifier().fit(X, THREE)
    row = model.glance().iloc[0]
    assert row["nobs"] == 150
    assert row["n_support"] == len(model.support_)
    assert row["C"] == model.C_ == 1.0
    assert row["margin"] == np.min(model.margin_)
    assert row["primal"] == pytest.approx(row["dual"])
    assert "Support vectors" in str(model.summary())
    table = SupportVectorRegressor().fit(X, SIGNAL).slack_table()
    assert set(table["case"]) <= {"inside", "on the edge", "outside"}


def test_an_edited_model_file_is_refused(tmp_path):
    model = SupportVectorClassifier().fit(X, THREE)
    facts = (model.card.method, model.card.task, "y", ("a", "b", "c"), "", "0")

    def saved(name):
        return persist.save(persist.SavedModel(model, *facts), tmp_path / name)

    whole = persist.load(saved("whole")).model
    assert np.array_equal(whole.predict_proba(X), model.predict_proba(X))
    model.dual_coef_ = model.dual_coef_[:, :-1]
    with pytest.raises(ModelFileError, match="damaged"):
        persist.load(saved("edited"))
