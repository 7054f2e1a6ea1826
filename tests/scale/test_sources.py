"""Rows wherever they are: the same fit, encoded from what all of them hold."""

import os
import pickle
from functools import partial

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset as ds
import pytest

from bottega import scale
from bottega.classify import LinearDiscriminant, LogisticRegression, NaiveBayes
from bottega.cluster import KMeans
from bottega.core.chunked import Chunked
from bottega.core.errors import DataWarning, InputError
from bottega.data import Encoder, chunks, read
from bottega.data._encode import statistics
from bottega.data._encode.medians import MedianBrackets
from bottega.data._encode.statistics import NumberStatistics
from bottega.data.read.rows import PartRows
from bottega.linear import LeastSquares, Ridge
from bottega.tree import TreeRegressor

OPTIONS = {"target": "y", "weight": "weight"}


def fitted(table):
    encoder = Encoder(standardize=False, kinds=table.kinds).fit(table.X)
    model = Ridge(alpha=1.0).fit(encoder.transform(table.X), table.y, sample_weight=table.weight)
    return model.coef_, model.intercept_


def same(model, expected):
    np.testing.assert_allclose(model.coef_, expected[0], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_, expected[1], rtol=1e-9)


@pytest.fixture
def expected(folder):
    return fitted(read(str(folder), **OPTIONS))


def made(kind, folder, tmp_path):
    frame = pd.concat([pd.read_parquet(each) for each in sorted(folder.iterdir())])
    if kind == "folder":
        return folder
    if kind == "pattern":
        return str(folder / "*.parquet")
    if kind == "pandas":
        return frame
    if kind == "polars":
        return pl.DataFrame(frame.to_dict("series"))
    if kind == "csv":
        frame.to_csv(tmp_path / "rows.csv", index=False)
        return tmp_path / "rows.csv"
    if kind == "dataset":
        return ds.dataset(str(folder), format="parquet")
    path = tmp_path / "rows.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT * FROM frame")
    return path


@pytest.mark.parametrize(
    "kind", ["folder", "pattern", "pandas", "polars", "csv", "dataset", "duckdb"]
)
def test_every_source_gives_the_same_fit(kind, folder, tmp_path, expected):
    rows = scale.source(made(kind, folder, tmp_path), rows=170, **OPTIONS)
    same(Ridge(alpha=1.0).fit(rows), expected)
    together = [part for each in rows.parts() for part in each]
    assert sum(len(X) for X, *_ in together) == sum(len(X) for X, *_ in rows)


def test_a_condition_is_checked_where_rows_are_read(folder):
    table = pd.read_parquet(folder).query("count >= 4")
    expected = fitted(read(table, **OPTIONS))
    same(Ridge(alpha=1.0).fit(scale.source(folder, where="count >= 4", **OPTIONS)), expected)
    arrow = scale.source(
        ds.dataset(str(folder), format="parquet"), where=ds.field("count") >= 4, **OPTIONS
    )
    same(Ridge(alpha=1.0).fit(arrow), expected)
    for condition in ("count >=", "1=1); DROP TABLE x; --", "nothing = 3", "", 5):
        with pytest.raises(InputError, match=r"condition|nothing"):
            scale.source(folder, where=condition, **OPTIONS)


def test_a_condition_touches_no_other_file(folder, tmp_path):
    other, written = tmp_path / "other.csv", tmp_path / "written.csv"
    other.write_text("a\n1\n")
    for condition in (
        f"1=1; COPY (SELECT 1) TO '{written}'",
        f"1=1); COPY (SELECT 1) TO '{written}'; SELECT (1",
        f"count > (SELECT count(*) FROM read_csv('{other}'))",
        f"count > 0) UNION ALL SELECT * FROM read_parquet('{folder}/part0.parquet') WHERE (true",
    ):
        with pytest.raises(InputError, match="where="):
            scale.source(folder, where=condition, **OPTIONS)
    assert not written.exists()


