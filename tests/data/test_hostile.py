"""What a hostile tester tried on tables, files, splits and the encoder."""

import gzip
import time

import duckdb
import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import InputError
from bottega.data import Encoder, Table, chunks, prepare, read, read_frame
from bottega.data.read import read_chunks
from bottega.neighbors import NearestNeighborsRegressor


def refused(pattern, call, *args, **options):
    with pytest.raises(InputError, match=pattern) as caught:
        call(*args, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("size", [1e-9, 1e-6, 1e-300])
def test_a_part_too_small_for_any_row_is_refused_at_once(size):
    table = read("iris")
    start = time.perf_counter()
    refused(
        r"needs at least [\d,]+ rows",
        table.split,
        train_size=1 - size,
        validation_size=0,
        test_size=size,
    )
    refused(
        "needs at least", table.split, train_size=0.5, validation_size=0.5 - size, test_size=size
    )
    assert time.perf_counter() - start < 5


def test_the_least_number_of_rows_is_right():
    table = Table(pd.DataFrame({"x": np.arange(3.0) ** 2, "y": [1.0, 2.0, 4.0]}), target="y")
    options = {"train_size": 0.9, "validation_size": 0, "test_size": 0.1}
    refused("90/10 split needs at least 6 rows", table.split, **options)
    six = Table(pd.DataFrame({"x": np.arange(6.0) ** 2, "y": np.arange(6.0)}), target="y")
    assert six.split(**options).test.n_rows == 1


def test_a_file_of_one_endless_line(tmp_path):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(b"1,2," * 250_000)
    start = time.perf_counter()
    refused("Line 1 of .* longer than 30,000,000 bytes", read, path)
    assert time.perf_counter() - start < 5


def test_a_text_of_ten_megabytes_in_a_file(tmp_path):
    text = "caffè freddo " * 800_000
    rows = [f"{i % 2},15/{i % 9 + 1}/2026,a short text of row {i}" for i in range(60)]
    lines = ["y,day,review", f"0,15/1/2026,{text}", *rows]
    (tmp_path / "a.csv").write_text("\n".join(lines), encoding="utf-8")
    table = read(tmp_path / "a.csv", target="y")
    assert table.kinds == {"day": "date", "review": "text"}
    assert max(map(len, table.X["review"])) == len(text)


@pytest.mark.parametrize("encoding", ["rot13", "zlib", "hex", "base64", "bz2", "uu", "quopri"])
def test_what_is_no_encoding_of_text(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    refused(f"'{encoding}' is no encoding of text; try 'utf-8'", read, path, encoding=encoding)


@pytest.mark.parametrize("encoding", ["undefined", "idna", "a\0b", "unicode_escape", "punycode"])
def test_odd_encodings_are_no_internal_errors(tmp_path, encoding):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n1,\\ud800\n3,\xe9\n")
    with pytest.raises(InputError):
        read(path, encoding=encoding, target="q")


def test_suggestions_are_near_ones():
    frame = pd.DataFrame({"Price": [1.0, 2.0], "rooms": [1.0, 2.0]})
    refused("no column 'price' .* Did you mean 'Price'", Table, frame, target="price")
    with pytest.raises(InputError) as caught:
        Table(frame, target="medv")
    assert "Did you mean" not in str(caught.value)


@pytest.fixture
def database(tmp_path):
    (tmp_path / "secret.csv").write_text("x,y\n1,2\n3,4\n5,9\n")
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE sales AS SELECT i % 7 AS x, i / 2 AS y FROM range(30) t(i)"
        )
        connection.execute(f"CREATE VIEW spy AS SELECT * FROM '{tmp_path}/secret.csv'")
        connection.execute("CREATE VIEW own AS SELECT x, y + 1 AS y FROM sales")
    return path


@pytest.mark.parametrize(
    "query",
    [
        "COPY sales TO '{folder}/out.csv'",
        "COPY (SELECT * FROM sales) TO '{folder}/out.parquet' (FORMAT parquet)",
        "SELECT 1; COPY sales TO '{folder}/out.csv'",
        "SET enable_external_access = true",
        "EXPORT DATABASE '{folder}/out.csv'",
        "ATTACH '{folder}/out.csv' AS other",
        "PRAGMA database_list",
        "INSTALL httpfs",
        "CREATE TEMP TABLE t AS SELECT 1",
        "SELECT 1; SELECT 2",
        "-- nothing",
    ],
)
def test_a_query_is_one_select(database, tmp_path, query):
    wanted = query.format(folder=tmp_path)
    refused("one SELECT statement", read, database, query=wanted)
    assert not (tmp_path / "out.csv").exists()
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM '{folder}/secret.csv'",
        "SELECT * FROM read_csv('{folder}/secret.csv')",
        "SELECT * FROM read_text('{folder}/secret.csv')",
        "SELECT * FROM glob('{folder}/*')",
        "SELECT * FROM spy",
        "SELECT * FROM sales UNION ALL SELECT * FROM spy",
    ],
)
def test_a_query_reads_nothing_outside(database, tmp_path, query):
    refused("outside this file", read, database, query=query.format(folder=tmp_path))


