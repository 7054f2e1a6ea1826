"""Calibration, lift, worst rows: against counts and intervals made by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

from bottega.core.errors import InputError
from bottega.explain import explain
from bottega.linear import LeastSquares
from bottega.risk import clopper_pearson
from bottega.workbench.ranking import lift


def test_calibration_counts_rows_in_bins_of_equal_size(known):
    share = np.linspace(0.005, 0.995, 100)
    y = np.where(np.arange(100) % 2 == 0, "no", "yes")
    found = explain([(known.share(lambda A: A[:, 0]), share[:, None], y, None)]).calibration
    assert found.n.tolist() == [10] * 10
    np.testing.assert_allclose(found.predicted, share.reshape(10, 10).mean(axis=1))
    assert found.observed.tolist() == [0.5] * 10
    low, high = clopper_pearson(5, 10)
    np.testing.assert_allclose(found.lower, low)
    np.testing.assert_allclose(found.upper, high)
    assert found.missed == np.sum((found.predicted < low) | (found.predicted > high))


def test_equal_predictions_stay_in_one_bin(known):
    share = np.repeat([0.1, 0.4, 0.8], [47, 33, 20])
    y = np.where(np.arange(100) < 30, "yes", "no")
    found = explain([(known.share(lambda A: A[:, 0]), share[:, None], y, None)]).calibration
    assert found.n.tolist() == [47, 33, 20]
    assert found.predicted == pytest.approx([0.1, 0.4, 0.8])
    assert found.observed == pytest.approx([30 / 47, 0, 0])
    assert (found.lower[1], found.upper[1]) == pytest.approx(clopper_pearson(0, 33))


def test_calibration_of_numbers_has_students_interval(known):
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(size=50))
    y = x + rng.normal(size=50)
    found = explain([(known.number(lambda A: A[:, 0]), x[:, None], y, None)]).calibration
    assert found.n.tolist() == [10] * 5
    first = (y - x)[:10]
    half = stats.t.ppf(0.975, 9) * first.std(ddof=1) / np.sqrt(10)
    center = x[:10].mean() + first.mean()
    assert (found.lower[0], found.upper[0]) == pytest.approx((center - half, center + half))
    assert found.observed[0] == pytest.approx(y[:10].mean())


def test_a_model_that_says_too_much_is_missed_by_the_intervals(known):
    """True shares are halfway to 1/2: of 2,000 rows every outer bin of 200 shows it."""
    rng = np.random.default_rng(0)
    share = rng.uniform(size=2000)
    y = np.where(rng.uniform(size=2000) < 0.5 + 0.5 * (share - 0.5), "yes", "no")
    fits = [(known.share(lambda A: A[:, 0]), share[:, None], y, None)]
    assert explain(fits).calibration.missed >= 6
    honest = [(known.share(lambda A: 0.5 + 0.5 * (A[:, 0] - 0.5)), share[:, None], y, None)]
    assert explain(honest).calibration.missed <= 3  # ten intervals of 95 %: false alarm 1 in 1,000


def test_weights_make_intervals_wider(known):
    share = np.full(40, 0.5)
    y = np.where(np.arange(40) % 2 == 0, "no", "yes")
    weight = np.where(np.arange(40) < 2, 20.0, 1.0)
    model = known.share(lambda A: A[:, 0])
    plain = explain([(model, share[:, None], y, None)]).calibration
    heavy = explain([(model, share[:, None], y, weight)]).calibration
    assert heavy.observed[0] == pytest.approx(0.5)
    assert heavy.upper[0] - heavy.lower[0] > 2 * (plain.upper[0] - plain.lower[0])


@pytest.mark.parametrize("weighted", [False, True])
def test_lift_is_that_of_the_leaderboard(known, weighted):
    rng = np.random.default_rng(0)
    share = rng.integers(0, 12, 300) / 12  # many ties
    y = np.where(rng.uniform(size=300) < share**2, "yes", "no")
    weight = rng.uniform(0.5, 2, 300) if weighted else None
    found = explain([(known.share(lambda A: A[:, 0]), share[:, None], y, weight)]).lift
    for top in (0.05, 0.1, 0.33, 1.0):
        assert found.at(top) == pytest.approx(lift(y == "yes", share, weight, top=top))
    assert found.rows[0] == found.found[0] == 0
    assert found.rows[-1] == found.found[-1] == 1


def test_perfect_scores_find_the_class_first(known):
    y = np.array(["no"] * 15 + ["yes"] * 5)
    fits = [(known.share(lambda A: A[:, 0]), np.linspace(0, 1, 20)[:, None], y, None)]
    found = explain(fits).lift
    assert found.at(0.25) == pytest.approx(4)
    assert np.interp(0.25, found.rows, found.found) == pytest.approx(1)
    with pytest.raises(InputError, match=r"must lie in \(0, 1\]"):
        found.at(0)


def test_what_has_no_probabilities_has_no_lift(known, mixed, fits_of):
    assert explain(fits_of(LeastSquares(), mixed)).lift is None

    class Labels(known.share):
        predict_proba = property()

        def predict(self, X):
            return np.array(["no"] * len(X))

    fits = [(Labels(lambda A: A[:, 0]), np.zeros((4, 1)), ["no", "yes"] * 2, None)]
    found = explain(fits)
    assert found.lift is None
    assert found.calibration is None
    assert found.effect("x0").average.tolist() == [0.0]


def test_worst_rows_with_their_values_and_names(known):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": ["p", "q", None, "s"]})

    class A(known.number):
        def predict(self, X):
            return X["a"].to_numpy()

    y = [1.0, 5.0, 3.0, 3.0]
    found = explain([(A(), frame, y, None)], rows=[[10, 20, 30, 40]]).worst_rows
    assert found.row.tolist() == [20, 40, 10, 30]
    assert found.loss.tolist() == [9.0, 1.0, 0.0, 0.0]
    assert found.share == 1.0
    table = found.to_frame()
    assert list(table.columns) == ["row", "observed", "predicted", "loss", "a", "b"]
    assert table["b"].iloc[0] == "q"
    assert "4 of 4 held-out rows make up 100% of the squared error" in str(found)


def test_of_wrong_labels_the_surest_are_the_worst(known):
    share = np.array([0.6, 0.9, 0.2, 0.8, 0.1])
    fits = [
        (known.share(lambda A: A[:, 0]), share[:, None], ["no", "no", "no", "yes", "yes"], None)
    ]
    found = explain(fits, loss="zero_one").worst_rows
    # Wrong are rows 0, 1 and 4: the observed class had probability 0.4, 0.1 and 0.1.
    assert found.row.tolist() == [1, 4, 0, 2, 3]
    assert found.loss.tolist() == [1, 1, 1, 0, 0]


def test_columns_of_the_same_name_are_kept_apart(known):
    frame = pd.DataFrame({"loss": [1.0, 2.0], "row": [3.0, 4.0]})
    fits = [(known.number(lambda A: A[:, 0]), frame, [0.0, 0.0], None)]
    table = explain(fits).worst_rows.to_frame()
    assert list(table.columns) == ["row", "observed", "predicted", "loss", "loss_", "row_"]
    assert table["loss_"].tolist() == [2.0, 1.0]


def test_at_most_ten_rows_and_none_of_weight_zero(known):
    X = np.arange(40.0)[:, None]
    weight = np.where(np.arange(40) == 39, 0.0, 1.0)
    found = explain([(known.number(lambda A: A[:, 0]), X, np.zeros(40), weight)]).worst_rows
    assert found.row.tolist() == list(range(38, 28, -1))
    assert found.n == 39


def test_polars_in_polars_out(known):
    frame = pl.DataFrame({"a": [1.0, 2.0, 3.0]})
    found = explain([(known.number(lambda A: A[:, 0]), frame, [0.0, 0.0, 0.0], None)])
    assert isinstance(found.worst_rows.to_frame(), pl.DataFrame)
    assert isinstance(found.effect("a").to_frame(), pl.DataFrame)
    assert isinstance(found.calibration.to_frame(), pl.DataFrame)