def test_a_column_missing_in_a_whole_file_and_a_source_without_rows(folder):
    first = pd.read_parquet(folder / "part0.parquet")
    first.assign(size=None).to_parquet(folder / "part0.parquet")  # of the type null
    last = pd.read_parquet(folder / "part2.parquet")
    last.assign(size=None).to_parquet(folder / "part3.parquet")
    table = pd.concat([pd.read_parquet(each) for each in sorted(folder.iterdir())])
    expected = fitted(read(table.astype({"size": float}), **OPTIONS))
    same(Ridge(alpha=1.0).fit(scale.source(folder, **OPTIONS)), expected)
    first.iloc[:0].to_parquet(folder / "none.parquet")
    with pytest.raises(InputError, match="no rows to learn from"):
        scale.source(folder / "none.parquet", **OPTIONS)


def test_a_long_parquet_file_is_read_in_spans(folder, monkeypatch, expected, tmp_path):
    from bottega.data.read import rows as reading

    pd.read_parquet(folder).to_parquet(tmp_path / "one.parquet", row_group_size=300)
    monkeypatch.setattr(reading, "_PART", 250)
    rows = scale.source(tmp_path / "one.parquet", **OPTIONS)
    parts = rows.parts()
    assert len(parts) == 5
    same(Ridge(alpha=1.0).fit_chunks([chunk for part in parts for chunk in part]), expected)
    # A part is read as itself, not as the file that it is a span of.
    assert [len(part.parts()) for part in parts] == [1] * 5
    alone = Ridge(alpha=1.0).fit_chunks(list(parts[1]))
    np.testing.assert_allclose(Ridge(alpha=1.0).fit(parts[1]).coef_, alone.coef_, rtol=1e-9)


def test_only_columns_that_are_used_are_read(folder):
    read_columns = []
    rows = chunks(folder, target="y", ignore=["weight", "colour"])
    frames = rows._source.frames

    class Spy:
        def frames(self, columns=None, text=()):
            read_columns.append(columns)
            return frames(columns, text)

    rows._source = Spy()
    list(rows)
    assert read_columns == [["size", "count", "member", "empty_first", "day", "y"]]


def test_numbers_are_learnt_in_one_pass():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(500, 3)), columns=list("aby"))
    frame.loc[::9, "a"] = np.nan
    read_parts = []

    def part(start):
        read_parts.append(start)
        return frame[start : start + 100]

    parts = PartRows([partial(part, start) for start in range(0, 500, 100)])
    rows = chunks(parts, target="y")
    assert read_parts == [0, 100, 200, 300, 400]
    whole = Encoder(standardize=False).fit(frame[["a", "b"]])
    np.testing.assert_array_equal(rows.encoder.fill_, whole.fill_)
    np.testing.assert_array_equal(rows.encoder.marked_, whole.marked_)


@pytest.mark.parametrize("order", ["random", "sorted"])
def test_medians_of_long_columns_are_exact_in_one_pass_unless_sorted(monkeypatch, order):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=20_001), rng.integers(0, 4, 20_001).astype(float)])
    X[::5, 0] = np.nan
    if order == "sorted":
        X = np.sort(X, axis=0)
    monkeypatch.setattr(statistics, "HELD", 8_000)
    found = NumberStatistics()
    for start in range(0, len(X), 500):
        found.update(X[start : start + 500])
    again = []

    def passes():
        again.append(1)
        return [X]

    np.testing.assert_array_equal(found.medians(passes), np.nanmedian(X, axis=0))
    assert bool(again) == (order == "sorted")
    assert isinstance(found._brackets, MedianBrackets)
    some = found.take(np.array([1]))
    np.testing.assert_array_equal(some.medians(lambda: [X[:, 1:]]), np.nanmedian(X[:, 1:], axis=0))


def test_a_sample_has_the_shares_of_the_classes_whatever_the_chunks():
    n = 5_000
    frame = pd.DataFrame(
        {"x": np.arange(n) / 2, "y": np.where(np.arange(n) % 250 == 0, "rare", "b")}
    )
    drawn = [chunks(frame, target="y", rows=size).sample(500) for size in (170, 5_000)]
    pd.testing.assert_frame_equal(*drawn)
    counts = drawn[0]["y"].value_counts()
    assert counts.to_dict() == {"b": 498, "rare": 2}  # their shares of 500
    assert drawn[0]["x"].is_monotonic_increasing
    other = chunks(frame, target="y").sample(500, random_state=1)
    assert not drawn[0]["x"].equals(other["x"])
    # The mean of 498 of 5,000 rows: six standard errors, a false alarm in 5e8 runs.
    assert abs(drawn[0]["x"].mean() - n / 4) < 6 * (n / 2) / np.sqrt(12 * 500)
    assert len(chunks(frame, target="y").sample(10_000)) == n


