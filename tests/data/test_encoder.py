"""The encoder: values against scikit-learn's own steps, every library alike, and its refusals."""

import datetime as dt
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from bottega.core.errors import InputError, ParameterError
from bottega.data import Encoder, Table

COLUMNS = {
    "a": [1.0, None, 3.0, 8.0, 2.0],
    "c": ["red", "blue", None, "red", "green"],
    "b": [True, False, True, None, True],
    "yn": ["no", "yes", "no", "no", "yes"],
    "d": [dt.date(1970, 1, 2), dt.date(1970, 1, 4), None, dt.date(1970, 1, 3), dt.date(1970, 1, 3)],
    "i": [3, 1, 2, 2, 7],
}
NAMES = [
    *["a", "c=blue", "c=green", "c=red", "c=missing", "b", "yn", "d", "i"],
    *["a is missing", "b is missing", "d is missing"],
]
ENCODED = np.array(
    [
        [1, 0, 0, 1, 0, 1, 0, 1, 3, 0, 0, 0],
        [2.5, 1, 0, 0, 0, 0, 1, 3, 1, 1, 0, 0],  # the median of 1, 3, 8, 2
        [3, 0, 0, 0, 1, 1, 0, 2, 2, 0, 0, 1],  # the median of days 1, 3, 2, 2
        [8, 0, 0, 1, 0, 1, 0, 2, 2, 0, 1, 0],  # three of four were true
        [2, 0, 1, 0, 0, 1, 1, 2, 7, 0, 0, 0],
    ]
)


