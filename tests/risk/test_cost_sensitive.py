"""Decisions by costs: in folds, at the certificate, and in the model that is returned."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression, Perceptron

import bottega
from bottega.core import BaselineClassifier, BaselineRegressor
from bottega.core._losses.decision import DecidedCost
from bottega.core.errors import InputError
from bottega.data import make
from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk import (
    Cost,
    CostSensitiveClassifier,
    Quantile,
    certify,
    cross_validate,
    get_loss,
    nested_cv,
)

SAMPLE = make.two_gaussians(300, distance=1.5, prior=0.35, random_state=2)
LABELS = np.where(SAMPLE.y == 1, "Yes", "No")
COSTS = Cost([[0, 10], [1, 0]], classes=["No", "Yes"])  # a missed Yes costs 10
FRAME = pd.DataFrame(SAMPLE.X, columns=["a", "b"]).assign(ill=LABELS)


def test_the_decision_is_the_threshold_of_two_classes():
    """Yes where 10 p > 1 - p, so from p = 1/11 on."""
    model = CostSensitiveClassifier(LogisticRegression(), COSTS).fit(SAMPLE.X, LABELS)
    share = LogisticRegression().fit(SAMPLE.X, LABELS).predict_proba(SAMPLE.X)[:, 1]
    assert_array_equal(model.predict(SAMPLE.X) == "Yes", share > 1 / 11)
    assert_allclose(model.predict_proba(SAMPLE.X)[:, 1], share)
    plain = CostSensitiveClassifier(LogisticRegression(), [[0, 10], [1, 0]]).fit(SAMPLE.X, LABELS)
    assert_array_equal(plain.predict(SAMPLE.X), model.predict(SAMPLE.X))


def test_the_decided_loss_is_the_cost_of_the_decisions():
    loss = COSTS.for_classes(["No", "Yes"])
    shares = np.array([[[0.95, 0.05], [0.5, 0.5]], [[0.8, 0.2], [1.0, 0.0]]])  # rows, models, K
    assert isinstance(loss.deciding(), DecidedCost)
    assert_allclose(loss.deciding().of_rows([1, 0], shares), [[10, 0], [1, 0]])
    assert get_loss("zero_one").deciding() is get_loss("zero_one")


def test_nested_folds_judge_the_decisions():
    found = nested_cv(LogisticRegression(), SAMPLE.X, LABELS, loss=COSTS, n_repeats=1)
    by_hand = np.empty(300)
    for k in range(5):
        rows = found.fold[0] == k
        model = LogisticRegression().fit(SAMPLE.X[~rows], LABELS[~rows])
        decided = np.where(model.predict_proba(SAMPLE.X[rows])[:, 1] > 1 / 11, "Yes", "No")
        by_hand[rows] = COSTS(LABELS[rows], decided)
    assert_allclose(found.losses[0], by_hand)
    assert isinstance(found.refit(), CostSensitiveClassifier)
    over_folds = cross_validate(LogisticRegression(), SAMPLE.X, LABELS, loss=COSTS)
    always_yes = np.mean(LABELS == "No")
    assert over_folds.error < always_yes < 1.5 * found.error


def test_tuning_is_by_the_decisions_too():
    model = NearestNeighborsClassifier()
    found = nested_cv(model, SAMPLE.X, LABELS, loss=COSTS, inner=5, select="min", n_repeats=1)
    delivered = found.refit()
    curve = model.path(SAMPLE.X, LABELS, cv=5, loss=COSTS.deciding())
    assert delivered.estimator_.n_neighbors_ == curve.values[curve.best("min")]


def test_compare_certifies_the_rule_that_it_delivers(tmp_path):
    methods = ["neighbors", "perceptron"]
    found = bottega.compare(FRAME, "ill", measure=COSTS, methods=methods, outer=3)
    test = found.test.open(ledger=False)
    claim = certify(found.best, test.X, test.y, loss=COSTS)
    predicted = found.best.predict(test.X)
    assert claim.estimate == pytest.approx(COSTS(test.y, predicted).mean())
    always_yes = np.mean(found.y_train == "No")
    assert found.results["baseline"].error == pytest.approx(always_yes)  # the best constant
    assert found.results["neighbors"].error < 1.1 * always_yes
    loaded = bottega.load(found.save(tmp_path / "model.skops"))
    assert_array_equal(loaded.predict(test.X), predicted)


def test_without_probabilities_labels_are_taken_as_they_are():
    found = nested_cv(Perceptron(), SAMPLE.X, LABELS, loss=COSTS, n_repeats=1)
    assert isinstance(found.refit(), Perceptron)


def test_a_matrix_without_names_is_for_all_classes_in_order():
    plain = Cost([[0, 10], [1, 0]])
    for model in (LogisticRegression(), Perceptron()):
        one, other = (
            nested_cv(model, SAMPLE.X, LABELS, loss=loss, n_repeats=1) for loss in (plain, COSTS)
        )
        assert one.error == other.error


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        (Cost([[0, 1], [1, 0]], classes=["no", "Yes"]), "no row and column for the class 'No'"),
        (Cost(np.ones((3, 3))), "is for 3 classes, and there are 2"),
        (Cost(np.ones((3, 3)), classes=["No", "Yes", "Maybe"]), "'Maybe' that does not occur"),
        (Cost([[0, 1], [1, 0]], classes=[0, 1]), "no row and column for the class 'No'"),
    ],
)
def test_a_wrong_matrix_is_refused_before_the_work(cost, message, monkeypatch):
    monkeypatch.setattr(NearestNeighborsClassifier, "_fit", lambda *_: pytest.fail("fitted"))
    with pytest.raises(InputError, match=message):
        bottega.compare(FRAME, "ill", measure=cost)
    with pytest.raises(InputError, match=message):
        nested_cv(NearestNeighborsClassifier(), SAMPLE.X, LABELS, loss=cost)


def test_what_cannot_decide_is_refused():
    with pytest.raises(InputError, match="need a classifier with predict_proba"):
        CostSensitiveClassifier(Perceptron(), COSTS).fit(SAMPLE.X, LABELS)


@pytest.mark.parametrize(
    ("loss", "constant"),
    [
        ("squared_error", 3.4),
        ("absolute_error", 2.0),
        (Quantile(0.8), 3.0),
        (lambda y, z: np.abs(y - z), 2.0),
    ],
)
def test_the_baseline_is_the_best_constant(loss, constant):
    y = np.array([1.0, 1.0, 2.0, 3.0, 10.0])
    model = BaselineRegressor(loss=loss).fit(np.zeros((5, 1)), y)
    assert model.predict([[0.0]])[0] == pytest.approx(constant)
    assert hasattr(model, "df_") == (loss == "squared_error")
    weighted = BaselineRegressor(loss=loss).fit(np.zeros((5, 1)), y, sample_weight=[0, 0, 0, 0, 1])
    assert weighted.predict([[0.0]])[0] == 10.0


def test_compare_starts_from_the_best_constant():
    found = bottega.compare("diabetes", measure="absolute_error", methods=["ridge"], outer=3)
    y, fold = found.y_train, found.results["baseline"].fold
    by_hand = np.concatenate([np.abs(y[fold == k] - np.median(y[fold != k])) for k in range(3)])
    # Of an even number of rows there are two medians, with nearly the same error.
    assert found.results["baseline"].error == pytest.approx(by_hand.mean(), rel=0.01)


def test_the_shares_of_the_baseline_decide():
    model = CostSensitiveClassifier(BaselineClassifier(), COSTS)
    assert model.fit(np.zeros((10, 1)), ["No"] * 8 + ["Yes"] * 2).predict([[0.0]]) == ["Yes"]
    assert model.fit(np.zeros((20, 1)), ["No"] * 19 + ["Yes"]).predict([[0.0]]) == ["No"]


def test_a_loss_that_is_no_number_is_refused_at_once():
    def broken(y, predicted):
        return np.where(y > 300, np.nan, np.abs(y - predicted))

    with pytest.raises(InputError, match=r"'broken' is nan for the response 3.*must be a finite"):
        bottega.compare("diabetes", measure=broken, methods=["ridge"])
