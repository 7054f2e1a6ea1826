"""The threshold of a decision: chosen on rows held out, whatever order the rows come in."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from bottega.core import BaselineClassifier
from bottega.core.errors import InputError, ParameterError
from bottega.metrics import precision_recall
from bottega.neighbors import NearestNeighborsClassifier
from bottega.risk import Cost, best_threshold
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs
from bottega.risk.threshold import ThresholdChoice, ThresholdClassifier


def test_the_order_of_the_rows_does_not_change_the_threshold():
    """Folds by the number of a row would: these five orders gave several thresholds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] + rng.normal(size=90) > 0.8, "yes", "no")
    found = set()
    for _ in range(5):
        procedure = EstimatorProcedure(
            NearestNeighborsClassifier(7),
            PlainInputs(X),
            JudgedRows(y, "classification"),
            decision=ThresholdChoice(),
        )
        model = procedure.fit(Part((0, ()), np.arange(90), ())).model
        assert isinstance(model, ThresholdClassifier)
        found.add(model.threshold)
        order = rng.permutation(90)
        X, y = X[order], y[order]
    assert len(found) == 1


@pytest.fixture(scope="module")
def rare():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 2))
    return X, np.where(X[:, 0] + rng.normal(size=400) > 1.8, "yes", "no")


def test_auto_takes_the_best_threshold_of_the_rows_held_out(rare):
    X, y = rare
    folds = [(np.flatnonzero(np.arange(400) % 4 != k), np.arange(k, 400, 4)) for k in range(4)]
    model = ThresholdClassifier(LogisticRegression(), "auto", cv=folds).fit(X, y)
    score = np.empty(400)
    for train, test in folds:
        score[test] = LogisticRegression().fit(X[train], y[train]).predict_proba(X[test])[:, 1]
    assert model.threshold_ == best_threshold("f1", y == "yes", score)
    curve = precision_recall(y, score)
    assert np.max(curve.fbeta()) == pytest.approx(f1_score(y == "yes", score > model.threshold_))
    # A rare class is found from a lower probability on.
    assert model.threshold_ < 0.45
    whole = LogisticRegression().fit(X, y).predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X) == "yes", whole > model.threshold_)


def test_auto_with_costs_and_weights(rare):
    X, y = rare
    cost = Cost([[0, 8], [1, 0]], classes=["no", "yes"])
    model = ThresholdClassifier(LogisticRegression(), "auto", goal=cost).fit(X, y)
    assert 0.02 < model.threshold_ < 0.35  # right probabilities call for 1/9
    weight = np.where(y == "yes", 5.0, 1.0)
    heavy = ThresholdClassifier(LogisticRegression(), "auto").fit(X, y, sample_weight=weight)
    assert heavy.threshold_ != model.threshold_
    again = ThresholdClassifier(LogisticRegression(), "auto", goal=cost)
    order = np.random.default_rng(0).permutation(400)
    # A threshold lies between two probabilities, whose sums are taken in another order.
    assert again.fit(X[order], y[order]).threshold_ == pytest.approx(model.threshold_, rel=1e-6)


def test_a_number_decides_as_it_is(rare):
    X, y = rare
    model = ThresholdClassifier(LogisticRegression(), 0.3).fit(X, y)
    assert model.threshold_ == 0.3
    assert model.set_params(threshold=0.1).threshold_ == 0.1
    for threshold in ("best", None, np.nan):
        with pytest.raises(ParameterError, match="or 'auto'"):
            ThresholdClassifier(LogisticRegression(), threshold).fit(X, y)
    few = ThresholdClassifier(BaselineClassifier(), "auto", cv=[(np.arange(4), np.arange(4, 6))])
    with pytest.raises(InputError, match="both classes"):
        few.fit(X[:6], ["no"] * 4 + ["yes"] * 2)
