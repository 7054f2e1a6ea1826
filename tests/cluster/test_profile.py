"""What sets clusters apart: means and shares of a cluster against those of all other rows."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.cluster import what_sets_apart
from bottega.core.errors import InputError

LABELS = [0, 0, 0, 1, 1, 1, 1, 1]


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [61, 63, 60, 40, 44, 41, 42, 43],
            "rooms": [3.0, 2.0, np.nan, 3.0, 2.0, np.nan, 4.0, 1.0],
            "town": ["Rome", "Rome", None, "Pisa", "Bari", "Pisa", "Rome", "Bari"],
            "owner": [True, True, True, False, False, True, False, False],
        }
    )


def test_numbers_differ_by_means_in_standard_deviations(people):
    frame = what_sets_apart(people, LABELS).to_frame()
    row = frame[(frame.cluster == 0) & (frame.column == "age")].iloc[0]
    assert row.here == pytest.approx(184 / 3)
    assert row.elsewhere == pytest.approx(42.0)
    assert row.difference == pytest.approx((184 / 3 - 42) / people.age.std(ddof=0))
    rooms = frame[(frame.cluster == 0) & (frame.column == "rooms") & (frame.kind == "number")]
    assert rooms.here.item() == 2.5  # of the rows that have a value
    assert rooms.elsewhere.item() == 2.5
    assert rooms.difference.item() == 0.0


def test_levels_differ_by_shares_of_the_rows_that_have_a_value(people):
    frame = what_sets_apart(people, LABELS).to_frame()
    rome = frame[(frame.cluster == 0) & (frame.level == "Rome")].iloc[0]
    share = 3 / 7
    assert (rome.here, rome.elsewhere) == pytest.approx((1.0, 0.2))
    assert rome.difference == pytest.approx(0.8 / np.sqrt(share * (1 - share)))
    # Of two levels the one more frequent in the cluster is told.
    assert frame[(frame.cluster == 1) & (frame.column == "owner")].level.tolist() == ["False"]


def test_missing_values_have_a_share_of_their_own(people):
    frame = what_sets_apart(people, LABELS).to_frame()
    gaps = frame[(frame.cluster == 0) & (frame.kind == "missing")].set_index("column")
    assert gaps.here["rooms"] == pytest.approx(1 / 3)
    assert gaps.elsewhere["rooms"] == pytest.approx(1 / 5)
    assert gaps.elsewhere["town"] == 0.0


def test_the_largest_differences_come_first_and_are_put_into_words(people):
    profiles = what_sets_apart(people, LABELS)
    frame = profiles.to_frame()
    for cluster in (0, 1):
        size = frame[frame.cluster == cluster].difference.abs().to_numpy()
        assert np.all(np.diff(size) <= 0)
    first, second = profiles.words(most=2)
    assert first == "cluster 0 (3 rows): higher age (61.3 vs 42), town = Rome more often " + (
        "(100% vs 20%)"
    )
    assert second.startswith("cluster 1 (5 rows): lower age (42 vs 61.3), ")
    assert "higher age (61.3 vs 42)" in str(profiles)


def test_weights_are_repeated_rows(people):
    times = np.array([1, 2, 3, 1, 2, 1, 1, 3])
    repeated = people.loc[people.index.repeat(times)].reset_index(drop=True)
    expected = what_sets_apart(repeated, np.repeat(LABELS, times)).to_frame()
    found = what_sets_apart(people, LABELS, sample_weight=times).to_frame()
    order = ["cluster", "column", "kind", "level"]
    found, expected = (each.sort_values(order, ignore_index=True) for each in (found, expected))
    pd.testing.assert_frame_equal(found, expected)


def test_frames_arrays_and_libraries_agree(people):
    numbers = people[["age", "rooms"]]
    names = {"age": "x0", "rooms": "x1"}
    from_pandas = what_sets_apart(numbers, LABELS).to_frame().replace({"column": names})
    pd.testing.assert_frame_equal(
        what_sets_apart(numbers.to_numpy(), LABELS).to_frame(), from_pandas
    )
    polars = what_sets_apart(pl.from_pandas(people), LABELS)
    assert isinstance(polars.to_frame(), pl.DataFrame)
    assert polars.words() == what_sets_apart(people, LABELS).words()


def test_units_do_not_matter_and_extremes_are_survived(people):
    plain = what_sets_apart(people[["age"]], LABELS).traits[0][0].difference
    for factor, shift in ((1e150, 0.0), (1e-150, 0.0), (1.0, 1e9), (1e305, 0.0)):
        moved = people[["age"]] * factor + shift
        found = what_sets_apart(moved, LABELS).traits[0][0].difference
        # 1e9 leaves 7 digits of the ages
        assert found == pytest.approx(plain, rel=1e-6)


def test_what_cannot_be_judged_is_said(people):
    people["born"] = [datetime.date(1960 + i, 1, 1) for i in range(8)]
    people["same"] = 5.0
    people["empty"] = np.nan
    people["when"] = pd.to_datetime("2024-01-01")
    profiles = what_sets_apart(people, LABELS)
    assert "when" in profiles.skipped
    frame = profiles.to_frame()
    assert frame[frame.column == "same"].difference.eq(0).all()
    assert not (frame[frame.column == "empty"].kind == "number").any()
    assert what_sets_apart(people[["age"]], np.zeros(8, int)).words() == [
        "cluster 0 (8 rows): differs little from the other rows"
    ]
    noise = what_sets_apart(people[["age"]], [-1, *LABELS[1:]])
    assert noise.words()[0].startswith("noise (1 row): higher age")


def test_bad_input_is_refused():
    with pytest.raises(InputError, match="one label per row"):
        what_sets_apart(np.eye(3), [0, 1])
    with pytest.raises(InputError, match="infinite"):
        what_sets_apart(np.array([[1.0], [np.inf]]), [0, 1])
    with pytest.raises(InputError, match="rows and columns"):
        what_sets_apart(np.arange(3.0), [0, 1, 1])
    with pytest.raises(InputError, match="no rows"):
        what_sets_apart(pd.DataFrame(), [])


def test_the_chart_has_a_dot_per_cluster_and_column(people):
    spec = what_sets_apart(people, LABELS).plot(most=3).to_dict()
    values = next(iter(spec["datasets"].values())) if "datasets" in spec else None
    values = values or spec.get("data", spec["layer"][0].get("data"))["values"]
    assert {row["series"] for row in values} == {"cluster 0", "cluster 1"}
    assert "age" in {row["name"] for row in values}


def test_rows_without_weight_have_no_mean_to_compare_with():
    X = pd.DataFrame({"a": [0.1, 0.2, 0.3, 50.0, 60.0], "b": [1.0, 2.0, 4.0, np.nan, np.nan]})
    weight = [0.1, 0.2, 0.7, 0.0, 0.0]
    found = what_sets_apart(X, [0, 0, 0, 1, 1], sample_weight=weight)
    assert not any(found.traits)
    with warnings.catch_warnings():  # all that is known of "b" has no weight
        warnings.simplefilter("error")
        found = what_sets_apart(X, [0, 0, 1, 1, 1], sample_weight=[0.0, 0.0, 0.0, 1.0, 1.0])
    assert not any(found.traits)
