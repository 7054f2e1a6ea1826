import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, roc_auc_score

from bottega.plot import confusion_chart, roc_chart, target_chart


def cell(rows, predicted, observed):
    (found,) = [r for r in rows if (r["predicted"], r["observed"]) == (predicted, observed)]
    return found


def test_confusion_rows_are_predictions_and_columns_observations(rows_of, layers_of):
    # Two of three cats are taken for dogs, no dog for a cat.
    true = ["cat", "cat", "cat", "dog"]
    pred = ["dog", "dog", "cat", "dog"]
    chart = confusion_chart(true, pred, ["cat", "dog"])
    rows = rows_of(chart)
    assert cell(rows, "dog", "cat")["count"] == 2
    assert cell(rows, "dog", "cat")["of_observed"] == pytest.approx(2 / 3, abs=1e-6)
    assert cell(rows, "dog", "cat")["of_all"] == 0.5
    assert cell(rows, "cat", "dog")["count"] == 0
    encoding = layers_of(chart)[0]["encoding"]
    assert (encoding["y"]["field"], encoding["y"]["title"]) == ("predicted", "predicted class")
    assert (encoding["x"]["field"], encoding["x"]["title"]) == ("observed", "observed class")
    assert chart.to_dict()["title"]["subtitle"][0] == "2 of 4 rows (50.0%) are wrong."


def test_confusion_equals_scikit_learn():
    rng = np.random.default_rng(1)
    true, pred = rng.integers(0, 5, (2, 300))
    spec = confusion_chart(true, pred).to_dict()
    rows = spec["data"]["values"]
    counts = np.array([row["count"] for row in rows]).reshape(5, 5)
    np.testing.assert_array_equal(counts, confusion_matrix(true, pred).T)


def test_many_classes_are_put_together(rows_of):
    # Class c occurs c + 1 times, so 0..4 are the rare ones among 25.
    true = np.repeat(np.arange(25), np.arange(25) + 1)
    rows = rows_of(confusion_chart(true, true))
    assert len(rows) == 21 * 21
    assert cell(rows, "other", "other")["count"] == 1 + 2 + 3 + 4 + 5
    assert cell(rows, "24", "24")["count"] == 25
    assert {row["kind"] for row in rows if row["observed"] == row["predicted"] == "other"} == {
        "mixed"
    }
    assert sum(row["count"] for row in rows) == true.size


def test_a_class_may_be_called_other(rows_of):
    names = np.array(["other", *[f"c{i:02d}" for i in range(24)]])
    true = np.repeat(names, np.arange(25, 0, -1))
    rows = rows_of(confusion_chart(true, true))
    assert cell(rows, "other", "other")["count"] == 25
    assert cell(rows, "other…", "other…")["count"] == 1 + 2 + 3 + 4 + 5


def test_confusion_refuses_columns_of_unequal_length():
    with pytest.raises(ValueError, match="equal length"):
        confusion_chart(["a"], ["a", "b"])


def test_roc_of_two_classes_by_hand(rows_of):
    # Of the four pairs (b, a) the b has the higher score in three: AUC 3/4.
    chart = roc_chart(["a", "a", "b", "b"], [0.1, 0.4, 0.35, 0.8], ["a", "b"])
    assert chart.to_dict()["title"]["subtitle"][0].startswith("AUC 0.750 for class 'b'")
    points = [(row["false"], row["true"]) for row in rows_of(chart)]
    assert points == [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)]


def test_roc_two_columns_are_the_same_as_one(rows_of):
    score = np.array([0.1, 0.4, 0.35, 0.8])
    both = np.column_stack([1 - score, score])
    true = ["a", "a", "b", "b"]
    one, two = roc_chart(true, score, ["a", "b"]), roc_chart(true, both, ["a", "b"])
    assert rows_of(one) == rows_of(two)


def test_roc_of_several_classes_is_each_against_the_rest(rows_of):
    rng = np.random.default_rng(2)
    true = rng.integers(0, 3, 200)
    scores = rng.random((200, 3)) + 0.5 * np.eye(3)[true]
    names = np.array(["x", "y", "z"])
    chart = roc_chart(names[true], scores, names)
    expected = {f"{names[j]}: AUC {roc_auc_score(true == j, scores[:, j]):.3f}" for j in range(3)}
    assert {row["curve"] for row in rows_of(chart)} == expected


def test_roc_is_thinned_and_keeps_its_ends(rows_of):
    rng = np.random.default_rng(3)
    true = rng.integers(0, 2, 20_000)
    score = true + rng.normal(0, 2, 20_000)
    chart = roc_chart(true, score, [0, 1])
    points = np.array([(row["false"], row["true"]) for row in rows_of(chart)])
    assert len(points) <= 200
    np.testing.assert_array_equal(points[[0, -1]], [[0, 0], [1, 1]])
    # The area under the thinned polygon is that of the curve to the thickness of a line.
    assert np.trapezoid(points[:, 1], points[:, 0]) == pytest.approx(
        roc_auc_score(true, score), abs=2e-3
    )


def test_roc_draws_the_ten_most_frequent_classes(rows_of):
    true = np.repeat(np.arange(12), np.arange(12) + 2)
    scores = np.random.default_rng(4).random((true.size, 12))
    chart = roc_chart(true, scores, np.arange(12))
    assert {row["curve"].split(":")[0] for row in rows_of(chart)} == {str(c) for c in range(2, 12)}
    assert "the 10 most frequent" in chart.to_dict()["title"]["subtitle"][0]


def test_roc_leaves_out_rows_without_scores(rows_of):
    whole = roc_chart(["a", "a", "b", "b"], [0.1, 0.4, 0.35, 0.8], ["a", "b"])
    holed = roc_chart(["a", "a", "b", "b", "b"], [0.1, 0.4, 0.35, 0.8, np.nan], ["a", "b"])
    assert rows_of(whole) == rows_of(holed)


def test_roc_refuses_one_class_and_wrong_shapes():
    with pytest.raises(ValueError, match="at least two classes"):
        roc_chart(["a", "a"], [0.1, 0.2], ["a", "b"])
    with pytest.raises(ValueError, match=r"need \(2, 3\)"):
        roc_chart(["a", "b"], [[0.1, 0.9], [0.2, 0.8]], ["a", "b", "c"])


def test_target_bars_are_counts_most_frequent_first(rows_of):
    rows = rows_of(target_chart(["a", "b", "b", "b"], "classification", name="pet"))
    assert [(row["label"], row["rows"], row["share"]) for row in rows] == [
        ("b", 3, 0.75),
        ("a", 1, 0.25),
    ]


def test_rare_classes_are_counted_together(rows_of):
    y = np.repeat(np.arange(25), np.arange(25) + 1)
    rows = rows_of(target_chart(y, "classification"))
    assert len(rows) == 21
    assert rows[-1]["label"] == "5 other classes"
    assert rows[-1]["rows"] == 15