def test_dask_frames_and_arrays(cluster, folder, expected, rows):
    pytest.importorskip("dask.array")
    import dask
    import dask.array as da
    from distributed import Client

    X, y, _, w = rows
    whole = Ridge(alpha=1.0).fit(X, y, sample_weight=w)
    arrays = [da.from_array(each, chunks=(150, 2)[: each.ndim]) for each in (X, y, w)]
    found = Ridge(alpha=1.0).fit(scale.source(arrays[0], arrays[1], weight=arrays[2]))
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-9)
    with Client(cluster, set_as_default=False) as client, scale.on(client):
        found = Ridge(alpha=1.0).fit(scale.source(arrays[0], arrays[1], weight=arrays[2]))
    np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-9)
    with pytest.raises(InputError, match="weight has 3 values and the inputs 700 rows"):
        scale.source(arrays[0], arrays[1], weight=np.ones(3))
    try:
        import dask.dataframe as dd
    except ImportError:  # some installations of Dask lack what data frames need
        return
    with dask.config.set({"dataframe.convert-string": False}):
        frame = dd.from_map(pd.read_parquet, sorted(map(str, folder.iterdir())))
        same(Ridge(alpha=1.0).fit(scale.source(frame, **OPTIONS)), expected)


def test_bad_sources(folder, tmp_path):
    with pytest.raises(InputError, match="rows=0 is not allowed"):
        scale.source(folder, rows=0, **OPTIONS)
    with pytest.raises(InputError, match="of 3 values, and the inputs are an array of 4 rows"):
        scale.source(np.ones((4, 2)), np.ones(3))
    with pytest.raises(InputError, match="kinds= is for tables"):
        scale.source(np.ones((4, 2)), np.ones(4), kinds={})
    # A file with another type, one with other columns, one that is cut short.
    last = pd.read_parquet(folder / "part2.parquet")
    last.assign(size="large").to_parquet(folder / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet.*'size' as VARCHAR.*as DOUBLE"):
        scale.source(folder, **OPTIONS)
    last.drop(columns="count").to_parquet(folder / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet.*lacks 'count'"):
        scale.source(folder, **OPTIONS)
    last.assign(more=1).to_parquet(folder / "x.parquet")
    with pytest.raises(InputError, match=r"x.parquet.*has 'more' besides"):
        scale.source(folder, **OPTIONS)
    (folder / "x.parquet").unlink()
    rows = scale.source(folder, **OPTIONS)
    whole = (folder / "part1.parquet").read_bytes()
    (folder / "part1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"part1.parquet' has another size"):
        Ridge().fit(rows)
    (folder / "part1.parquet").write_bytes(whole)
    (folder / "part2.parquet").unlink()
    pd.DataFrame({"y": [1.0]}).to_parquet(folder / "part3.parquet")
    with pytest.raises(InputError, match=r"weight|size|columns"):
        scale.source(folder / "part3.parquet", **OPTIONS)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_list_of_frames_is_a_source(make):
    x = np.sin(np.arange(40.0))
    columns = {"x": x, "town": ["a", "b", "b", "c"] * 10, "y": x**2}
    parts = [make({name: each[i : i + 15] for name, each in columns.items()}) for i in (0, 15, 30)]
    found = Ridge(alpha=1.0).fit(scale.source(parts, target="y"))
    whole = Ridge(alpha=1.0).fit(scale.source(make(columns), target="y"))
    same(found, (whole.coef_, whole.intercept_))


@pytest.mark.parametrize("each", [Ridge, TreeRegressor])
def test_rows_as_stored_are_given_to_the_pipeline_of_their_source(each):
    x = np.sin(np.arange(40.0))
    frame = pd.DataFrame({"x": x, "town": ["a", "b", "b", "c"] * 10, "y": x**2})
    rows = scale.source(frame, target="y")
    model = each().fit(rows)
    with pytest.raises(InputError, match=r"- town=a(.|\n)*source\.pipeline\(model\)"):
        model.predict(frame[["x", "town"]])
    assert len(rows.pipeline(model).predict(frame[["x", "town"]])) == 40


def test_what_is_no_table_is_refused_with_its_cure():
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"LazyFrame has no rows yet: .* by collect\(\)"):
        scale.source(pl.from_pandas(frame).lazy(), target="y")
    with pytest.raises(InputError, match="target is of type Series; of a frame give the name"):
        scale.source(frame[["x"]], frame["y"])
    with pytest.raises(InputError, match=r"requires y: .*scale\.source\(data, target"):
        Ridge().fit_chunks([frame])


def test_parts_with_other_columns():
    first = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]})
    parts = PartRows([lambda: first, lambda: first.rename(columns={"x": "z"})])
    with pytest.raises(InputError, match=r"Part 2 of the rows has other columns.*lacks 'x'"):
        chunks(parts, target="y")
    empty = PartRows([lambda: first, lambda: first[:0], lambda: first])
    assert len(list(chunks(empty, target="y"))) == 2


