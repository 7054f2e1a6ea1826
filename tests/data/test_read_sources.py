"""Every source `read` knows, with real files."""

import gzip
import json
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bottega.data import Table, read
from bottega.data.read import read_frame

TEXT = "size,colour,day,ok,y\n1,red,2020-01-01,true,1.5\n2,NA,2020-01-02,false,2.5\n,blue,,true,4\n"
NAMES = ["size", "colour", "day", "ok", "y"]


def check(table):
    assert isinstance(table, Table)
    assert [c.name for c in table.columns] == NAMES
    assert [c.kind for c in table.columns] == ["number", "category", "date", "boolean", "number"]
    assert [c.missing for c in table.columns] == [1, 1, 1, 0, 0]
    np.testing.assert_array_equal(table.y, [1.5, 2.5, 4])
    np.testing.assert_array_equal(table.frame["size"].to_numpy(), [1, 2, np.nan])


@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.CSV", 'a"; DROP TABLE x; --.csv', "a'b.csv"])
def test_csv(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXT)
    check(read(path, target="y"))
    check(read(str(path), target="y"))
    assert read(path, target="y").source == str(path)


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv", "[ab].csv"])
def test_file_names_with_pattern_signs_are_taken_literally(tmp_path, name):
    (tmp_path / name).write_text(TEXT)
    (tmp_path / "ab.csv").write_text("other\n1\n")
    (tmp_path / "a1.csv").write_text("other\n1\n")
    check(read(tmp_path / name, target="y"))


@pytest.mark.parametrize(("separator", "name"), [(";", "a.csv"), ("|", "a.csv"), ("\t", "a.tsv")])
def test_separators(tmp_path, separator, name):
    (tmp_path / name).write_text(TEXT.replace(",", separator))
    check(read(tmp_path / name, target="y"))


def test_gzip(tmp_path):
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write(TEXT)
    check(read(tmp_path / "a.csv.gz", target="y"))


def test_byte_order_mark_is_no_part_of_a_name(tmp_path):
    (tmp_path / "a.csv").write_text(TEXT, encoding="utf-8-sig")
    check(read(tmp_path / "a.csv", target="y"))


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252"])
def test_other_encodings(tmp_path, encoding):
    text = "name,y\ncafé,1\nthé,2\ncafé,3\n"
    (tmp_path / "a.csv").write_text(text, encoding=encoding)
    table = read(tmp_path / "a.csv", target="y", encoding=encoding)
    assert table.frame["name"].tolist() == ["café", "thé", "café"]


def test_none_is_a_level_among_words_and_missing_among_numbers_and_dates(tmp_path):
    """MASS's Cars93 has cars with the airbags "None"."""
    rows = ["1,a,2020-01-01,1", "None,None,None,2", "3,b,2020-02-01,4", "4,a,2020-03-01,3"]
    (tmp_path / "a.csv").write_text("x,c,d,y\n" + "\n".join(rows) + "\n")
    table = read(tmp_path / "a.csv", target="y")
    assert table.kinds == {"x": "number", "c": "category", "d": "date"}
    assert [table.column(name).missing for name in "xcd"] == [1, 0, 1]
    assert table.column("c").distinct == 3


@pytest.mark.parametrize("mark", ["", "NA", "NaN", "null", "?"])
def test_marks_of_missing_values(tmp_path, mark):
    (tmp_path / "a.csv").write_text(f"x,c,y\n1,a,1\n{mark},{mark},2\n3,b,3\n")
    table = read(tmp_path / "a.csv", target="y")
    assert table.column("x").missing == table.column("c").missing == 1
    assert table.X["x"].dtype == np.float64  # whole numbers with gaps are floats


def test_quoted_names_separators_and_line_breaks(tmp_path):
    (tmp_path / "a.csv").write_text('"a, ""b""","line\nbreak",y\n1,"x\ny",1\n2,z,3\n4,z,5\n')
    table = read(tmp_path / "a.csv", target="y")
    assert table.features == ('a, "b"', "line\nbreak")
    assert table.frame["line\nbreak"].tolist() == ["x\ny", "z", "z"]


def test_names_are_kept_as_written(tmp_path):
    (tmp_path / "a.csv").write_text("X, x ,y,\n1,2,1,5\n2,3,3,5\n4,1,5,6\n")
    assert list(read_frame(tmp_path / "a.csv").columns)[:3] == ["X", "x", "y"]


def test_types_are_found_from_every_row(tmp_path):
    rows = "\n".join(f"{i},{i % 9}" for i in range(30_000))
    (tmp_path / "a.csv").write_text(f"x,y\n{rows}\n0.5,1\n")
    assert read(tmp_path / "a.csv", target="y").X["x"].iloc[-1] == 0.5


