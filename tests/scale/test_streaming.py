"""Scores and predictions in bounded memory, and folders that are whole or not there."""

import os
import pickle
import shutil
from contextlib import nullcontext
from copy import deepcopy

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.model_selection import cross_val_score

from bottega import scale
from bottega.classify import LinearDiscriminant
from bottega.core.errors import InputError, ParameterError
from bottega.data.parquet_folder import ParquetFolder
from bottega.linear import LeastSquares, Ridge
from bottega.text import StemMatrix


@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_those_of_all_rows(rows, weighted):
    X, y, label, w = rows
    w = w if weighted else None
    for model, target in ((LeastSquares(), y), (LinearDiscriminant(), label)):
        model.fit(X, target)
        expected = model.score(X, target, sample_weight=w)
        found = scale.score(model, scale.source(X, target, weight=w, rows=90))
        assert found == pytest.approx(expected, rel=1e-12)
        with_empty = [(X[:0], target[:0]), (X, target)]
        assert scale.score(model, with_empty) == pytest.approx(model.score(X, target), rel=1e-12)


def test_scores_are_made_by_the_workers(rows, cluster):
    X, y, _, _ = rows
    model = Ridge().fit(X, y)
    with scale.on(cluster):
        found = scale.score(model, scale.source(X, y, rows=90))
    assert found == pytest.approx(model.score(X, y), rel=1e-12)


def test_the_model_comes_before_its_rows(rows):
    X, y, _, _ = rows
    source = scale.source(X, y, rows=90)
    with pytest.raises(InputError, match=r"model comes first: scale.score\(model, source\)"):
        scale.score(source, Ridge().fit(X, y))


def test_what_has_no_score(rows):
    from bottega.latent import PCA

    X, y, _, _ = rows
    with pytest.raises(InputError, match="neither a classifier nor a regressor"):
        scale.score(PCA(2).fit(X), [(X, y)])
    with pytest.raises(InputError, match="no responses to judge by"):
        scale.score(Ridge().fit(X, y), scale.source(X))
    with pytest.raises(InputError, match="no rows to judge"):
        scale.score(Ridge().fit(X, y), [(X[:0], y[:0])])


@pytest.fixture
def model(folder):
    rows = scale.source(folder, target="y", weight="weight")
    return rows.pipeline(Ridge(alpha=1.0).fit(rows))


def test_predictions_of_a_folder(folder, tmp_path, model):
    whole = pd.read_parquet(folder)
    expected = model.predict(whole)
    count = scale.predict_to(model, folder, tmp_path / "out", ids=["size", "day"], rows=100)
    found = pd.read_parquet(tmp_path / "out")
    assert count == len(found) == len(whole)
    np.testing.assert_allclose(found["prediction"], expected, rtol=1e-12)
    np.testing.assert_array_equal(found["size"], whole["size"])
    assert found["day"].tolist() == whole["day"].tolist()
    assert sorted(os.listdir(tmp_path)) == ["out", "rows"]


def test_a_failure_leaves_nothing_behind(folder, tmp_path, model, monkeypatch):
    late = pd.read_parquet(folder / "part2.parquet").assign(colour="never seen")
    late.to_parquet(folder / "part3.parquet")
    with pytest.raises(InputError, match="never seen when the model was learnt"):
        scale.predict_to(model, folder, tmp_path / "out", rows=100)
    assert os.listdir(tmp_path) == ["rows"]
    (folder / "part3.parquet").unlink()

    import pyarrow.parquet as parquet

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match=r"No space left on device. Nothing was left of it"):
        scale.predict_to(model, folder, tmp_path / "out")
    assert os.listdir(tmp_path) == ["rows"]


def test_predictions_are_one_per_row_and_of_one_type(folder, tmp_path):
    class Odd:
        columns = ("size",)

        def __init__(self, *made):
            self._made = iter(made)

        def predict(self, frame):
            return next(self._made)(len(frame))

    out = tmp_path / "out"
    with pytest.raises(InputError, match="gave 3 values of 'prediction' for 400 rows"):
        scale.predict_to(Odd(lambda _: np.zeros(3)), folder, out, rows=100)
    for first in (int, bool):
        kinds = [lambda n, kind=first: np.zeros(n, dtype=kind), lambda n: np.full(n, 0.5)]
        with pytest.raises(InputError, match="not of the types that the first block has"):
            scale.predict_to(Odd(*kinds), folder, out, rows=100)
    assert os.listdir(tmp_path) == ["rows"]