def test_an_unknown_option_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"source has no option 'weights'.*Did you mean 'weight'"):
        scale.source("diabetes", target="target", weights="bmi")
    with pytest.raises(InputError, match=r"no option .column.; there are target, .*ignore"):
        scale.source("diabetes", target="target", column="bmi")


def test_the_inputs_to_use(folder):
    whole = scale.source(folder, target="y", weight="weight")
    for data in (folder, pd.read_parquet(folder)):
        rows = scale.source(data, target="y", weight="weight", columns=["size", "colour"])
        assert rows.kinds == {name: whole.kinds[name] for name in ("size", "colour")}
        assert rows.ignore == {"count", "member", "empty_first", "day"}
    assert scale.source("diabetes", target="target", columns="bmi").kinds == {"bmi": "number"}
    with pytest.raises(InputError, match=r"columns names 'sise', .*Did you mean 'size'"):
        scale.source(folder, target="y", columns=["sise"])
    with pytest.raises(InputError, match="names no column to learn from"):
        scale.source(folder, target="y", columns=["y"])


def test_the_inputs_to_use_of_plain_numbers(tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(300, 3)), columns=list("aby"))
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = scale.source(tmp_path / "rows.parquet", target="y", columns=["b"])
    assert rows.at_first_sight() is not rows
    expected = Ridge(alpha=1.0).fit(frame[["b"]], frame["y"])
    np.testing.assert_allclose(Ridge(alpha=1.0).fit(rows).coef_, expected.coef_, rtol=1e-9)


@pytest.mark.parametrize("form", [str, lambda path: path])
def test_a_list_of_files_is_a_source(folder, expected, form):
    files = [form(each) for each in sorted(folder.iterdir())]
    rows = scale.source(files, **OPTIONS)
    same(Ridge(alpha=1.0).fit(rows), expected)
    assert len(rows.parts()) == 3
    assert rows.name == "part0.parquet, part1.parquet and 1 more"
    same(Ridge(alpha=1.0).fit(rows), fitted(read(files, **OPTIONS)))
    with pytest.raises(InputError, match="There is no file"):
        scale.source([*files, "nothing.parquet"], **OPTIONS)


def test_values_of_a_role_are_put_into_the_data():
    frame = pd.DataFrame(np.eye(4), columns=list("abcy"))
    for role in ("weight", "group"):
        with pytest.raises(InputError, match=rf"{role} is of type ndarray; .*as a column"):
            scale.source(frame, target="y", **{role: np.ones(4)})


def test_levels_that_follow_from_the_others_are_not_told_of(folder):
    rows = scale.source(folder, target="y", weight="weight", columns=["size", "colour"])
    model = LeastSquares().fit(rows)  # and a warning would be an error
    assert model.aliased_.sum() == 1
    twice = pd.read_parquet(folder).assign(x0=lambda frame: 2 * frame["count"])
    with pytest.warns(DataWarning, match="Collinear inputs: 'x0' can be written"):
        LeastSquares().fit(scale.source(twice, target="y", columns=["count", "x0", "colour"]))


def test_levels_that_the_rows_do_not_have(folder):
    rows = scale.source(folder, target="y", weight="weight")
    model = Ridge(alpha=1.0).fit(rows)
    new = pd.read_parquet(folder)[:30].assign(colour="green")
    with pytest.raises(InputError, match="handle_unknown='ignore'"):
        rows.pipeline(model).predict(new)
    found = rows.pipeline(model, handle_unknown="ignore").predict(new)
    assert np.isfinite(found).all()
    assert rows.encoder.handle_unknown == "error"
    with pytest.raises(InputError, match="handle_unknown is"):
        rows.pipeline(model, handle_unknown="drop")


