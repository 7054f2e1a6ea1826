"""Dates and numbers as people write them, in rows that come in chunks: read as all rows tell."""

import numpy as np
import pandas as pd
import pytest

from bottega import scale
from bottega.core.errors import DataWarning, InputError
from bottega.data import chunks, read, read_chunks, read_frame
from bottega.linear import LeastSquares, Ridge

UNCLEAR = "not clear whether the day or the month comes first"


@pytest.fixture
def dated():
    """Dates up to the twelfth of a month, and a response that follows them."""
    days = [pd.Timestamp(2019, 1 + i % 12, 1 + (i // 12) % 12) for i in range(600)]
    frame = pd.DataFrame({"date": days, "x": np.random.default_rng(0).normal(size=600)})
    frame["y"] = (frame["date"] - pd.Timestamp("2019-01-01")).dt.days * 1.0
    return frame


def american(frame, late=False):
    """Return the frame with the month first in its dates; some `late` ones say so."""
    found = frame.assign(date=frame["date"].dt.strftime("%m/%d/%Y"))
    if late:
        found.loc[500:, "date"] = "03/31/2019"
        if "y" in found:
            found.loc[500:, "y"] = 89.0
    return found


@pytest.fixture
def model(dated):
    rows = scale.source(dated, target="y")
    return rows.pipeline(LeastSquares().fit(rows))


def stored(frame, tmp_path, kind):
    path = tmp_path / f"rows.{kind}"
    (frame.to_csv if kind == "csv" else frame.to_parquet)(path, index=False)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_dates_that_may_be_read_in_two_ways_are_not_predicted(dated, model, tmp_path, kind):
    new = american(dated.drop(columns="y"))
    path = stored(new, tmp_path, kind)
    for predict in (
        lambda: model.predict(new),
        lambda: scale.predict_to(model, path, tmp_path / "out", rows=100),
    ):
        with pytest.raises(InputError, match=UNCLEAR):
            predict()
    assert not (tmp_path / "out").exists()


def test_two_digits_of_a_year_are_not_guessed(dated, model, tmp_path):
    new = dated.assign(date=dated["date"].dt.strftime("%m/%d/%y")).drop(columns="y")
    path = stored(new, tmp_path, "csv")
    with pytest.raises(InputError, match="not a date like"):
        scale.predict_to(model, path, tmp_path / "out")
    table = read(path)
    assert "date" not in table.kinds
    assert [each.code for each in table.warnings if each.column == "date"] == ["date_format"]


def test_a_folder_of_dates_written_in_two_ways(dated, model, tmp_path):
    folder = tmp_path / "rows"
    folder.mkdir()
    dated.drop(columns="y").to_csv(folder / "a.csv", index=False)
    american(dated.drop(columns="y")).to_csv(folder / "b.csv", index=False)
    with pytest.raises(InputError, match=UNCLEAR):
        scale.predict_to(model, folder, tmp_path / "out")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_later_chunk_says_how_dates_are_predicted(dated, model, tmp_path, kind):
    new = american(dated, late=True)
    path = stored(new.drop(columns="y"), tmp_path, kind)
    assert scale.predict_to(model, path, tmp_path / "out", rows=100, ids=["date"]) == 600
    found = pd.read_parquet(tmp_path / "out")
    np.testing.assert_allclose(found["prediction"], new["y"], atol=1e-6)
    assert found["date"].tolist() == new["date"].tolist()  # copied as they are written
    new.loc[300, "date"] = "31/03/2019"
    path = stored(new.drop(columns="y"), tmp_path, kind)
    with pytest.raises(InputError, match="day first and others with the month first"):
        scale.predict_to(model, path, tmp_path / "other", rows=100)


@pytest.mark.parametrize("kind", ["csv", "parquet", "frame"])
def test_a_later_chunk_says_how_dates_are_learnt(dated, tmp_path, kind):
    frame = american(dated, late=True)
    data = frame if kind == "frame" else stored(frame, tmp_path, kind)
    for options in ({}, {"kinds": {"date": "date"}}):
        rows = scale.source(data, target="y", rows=100, **options)
        assert rows.day_first == {"date": False}
        found = rows.pipeline(LeastSquares().fit(rows))
        np.testing.assert_allclose(found.predict(frame), frame["y"], atol=1e-6)
        # New rows that do not tell are read as those of the fit were.
        np.testing.assert_allclose(found.predict(frame[:100]), frame["y"][:100], atol=1e-6)
        assert set(rows.sample(50)["date"]) <= set(dated["date"].dt.strftime("%Y-%m-%d")) | {
            "2019-03-31"
        }


@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_dates_that_may_be_read_in_two_ways_are_not_learnt(dated, tmp_path, kind):
    frame = american(dated)
    data = frame if kind == "frame" else stored(frame, tmp_path, kind)
    with pytest.warns(DataWarning, match=r"'date' looks like dates .* is left out"):
        rows = scale.source(data, target="y", rows=100)
    assert rows.kinds == {"x": "number"}
    with pytest.raises(InputError, match=UNCLEAR):
        scale.source(data, target="y", rows=100, kinds={"date": "date"})


def test_a_date_that_the_first_lines_do_not_have_is_not_guessed(tmp_path):
    path = tmp_path / "sparse.csv"
    path.write_text("x,day\n" + "".join(f"{i},\n" for i in range(1500)) + "7,01/02/2019\n")
    found = pd.concat(list(read_chunks(path)))
    assert found["day"].tolist()[-1] == "01/02/2019" == read_frame(path)["day"].tolist()[-1]
    path.write_text("x,day\n" + "".join(f"{i},\n" for i in range(1500)) + "7,2019-02-01\n")
    rows = chunks(path, kinds={"day": "date"})
    assert rows.encoder.fill_[1] == (pd.Timestamp("2019-02-01") - pd.Timestamp(0)).days


@pytest.mark.parametrize("separator", [";", ","])
def test_decimal_commas_in_inputs_and_responses(tmp_path, separator):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=400).round(4)})
    frame["b"] = (1000 * rng.normal(size=400)).round(3)
    frame["w"] = rng.random(400).round(3) + 0.5
    frame["y"] = (frame["a"] + frame["b"] / 500 + rng.normal(size=400)).round(4)
    frame.loc[7, "y"] = np.nan
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False, sep=separator, decimal=",")
    table = read(path, target="y", weight="w")
    expected = Ridge(alpha=1.0).fit(table.X, table.y, sample_weight=table.weight)
    for options in ({}, {"decimal": ","}):
        rows = scale.source(path, target="y", weight="w", rows=90, **options)
        assert rows.kinds == table.kinds
        found = Ridge(alpha=1.0).fit(rows)
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    out = tmp_path / "out"
    assert scale.predict_to(rows.pipeline(found), path, out, rows=90) == 400
    given = frame[["a", "b"]]
    np.testing.assert_allclose(pd.read_parquet(out)["prediction"], found.predict(given), rtol=1e-9)
    np.testing.assert_array_equal(np.sort(rows.sample(1000)["y"]), np.sort(table.y))


