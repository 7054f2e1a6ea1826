"""Numbers as people write them are read right, or a finding says what was done."""

import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.core.errors import InputError
from bottega.data import Encoder, Table, chunks, prepare, read
from bottega.data._inspect import written_dates
from bottega.data._inspect.written import number, writing
from bottega.ensemble import RandomForestRegressor
from bottega.linear import Ridge


def findings(table, code):
    return [f for f in table.warnings if f.code == code]


@pytest.mark.parametrize(
    ("text", "sign", "value"),
    [
        ("1,000", ".", 1000),
        ("1,000", ",", 1),
        ("1.000", ",", 1000),
        ("1.000", ".", 1),
        ("12,345,678.5", ".", 12345678.5),
        ("12.345.678,5", ",", 12345678.5),
        ("1'234.5", ".", 1234.5),
        ("1’234", ".", 1234),
        ("1 234,5", ",", 1234.5),
        ("1\u202f234\u00a0€", ",", 1234),
        ("$1,200.50", ".", 1200.5),
        ("-$5", ".", -5),
        ("$ -5", ".", -5),
        ("CHF 1'000", ".", 1000),
        ("10 EUR", ".", 10),
        ("12.5%", ".", 0.125),
        ("(1,200)", ".", -1200),
        ("\u22123,5", ",", -3.5),
        ("-1,56", ",", -1.56),
        (",5", ",", 0.5),
        ("4e1", ".", 40),
        (" 2 ", ".", 2),
        ("1,00", ".", None),
        ("0,970", ".", None),
        ("1234,567", ".", None),
        ("1,234'567", ".", None),
        ("$5 €", ".", None),
        ("--5", ".", None),
        ("(5", ".", None),
        ("3 kg", ".", 3),
        ("1.200,5 m²", ",", 1200.5),
        ("€ 3 kg", ".", None),
        ("3 keg", ".", None),
        ("2020-01-01", ".", None),
        ("1.2.2020", ",", None),
        ("", ".", None),
        (".", ".", None),
        ("abc", ".", None),
    ],
)
def test_one_number(text, sign, value):
    assert number(text, sign) == (None if value is None else pytest.approx(value, rel=1e-15))


@settings(max_examples=200, deadline=None)
@given(st.integers(-(10**9), 10**9), st.sampled_from([",.", ".,", "',", " ,", "'.", " ."]))
def test_what_is_written_is_read(cents, signs):
    thousands, point = signs
    whole, part = divmod(abs(cents), 100)
    text = f"{'-' * (cents < 0)}{whole:,}".replace(",", thousands) + f"{point}{part:02d}"
    assert number(text, point) == pytest.approx(cents / 100, rel=1e-15)


@pytest.mark.parametrize(
    ("texts", "values", "sure"),
    [
        (["970", "1,000", "1,030"], [970, 1000, 1030], True),
        (["970", "1.000", "1.030"], [970, 1000, 1030], True),
        (["0,970", "1,000", "1,030"], [0.97, 1, 1.03], True),
        (["1,5", "1,000"], [1.5, 1], True),
        (["1,234,567", "1,000"], [1234567, 1000], True),
        (["1,234.5", "1,000"], [1234.5, 1000], True),
        (["1.234,5", "1.000"], [1234.5, 1000], True),
        (["1.234.567", "1.000"], [1234567, 1000], True),
        (["1,234", "5,678"], [1234, 5678], False),
        (["1.234", "5.678"], [1.234, 5.678], False),
        (["1.5", "2"], [1.5, 2], True),
    ],
)
def test_the_decimal_sign_of_a_column(texts, values, sure):
    found = writing(texts)
    assert list(found.values.values()) == pytest.approx(values, rel=1e-15)
    assert found.sure == sure


def test_what_can_be_read_either_way_follows_the_other_columns():
    frame = pd.DataFrame(
        {"a": ["1,234", "5,678", "2,345"], "b": ["80,5", "7,25", "6,5"], "y": [1.0, 2.0, 4.0]}
    )
    assert Table(frame, target="y").X["a"].tolist() == [1.234, 5.678, 2.345]
    alone = Table(frame.drop(columns="b"), target="y")
    assert alone.X["a"].tolist() == [1234, 5678, 2345]
    (finding,) = findings(alone, "number_format")
    assert "'1,234' is 1234" in finding.message
    assert "decimal=','" in finding.message
    told = Table(frame.drop(columns="b"), target="y", decimal=",")
    assert told.X["a"].tolist() == [1.234, 5.678, 2.345]
    with pytest.raises(InputError, match=r"decimal is '\.' or ','"):
        Table(frame, target="y", decimal=";")


