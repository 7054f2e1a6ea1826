"""Measures: by hand, in the ranking and beside; thresholds and weights chosen inside the folds."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    mean_absolute_error,
    mean_poisson_deviance,
    mean_squared_error,
    r2_score,
    roc_auc_score,
)

import bottega
from bottega.core.errors import InputError, ParameterError
from bottega.core.losses import POISSON, SQUARED_ERROR, Cost
from bottega.risk import ThresholdClassifier, best_threshold
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.workbench.measures import get_measure
from bottega.workbench.ranking import lift
from bottega.workbench.results import gap_between


def of_few(random_state):
    """Return rows of two classes, one of them rare."""
    X, y = make_classification(
        *(300, 5),
        n_informative=3,
        weights=[0.85],
        flip_y=0.05,
        class_sep=0.8,
        random_state=random_state,
    )
    return pd.DataFrame(X).add_prefix("x").assign(ill=np.where(y == 1, "yes", "no"))


@pytest.fixture(scope="module")
def rare():
    return of_few(1)


# ---- regression ---------------------------------------------------------------------------------


def test_the_root_and_the_share_of_the_squared_error():
    squares = bottega.compare("diabetes", methods=["ridge", "tree"])
    root = bottega.compare("diabetes", methods=["ridge", "tree"], measure="rmse")
    share = bottega.compare("diabetes", methods=["ridge", "tree"], measure="r2")
    y = squares.y_train
    for name in ("baseline", "ridge", "tree"):
        predicted = squares.results[name].predicted
        np.testing.assert_array_equal(root.results[name].predicted, predicted)
        mse = mean_squared_error(y, predicted)
        assert root.results[name].error == pytest.approx(np.sqrt(mse))
        assert 1 - share.results[name].error == pytest.approx(r2_score(y, predicted))
    board, plain = root.leaderboard, squares.leaderboard
    assert board["method"].tolist() == plain["method"].tolist()
    last = board.iloc[-1]
    assert last["difference"] == pytest.approx(last["error"] - board["error"].iloc[0])
    # The sign of every limit is that of the squared error: the root is increasing.
    assert np.array_equal(
        np.sign(board["difference_conf_low"]), np.sign(plain["difference_conf_low"])
    )
    assert share.leaderboard["r2"].iloc[0] == pytest.approx(1 - share.leaderboard["error"].iloc[0])
    assert root.certify(ledger=False).quantity == "root mean squared error"
    held = root.test.open(again=True)
    assert root.certificate.estimate == pytest.approx(
        np.sqrt(mean_squared_error(held.y, root.predict(held.X)))
    )


def test_other_measures_are_shown_beside():
    found = bottega.compare("diabetes", methods=["ridge"])
    row = found.leaderboard.set_index("method").loc["ridge"]
    y, predicted = found.y_train, found.results["ridge"].predicted
    assert row["rmse"] == pytest.approx(np.sqrt(mean_squared_error(y, predicted)))
    assert row["mae"] == pytest.approx(mean_absolute_error(y, predicted))
    assert row["r2"] == pytest.approx(r2_score(y, predicted))
    assert "poisson" not in row


def test_counts_are_recognised_and_judged_by_their_deviance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(n=rng.poisson(np.exp(X[:, 0])))
    found = bottega.compare(frame, "n", methods=["tree", "ridge"], measure="poisson", outer=3)
    board = found.leaderboard.set_index("method")
    tree = found.results["tree"]
    positive = np.maximum(tree.predicted, 1e-6)
    assert tree.error == pytest.approx(mean_poisson_deviance(found.y_train, positive) / 2)
    assert board["error"].to_numpy() == pytest.approx(board["poisson"].to_numpy())
    assert np.isfinite(found.results["ridge"].error)  # though it predicts negative counts
    plain = bottega.compare(frame, "n", methods=["ridge"], outer=3)
    assert "poisson" in plain.leaderboard
    said = [*plain.notes, *(finding.message for finding in plain.table.warnings)]
    assert [text for text in said if "count" in text]


def test_the_baseline_is_named_by_what_it_predicts():
    median = bottega.compare("diabetes", methods=["ridge"], measure="mae", outer=2)
    assert median.results["baseline"].title == "Median of the responses"
    cost = Cost([[0, 1, 1], [5, 0, 1], [5, 1, 0]])
    costs = bottega.compare("iris", methods=["neighbors"], measure=cost, outer=2)
    assert costs.results["baseline"].title == "Class of least expected cost"
    assert "Class of least expected cost" in costs.leaderboard["title"].tolist()
    plain = bottega.compare("iris", methods=["neighbors"], outer=2)
    assert plain.results["baseline"].title == "Most frequent class"


# ---- classification -----------------------------------------------------------------------------


def test_auc_ranks_and_the_brier_score_tunes(rare):
    found = bottega.compare(rare, "ill", methods=["neighbors", "tree", "perceptron"], measure="auc")
    assert found.skipped["perceptron"].startswith("skipped: gives no class probabilities")
    assert "tuned by their Brier score and ranked by AUC" in str(found)
    for name in ("neighbors", "tree"):
        result = found.results[name]
        by_fold, sizes = [], []
        for k in range(5):
            rows = result.fold == k
            truth = found.y_train[rows] == "yes"
            by_fold.append(roc_auc_score(truth, result.probability[rows, 1]))
            sizes.append(rows.sum())
        assert 1 - result.error == pytest.approx(np.average(by_fold, weights=sizes))
        assert result.path.loss == "Brier score"
    board = found.leaderboard
    assert board["auc"].is_monotonic_decreasing
    assert found.results["baseline"].ranking == {"auc": 0.5, "lift": 1.0}
    assert board["auc"].iloc[0] == pytest.approx(1 - board["error"].iloc[0])
    names = (board["method"].iloc[1], board["method"].iloc[0])
    gap = gap_between(*(found.results[name] for name in names), names, found.nested)
    assert gap.lower < gap.difference < gap.upper
    assert found.certify(ledger=False).quantity == "Brier score"


def test_auc_of_three_classes_is_that_of_each_against_the_others():
    found = bottega.compare("iris", methods=["neighbors"], measure="auc", outer=3)
    result = found.results["neighbors"]
    rows = result.fold == 0
    y, shares = found.y_train[rows], result.probability[rows]
    each = [roc_auc_score(y == label, shares[:, k]) for k, label in enumerate(result.classes)]
    size = [np.sum(y == label) for label in result.classes]
    assert 1 - result.fold_scores[0] == pytest.approx(np.average(each, weights=size))


def test_balanced_accuracy_is_the_mean_over_classes():
    rare = of_few(3)  # of eight such samples the chosen threshold is better on seven
    found = bottega.compare(
        rare, "ill", methods=["neighbors", "tree"], measure="balanced_accuracy", test_size=0
    )
    plain = bottega.compare(rare, "ill", methods=["neighbors", "tree"], test_size=0)
    for name in ("neighbors", "tree"):
        predicted = found.results[name].predicted
        expected = balanced_accuracy_score(found.y_train, predicted)
        assert 1 - found.results[name].error == pytest.approx(expected)
        assert expected > balanced_accuracy_score(plain.y_train, plain.results[name].predicted)
    assert found.results["baseline"].error == pytest.approx(0.5, abs=0.05)


def test_the_threshold_of_f1_is_chosen_inside_the_folds(rare):
    found = bottega.compare(rare, "ill", methods=["neighbors"], measure="f1")
    plain = bottega.compare(rare, "ill", methods=["neighbors"], measure="brier")
    result = found.results["neighbors"]
    last = result.model.steps[-1][1]
    assert isinstance(last, ThresholdClassifier)
    assert 0 < result.threshold < 0.5  # the class is rare
    assert result.threshold == last.threshold
    truth = found.y_train == "yes"
    by_hand = [
        f1_score(truth[result.fold == k], result.predicted[result.fold == k] == "yes")
        for k in range(5)
    ]
    assert result.fold_scores == pytest.approx(1 - np.array(by_hand))
    assert f1_score(truth, result.predicted == "yes") > f1_score(
        truth, plain.results["neighbors"].predicted == "yes"
    )
    shares = found.best.predict_proba(rare)[:, 1]
    assert np.array_equal(found.predict(rare) == "yes", shares > result.threshold)


def test_log_loss_and_brier_beside(rare):
    found = bottega.compare(rare, "ill", methods=["neighbors"], outer=3)
    row = found.leaderboard.set_index("method").loc["neighbors"]
    result = found.results["neighbors"]
    truth = found.y_train == "yes"
    assert row["brier"] == pytest.approx(brier_score_loss(truth, result.probability[:, 1]))
    inside = np.clip(result.probability[:, 1], 1e-15, 1 - 1e-15)
    assert row["log_loss"] == pytest.approx(log_loss(truth, inside), rel=1e-6)
    assert row["error_rate"] == pytest.approx(np.mean(found.y_train != result.predicted))


def test_class_weights_count_in_the_fits_and_not_in_the_errors(rare):
    plain = bottega.compare(rare, "ill", methods=["tree"], outer=3)
    found = bottega.compare(rare, "ill", methods=["tree"], class_weight="balanced", outer=3)
    result = found.results["tree"]
    assert np.mean(result.predicted == "yes") > np.mean(plain.results["tree"].predicted == "yes")
    assert result.error == pytest.approx(np.mean(result.predicted != found.y_train))
    assert "class_weight='balanced'" in found.command
    with pytest.raises(Exception, match="class_weight"):
        bottega.compare(rare, "ill", methods=["tree"], class_weight="heavy", outer=3)


@pytest.mark.parametrize(
    ("data", "measure", "words"),
    [
        ("iris", "rmse", "measure='rmse' cannot judge a classification; choose one of auc"),
        ("diabetes", "acu", "measure='acu' cannot judge a regression"),
        ("iris", "cost", "needs the costs themselves"),
        ("iris", Cost([[0, 1], [1, 0]]), "cost matrix is for 2 classes"),
    ],
)
def test_a_measure_that_cannot_judge_is_refused(data, measure, words):
    with pytest.raises((ParameterError, InputError), match=words):
        bottega.compare(data, measure=measure)


def test_measures_in_words():
    rows = JudgedRows(np.array([1.0, 2.0, 6.0]), "regression")
    assert get_measure(None, rows).in_words(2.5) == "mean squared error 2.5"
    assert get_measure("rmse", rows).in_words(2.5) == "root mean squared error 2.5"
    assert get_measure("r2", rows).in_words(0.25) == "R² 0.75"
    assert get_measure(SQUARED_ERROR, rows).name == "squared_error"
    labels = JudgedRows(np.array(["a", "b"]), "classification")
    assert get_measure(None, labels).in_words(0.125) == "12.5% wrong"
    assert get_measure("auc", labels).in_words(0.125) == "AUC 0.875"
    assert get_measure("auc", labels).value(0.125) == 0.875


# ---- thresholds ---------------------------------------------------------------------------------


def test_the_best_threshold_is_that_of_a_search():
    rng = np.random.default_rng(0)
    score = np.round(rng.random(40), 1)  # many ties
    positive = rng.random(40) < score
    weight = rng.integers(1, 4, 40).astype(float)
    cuts = [-1.0, *(np.unique(score)[:-1] + np.diff(np.unique(score)) / 2), 2.0]
    f1 = [f1_score(positive, score > cut, sample_weight=weight, zero_division=0) for cut in cuts]
    found = best_threshold("f1", positive, score, weight)
    assert f1_score(positive, score > found, sample_weight=weight) == pytest.approx(max(f1))
    cost = np.array([[0.0, 7.0], [1.0, 0.5]])
    paid = [np.sum(weight * cost[(score > cut).astype(int), positive.astype(int)]) for cut in cuts]
    found = best_threshold(cost, positive, score, weight)
    assert np.sum(
        weight * cost[(score > found).astype(int), positive.astype(int)]
    ) == pytest.approx(min(paid))
    with pytest.raises(ParameterError, match="two by two"):
        best_threshold(np.eye(3), positive, score)
    with pytest.raises(ParameterError, match="use 'f1'"):
        best_threshold("f2", positive, score)
    with pytest.raises(InputError, match="at least one row"):
        best_threshold("f1", [], [])


def test_a_threshold_classifier_alone(rare):
    from bottega.neighbors import NearestNeighborsClassifier

    X, y = rare.drop(columns="ill").to_numpy(), rare["ill"].to_numpy()
    model = ThresholdClassifier(NearestNeighborsClassifier(n_neighbors=9), 0.2).fit(X, y)
    share = model.predict_proba(X)[:, 1]
    assert np.array_equal(model.predict(X) == "yes", share > 0.2)
    assert model.n_features_in_ == 5
    with pytest.raises(InputError, match="there are 3"):
        ThresholdClassifier(NearestNeighborsClassifier(), 0.2).fit(X[:9], list("abcabcabc"))


@pytest.mark.parametrize("measure", ["poisson", POISSON])
def test_counts_below_zero_are_refused_before_the_work(measure):
    rows = JudgedRows(np.array([1.0, -3.2, 0.0, -1.0]), "regression")
    with pytest.raises(InputError, match=r"2 of its 4 values are below 0, the least -3\.2"):
        get_measure(measure, rows)
    assert get_measure(measure, JudgedRows(np.arange(3.0), "regression")).loss == POISSON


def test_lift_with_rows_of_weight_zero_is_that_of_the_others():
    rng = np.random.default_rng(0)
    positive, score = rng.random(60) < 0.4, np.round(rng.random(60), 1)
    weight = rng.integers(0, 3, 60).astype(float)
    score[weight == 0] += rng.random(np.sum(weight == 0))  # levels that nobody counts for
    kept = weight > 0
    assert lift(positive, score, weight) == pytest.approx(
        lift(positive[kept], score[kept], weight[kept])
    )
