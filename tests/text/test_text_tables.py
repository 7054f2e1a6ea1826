"""A column of texts beside others: tables, encoders, comparisons, reports."""

import importlib.util

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

import bottega
from bottega import scale
from bottega.classify import LinearDiscriminant, LogisticRegression
from bottega.data import Encoder, Table, convert
from bottega.data._inspect.chunk_kinds import ChunkedColumn
from bottega.data.prepare import encoder_for, prepare
from bottega.text import StemMatrix, TextCleaner
from bottega.tree import TreeClassifier

GOOD, BAD = ["great", "excellent", "loved", "amazing"], ["awful", "boring", "hated", "poor"]
FILL = ["the", "film", "was", "and", "plot", "with", "actors", "a", "story", "of", "scenes"]
KINDS = {"review": "text", "x": "number", "city": "category"}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    good = rng.random(80) < 0.5
    reviews = [
        " ".join(rng.permutation([*rng.choice(GOOD if g else BAD, 2), *rng.choice(FILL, 8)]))
        for g in good
    ]
    reviews[0] = "<script>alert('x')</script> " + reviews[0]
    return pd.DataFrame(
        {
            "review": reviews,
            "x": rng.normal(size=80),
            "city": rng.choice(["Roma", "Pisa"], 80),
            "label": np.where(good, "for", "against"),
        }
    )


def test_a_text_column_is_kept(frame):
    for data in (frame, pl.from_pandas(frame)):
        table = Table(data, target="label")
        assert table.kinds == KINDS
        (note,) = [each for each in table.warnings if each.code == "text"]
        assert "'review' holds free text" in note.message
        assert "20 commonest stems" in note.message  # one for four rows
    assert Table(frame, target="label", ignore="review").kinds == {
        "x": "number",
        "city": "category",
    }


def test_without_the_library_texts_are_left_out(frame, monkeypatch):
    found = importlib.util.find_spec
    gone = lambda name: None if name == "snowballstemmer" else found(name)  # noqa: E731
    monkeypatch.setattr("bottega.data._inspect.notes.find_spec", gone)
    table = Table(frame, target="label")
    assert "review" not in table.features
    assert any("bottega[text]" in each.message for each in table.warnings)


def test_stems_are_learnt_on_the_rows_of_the_fit(frame):
    train, test = frame[list(KINDS)].iloc[:60], frame[list(KINDS)].iloc[60:]
    encoder = Encoder(kinds=KINDS, handle_unknown="ignore").fit(train)
    names = encoder.get_feature_names_out().tolist()
    stems = [name.removeprefix("review: ") for name in names if name.startswith("review: ")]
    assert len(stems) == 13  # all but the stop words
    few = Encoder(kinds=KINDS).fit(train.iloc[:24])
    assert len(few.get_feature_names_out()) == 6 + 3  # one for four rows
    # The same weights as scikit-learn's, of the same stems.
    cleaner = TextCleaner("english").fit(train["review"])
    peer = TfidfVectorizer(vocabulary=stems, tokenizer=str.split, token_pattern=None)
    peer.fit(cleaner.transform(train["review"]))
    expected = peer.transform(cleaner.transform(test["review"])).toarray()
    found = encoder.transform(test)
    assert np.array_equal(found[:, : len(stems)], expected)
    assert names[-3:] == ["x", "city=Pisa", "city=Roma"]
    again = encoder.transform(test.assign(review=[None, *["zzz"] * 19]))
    assert not again[:, : len(stems)].any()


def test_methods_that_take_categories_get_stems_in_a_frame(frame):
    table = Table(frame, target="label")
    encoder = encoder_for(TreeClassifier.card, table)
    found = encoder.fit_transform(table.X)
    assert found["city"].tolist() == frame["city"].tolist()
    assert [name for name in found.columns if name.startswith("review: ")]
    model = prepare(TreeClassifier(), table).fit(table.X, table.y)
    assert np.mean(model.predict(table.X) == table.y) > 0.9
    assert encoder_for(StemMatrix.card, table) is None  # it takes the texts themselves


def test_stems_take_no_name_of_another_column(frame):
    rng = np.random.default_rng(0)
    given = frame[["review", "label"]].assign(
        **{"review: film": rng.normal(size=80), "review: plot": rng.choice(["u", "v"], 80)}
    )
    table = Table(given, target="label")
    for card in (TreeClassifier.card, LogisticRegression.card):
        encoder = encoder_for(card, table)
        found = encoder.fit_transform(table.X)
        names = encoder.get_feature_names_out().tolist()
        assert len(set(names)) == len(names) == found.shape[1]
        assert {"review: film", "review: film'"} <= set(names)
        own = np.asarray(found)[:, names.index("review: film")].astype(float)
        assert abs(np.corrcoef(own, given["review: film"])[0, 1]) == pytest.approx(1)