def test_a_source_says_what_it_does_to_its_columns(tmp_path):
    n = 200
    frame = pd.DataFrame(
        {
            "key": [f"k{i:03}" for i in range(n)],
            "size": [*("12.5", "tiny"), *(f"{i}.25" for i in range(n - 2))],
            "day": ["01/31/2019", "31/01/2019"] * (n // 2),
            "same": "a",
            "x": np.linspace(0, 1, n) ** 2,
            "y": [np.nan, *np.linspace(0, 1, n - 1)],
        }
    )
    with pytest.warns(DataWarning) as told:
        rows = scale.source(frame, target="y")
    first, second = (str(each.message) for each in told)
    assert "'size' mixes numbers and 1 word" in first
    assert "'day' looks like dates" in second
    found = {each.code: each.column for each in rows.warnings}
    assert found == {
        "missing_target": "y", "id": "key", "mixed": "size", "date_format": "day",
        "constant": "same",
    }  # fmt: skip
    first, *lines = repr(rows).splitlines()
    assert first == "source(rows that are not in files, target='y')"
    assert lines[:2] == ["  size  number", "  x     number"]
    assert any("1 of 200 rows have no value of 'y'" in line for line in lines)
    table = read(frame, target="y")
    same_words = {each.message for each in table.warnings} & {e.message for e in rows.warnings}
    assert len(same_words) == 5


@pytest.mark.parametrize("classifier", [LogisticRegression, NaiveBayes, LinearDiscriminant])
def test_numbers_with_fractions_are_no_classes(classifier):
    rng = np.random.default_rng(0)
    rows = scale.source(rng.normal(size=(300, 2)), rng.normal(size=300), rows=100)
    with pytest.raises(InputError, match=r"numbers with fractions.*use a regression"):
        classifier().fit(rows)


def test_a_source_shows_where_its_rows_are(folder):
    assert repr(scale.source(folder, "y")).startswith(f"source({str(folder)!r}, target='y')\n")
    frame = pd.DataFrame(np.eye(2), columns=["a", "y"])
    found = "source(rows that are not in files, target='y')\n  a  number"
    assert repr(scale.source(frame, "y")).startswith(found)
    pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)), columns=["a", "y"]).to_parquet(
        folder / "plain.parquet"
    )  # nothing is learnt to show it
    path = str(folder / "plain.parquet")
    assert repr(scale.source(path, "y")) == f"source({path!r}, target='y')"


@pytest.mark.parametrize("of", [str, lambda path: path])
def test_the_name_of_a_file_is_no_table(folder, of):
    for model, y in ((Ridge(), None), (Ridge(), [1.0]), (KMeans(2), None)):
        with pytest.raises(InputError, match=r"rows are wanted: .* bottega.scale.source\("):
            model.fit(of(folder), y)


@pytest.mark.parametrize("change", ["gone", "another size", "new"])
@pytest.mark.parametrize("plain", [True, False])
def test_files_that_change_while_the_first_rows_are_looked_at(tmp_path, monkeypatch, change, plain):
    rng = np.random.default_rng(0)
    for number in range(4):
        frame = pd.DataFrame(rng.normal(size=(3_000, 3)), columns=list("aby"))
        if not plain:
            frame["kind"] = rng.choice(["p", "q"], len(frame))
        frame.to_parquet(tmp_path / f"part{number}.parquet")
    rows = scale.source(str(tmp_path / "*.parquet"), "y", rows=500)
    last = tmp_path / "part3.parquet"
    first_look = Chunked._check_chunks

    def look_and_change(self, chunks, **how):
        found = first_look(self, chunks, **how)
        if change == "gone":
            last.unlink(missing_ok=True)
        elif change == "another size":
            frame[:1_500].to_parquet(last)
        else:
            frame.to_parquet(tmp_path / "part4.parquet")
        return found

    monkeypatch.setattr(Chunked, "_check_chunks", look_and_change)
    with pytest.raises(InputError, match=rf"is {change}|has {change}"):
        Ridge(alpha=1.0).fit(rows)


def test_an_empty_list_of_files_is_told():
    with pytest.raises(InputError, match=r"list of files .* is empty"):
        scale.source([], target="y")


