"""Measures of lists of recommendations against scikit-learn's, and by hand."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from bottega.core.errors import InputError, ParameterError
from bottega.metrics import recommendations, rmse


@given(st.integers(0, 10**6), st.integers(1, 12))
def test_ndcg_is_that_of_scikit_learn(seed, n):
    rng = np.random.default_rng(seed)
    gain = rng.integers(0, 5, size=(4, 9)).astype(float)
    gain[:, 0] = 2.0  # every user has a relevant item
    score = rng.permuted(np.tile(np.arange(9.0), (4, 1)), axis=1)
    relevant = {x: dict(enumerate(gain[x])) for x in range(4)}
    recommended = {x: np.argsort(-score[x]).tolist() for x in range(4)}
    found = recommendations(relevant, recommended, n=n)
    assert found.means()["ndcg"] == pytest.approx(ndcg_score(gain, score, k=n), rel=1e-12)


def test_average_precision_of_whole_lists_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    hit = rng.random((5, 8)) < 0.4
    hit[:, 3] = True
    score = rng.permuted(np.tile(np.arange(8.0), (5, 1)), axis=1)
    found = recommendations(
        {x: np.flatnonzero(hit[x]) for x in range(5)},
        {x: np.argsort(-score[x]) for x in range(5)},
        n=8,
    )
    expected = [average_precision_score(hit[x], score[x]) for x in range(5)]
    assert found.average_precision == pytest.approx(expected, rel=1e-12)


def test_measures_by_hand():
    relevant = {"a": ["p", "q", "r"], "b": ["p"], "c": ["q"], "idle": []}
    recommended = {"a": ["q", "x", "p", "y"], "b": ["x", "y"], "new": ["p"]}
    found = recommendations(relevant, recommended, n=3)
    assert found.users.tolist() == ["a", "b", "c"]  # users without relevant items do not count
    assert found.precision == pytest.approx([2 / 3, 0, 0])
    assert found.recall == pytest.approx([2 / 3, 0, 0])
    assert found.hit_rate.tolist() == [1, 0, 0]
    assert found.average_precision == pytest.approx([(1 + 2 / 3) / 3, 0, 0])
    best = 1 + 1 / np.log2(3) + 1 / 2
    assert found.ndcg == pytest.approx([(1 + 1 / 2) / best, 0, 0])


def test_frames_give_the_same_and_are_answered_in_kind():
    liked = {"user": ["a", "a", "b"], "item": [1, 2, 3], "stars": [5.0, 0.0, 2.0]}
    lists = {"user": ["a", "a", "b"], "item": [2, 1, 9], "rank": [1, 2, 1]}
    by_hand = recommendations({"a": {1: 5, 2: 0}, "b": {3: 2}}, {"a": [2, 1], "b": [9]}, n=2)
    for library in (pd, pl):
        found = recommendations(
            library.DataFrame(liked), library.DataFrame(lists), n=2, gain="stars"
        )
        assert found.means() == by_hand.means()
        assert isinstance(found.tidy(), library.DataFrame)
        assert found.to_frame()["user"].to_list() == ["a", "b"]


def test_intervals_are_of_the_mean_over_users():
    found = recommendations({x: [0] for x in range(100)}, {x: [0] for x in range(25)}, n=1)
    table = found.tidy().set_index("measure")
    row = table.loc["hit_rate@1"]
    assert row["estimate"] == 0.25
    assert row["std_error"] == pytest.approx(np.sqrt(0.25 * 0.75 / 99))
    assert row["conf_high"] == pytest.approx(0.25 + 1.959964 * row["std_error"])
    assert "precision@1" in str(found)
    assert len(found.plot().to_dict()["data"]["values"]) == 5


def test_rmse_has_the_count_under_the_root():
    """E23: the printed form divides outside of it, so more errors of one size look smaller."""
    truth, told = np.array([4.0, 1.0, 5.0, 2.0, 3.0]), np.array([3.0, 2.0, 3.0, 2.0, 4.0])
    assert rmse(truth, told) == pytest.approx(np.sqrt(7 / 5))
    assert rmse(truth, told, form="root_sum") == pytest.approx(np.sqrt(7) / 5)
    assert rmse(np.tile(truth, 4), np.tile(told, 4)) == pytest.approx(np.sqrt(7 / 5))
    assert rmse(np.tile(truth, 4), np.tile(told, 4), form="root_sum") < np.sqrt(7) / 5
    assert rmse(1e200 * truth, 1e200 * told) == pytest.approx(1e200 * np.sqrt(7 / 5))


@pytest.mark.parametrize(
    ("relevant", "recommended", "message"),
    [
        ({"a": []}, {"a": [1]}, "no relevant items"),
        ([1], {"a": [1]}, "relevant must be"),
        ({"a": [1]}, [1], "recommended must be"),
        ({"a": [1]}, {"a": [1, 1]}, "more than once"),
        ({"a": {1: -1.0}}, {"a": [1]}, "not negative"),
        (pd.DataFrame({"u": [1]}), {"a": [1]}, "no column 'user'"),
    ],
)
def test_bad_lists_are_refused(relevant, recommended, message):
    with pytest.raises(InputError, match=message):
        recommendations(relevant, recommended)


def test_bad_ratings_are_refused():
    with pytest.raises(ParameterError, match="form='both'"):
        rmse([1], [1], form="both")
    with pytest.raises(InputError, match="equal length"):
        rmse([1, 2], [1])
    with pytest.raises(InputError, match="finite"):
        rmse([1, np.nan], [1, 2])
    with pytest.raises(ParameterError, match="n=0"):
        recommendations({"a": [1]}, {"a": [1]}, n=0)