def test_responses_that_are_words_among_numbers(tmp_path):
    frame = pd.DataFrame({"x": np.arange(60.0) ** 2, "y": [f"{i}.5" for i in range(60)]})
    frame.loc[20, "y"] = "unknown"  # means a missing value wherever numbers are
    rows = scale.source(frame, target="y")
    assert sum(len(X) for X, _ in rows) == 59
    frame.loc[30, "y"] = "dear"
    with pytest.raises(InputError, match=r"'y' mixes numbers and text: 2 of its 60"):
        scale.source(frame, target="y")
    with pytest.raises(InputError, match=r"decimal is '.' or ','"):
        scale.source(frame, target="x", decimal=";")


@pytest.fixture
def prices():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"price": (50 + 100 * rng.random(300)).round(2), "x": rng.normal(size=300)}
    )
    frame["y"] = 2 * frame["price"] + frame["x"] + rng.normal(size=300)
    return frame


def test_numbers_with_a_currency_are_numbers_in_new_rows(prices, tmp_path):
    rows = scale.source(prices, target="y")
    model = rows.pipeline(Ridge(alpha=1.0).fit(rows))
    new = prices.assign(price=[f"€ {value:.2f}" for value in prices["price"]])
    path = stored(new, tmp_path, "csv")
    scale.predict_to(model, path, tmp_path / "out", rows=100)
    found = pd.read_parquet(tmp_path / "out")["prediction"]
    np.testing.assert_allclose(found, model.predict(prices), rtol=1e-12)
    np.testing.assert_allclose(model.predict(new), found, rtol=1e-12)
    unclear = new.assign(price="1,234")
    with pytest.raises(InputError, match=r"'1,234', and it is not clear which sign parts decimals"):
        model.predict(unclear)
    with pytest.raises(InputError, match=r"1 of its values are not a number, first 'dear'"):
        model.predict(new.assign(price=["dear", *new["price"][1:]]))
    mixed = new.assign(price=["$ 5", *new["price"][1:]])  # which cannot be compared
    with pytest.raises(InputError, match="not a number"):
        model.predict(mixed)