@pytest.mark.parametrize("kind", ["plain", "encoded", "csv"])
def test_a_file_of_the_same_size_written_meanwhile_is_refused(kind, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(100, 1000, (60, 3)) / 1.0, columns=["a", "b", "y"])
    frame["c"] = rng.choice(["u", "v"], 60)
    frame = frame if kind == "encoded" else frame.drop(columns="c")

    def write(path, rows):
        if kind == "csv":
            rows.to_csv(path, index=False)
        else:
            rows.to_parquet(path, compression="none")

    path = tmp_path / "rows.csv" if kind == "csv" else tmp_path / "rows.parquet"
    write(path, frame)
    size = path.stat().st_size
    rows = scale.source(path, "y")
    here = LeastSquares().fit(rows).coef_
    travelled = pickle.loads(pickle.dumps(rows))
    write(path, frame.assign(a=frame["a"].sample(frac=1, random_state=0).to_numpy()))
    os.utime(path, ns=(1, 1))
    assert path.stat().st_size == size
    with pytest.raises(InputError, match="was written again"):
        LeastSquares().fit(rows)
    # Elsewhere there may be a copy of the file, which was written at another time.
    assert not np.allclose(LeastSquares().fit(travelled).coef_, here)
    path.unlink()
    with pytest.raises(InputError, match="is gone"):
        LeastSquares().fit(rows)


@pytest.mark.parametrize("stored", ["files", "frame", "gaps"])
def test_labels_that_are_whole_numbers_stay_such(stored, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    frame["k"] = np.arange(90) % 3
    if stored == "gaps":
        frame["k"] = frame["k"].astype("Int64")
        frame.loc[4, "k"] = pd.NA
    frame[:40].to_parquet(tmp_path / "0.parquet")
    frame[40:].to_parquet(tmp_path / "1.parquet")
    rows = scale.source(frame if stored == "frame" else tmp_path, "k", rows=30)
    model = LinearDiscriminant().fit(rows)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.classes_.dtype.kind == "i"
    assert rows.pipeline(model).predict(frame).dtype.kind == "i"


@pytest.mark.parametrize(("words", "sep"), [("unknown", ","), ("n.d.", ";")])
def test_words_for_a_missing_target_are_told(words, sep, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=90).round(3), "y": rng.normal(size=90).round(2)})
    written = frame["y"].map(str)
    written[::9] = words
    text = frame.assign(y=written).to_csv(index=False, sep=sep)
    (tmp_path / "rows.csv").write_text(text.replace(".", ",") if sep == ";" else text)
    if sep == ";":
        text = (tmp_path / "rows.csv").read_text().replace("n,d,", "n.d.")
        (tmp_path / "rows.csv").write_text(text)
    rows = scale.source(tmp_path / "rows.csv", "y")
    told = [each.message for each in rows.warnings]
    assert told == ["10 of 90 rows have no value of 'y' and were left out."]
    assert told == [each.message for each in read(tmp_path / "rows.csv", target="y").warnings][:1]


def test_a_column_in_another_unit_is_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(50, 3)), columns=["a", "b", "y"])
    frame["a"] *= 1e-200
    frame.insert(0, "town", rng.choice(["bari", "lecce"], 50))
    with pytest.warns(DataWarning, match=r"Column 'a' is taken in units of .*pipeline"):
        rows = scale.source(frame, "y")
    assert [each.code for each in rows.warnings] == ["unit"]
    model = LeastSquares().fit(rows)
    inputs = frame[["a", "b"]].to_numpy() * [1e200, 1.0]
    inputs = np.column_stack([inputs, frame["town"] == "bari"])
    expected = LeastSquares().fit(inputs, frame["y"]).predict(inputs)
    np.testing.assert_allclose(rows.pipeline(model).predict(frame), expected, rtol=1e-9)


@pytest.mark.parametrize("name", ["run[1]/p.parquet", "p*.parquet", "p?.csv"])
def test_a_condition_on_files_with_signs_of_patterns_in_their_names(name, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 3)), columns=["a", "b", "y"])
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    frame.to_csv(path, index=False) if name.endswith("csv") else frame.to_parquet(path)
    found = LeastSquares().fit(scale.source(path, "y", where="a > 0")).coef_
    some = frame[frame["a"] > 0]
    np.testing.assert_allclose(found, LeastSquares().fit(some[["a", "b"]], some["y"]).coef_)