def test_thousands_in_a_semicolon_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;z;y\n970;1;1\n1,000;2;2\n1,030;4;4\n")
    table = read(path, target="y")
    assert table.X["x"].tolist() == [970, 1000, 1030]
    assert "'1,000' is 1000" in findings(table, "number_format")[0].message


def test_thousands_beyond_the_first_lines_are_seen_too(tmp_path):
    rows = "".join(f"{i % 900},5;{i % 7}\n" for i in range(3000))
    path = tmp_path / "a.csv"
    path.write_text("x;n\n" + rows)
    assert read(path).frame["x"].dtype == np.float64  # nothing to doubt: DuckDB reads it
    path.write_text("x;n;y\n" + rows.replace("\n", ";1\n") + "7,5;1,000;2\n0,5;1,030;3\n")
    frame = read(path, target="y").X
    assert frame["n"].max() == 1030
    assert frame["x"].iloc[-2:].tolist() == [7.5, 0.5]


def test_points_between_thousands_in_a_file_of_decimal_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x;z;y\n970;80,5;1\n1.000;7,25;2\n1.030;6,5;4\n")
    X = read(path, target="y").X
    assert X["x"].tolist() == [970, 1000, 1030]
    assert X["z"].tolist() == [80.5, 7.25, 6.5]


def test_quoted_decimal_commas_between_commas(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,y\n"-1,56",1\n"2,5",2\n"0,25",4\n')
    assert read(path, target="y").X["x"].tolist() == [-1.56, 2.5, 0.25]


@pytest.mark.parametrize(
    "write",
    [
        lambda i: f"${1000 + 37 * i:,}",
        lambda i: f"{1000 + 37 * i} €",
        lambda i: f"{100 * (1000 + 37 * i)}%",
        lambda i: f"{1000 + 37 * i:,}",
        lambda i: f"{1000 + 37 * i:,}".replace(",", "'"),
        lambda i: f"{1000 + 37 * i:,}".replace(",", " "),
        lambda i: str(1000 + 37 * i),
    ],
)
def test_distinct_values_are_no_key(make, write):
    rng = np.random.default_rng(0)
    frame = make({"x": [write(i) for i in range(30)], "y": rng.normal(size=30)})
    table = Table(frame, target="y")
    assert table.kinds == {"x": "number"}
    np.testing.assert_allclose(
        np.asarray(table.series("x").to_numpy()), 1000 + 37 * np.arange(30), rtol=1e-15
    )
    assert len(findings(table, "number_format")) == 1


def test_codes_with_leading_zeros_stay_labels(make):
    texts = [f"{i:05d}" for i in range(30)] * 2
    frame = make({"zip": texts, "y": np.sin(np.arange(60.0) ** 2)})
    table = Table(frame, target="y")
    assert table.kinds == {"zip": "category"}
    assert findings(table, "number_as_text")


def test_several_currencies_are_no_numbers(make):
    frame = make({"x": ["$5", "€5", "$7", "€9"], "z": [1.0, 2, 4, 3], "y": [1.0, 2, 3, 5]})
    assert Table(frame, target="y").kinds["x"] == "category"


def test_numbers_of_one_unit_are_numbers(make):
    x = {
        "weight": ["84,9 kg", "70,25 kg", "n/d", "61 kg"],
        "size": ["250 g", "1 kg", "2 kg", "90 g"],
    }
    table = Table(make({**x, "y": [1.0, 2, 3, 5]}), target="y")
    assert table.kinds == {"weight": "number", "size": "category"}  # kg and g do not compare
    rows = writing(["1,000 kg", "970 kg", "1,030 kg"])
    assert (list(rows.values.values()), rows.sure) == ([1000, 970, 1030], True)
    assert list(writing(x["weight"]).values.values()) == [84.9, 70.25, 61]


def test_a_target_that_is_written(make):
    frame = make({"x": [1.0, 2.0, 4.0], "y": ["$1,000", "$970", "$1,030"]})
    table = Table(frame, target="y")
    assert table.task == "regression"
    assert table.y.tolist() == [1000, 970, 1030]


def test_a_model_reads_new_rows_as_it_read_the_old(make):
    rng = np.random.default_rng(0)
    size = rng.integers(500, 3000, size=60)
    frame = make({"size": [f"{s:,}" for s in size], "y": size / 100 + rng.normal(size=60)})
    table = Table(frame, target="y")
    for model in (Ridge(alpha=1.0), RandomForestRegressor(n_estimators=10, random_state=0)):
        fitted = prepare(model, table).fit(table.X, table.y)
        assert fitted.named_steps["encode"].text_columns == ["size"]
        expected = fitted.predict(make({"size": [1500.0, 2000.0]}))
        found = fitted.predict(make({"other": [1, 2], "size": ["1,500", "2000"]}))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        fitted.predict(make({"size": ["n/a", "2000"]}))  # a word is a missing value
        message = r"not a number with the decimal sign '\.', first '1,5'"
        with pytest.raises(InputError, match=message):
            fitted.predict(make({"size": ["1,5", "2000"]}))


def test_the_table_keeps_how_numbers_are_written(make):
    frame = make({"x": ["1,5", "2,5", "4,25"], "z": [1.0, 2, 4], "y": [1.0, 2, 3]})
    table = Table(frame, target="y")
    assert table.decimal == {"x": ","}
    assert table.take([0, 1]).decimal == {"x": ","}
    assert table.aimed_at("z").decimal == {"x": ","}


def test_written_numbers_in_chunks(tmp_path):
    rng = np.random.default_rng(0)
    values = rng.integers(1, 9000, size=300)
    rows = "".join(f'"${v:,}",{i % 7}\n' for i, v in enumerate(values))
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + rows)
    found = np.concatenate([X["x"].to_numpy() for X, _ in chunks(path, target="y", rows=100)])
    np.testing.assert_array_equal(found, values)


