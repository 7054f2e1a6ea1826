"""Chunks of files and queries: all rows, in their order, a few at a time."""

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import InputError
from bottega.data import read_chunks, read_frame

N = 12_345


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    whole = pd.DataFrame({"number": np.arange(N), "x": rng.normal(size=N), "Who ": "a"})
    whole.loc[7000, "x"] = np.nan
    return whole


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb", "relation", "connection", "cursor"])
def test_all_rows_in_their_order(frame, kind, tmp_path):
    path = tmp_path / f"rows.{kind}"
    source = path
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    elif kind == "relation":
        source = duckdb.sql("SELECT * FROM frame")
    elif kind == "connection":
        source = duckdb.connect().execute("SELECT * FROM frame")
    else:
        lite = sqlite3.connect(":memory:")
        frame.to_sql("t", lite, index=False)
        source = lite.execute("SELECT * FROM t")
    chunks = list(read_chunks(source, rows=3000))
    if isinstance(source, sqlite3.Cursor):
        source.connection.close()
    assert len(chunks) >= 3
    assert max(map(len, chunks)) <= 4096  # two of DuckDB's vectors
    joined = pd.concat(chunks, ignore_index=True)
    assert joined["number"].tolist() == list(range(N))
    assert np.array_equal(joined["x"].to_numpy(float), frame["x"].to_numpy(), equal_nan=True)
    if kind == "csv":
        assert list(joined.columns) == list(read_frame(path).columns) == ["number", "x", "Who"]


def test_a_query_of_a_database_file(frame, tmp_path):
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    chunks = list(read_chunks(path, query="SELECT x, number FROM t WHERE number >= 12340"))
    assert pd.concat(chunks)["number"].tolist() == [12340, 12341, 12342, 12343, 12344]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_are_cut(make):
    chunks = list(read_chunks(make({"a": [1, 2, 3, 4, 5]}), rows=2))
    assert [len(chunk) for chunk in chunks] == [2, 2, 1]
    assert isinstance(chunks[0], make)


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        list(read_chunks(tmp_path / "none.csv"))
    with pytest.raises(InputError, match="an executed query"):
        list(read_chunks(3))
    with pytest.raises(InputError, match="rows=0"):
        list(read_chunks("iris", rows=0))
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    with pytest.raises(InputError, match="The query on"):
        list(read_chunks(path, query="SELECT b FROM t"))
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="for DuckDB files"):
        list(read_chunks(tmp_path / "rows.csv", query="SELECT 1"))
