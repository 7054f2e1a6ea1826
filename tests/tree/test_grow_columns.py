"""Reading the inputs of a tree: kinds, levels, gaps, and the sorted order."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator

from bottega.core.errors import InputError, ParameterError
from bottega.tree._grow.column_reader import ColumnReader
from bottega.tree._grow.columns import Columns


class Host(BaseEstimator):
    """An estimator to hang scikit-learn's names on."""


FRAME = {
    "colour": ["red", "blue", None, "red"],
    "size": [1.5, None, 2.5, 0.5],
    "fit": [True, False, True, True],
    "day": [dt.date(2020, 1, 1), dt.date(2020, 1, 3), None, dt.date(2020, 1, 2)],
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_frame_of_mixed_columns(make):
    reader, host = ColumnReader(), Host()
    frame = make(FRAME)
    if make is pd.DataFrame:
        frame["day"] = pd.to_datetime(frame["day"])
        frame["colour"] = frame["colour"].astype("category")
    columns = reader.fit(host, frame)
    assert reader.names == list(FRAME) == host.feature_names_in_.tolist()
    assert columns.categorical.tolist() == [True, False, False, False]
    assert columns.n_levels.tolist() == [2, 0, 0, 0]
    assert reader.levels == [["blue", "red"], None, None, None]
    np.testing.assert_array_equal(columns.X[:, 0], [1, 0, np.nan, 1])
    np.testing.assert_array_equal(columns.X[:, 2], [1, 0, 1, 1])
    np.testing.assert_array_equal(np.diff(columns.X[[0, 3, 1], 3]), [1, 1])
    assert columns.X.flags.f_contiguous
    assert columns.has_missing().tolist() == [True, True, False, True]
    new = frame[[0, 1]] if make is pl.DataFrame else frame.iloc[:2].copy()
    if make is pl.DataFrame:
        new = new.with_columns(colour=pl.Series(["green", "blue"]))
    else:
        new["colour"] = ["green", "blue"]
    np.testing.assert_array_equal(reader.read(host, new)[:, 0], [np.nan, 0])
    with pytest.raises(InputError, match="give a data frame"):
        reader.read(host, np.zeros((2, 4)))


def test_numbers_named_as_categories():
    X = np.array([[10.0, 1.0], [2.0, 2.0], [np.nan, 3.0], [-1.0, 4.0]])
    reader, host = ColumnReader([0]), Host()
    columns = reader.fit(host, X)
    np.testing.assert_array_equal(columns.X[:, 0], [2, 1, np.nan, 0])
    assert reader.levels == [["-1", "2", "10"], None]
    np.testing.assert_array_equal(X[:, 0], [10, 2, np.nan, -1])  # the user's array is left alone
    new = reader.read(host, np.array([[2.0, 0.0], [3.0, 0.0], [11.0, 0.0]]))
    np.testing.assert_array_equal(new[:, 0], [1, np.nan, np.nan])
    by_name = ColumnReader(["a"]).fit(Host(), pd.DataFrame(X, columns=["a", "b"]))
    np.testing.assert_array_equal(by_name.X, columns.X)
    by_truth = ColumnReader([True, False]).fit(Host(), X)
    np.testing.assert_array_equal(by_truth.X, columns.X)
    assert ColumnReader([-1]).fit(Host(), X).categorical.tolist() == [False, True]


def test_a_column_all_missing_and_a_category_all_missing():
    X = np.array([[np.nan, np.nan], [np.nan, np.nan]])
    columns = ColumnReader([1]).fit(Host(), X)
    assert columns.n_levels.tolist() == [0, 0]
    assert columns.categorical.tolist() == [False, True]
    frame = pd.DataFrame({"a": [None, None], "b": ["x", "y"]})
    columns = ColumnReader().fit(Host(), frame)
    assert np.isnan(columns.X[:, 0]).all()


def test_many_texts():
    rng = np.random.default_rng(0)
    code = rng.permutation(100_000)
    texts = np.array([f"{i:06d}" for i in range(100_000)])[code]
    reader = ColumnReader()
    columns = reader.fit(Host(), pd.DataFrame({"id": texts}))
    assert columns.n_levels.tolist() == [100_000]
    np.testing.assert_array_equal(columns.X[:, 0], code)


def test_bad_input():
    X = np.array([[1.0, np.inf], [2.0, 3.0]])
    with pytest.raises(ValueError, match="infinity"):
        ColumnReader().fit(Host(), X)
    with pytest.raises(ParameterError, match=r"that is not there; .* Did you mean 'size'"):
        ColumnReader(["sise"]).fit(Host(), pd.DataFrame({"size": [1.0, 2.0]}))
    with pytest.raises(ParameterError, match="no column"):
        ColumnReader([5]).fit(Host(), X[:, :1])
    with pytest.raises(ParameterError, match="'auto'"):
        ColumnReader("all").fit(Host(), X[:, :1])
    with pytest.raises(ParameterError, match="truth values"):
        ColumnReader([True, False]).fit(Host(), X[:, :1])


def test_the_order_of_some_rows_is_filtered_from_the_order_of_all():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (200, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    columns = Columns.numeric(X)
    columns.order()
    for index in (rng.permutation(200)[:120], rng.integers(0, 200, 300), rng.random(200) < 0.5):
        part = columns.rows(index)
        np.testing.assert_array_equal(part.X, X[index])
        order = part.order()
        for j in range(3):
            np.testing.assert_array_equal(np.sort(order[j]), np.arange(len(part)))
            in_order = part.X[order[j], j]
            np.testing.assert_array_equal(in_order, np.sort(part.X[:, j]))