def test_few_words_among_many_numbers_are_missing(make):
    texts = [f"{i * 1.5}" for i in range(40)]
    texts[3] = texts[7] = "unknown"
    frame = make({"x": texts, "z": np.sin(np.arange(40.0) ** 2), "y": np.cos(np.arange(40.0) ** 2)})
    table = Table(frame, target="y")
    assert table.kinds["x"] == "number"
    assert table.column("x").missing == 2
    (finding,) = findings(table, "mixed")
    assert "2 words such as 'unknown' and is read as numbers, the words as missing" in str(finding)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_a_word_among_few_numbers_makes_a_category(make, share):
    """MASS's Cars93 has cylinders 3, 4, 5, 6, 8 and rotary."""
    texts = [str([3, 4, 5, 6, 8][i % 5]) for i in range(50)]
    for i in range(int(50 * share)):
        texts[i] = "rotary"
    frame = make({"x": texts, "z": np.sin(np.arange(50.0) ** 2), "y": np.cos(np.arange(50.0) ** 2)})
    table = Table(frame, target="y")
    assert table.kinds["x"] == "category"
    (finding,) = findings(table, "mixed")
    assert "such as 'rotary' and is taken as a category" in str(finding)


def test_a_slip_among_few_numbers_is_missing(make):
    """One word in 400 rows is a slip of the pen, not a level."""
    texts = [str(3 + i % 6) for i in range(400)]
    texts[17] = "six"
    frame = make({"rooms": texts, "y": np.sin(np.arange(400.0) ** 2)})
    table = Table(frame, target="y")
    assert (table.kinds["rooms"], table.column("rooms").missing) == ("number", 1)
    assert [f.column for f in table.warnings if f.code == "mixed"] == ["rooms"]


@pytest.mark.parametrize("word", ["-", "n/a", "N.D.", "#N/A", "Unknown", "--", "."])
def test_words_that_mean_missing_are_missing_whatever_their_share(make, word):
    texts = [word if i % 3 else f"{i % 12 / 4}" for i in range(60)]
    y = np.sin(np.arange(60.0) ** 2)
    table = Table(make({"x": texts, "y": y}), target="y")
    assert (table.kinds["x"], table.column("x").missing) == ("number", 40)
    assert findings(table, "mixed")
    target = Table(make({"x": y, "z": texts}), target="z")
    assert (target.task, target.n_rows) == ("regression", 20)


@pytest.mark.parametrize("names", [("d", "iso"), ("iso", "d")])
def test_dates_with_points_are_read_whatever_the_order_of_the_columns(tmp_path, names):
    days = {"d": "{0:02}.{1}.2023", "iso": "2023-0{1}-{0:02}"}
    lines = [
        ",".join(days[name].format(i % 28 + 1, i % 9 + 1) for name in names) + f",{i * i % 11}"
        for i in range(60)
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join([*names, "y"]), *lines]))
    table = read(path, target="y")
    assert table.kinds == dict.fromkeys(names, "date")
    X = Encoder(standardize=False, kinds=table.kinds).fit_transform(table.X)
    np.testing.assert_array_equal(X[:, 0], X[:, 1])


@pytest.mark.parametrize("bad", ["31.2.2023", "1.13.2023", "1.2.23", "1.2.3.2023"])
def test_points_alone_make_no_date(bad):
    assert written_dates.is_date("28.2.2023 12:30")
    assert not written_dates.is_date(bad)