@parametrize_with_checks([Encoder()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_every_kind_by_hand(make):
    encoder = Encoder(standardize=False)
    np.testing.assert_array_equal(encoder.fit_transform(make(COLUMNS)), ENCODED)
    assert encoder.get_feature_names_out().tolist() == NAMES
    assert encoder.kinds_ == ["number", "category", "boolean", "boolean", "date", "number"]


def test_learnt_in_one_library_used_in_another():
    pandas, polars = pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS)
    encoder = Encoder().fit(pandas)
    expected = encoder.transform(pandas)
    np.testing.assert_array_equal(encoder.transform(polars), expected)
    np.testing.assert_array_equal(Encoder().fit_transform(polars), expected)
    np.testing.assert_array_equal(encoder.transform(polars.to_arrow()), expected)


def test_numbers_as_scikit_learn_does_them():
    rng = np.random.default_rng(0)
    X = rng.normal(3, 5, size=(200, 6))
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    X[:, 4] = 7.1  # no deviation
    X[:, 5] = np.arange(200)
    peer = make_pipeline(SimpleImputer(strategy="median", add_indicator=False), StandardScaler())
    expected = peer.fit_transform(X)
    mine = Encoder().fit_transform(X)
    # The same formulas in another order of summation.
    np.testing.assert_allclose(mine[:, :6], expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(mine[:, 6:], np.isnan(X[:, :4]))
    assert Encoder().fit(X).get_feature_names_out().tolist()[5:7] == ["x5", "x0 is missing"]


def test_min_max_as_scikit_learn_does_it():
    """M137: the range of the training rows becomes [0, 1]; new rows may lie outside."""
    rng = np.random.default_rng(0)
    X = rng.normal(3, 5, size=(50, 3))
    X[:, 2] = 7.1
    new = rng.normal(3, 9, size=(20, 3))
    mine = Encoder(standardize="min-max").fit(X)
    peer = MinMaxScaler().fit(X)
    np.testing.assert_allclose(mine.transform(X), peer.transform(X), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(mine.transform(new), peer.transform(new), rtol=1e-12, atol=1e-13)
    assert (mine.transform(X)[:, :2].min(), mine.transform(X)[:, :2].max()) == (0, 1)
    gaps = Encoder(standardize="min-max").fit_transform([[0.0], [np.nan], [1.0], [4.0]])
    assert gaps[:, 0].tolist() == [0, 0.25, 0.25, 1]  # the median of 0, 1 and 4


def test_categories_as_scikit_learn_does_them():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {name: rng.choice(list("abcdefgh"), size=100) for name in ("p", "q")}
        | {"x": rng.normal(size=100)}
    )
    peer = make_column_transformer((OneHotEncoder(sparse_output=False), ["p", "q"]))
    mine = Encoder().fit(frame)
    np.testing.assert_array_equal(mine.transform(frame)[:, :16], peer.fit_transform(frame))


def test_codes_instead_of_columns(make):
    encoder = Encoder(one_hot=False, standardize=False, impute=False).fit(make(COLUMNS))
    codes = encoder.transform(make(COLUMNS))[:, 1]
    np.testing.assert_array_equal(codes, [2, 0, np.nan, 2, 1])
    assert encoder.get_feature_names_out().tolist() == ["a", "c", "b", "yn", "d", "i"]


def test_without_imputation_gaps_stay(make):
    encoded = Encoder(impute=False).fit_transform(make(COLUMNS))
    assert encoded.shape == (5, 9)
    np.testing.assert_array_equal(np.isnan(encoded[:, 0]), [0, 1, 0, 0, 0])
    seen = encoded[~np.isnan(encoded[:, 0]), 0]
    np.testing.assert_allclose([seen.mean(), seen.std()], [0, 1], atol=1e-15)


def test_gaps_where_fit_had_none(make):
    encoder = Encoder(standardize=False).fit(make({"x": [1.0, 2.0, 9.0], "z": [1.0, 2.0, 3.0]}))
    np.testing.assert_array_equal(encoder.transform(make({"x": [None], "z": [5.0]})), [[2, 5]])


def test_order_and_extra_columns_do_not_matter(make):
    encoder = Encoder().fit(make(COLUMNS))
    turned = {name: COLUMNS[name] for name in reversed(COLUMNS)} | {"extra": ["?"] * 5}
    np.testing.assert_array_equal(encoder.transform(make(turned)), encoder.transform(make(COLUMNS)))


def test_a_level_called_missing_is_not_the_missing_level(make):
    encoder = Encoder().fit(make({"c": ["missing", None, "a"]}))
    names = ["c=a", "c=missing", "c=(missing)"]
    assert encoder.get_feature_names_out().tolist() == names
    np.testing.assert_array_equal(encoder.transform(make({"c": [None, "missing"]}))[0], [0, 0, 1])


def test_a_column_missing_altogether_becomes_zero(make):
    encoded = Encoder().fit_transform(make({"x": [float("nan")] * 3, "z": [1.0, 2.0, 3.0]}))
    np.testing.assert_array_equal(encoded[:, [0, 2]], [[0, 1]] * 3)


def test_kinds_of_a_table_hold_in_its_parts(make):
    frame = make({"yn": ["yes", "no", "yes", "no"], "x": [1.0, 2.0, 3.0, 9.0], "y": [1.0, 2, 3, 4]})
    table = Table(frame, target="y")
    part = table.take([0, 2])
    encoder = Encoder(kinds=table.kinds, standardize=False).fit(part.X)
    np.testing.assert_array_equal(encoder.transform(table.X)[:, 0], [1, 0, 1, 0])


def test_a_constant_large_number_is_not_blown_up():
    X = np.full((10, 1), 1e8 + 0.1)
    assert Encoder().fit(X).scale_.tolist() == [1.0]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.one_of(st.none(), st.floats(-1e6, 1e6)),
            st.one_of(st.none(), st.text("abcé ", max_size=3)),
        ),
        min_size=1,
        max_size=19,  # from 20 on, all distinct texts are an id
    )
)
def test_pandas_and_polars_agree(rows):
    schema = {"x": pl.Float64, "c": pl.String}
    polars = pl.DataFrame(rows, schema=schema, orient="row")
    pandas = pd.DataFrame(
        {
            "x": np.array([np.nan if x is None else x for x, _ in rows]),
            "c": pd.Series([c for _, c in rows], dtype="str"),
        }
    )
    one = Encoder().fit(polars)
    two = Encoder().fit(pandas)
    np.testing.assert_array_equal(one.transform(polars), two.transform(pandas))
    assert one.get_feature_names_out().tolist() == two.get_feature_names_out().tolist()
    block = one.transform(polars)[:, 1 : 1 + len(one.levels_[0]) + one.missing_level_[0]]
    if one.kinds_[1] == "category":
        np.testing.assert_array_equal(block.sum(axis=1), np.ones(len(rows)))


def test_round_trips(make):
    encoder = Encoder().fit(make(COLUMNS))
    expected = encoder.transform(make(COLUMNS))
    stored = skops.io.dumps(encoder)
    assert skops.io.get_untrusted_types(data=stored) == ["bottega.data.encoder.Encoder"]
    loaded = skops.io.loads(stored, trusted=["bottega.data.encoder.Encoder"])
    for copy in (loaded, pickle.loads(pickle.dumps(encoder))):
        np.testing.assert_array_equal(copy.transform(make(COLUMNS)), expected)