def test_lists_in_one_file_and_numbers_in_another(tmp_path):
    frame = pd.DataFrame({"a": [1.0, 2.0, 4.0], "y": [1.0, 2.0, 3.0]})
    frame.to_parquet(tmp_path / "0.parquet")
    frame.assign(a=[[1.0], [2.0], [4.0]]).to_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError, match=r"'a' as DOUBLE\[\].*write both with the same type"):
        scale.source(tmp_path, "y")


@pytest.mark.parametrize("rows", [10, 100, 1000])
def test_labels_that_floats_do_not_tell_apart(rows, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    frame["k"] = pd.array(2**53 + (frame["a"] > 0).astype(int), dtype="Int64")
    counts = frame["k"].drop(range(590, 594)).value_counts().sort_index()
    frame.loc[590:593, "k"] = pd.NA
    frame.to_parquet(tmp_path / "rows.parquet")
    model = LinearDiscriminant().fit(scale.source(tmp_path, "k", rows=rows))
    assert model.classes_.tolist() == counts.index.tolist() == [2**53, 2**53 + 1]
    np.testing.assert_allclose(model.priors_, counts / counts.sum())
    encoded = scale.source(tmp_path, "k", rows=rows, kinds={"a": "number"})
    assert LinearDiscriminant().fit(encoded).classes_.tolist() == [2**53, 2**53 + 1]
    y = frame["k"].dropna().to_numpy(dtype=np.int64)
    X = frame[["a", "b"]].to_numpy()[:596]
    with pytest.raises(InputError, match="whole numbers in some chunks and rounded in others"):
        LinearDiscriminant().fit_chunks([(X, y), (X, y.astype(float))])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_file_that_is_written_again_during_the_last_pass(kind, tmp_path):
    frame = pd.DataFrame(np.random.default_rng(0).integers(100, 1000, (400, 3)) / 1.0)
    frame.columns = ["a", "b", "y"]
    path = tmp_path / f"rows.{kind}"

    def write(rows):
        if kind == "csv":
            rows.to_csv(path, index=False)
        else:
            rows.to_parquet(path, compression="none")

    write(frame)
    rows = scale.source(path, "y", rows=50)
    assert rows.kinds  # learnt before the pass
    chunks_of_rows = iter(rows)
    next(chunks_of_rows)
    write(frame.assign(a=frame["a"] + 1))
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="was written again"):
        list(chunks_of_rows)


def test_a_target_alone_is_told(tmp_path):
    pd.DataFrame({"y": [1.0, 2.0, 3.0]}).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(InputError, match="No column is left to learn from"):
        LeastSquares().fit(scale.source(tmp_path, target="y"))


@pytest.mark.parametrize("where", ["a > ?", "a > $1"])
def test_a_condition_without_values_for_its_parameters(where, tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 3.0]}).to_csv(tmp_path / "rows.csv", index=False)
    with pytest.raises(InputError, match=r"has a parameter .* write the value"):
        scale.source(tmp_path / "rows.csv", target="y", where=where)


@pytest.mark.parametrize("stored", ["files", "frame"])
def test_small_whole_numbers_are_responses_without_overflow(stored, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    frame["y"] = np.clip(60 + 30 * frame["a"], -120, 120).round().astype("int8")
    frame.to_parquet(tmp_path / "0.parquet")
    rows = scale.source(frame if stored == "frame" else tmp_path, "y", rows=50)
    inputs = frame[["a", "b"]]
    for model in (LeastSquares(), TreeRegressor(max_depth=3, thresholds="binned")):
        score = scale.score(model.fit(rows), rows)
        whole = model.fit(inputs, frame["y"].astype(float))
        assert score == pytest.approx(whole.score(inputs, frame["y"].astype(float)), rel=1e-9)


def test_a_file_is_named_once(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 3.0]}).to_csv(path, index=False)
    (tmp_path / "link.csv").symlink_to(path)
    for make in (read, scale.source):
        with pytest.raises(InputError, match="is named twice"):
            make([path, tmp_path / "link.csv"], target="y")


@pytest.mark.parametrize("data", [42, iter([]), object()])
def test_what_holds_no_rows_is_refused(data):
    with pytest.raises(InputError, match="neither files nor a table"):
        scale.source(data, "y")