def test_dates_in_several_formats_are_left_out(make):
    days = ["2019-03-01", "01.03.2019", "01/03/2019"] * 10
    frame = make({"d": days, "x": np.sin(np.arange(30.0) ** 2), "y": np.cos(np.arange(30.0) ** 2)})
    table = Table(frame, target="y")
    assert table.features == ("x",)
    (finding,) = findings(table, "date_format")
    assert "looks like dates" in finding.message


def test_many_dates_beside_other_words_are_left_out(make):
    days = [f"{1 + i % 28:02}/{1 + i % 12:02}/{2000 + i % 20}" for i in range(0, 120)]
    days[::5] = [f"{i} Mar 2019" for i in range(24)]
    rest = {"x": np.sin(np.arange(120.0) ** 2), "y": np.cos(np.arange(120.0) ** 2)}
    table = Table(make({"d": days, **rest}), target="y")
    assert table.features == ("x",)
    assert findings(table, "date_format")
    days = ["2019-03-01", "2019-06-01", "later"] * 40  # few: labels
    assert Table(make({"d": days, **rest}), target="y").kinds["d"] == "category"


def test_many_words_among_numbers_are_labels(make):
    texts = [str(i) if i % 4 else f"PC {i}" for i in range(60)] * 2
    frame = make({"x": texts, "z": np.arange(120.0) % 7, "y": np.sin(np.arange(120.0) ** 2)})
    table = Table(frame, target="y")
    assert table.kinds["x"] == "category"
    assert findings(table, "mixed")


def test_whole_numbers_beyond_floating_point(tmp_path):
    y = np.sin(np.arange(30.0) ** 2)
    z = np.cos(np.arange(30.0) ** 2)
    huge = [10**20 + i for i in range(30)]
    path = tmp_path / "a.csv"
    path.write_text(
        "x,z,y\n" + "".join(f"{h},{b},{c}\n" for h, b, c in zip(huge, z, y, strict=True))
    )
    exact = [2**53 + 2 * i + i % 2 for i in range(30)]
    decimals = pa.array([decimal.Decimal(h) for h in huge], pa.decimal128(38, 0))
    pq.write_table(pa.table({"x": decimals, "z": z, "y": y}), tmp_path / "a.parquet")
    sources = [
        path,
        tmp_path / "a.parquet",
        pd.DataFrame({"x": pd.Series(huge, dtype=object), "z": z, "y": y}),
        pl.DataFrame({"x": exact, "z": z, "y": y}),
        pa.table({"x": decimals, "z": z, "y": y}),
    ]
    for source in sources:
        (finding,) = findings(read(source, target="y"), "precision")
        assert "differ beyond the 16th digit" in finding.message
    plain = pl.DataFrame({"x": [2**53 + 2**20 * i for i in range(30)], "z": z, "y": y})
    assert not findings(read(plain, target="y"), "precision")


@pytest.mark.parametrize("gap", [False, True])
def test_labels_beyond_floating_point_keep_their_digits(tmp_path, gap):
    """What the finding advises: as categories the numbers differ."""
    keys = [2**62 + i % 4 for i in range(40)]
    keys[7] = None if gap else keys[7]
    y, z = np.sin(np.arange(40.0) ** 2), np.cos(np.arange(40.0) ** 2)
    arrow = pa.table({"x": pa.array(keys, pa.int64()), "z": z, "y": y})
    pq.write_table(arrow, tmp_path / "a.parquet")
    rows = [{"x": k, "z": b, "y": c} for k, b, c in zip(keys, z.tolist(), y.tolist(), strict=True)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    frame = pd.DataFrame({"x": pd.array(keys, dtype="Int64"), "z": z, "y": y})
    for source in (tmp_path / "a.parquet", tmp_path / "a.json", arrow, frame, pl.DataFrame(rows)):
        table = read(source, target="y", kinds={"x": "category"})
        encoder = Encoder(kinds=table.kinds).fit(table.X)
        assert [len(levels) for levels in encoder.levels_] == [4]
        assert str(2**62 + 1) in encoder.levels_[0]


def test_an_integer_beyond_all_floats_is_infinite():
    frame = pd.DataFrame({"x": pd.Series([1, 10**400, 3], dtype=object), "y": [1.0, 2.0, 4.0]})
    assert findings(Table(frame, target="y"), "infinite")
    with pytest.raises(InputError, match="'x' holds 1 infinite value"):
        Table(frame, target="x")


def test_an_encoder_alone_reads_written_numbers(make):
    encoder = Encoder(standardize=False).fit(make({"x": ["$1,000", "$970", "$1,030"]}))
    assert (encoder.kinds_, encoder.decimal_) == (["number"], {"x": "."})
    np.testing.assert_array_equal(encoder.transform(make({"x": ["$2,000"]})), [[2000]])
