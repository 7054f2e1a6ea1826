"""Rare and new levels: a policy of the encoder, in the words and the meaning of scikit-learn."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.preprocessing import OneHotEncoder

from bottega.core.errors import ParameterError
from bottega.data import Encoder, Table, chunks, prepare
from bottega.data.prepare import encoder_for
from bottega.ensemble import RandomForestRegressor
from bottega.linear import Ridge
from bottega.neighbors import NearestNeighborsRegressor

levels = st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=30)


@settings(max_examples=80, deadline=None)
@given(
    levels,
    levels,
    st.one_of(st.none(), st.integers(1, 6), st.floats(0.01, 0.6)),
    st.sampled_from(["ignore", "infrequent_if_exist"]),
)
def test_as_scikit_learn_does(train, new, min_frequency, unknown):
    frame, fresh = pd.DataFrame({"c": train}), pd.DataFrame({"c": new})
    policy = {"min_frequency": min_frequency, "handle_unknown": unknown}
    peer = OneHotEncoder(sparse_output=False, **policy).fit(frame)
    mine = Encoder(**policy, kinds={"c": "category"}).fit(frame)
    np.testing.assert_array_equal(mine.transform(frame), peer.transform(frame))
    np.testing.assert_array_equal(mine.transform(fresh), peer.transform(fresh))
    rare = peer.infrequent_categories_[0] if min_frequency else None
    assert mine.infrequent_levels_[0] == ([] if rare is None else rare.tolist())


def test_by_hand(make):
    frame = make({"c": ["a", "a", "b", "d", None, "a"]})
    encoder = Encoder(min_frequency=2, handle_unknown="infrequent_if_exist").fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["c=a", "c=other", "c=missing"]
    found = encoder.transform(make({"c": ["a", "b", "new", None]}))
    np.testing.assert_array_equal(found, [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]])
    assert encoder.levels_ == [["a"]]
    assert encoder.infrequent_levels_ == [["b", "d"]]


def test_a_level_called_other_is_not_the_level_of_the_others(make):
    encoder = Encoder(min_frequency=2, handle_unknown="infrequent_if_exist")
    encoder.fit(make({"c": ["other", "other", "b"]}))
    assert encoder.get_feature_names_out().tolist() == ["c=other", "c=(other)"]
    np.testing.assert_array_equal(encoder.transform(make({"c": ["other", "z"]})), np.eye(2))


def test_a_gap_that_is_new_goes_with_the_others(make):
    encoder = Encoder(min_frequency=2, handle_unknown="infrequent_if_exist")
    encoder.fit(make({"c": ["a", "a", "b"]}))
    np.testing.assert_array_equal(encoder.transform(make({"c": ["a", None]})), np.eye(2))


def test_codes(make):
    frame = make({"c": ["b", "a", "b", "d", None]})
    policy = {"min_frequency": 2, "handle_unknown": "infrequent_if_exist", "one_hot": False}
    encoder = Encoder(**policy, standardize=False).fit(frame)
    found = encoder.transform(make({"c": ["b", "a", "new", None]}))
    np.testing.assert_array_equal(found[:, 0], [0, 1, 1, np.nan])


def test_an_error_where_it_is_asked_for(make):
    encoder = Encoder(min_frequency=2).fit(make({"c": ["a", "a", "b"]}))
    np.testing.assert_array_equal(encoder.transform(make({"c": ["b"]})), [[0, 1]])
    with pytest.raises(ValueError, match="1 category never seen"):
        encoder.transform(make({"c": ["z"]}))


def test_in_chunks_as_together():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"c": rng.choice(list("aaaabbbcdefgh"), size=90), "y": rng.normal(size=90)}
    )
    encoder = Encoder(min_frequency=0.1, handle_unknown="ignore", standardize=False)
    parts = chunks(frame, target="y", rows=20, encoder=encoder)
    found = np.concatenate([X.to_numpy() for X, _ in parts])
    np.testing.assert_array_equal(found, encoder.fit_transform(frame[["c"]]))


@pytest.mark.parametrize("bad", [0, -1, 1.0, 1.5, 0.0, True, "2", float("nan")])
def test_bad_frequencies(bad):
    with pytest.raises(ParameterError, match="min_frequency is"):
        Encoder(min_frequency=bad).fit(pd.DataFrame({"c": ["a", "b"]}))


def test_bad_policy():
    with pytest.raises(ParameterError, match="'ignore' or 'infrequent_if_exist', not 'warn'"):
        Encoder(handle_unknown="warn").fit(pd.DataFrame({"c": ["a", "b"]}))


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    make = rng.choice(["Fiat", "Ford", "Opel"], 60)
    make[:3] = ["Saab", "Lada", "Tata"]
    frame = pd.DataFrame({"make": make, "power": rng.normal(size=60)})
    frame["price"] = frame["power"] + (frame["make"] == "Ford")
    return Table(frame, target="price")


@pytest.mark.parametrize("model", [Ridge(), NearestNeighborsRegressor(), RandomForestRegressor()])
def test_no_level_stops_a_prediction(table, model):
    """Rows 0 to 2 hold levels of one row: as in the locked part of MASS's Cars93."""
    model = clone(model)
    part = table.take(np.arange(2, 60))
    fitted = prepare(model, table).fit(part.X, part.y)
    assert np.isfinite(fitted.predict(table.X)).all()
    new = pd.DataFrame({"make": ["Kia", None], "power": [0.1, None]})
    assert np.isfinite(fitted.predict(new)).all()


def test_the_table_says_what_is_taken_together(table):
    (finding,) = [f for f in table.warnings if f.code == "rare_levels"]
    assert finding.column == "make"
    assert "'make' (3 of 6)" in finding.message


def test_blanks_around_a_level_do_not_count(make):
    frame = make({"c": [" a", "a ", "a", "b", None], "y": [1.0, 2.0, 3.0, 4.0, 6.0]})
    assert Table(frame, target="y").column("c").distinct == 2
    encoder = Encoder(kinds={"c": "category"}).fit(frame)
    assert encoder.levels_[0] == ["a", "b"]
    labels = make({"x": [1.0, 2.0, 4.0], "y": ["a ", "a", "b"]})
    assert Table(labels, target="y").classes.tolist() == ["a", "b"]


def test_an_infinite_number_stops_no_prediction(table):
    fitted = prepare(Ridge(alpha=1.0), table).fit(table.X, table.y)
    new = pd.DataFrame({"make": ["Ford", "Ford"], "power": [np.inf, np.nan]})
    first, second = fitted.predict(new)
    assert first == second


def test_the_policy_of_a_comparison(table):
    encoder = encoder_for(Ridge.card, table)
    assert (encoder.min_frequency, encoder.handle_unknown) == (2, "infrequent_if_exist")
    assert "make=other" in encoder.fit(table.X).get_feature_names_out()
    assert encoder_for(RandomForestRegressor.card, table) is None