@pytest.mark.parametrize("made", [None, 0.5, "no"])
def test_what_is_no_column(made, folder, tmp_path):
    with pytest.raises(InputError, match="gave no values of 'made' for 1200 rows"):
        scale.predict_to(None, folder, tmp_path / "out", columns=lambda _: {"made": made})


def test_a_name_that_no_folder_can_have(folder, tmp_path, model):
    with pytest.raises(InputError, match="Cannot write the folder"):
        scale.predict_to(model, folder, tmp_path / ("n" * 300))


def test_what_cannot_be_written(folder, tmp_path, model):
    def odd(frame):
        return {"made": [object()] * len(frame)}

    with pytest.raises(InputError, match=r"cannot be written .* give numbers, texts or dates"):
        scale.predict_to(model, folder, tmp_path / "out", columns=odd)
    with pytest.raises(InputError, match=r"columns= gave ndarray.*a dict of columns"):
        scale.predict_to(model, folder, tmp_path / "out", columns=model.predict)
    with pytest.raises(InputError, match="StemMatrix predicts nothing"):
        scale.predict_to(StemMatrix(), folder, tmp_path / "out")
    with pytest.raises(InputError, match="gave 1200x2 values of 'prediction' for 1200 rows"):
        scale.predict_to(
            model, folder, tmp_path / "out", columns=lambda f: {"prediction": np.zeros((len(f), 2))}
        )
    assert scale.predict_to(model, folder, tmp_path / "named", ids="size") == 1200
    assert list(pd.read_parquet(tmp_path / "named")) == ["size", "prediction"]
    shutil.rmtree(tmp_path / "named")
    with ParquetFolder(tmp_path / "blocks") as out:
        out.write({"id": np.array([1, 2]), "flag": np.array([True, False]), "x": [0.5, 1.5]})
        out.write({"x": np.array([1, 2]), "flag": [None, None], "id": np.array([3, 4])})
        for odd in ({"id": ["00", "01"]}, {"flag": [1, 0]}, {"x": [2**53 + 1, 0]}):
            with pytest.raises(InputError, match="not of the types that the first block has"):
                out.write({"id": [5, 6], "flag": [True, True], "x": [0.5, 0.5], **odd})
        with pytest.raises(InputError, match="not those of the first block"):
            out.write({"id": [5, 6]})
    assert pd.read_parquet(tmp_path / "blocks")["id"].tolist() == [1, 2, 3, 4]
    shutil.rmtree(tmp_path / "blocks")
    with pytest.raises(InputError, match="names a column twice"):
        scale.predict_to(model, folder, tmp_path / "out", ids=["size", "size"])
    assert os.listdir(tmp_path) == ["rows"]