def test_views_of_the_file_are_read_and_others_refused(database):
    refused("outside this file", read, database, table="spy")
    assert read(database, table="own", target="y").n_rows == 30
    assert len(read_frame(database, query="WITH t AS (SELECT x FROM sales) SELECT * FROM t")) == 30


def test_a_query_does_not_see_what_python_holds(database):
    hidden = pd.DataFrame({"x": [1.0, 2.0]})
    assert len(hidden) == 2
    refused("failed|outside", read, database, query="SELECT * FROM hidden")


def test_what_is_under_a_mask_is_missing():
    X = np.ma.masked_array([[1.0], [99.0], [3.0]], mask=[[0], [1], [0]])
    found = Encoder(standardize=False).fit_transform(X)
    np.testing.assert_array_equal(found, [[1, 0], [2, 1], [3, 0]])
    weights = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    frame = pd.DataFrame({"x": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    refused("missing, first in row 2", Table, frame, target="y", weight=weights)


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 3.0]], columns=["x", "x"])
    for call in (Table, Encoder().fit, read):
        refused("column name 'x' stands 2 times", call, frame)


@pytest.mark.parametrize("scale", [1e-200, 1e-300, 1e200, 1e300])
@pytest.mark.parametrize("standardize", [True, "min-max", False])
def test_an_extreme_unit_loses_nothing(scale, standardize):
    x = np.random.default_rng(0).normal(size=(50, 2))
    x[3, 0] = np.nan
    plain = Encoder(standardize=True).fit_transform(x)
    found = Encoder(standardize=standardize).fit_transform(x * [scale, 1])
    again = Encoder(standardize=True).fit_transform(found[:, :2])
    np.testing.assert_allclose(again[:, 0], plain[:, 0], rtol=1e-9, atol=1e-12)
    assert np.abs(found[:, 0]).max() < 10


def test_an_extreme_unit_in_a_model():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 80))
    frame = pd.DataFrame({"x": x * 1e-200, "z": z, "y": 3 * x})
    table = Table(frame, target="y")
    model = prepare(NearestNeighborsRegressor(n_neighbors=3), table).fit(table.X, table.y)
    assert np.corrcoef(model.predict(table.X), table.y)[0, 1] > 0.9


def test_an_extreme_unit_in_chunks():
    x = np.random.default_rng(0).normal(size=90)
    frame = pd.DataFrame({"x": x * 1e-250, "y": x})
    parts = chunks(frame, target="y", rows=30, encoder=Encoder())
    found = np.concatenate([X["x"].to_numpy() for X, _ in parts])
    np.testing.assert_allclose(found, (x - x.mean()) / x.std(), rtol=1e-9)


def test_constant_inputs_and_two_rows():
    flat = pd.DataFrame({"x": [1.0] * 5, "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
    refused(
        r"No column is left to learn from: left out are 'x' \(constant\)", Table, flat, target="y"
    )
    two = Table(pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}), target="y")
    assert two.task == "classification"  # two values are two classes
    refused(r"The 50/25/25 split needs at least \d rows and the table has 2", two.split)
    refused("nothing to learn", Table, pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 1.0]}), target="y")


ENDLESS = (
    "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT max(x) AS x FROM t"
)


def test_a_query_without_an_end_is_stopped(database, monkeypatch):
    monkeypatch.setenv("BOTTEGA_QUERY_SECONDS", "0.3")
    refused(r"did not end within 0\.3 s and was stopped", read, database, query=ENDLESS)
    refused("did not end within", lambda: list(read_chunks(database, query=ENDLESS)))
    for wrong in ("soon", "0", "nan"):
        monkeypatch.setenv("BOTTEGA_QUERY_SECONDS", wrong)
        refused("a number of seconds above 0", read, database, query="SELECT 1 AS x")
    monkeypatch.setenv("BOTTEGA_QUERY_SECONDS", "60")
    assert read(database, query="SELECT x, y FROM sales").n_rows == 30