def test_missing_column(make):
    encoder = Encoder().fit(make({"rooms": [1.0, 2.0], "z": [1.0, 3.0]}))
    with pytest.raises(InputError, match=r"'rooms' is missing: .* Did you mean 'room'"):
        encoder.transform(make({"room": [1.0], "z": [1.0]}))


def test_new_category(make):
    train, new = make({"c": ["red", "blue"]}), make({"c": ["red", "reed", "black", "reed"]})
    message = "'c' holds 2 categories never seen .* 'reed' among them, in 3 rows; .*mean 'red'"
    with pytest.raises(InputError, match=message):
        Encoder().fit(train).transform(new)
    encoded = Encoder(handle_unknown="ignore").fit(train).transform(new)
    np.testing.assert_array_equal(encoded, [[0, 1], [0, 0], [0, 0], [0, 0]])
    codes = Encoder(handle_unknown="ignore", one_hot=False).fit(train).transform(new)
    np.testing.assert_array_equal(codes[:, 0], [1, np.nan, np.nan, np.nan])


def test_new_gap_in_a_category(make):
    train, new = make({"c": ["red", "blue"]}), make({"c": ["red", None]})
    with pytest.raises(InputError, match="missing in 1 rows, first in row 2"):
        Encoder().fit(train).transform(new)
    encoded = Encoder(handle_unknown="ignore").fit(train).transform(new)
    np.testing.assert_array_equal(encoded, [[0, 1], [0, 0]])
    codes = Encoder(one_hot=False).fit(train).transform(new)
    np.testing.assert_array_equal(codes[:, 0], [1, np.nan])


def test_text_in_a_number_column(make):
    encoder = Encoder(standardize=False).fit(make({"x": [1.0, 2.0]}))
    with pytest.raises(InputError, match=r"'x' .* not a number, first 'abc' in row 2"):
        encoder.transform(make({"x": ["1", "abc"]}))
    np.testing.assert_array_equal(encoder.transform(make({"x": ["1", "2.5"]})), [[1], [2.5]])
    np.testing.assert_array_equal(encoder.transform(make({"x": ["None", "3"]})), [[1.5], [3]])


def test_infinite_numbers(make):
    frame = make({"x": [1.0, float("inf"), 3.0]})
    with pytest.raises(InputError, match="'x' holds 1 infinite value, first in row 2"):
        Encoder().fit(frame)
    with pytest.raises(InputError, match="'x' holds 1 infinite value"):
        Encoder().fit(make({"x": [1.0, 2.0]})).transform(frame)


def test_columns_that_cannot_be_encoded(make):
    with pytest.raises(InputError, match="'k' is of kind id"):
        Encoder().fit(make({"k": [f"k{i}" for i in range(30)]}))
    with pytest.raises(InputError, match="'x' is of kind constant"):
        Encoder(kinds={"x": "constant"}).fit(make({"x": [1.0, 1.0]}))
    with pytest.raises(InputError, match="'c' is a category with 1,500 levels"):
        Encoder().fit(make({"c": [f"c{i // 2}" for i in range(3000)]}))


def test_bad_parameters(make):
    frame = make({"x": [1.0, 2.0]})
    with pytest.raises(ParameterError, match="handle_unknown is"):
        Encoder(handle_unknown="drop").fit(frame)
    with pytest.raises(ParameterError, match="standardize is True, False or 'min-max'"):
        Encoder(standardize="range").fit(frame)
    with pytest.raises(ParameterError, match="cannot be of kind 'numbr'"):
        Encoder(kinds={"x": "numbr"}).fit(frame)
    with pytest.raises(InputError, match="'z' that is not there"):
        Encoder(kinds={"z": "number"}).fit(frame)
    with pytest.raises(InputError, match="kinds needs a data frame"):
        Encoder(kinds={"x0": "number"}).fit(np.ones((3, 1)))


def test_names_out_must_be_the_names_in(make):
    encoder = Encoder().fit(make({"x": [1.0, 2.0]}))
    with pytest.raises(InputError, match="not equal to feature_names_in_"):
        encoder.get_feature_names_out(["z"])
    assert Encoder().fit(np.ones((3, 2))).get_feature_names_out(["p", "q"]).tolist() == ["p", "q"]
