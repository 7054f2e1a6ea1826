"""The locked rows judged by the measure that was asked for."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, r2_score, roc_auc_score

import bottega
from bottega.report.verdict import certificate_sentence


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 3))
    table = pd.DataFrame(X, columns=list("abc"))
    table["y"] = np.where(X[:, 0] + rng.normal(size=400) > 0, "yes", "no")
    table["z"] = X[:, 0] + 0.5 * rng.normal(size=400)
    return table


def locked(found):
    part = found.test.open(ledger=False, again=True)
    return np.asarray(part.y), part.X


def test_auc_of_the_locked_rows_with_its_interval(frame):
    found = bottega.compare(
        frame.drop(columns="z"), "y", measure="auc", methods=["tree", "neighbors"], outer=3
    )
    brier = found.certify(ledger=False)
    assert brier.quantity == "Brier score"
    score = found.score_certificate
    y, X = locked(found)
    own = roc_auc_score(y == "yes", found.best.predict_proba(X)[:, 1])
    assert score.quantity == "AUC"
    assert score.method.startswith("DeLong")
    assert score.n == 100
    assert score.estimate == pytest.approx(own)
    assert score.lower < own < score.upper
    # Hanley and McNeil's standard error, for a check of the size of the interval.
    q1, q2 = own / (2 - own), 2 * own**2 / (1 + own)
    n1, n0 = (y == "yes").sum(), (y == "no").sum()
    variance = (own * (1 - own) + (n1 - 1) * (q1 - own**2) + (n0 - 1) * (q2 - own**2)) / (n1 * n0)
    assert score.upper - score.lower == pytest.approx(3.92 * np.sqrt(variance), rel=0.3)
    assert f"AUC {own:.4g}" in str(found)
    assert found.to_dict()["score_certificate"]["estimate"] == score.estimate


def test_f1_of_groups_is_bootstrapped_by_group(frame):
    table = frame.drop(columns="z").assign(unit=np.arange(400) // 8)
    found = bottega.compare(
        table, "y", measure="f1", methods=["tree"], outer=3, stack=False, groups="unit"
    )
    found.certify(ledger=False)
    score = found.score_certificate
    y, X = locked(found)
    own = f1_score(y == "yes", found.best.predict(X) == "yes")
    assert score.estimate == pytest.approx(own)
    assert score.lower < own < score.upper
    assert score.n_groups == len(y) / 8
    assert "groups of rows" in score.assumptions[0]


def test_r2_follows_from_the_squared_error(frame):
    found = bottega.compare(
        frame.drop(columns="y"), "z", measure="r2", methods=["ridge"], outer=3, stack=False
    )
    squares = found.certify(ledger=False)
    score = found.score_certificate
    y, X = locked(found)
    spread = np.var(found.y_train)
    assert score.quantity == "R²"
    assert score.estimate == pytest.approx(1 - squares.estimate / spread)
    assert (score.lower, score.upper) == pytest.approx(
        (1 - squares.upper / spread, 1 - squares.lower / spread)
    )
    assert abs(score.estimate - r2_score(y, found.best.predict(X))) < 0.1


def test_a_mean_of_losses_needs_no_second_certificate(frame):
    found = bottega.compare(frame.drop(columns="z"), "y", methods=["tree"], outer=3, stack=False)
    found.certify(ledger=False)
    assert found.score_certificate is None


@pytest.mark.parametrize("measure", ["auc", "f1"])
@pytest.mark.parametrize("groups", [None, "unit"])
def test_a_perfect_score_has_no_interval(frame, measure, groups):
    table = pd.DataFrame({"a": frame["a"], "unit": np.arange(400) // 8})
    table["y"] = np.where(table["a"] > 0, "yes", "no")
    table["a"] += np.sign(table["a"])  # a gap between the classes
    options = {"methods": ["tree"], "outer": 3, "stack": False, "groups": groups}
    found = bottega.compare(table, "y", measure=measure, **options)
    found.certify(ledger=False)
    score = found.score_certificate
    assert score.estimate == pytest.approx(1)
    assert score.is_without_limits
    assert score.method == "no interval: the score has no spread"
    assert "set no limit" in score.assumptions[-1]
    name = measure.upper()
    assert f"{name} 1 (no interval: the score has no spread, n = " in str(found)
    assert certificate_sentence(found).endswith(f" There its {name} is 1.")


def test_a_perfect_r2_has_no_interval(frame):
    steps = np.digitize(frame["a"], [-0.5, 0.5])
    table = pd.DataFrame({"a": frame["a"] + 2 * steps, "z": 8.0 * steps})
    options = {"methods": ["neighbors"], "outer": 3, "stack": False}
    found = bottega.compare(table, "z", measure="r2", **options)
    assert found.certify(ledger=False).is_without_limits
    score = found.score_certificate
    assert score.estimate == 1
    assert score.is_without_limits
    assert str(score) == "R² 1 (no interval: all losses are equal, n = 100)"
    assert certificate_sentence(found).endswith(" There its R² is 1.")


def test_an_r2_that_is_perfect_but_for_rounding_has_no_interval(frame):
    table = frame.drop(columns="y").assign(z=3 * frame["a"] + 1)
    found = bottega.compare(
        table, "z", measure="r2", methods=["least_squares"], outer=3, stack=False
    )
    found.certify(ledger=False)
    assert found.score_certificate.is_without_limits