def test_leading_zeros_are_kept(tmp_path):
    (tmp_path / "a.csv").write_text("zip,y\n02139,1\n02140,2\n02139,3\n")
    assert read(tmp_path / "a.csv", target="y").frame["zip"].tolist() == ["02139", "02140", "02139"]


def test_parquet(tmp_path):
    frame = pd.DataFrame(
        {
            "size": pd.array([1, 2, None], dtype="Int64"),
            "colour": ["red", None, "blue"],
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None]),
            "ok": [True, False, True],
            "y": [1.5, 2.5, 4.0],
        }
    )
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    check(read(tmp_path / "a.parquet", target="y"))


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_json_lines(tmp_path, name):
    rows = [
        {"size": 1, "colour": "red", "day": "2020-01-01", "ok": True, "y": 1.5},
        {"size": 2, "colour": None, "day": "2020-01-02", "ok": False, "y": 2.5},
        {"colour": "blue", "ok": True, "y": 4},
    ]
    (tmp_path / name).write_text("\n".join(map(json.dumps, rows)))
    check(read(tmp_path / name, target="y"))


def test_folder_and_pattern_unite_columns_by_name(tmp_path):
    (tmp_path / "b.csv").write_text("y,x\n3,30\n4,40\n")
    (tmp_path / "a.csv").write_text("x,y,z\n10,1,5\n20,2,6\n")
    (tmp_path / "notes.md").write_text("not data")
    for source in (tmp_path, f"{tmp_path}/*.csv"):
        table = read(source, target="y")
        np.testing.assert_array_equal(table.y, [1, 2, 3, 4])  # in order of file name
        np.testing.assert_array_equal(table.frame["x"], [10, 20, 30, 40])
        assert table.column("z").missing == 2


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 7 AS x, i / 2 AS y FROM range(30) t(i)"
        )
        connection.execute(
            """CREATE TABLE "we""ird; --" AS SELECT 1.5 AS x, 2 AS y UNION SELECT 3, 4"""
        )
        connection.execute("CREATE SCHEMA other")
        connection.execute("CREATE TABLE other.t AS SELECT * FROM sales LIMIT 5")
    return path


def test_database_table_and_query(database):
    assert read(database, table="sales", target="y").n_rows == 30
    assert read(database, table='we"ird; --', target="y").n_rows == 2
    assert read(database, table="other.t", target="y").n_rows == 5
    table = read(
        database, query="SELECT x, y * 2 AS double FROM sales WHERE x < 3", target="double"
    )
    assert table.frame["x"].max() == 2


def test_the_only_table_needs_no_name(tmp_path):
    path = tmp_path / "one.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS x, i / 2 AS y FROM range(30) t(i)")
    assert read(path, target="y").n_rows == 30
    with duckdb.connect(str(path)) as connection:  # reading has let go of the file
        connection.execute("DROP TABLE t")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_pass_through(library):
    frame = library({"x": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    assert read(frame, target="y").frame is frame


@pytest.mark.parametrize(
    ("name", "rows", "features", "task"),
    [
        ("diabetes", 442, 10, "regression"),
        ("iris", 150, 4, "classification"),
        ("wine", 178, 13, "classification"),
        ("breast_cancer", 569, 30, "classification"),
    ],
)
def test_bundled_data(name, rows, features, task):
    table = read(name)
    assert (table.n_rows, len(table.features), table.task) == (rows, features, task)
    assert table.target == "target"


def test_a_file_comes_before_a_bundled_name(tmp_path, monkeypatch):
    (tmp_path / "iris").mkdir()
    (tmp_path / "iris" / "a.csv").write_text("x,y\n1,2\n2,3\n4,9\n")
    monkeypatch.chdir(tmp_path)
    assert read("iris", target="y").features == ("x",)


def test_rows_to_predict_need_no_roles(tmp_path):
    (tmp_path / "new.csv").write_text("x,gone\n1,\n")
    frame = read_frame(tmp_path / "new.csv")
    assert frame["x"].tolist() == [1]
    assert frame["gone"].isna().all()
    assert read_frame(frame) is frame


def test_importing_brings_no_database_in():
    code = "import sys, bottega.data; print('duckdb' in sys.modules, 'polars' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_decimal_commas_of_a_semicolon_file(tmp_path):
    path = tmp_path / "prezzi.csv"
    path.write_text("stanze;superficie;prezzo\n" + "3;80,5;-1,25\n4;;2,5\n5;97,0;3\n")
    frame = read(path).frame
    assert frame["superficie"].tolist()[::2] == [80.5, 97.0]
    assert np.isnan(frame["superficie"][1])
    assert frame["prezzo"].tolist() == [-1.25, 2.5, 3.0]


def test_decimal_points_of_a_semicolon_file_stay_points(tmp_path):
    path = tmp_path / "prices.csv"
    path.write_text("rooms;area;note\n3;80.5;a, b\n4;90.0;1,5\n")
    assert read(path).frame["area"].tolist() == [80.5, 90.0]