def test_texts_without_common_stems_give_no_columns():
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    words = ["".join(rng.choice(letters, 9)) for _ in range(240)]
    texts = [" ".join(words[4 * i : 4 * i + 4]) for i in range(60)]
    frame = pd.DataFrame({"note": texts, "x": rng.normal(size=60)})
    encoder = Encoder(kinds={"note": "text", "x": "number"}).fit(frame)
    assert encoder.get_feature_names_out().tolist() == ["x"]
    assert encoder.transform(frame).shape == (60, 1)


def test_texts_in_chunks_are_those_of_all_rows(frame):
    whole = Encoder(kinds=KINDS).fit(frame[list(KINDS)])
    parts = [frame[list(KINDS)].iloc[rows] for rows in (slice(30), slice(30, 33), slice(33, 80))]
    found = Encoder(kinds=KINDS).fit_chunks(parts)
    assert found.get_feature_names_out().tolist() == whole.get_feature_names_out().tolist()
    assert len(found.stems_[0].stems) > 10
    assert np.allclose(found.transform(frame), whole.transform(frame), rtol=1e-12)


def test_a_source_with_texts(frame, tmp_path):
    given = frame.assign(second=frame["review"].str[::-1])
    given.loc[3:5, "label"] = None  # whose texts teach nothing
    given.to_csv(tmp_path / "rows.csv", index=False)
    rows = scale.source(tmp_path / "rows.csv", target="label", rows=17)
    assert rows.kinds == {**KINDS, "second": "text"}
    kept = given.dropna(subset="label")
    encoder = Encoder(standardize=False, kinds=rows.kinds).fit(kept[list(rows.kinds)])
    names = encoder.get_feature_names_out().tolist()
    assert names == rows.encoder.get_feature_names_out().tolist()
    expected = LinearDiscriminant(shrinkage=0.1).fit(encoder.transform(kept), kept["label"])
    model = LinearDiscriminant(shrinkage=0.1).fit(rows)
    # Sums of chunks are taken in another order.
    assert np.allclose(model.coef_, expected.coef_, rtol=1e-6, atol=1e-8)
    found = rows.pipeline(model).predict(frame.assign(second=frame["review"].str[::-1]))
    assert np.mean(found == frame["label"]) > 0.9
    assert (
        "review" not in scale.source(tmp_path / "rows.csv", target="label", ignore="review").kinds
    )


def test_many_texts_in_chunks_are_not_kept(frame, monkeypatch):
    monkeypatch.setattr("bottega.data._inspect.chunk_kinds._MANY", 40)
    column = ChunkedColumn("review")
    for start in range(0, 80, 20):
        column.update(convert.as_frame(frame)["review"][start : start + 20])
    assert not column.levels
    assert column.profile().kind == "text"
    labels = ChunkedColumn("key")  # a key stays one, however long
    for start in range(0, 200, 20):
        keys = pd.DataFrame({"key": [f"k{i}" for i in range(start, start + 20)]})
        labels.update(convert.as_frame(keys)["key"])
    assert labels.profile().kind == "id"


@pytest.fixture(scope="module")
def compared(frame, tmp_path_factory):
    path = tmp_path_factory.mktemp("reviews") / "reviews.csv"
    frame.to_csv(path, index=False)
    methods = ["logistic_regression", "naive_bayes"]
    return bottega.compare(path, "label", methods=methods, outer=3), path


def test_a_comparison_of_texts(compared, frame):
    found, _ = compared
    errors = {name: result.error for name, result in found.results.items()}
    assert errors["naive_bayes"] < 0.1 < errors["baseline"]
    assert np.mean(found.predict(frame) == frame["label"]) > 0.9
    explained = found.explain()
    assert explained.importance.columns[0] == "review"
    assert set(explained.effects) <= {"x", "city"}  # a level of its own says nothing


def test_the_report_has_typical_stems_and_escapes_texts(compared):
    found, path = compared
    page = path.with_suffix(".html")
    found.report(page)
    text = page.read_text()
    assert "Typical stems of review" in text
    assert "great" in text
    assert "<script>alert" not in text


def test_a_saved_model_reads_texts(compared, frame, tmp_path):
    found, _ = compared
    found.save(tmp_path / "model.bottega")
    model = bottega.load(tmp_path / "model.bottega")
    assert model.predict(frame).tolist() == found.predict(frame).tolist()


def test_the_deciding_words_of_a_prepared_model(frame):
    table = Table(frame[["review", "label"]], target="label")
    model = prepare(LogisticRegression(alpha=0.1), table).fit(table.X, table.y)
    from bottega.text import deciding_words

    found = deciding_words(model, table.X.iloc[:5], most=1)
    own = {"great", "excel", "love", "amaz", "aw", "bore", "hate", "poor"}
    assert {stem.removeprefix("review: ") for stem in found.stem} <= own


def test_a_description_leaves_texts_out(frame):
    found = bottega.describe(frame.drop(columns="label"))
    assert found.skipped["review"] == "it holds free text: not used"
    assert not any("stems" in each.message for each in found.findings)  # which it does not use


def test_few_reviews_are_texts(frame):
    few = frame[["review", "label"]].iloc[:30]
    assert Table(few, target="label").kinds == {"review": "text"}