@pytest.mark.parametrize("how", ["here", "processes"])
def test_rows_of_other_files_are_judged_as_those_of_the_fit_were_encoded(how, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "code"])
    frame["code"] = rng.choice(["007", "7", "x"], 400)
    frame["y"] = frame["a"] + (frame["code"] == "7") + rng.normal(size=400)
    frame.loc[::5, "a"] = np.nan
    train, test = frame[:200], frame[200:].copy()
    test["a"] += 5  # other medians
    test["code"] = np.where(test["code"] == "x", "7", test["code"])  # fewer levels, all digits
    train.to_csv(tmp_path / "train.csv", index=False)
    test[:100].to_csv(tmp_path / "test0.csv", index=False)
    test[100:].to_csv(tmp_path / "test1.csv", index=False)
    rows = scale.source(tmp_path / "train.csv", "y")
    model = Ridge(alpha=1.0).fit(rows)
    pipeline = rows.pipeline(model)
    expected = pipeline.score(test[["a", "code"]], test["y"])
    others = scale.source(tmp_path / "test*.csv", "y")
    with nullcontext() if how == "here" else scale.on(how, workers=2):
        assert scale.score(pipeline, others) == pytest.approx(expected, rel=1e-9)
        here = scale.score(pipeline, rows)
        assert here == pytest.approx(scale.score(model, rows), rel=1e-9)
        again = scale.source(tmp_path / "train.csv", "y")
        assert here == pytest.approx(scale.score(model, again), rel=1e-9)
        for each in (model, deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert here == pytest.approx(scale.score(each, deepcopy(rows)), rel=1e-9)
            with pytest.raises(InputError, match=r"encoded by what they hold themselves.*pipeline"):
                scale.score(each, others)


def test_other_files_of_complete_numbers_are_encoded_alike(tmp_path):
    rng = np.random.default_rng(0)
    for name, shift in (("train", 0), ("test", 5)):
        frame = pd.DataFrame(rng.normal(size=(200, 2)) + shift, columns=["a", "b"])
        frame["y"] = frame["a"] - frame["b"] + rng.normal(size=200)
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet")
    for kind in ("csv", "parquet"):
        model = LeastSquares().fit(scale.source(tmp_path / f"train.{kind}", "y"))
        test = pd.read_csv(tmp_path / "test.csv")
        expected = model.score(test[["a", "b"]], test["y"])
        for other in ("csv", "parquet"):
            others = scale.source(tmp_path / f"test.{other}", "y")
            assert scale.score(model, others) == pytest.approx(expected, rel=1e-9)
    # Gaps that the footer does not tell of are met in the fit.
    gaps = [pa.table({"a": rng.normal(size=90) + s, "y": rng.normal(size=90)}) for s in (0, 5)]
    for number, table in enumerate(gaps):
        values = table.column("a").to_numpy().copy()
        values[::4] = np.nan
        table = table.set_column(0, "a", pa.array(values))
        pq.write_table(table, tmp_path / f"gaps{number}.parquet", write_statistics=True)
    rows, others = (scale.source(tmp_path / f"gaps{n}.parquet", "y") for n in (0, 1))
    model = LeastSquares().fit(rows)
    with pytest.raises(InputError, match="encoded by what they hold themselves"):
        scale.score(model, others)


def test_what_predictions_do_not_take(folder, tmp_path, model):
    with pytest.raises(ParameterError, match=r"no option 'handle_unknown'.*source\.pipeline"):
        scale.predict_to(model, folder, tmp_path / "out", handle_unknown="ignore")
    with pytest.raises(ParameterError, match=r"no option 'decimals'.*'decimal'"):
        scale.predict_to(model, folder, tmp_path / "out", decimals=",")
    rows = scale.source(folder, "y")
    with pytest.raises(InputError, match="as they are stored: give the files"):
        scale.predict_to(model, rows, tmp_path / "out")
    with pytest.raises(InputError, match=r"A source is read in chunks.*scale\.score"):
        model.predict(rows)
    with pytest.raises(InputError, match="A source is read in chunks"):
        cross_val_score(model, rows, cv=2)


def test_links_and_odd_names_of_folders(tmp_path, monkeypatch):
    (tmp_path / "place").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "place")
    (tmp_path / "later").symlink_to(tmp_path / "new")
    for name, place in (("link", "place"), ("later", "new")):
        with ParquetFolder(tmp_path / name) as out:
            out.write({"x": [1.0]})
        assert (tmp_path / name).is_symlink()
        assert len(pd.read_parquet(tmp_path / place)) == 1
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="the folder that this process works in"):
        ParquetFolder(".")
    with pytest.raises(InputError, match="null character"):
        ParquetFolder("a\0b")


def test_folders_that_cannot_be_written(folder, tmp_path, model):
    with pytest.raises(InputError, match="exists already"):
        scale.predict_to(model, folder, folder)
    with pytest.raises(InputError, match="There is no folder"):
        scale.predict_to(model, folder, tmp_path / "a" / "b")
    with pytest.raises(InputError, match=r"no column 'sze' to copy.*'size'"):
        scale.predict_to(model, folder, tmp_path / "out", ids=["sze"])
    (tmp_path / "empty").mkdir()
    with ParquetFolder(tmp_path / "empty") as out:
        out.write({"x": [1.0]})
    assert len(pd.read_parquet(tmp_path / "empty")) == 1
