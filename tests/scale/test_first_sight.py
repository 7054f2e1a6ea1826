"""Parquet files of numbers are fitted in one pass, and as any others where footers mislead."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bottega import scale
from bottega.classify import LinearDiscriminant, NaiveBayes
from bottega.core.errors import InputError
from bottega.data import plain_numbers
from bottega.data.read import batches
from bottega.data.read.stored_numbers import StoredNumbers
from bottega.linear import LeastSquares, Ridge
from bottega.linear import ridge as ridge_module
from bottega.linear._decomposition import coefficients

ROWS = 3_000


@pytest.fixture(params=[{}, {"compression": None, "use_dictionary": ["label"]}], ids=str)
def how(request):
    """How files are written: compressed, or with numbers as they are."""
    return request.param


@pytest.fixture
def frame(how):
    rng = np.random.default_rng(0)
    found = pd.DataFrame(rng.normal([0, 5, 1e4, 0], size=(ROWS, 4)), columns=list("abcd"))
    found["whole"] = rng.integers(0, 9, ROWS).astype(float if how else int)
    found.attrs = how
    found["y"] = found["a"] - 2 * found["b"] + rng.normal(size=ROWS)
    found["label"] = np.where(found["a"] + rng.normal(size=ROWS) > 0, "yes", "no")
    return found


@pytest.fixture
def rows_read(monkeypatch):
    """The number of rows of each batch that was read."""
    found, of_file, read = [], batches._of_file, StoredNumbers.read

    def counted(path, types, *given):
        for batch in of_file(path, types, *given):
            if set(types) != {"label"}:  # read beside numbers that are stored as they are
                found.append(batch.num_rows)
            yield batch

    def counted_too(self, out):
        found.append(len(out[0]))
        return read(self, out)

    monkeypatch.setattr(batches, "_of_file", counted)
    monkeypatch.setattr(StoredNumbers, "read", counted_too)
    return found


def stored(frame, tmp_path, files=3):
    for number, part in enumerate(np.array_split(np.arange(len(frame)), files)):
        path = tmp_path / f"{number}.parquet"
        frame.iloc[part].to_parquet(path, row_group_size=400, **frame.attrs)
    return tmp_path


def source(frame, tmp_path, target="y", **more):
    ignore = [name for name in ("y", "label") if name != target]
    return scale.source(stored(frame, tmp_path), target, ignore=ignore, rows=250, **more)


def same_fit(model, frame, rows, target="y"):
    """Compare a fit of files with that of the frame that they hold, encoded as any frame is."""
    ignore = [name for name in ("y", "label") if name != target]
    expected = model.fit(scale.source(frame, target, ignore=ignore))
    coef, intercept = np.copy(expected.coef_), np.copy(expected.intercept_)
    found = model.fit(rows)
    np.testing.assert_allclose(found.coef_, coef, rtol=1e-9)
    np.testing.assert_allclose(found.intercept_, intercept, rtol=1e-9)


def test_ends_are_those_of_all_files(frame, tmp_path):
    rows = source(frame, tmp_path).at_first_sight()
    X = frame.drop(columns=["y", "label"])
    expected = list(zip(X.min().tolist(), X.max().tolist(), strict=True))
    assert rows.ends == expected
    assert rows.parts()[0].ends == expected
    assert source(frame, tmp_path).ends is None  # what is encoded is not what the files hold


def test_files_that_do_not_tell_ends_have_none(frame, tmp_path):
    table = pa.Table.from_pandas(frame.drop(columns="label"))
    pq.write_table(table, tmp_path / "rows.parquet", write_statistics=False)
    assert scale.source(tmp_path / "rows.parquet", "y").at_first_sight().ends is None


def test_a_fit_is_one_pass_and_nothing_is_read_before_it(frame, tmp_path, rows_read, monkeypatch):
    monkeypatch.setattr(coefficients, "MOST_ORDERED", 100)  # as for more than a million rows
    monkeypatch.setattr(ridge_module, "MOST_ORDERED", 100)
    rows = source(frame, tmp_path)
    assert not rows_read
    X, y = frame.drop(columns=["y", "label"]), frame["y"]
    for model in (LeastSquares(method="cholesky"), Ridge(select="gcv")):
        rows_read.clear()
        fitted = model.fit(rows)
        assert sum(rows_read) <= ROWS + 4 * 250  # the first chunks are looked at beforehand
        coef, summed = fitted.coef_, fitted.smoother_
        whole = model.fit(X, y)
        np.testing.assert_allclose(coef, whole.coef_, rtol=1e-9)
        np.testing.assert_allclose(summed.rss, whole.smoother_.rss, rtol=1e-9)
        # Generalised cross-validation stands in for leave-one-out: they differ by a share of p/n.
        assert summed.loo == pytest.approx(whole.smoother_.loo, rel=2 * 6 / ROWS)


def test_the_encoder_is_learnt_when_it_is_asked_for(frame, tmp_path, rows_read):
    rows = source(frame, tmp_path)
    model = Ridge(alpha=1.0).fit(rows)
    before = sum(rows_read)
    piped = rows.pipeline(model)
    assert sum(rows_read) >= before + ROWS
    new = frame.drop(columns=["y", "label"]).head(3).astype(float)
    new.iloc[0, 0] = np.nan
    filled = new.fillna({"a": frame["a"].median()})
    np.testing.assert_allclose(piped.predict(new), model.predict(filled), rtol=1e-12)
    assert rows.kinds == dict.fromkeys(["a", "b", "c", "d", "whole"], "number")


@pytest.mark.parametrize("place", [0, ROWS - 1])
def test_a_missing_number_that_no_footer_tells_of(frame, tmp_path, place):
    frame.loc[place, "b"] = np.nan
    columns = {name: pa.array(frame[name].to_numpy(), from_pandas=False) for name in frame}
    pq.write_table(pa.table(columns), tmp_path / "one.parquet", row_group_size=400, **frame.attrs)
    rows = scale.source(tmp_path / "one.parquet", "y", ignore=["label"], rows=250)
    same_fit(Ridge(alpha=1.0), frame, rows)
    assert "b is missing" in rows.encoder.get_feature_names_out()


def test_infinite_numbers_are_refused_as_ever(frame, tmp_path):
    frame.loc[ROWS - 2, "d"] = np.inf
    with pytest.raises(InputError, match="'d'"):
        Ridge(alpha=1.0).fit(source(frame, tmp_path))


def test_rows_without_a_response_and_keys_are_left_out(frame, tmp_path):
    frame["number"] = np.arange(ROWS)  # consecutive: a key
    frame.loc[::7, "y"] = np.nan
    rows = source(frame, tmp_path)
    same_fit(Ridge(alpha=1.0), frame, rows)
    assert "number" not in rows.kinds


def test_classes_that_come_late(frame, tmp_path, rows_read):
    ordered = frame.sort_values("label", ignore_index=True)
    ordered.loc[ROWS - 1, "label"] = "maybe"
    ordered.loc[5, "label"] = None
    rows = source(ordered, tmp_path, "label")
    same_fit(LinearDiscriminant(shrinkage=0), ordered, rows, "label")
    model = NaiveBayes().fit(rows)
    known = ordered.dropna()
    whole = NaiveBayes().fit(known.drop(columns=["y", "label"]), known["label"])
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    np.testing.assert_allclose(model.theta_, whole.theta_, rtol=1e-9)
    np.testing.assert_allclose(model.var_, whole.var_, rtol=1e-9)


def test_a_file_that_changes_after_the_source_was_made(frame, tmp_path):
    rows = source(frame, tmp_path)
    frame.drop(columns="c").to_parquet(tmp_path / "1.parquet")
    with pytest.raises(InputError):
        Ridge(alpha=1.0).fit(rows)


def test_missing_labels_of_a_late_chunk_are_named():
    X, label = np.arange(12.0)[:, None], np.array(["no", "yes"] * 6, dtype=object)
    label[9] = None
    chunks = [(X[:6], label[:6]), (X[6:], label[6:])]
    with pytest.raises(InputError, match="Chunk 2 cannot be used: y has 1 missing label"):
        LinearDiscriminant().fit_chunks(chunks)
    weight = np.where(np.arange(12) < 6, 0.0, 1.0)
    label[9] = "yes"
    chunks = [(X[:6], label[:6], weight[:6]), (X[6:], label[6:], weight[6:])]
    assert LinearDiscriminant().fit_chunks(chunks).classes_.tolist() == ["no", "yes"]


@pytest.mark.parametrize("group", [100, 250, 1_000, 3_000])
def test_groups_of_rows_and_pieces_of_them_do_not_matter(frame, tmp_path, monkeypatch, group):
    monkeypatch.setattr(plain_numbers, "_PIECE", 400)
    monkeypatch.setattr(plain_numbers, "_LEAST", 10)
    for number, part in enumerate(np.array_split(np.arange(ROWS), 2)):
        path = tmp_path / f"{number}.parquet"
        frame.iloc[part].to_parquet(path, row_group_size=group, **frame.attrs)
    for model, target in ((LeastSquares(), "y"), (LinearDiscriminant(shrinkage=0), "label")):
        ignore = [name for name in ("y", "label") if name != target]
        same_fit(model, frame, scale.source(tmp_path, target, ignore=ignore, rows=250), target)


def test_kept_chunks_are_not_written_over(frame, tmp_path):
    rows = source(frame, tmp_path).at_first_sight()
    assert isinstance(rows, plain_numbers.PlainNumbers)
    kept = list(rows)
    inputs = pd.concat([X for X, _ in kept], ignore_index=True)
    expected = frame[inputs.columns].astype(float)
    pd.testing.assert_frame_equal(inputs, expected, check_column_type=False)
    np.testing.assert_array_equal(np.concatenate([y for _, y in kept]), frame["y"])


def test_a_missing_number_in_the_last_piece_of_the_last_file(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(plain_numbers, "_PIECE", 400)
    monkeypatch.setattr(plain_numbers, "_LEAST", 10)
    frame.loc[ROWS - 1, "b"] = np.nan
    same_fit(LeastSquares(), frame, source(frame, tmp_path))


def test_texts_are_no_response_of_a_regression(frame, tmp_path):
    files = source(frame, tmp_path, "label")
    for rows in (files, scale.source(frame, "label", ignore=["y"])):
        for model in (LeastSquares(), Ridge(alpha=1.0)):
            with pytest.raises(InputError, match="cannot be used: y holds texts such as"):
                model.fit(rows)
