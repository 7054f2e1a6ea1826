"""Texts of sources and in chunks: what is learnt is what is learnt from all texts in memory."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bottega.data.texts.numbering as numbering
from bottega import scale
from bottega.core.errors import InputError
from bottega.text import StemMatrix, Tagger, TextCleaner, read_corpus

PLACES = ["river", "forest", "harbour", "village", "mountain", "factory", "garden", "island"]
TEXTS = [
    f"The {PLACES[i % 8]} number {i} is cleaner than the {PLACES[i * i % 7]} of the last report"
    for i in range(90)
] + [f"Zebras were seen at the very end of report {i}, which nobody expected" for i in range(4)]
TEXTS[0] = TEXTS[50] = None
FRAME = pd.DataFrame({"size": np.arange(94.0) % 13, "text": TEXTS, "stars": np.arange(94) % 5})
pytestmark = pytest.mark.filterwarnings("ignore:[0-9]+ of [0-9]+ texts have no stem")
SETTINGS = [
    {"weighting": "counts", "ngram_range": (1, 2)},
    {"weighting": "tf-idf", "min_df": 3, "max_features": 12},
    {"weighting": "counts", "n_features": 16},
    {"weighting": "binary", "vocabulary": ["zebra", "river"]},
    {"cleaner": TextCleaner(min_df=2), "weighting": "counts"},
]


@pytest.fixture(params=["parquet", "csv", "csvs"])
def files(request, tmp_path):
    """Write the rows into files, and return a pattern of them."""
    if request.param == "csv":
        FRAME.to_csv(tmp_path / "rows.csv", index=False)
        return str(tmp_path / "rows.csv")
    for number, (start, stop) in enumerate(pairwise([0, 1, 40, 89, 94])):
        if request.param == "parquet":
            FRAME[start:stop].to_parquet(tmp_path / f"{number}.parquet")
        else:
            FRAME[start:stop].to_csv(tmp_path / f"{number}.csv", index=False)
    return str(tmp_path / f"*.{request.param.removesuffix('s')}")


def assert_learnt_alike(found, expected):
    """Check that two matrices have learnt the same, to the last bit."""
    for name in ("vocabulary_", "n_texts_", "n_empty_"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ("texts_", "times_", "idf_"):
        if hasattr(expected, name):
            assert np.array_equal(getattr(found, name), getattr(expected, name))
    assert found.cleaner_.language_ == expected.cleaner_.language_ == "english"


def assert_equal(found, expected):
    assert found.dtype == expected.dtype
    assert np.array_equal(found.toarray(), expected.toarray())


@pytest.mark.parametrize("rows", [7, 1000])
def test_a_source_gives_the_matrix_of_all_texts(files, rows, monkeypatch):
    source = scale.source(files, rows=rows)
    monkeypatch.setattr(numbering, "BLOCK", 20)
    for settings in SETTINGS:
        whole = StemMatrix(**settings).fit(TEXTS)
        expected = whole.transform(TEXTS)
        assert expected[-4:].nnz  # of the words that come last
        model = StemMatrix(**settings).fit(source)
        assert_learnt_alike(model, whole)
        assert model.feature_names_in_.tolist() == ["text"]
        assert_equal(model.transform(source), expected)
        both = StemMatrix(**settings)
        assert_equal(both.fit_transform(source), expected)
        assert_learnt_alike(both, whole)
        assert both.feature_names_in_.tolist() == ["text"]
    assert_learnt_alike(StemMatrix(**settings).fit_chunks(source), whole)
    blocks = list(model.transform_blocks(source))
    assert [block.shape[0] for block in blocks] == [20, 20, 20, 20, 14]


def test_a_stream_of_the_same_files_needs_no_source(files):
    expected = StemMatrix().fit(TEXTS)
    assert_learnt_alike(StemMatrix().fit(read_corpus(files, "text", stream=True)), expected)


def test_texts_that_look_like_numbers_first(tmp_path):
    texts = ["12", "13", "14"] * 20 + ["three rivers, and a forest"]
    pd.DataFrame({"text": texts}).to_csv(tmp_path / "rows.csv", index=False)
    source = scale.source(tmp_path / "rows.csv", kinds={"text": "text"}, rows=8)
    settings = {"cleaner": TextCleaner("english", numbers=True), "weighting": "counts"}
    assert_equal(StemMatrix(**settings).fit_transform(source),
                 StemMatrix(**settings).fit_transform(texts))  # fmt: skip


@pytest.mark.parametrize("size", [1, 9, 200])
@pytest.mark.parametrize(
    "made", [list, tuple, pd.Series, lambda part: pd.DataFrame({"t": part}),
             lambda part: (pl.DataFrame({"t": part}), [1.0] * len(part)),
             lambda part: (part, None, [1] * len(part))],
)  # fmt: skip
def test_chunks_of_texts_in_any_form(made, size):
    chunks = [made(TEXTS[start : start + size]) for start in range(0, len(TEXTS), size)]
    found = StemMatrix(weighting="tf-idf").fit_chunks(chunks)
    assert_learnt_alike(found, StemMatrix(weighting="tf-idf").fit(TEXTS))


def test_names_and_tables_are_those_of_the_frames():
    parts = [pl.DataFrame({"said": part}) for part in (TEXTS[:60], TEXTS[60:])]
    for model in (
        StemMatrix().fit_chunks(parts), StemMatrix().fit(pl.concat(parts)),
    ):  # fmt: skip
        assert model.feature_names_in_.tolist() == ["said"]
        assert isinstance(model.frequencies(), pl.DataFrame)
    both = StemMatrix()
    both.fit_transform(pl.concat(parts))
    assert both.feature_names_in_.tolist() == ["said"]


def test_rows_without_a_target_are_left_out_as_in_the_source():
    frame = FRAME.assign(stars=FRAME["stars"].where(FRAME["stars"] > 0))
    source = scale.source(frame, target="stars", rows=10)
    kept = frame["stars"].notna()
    S = StemMatrix().fit_transform(source)
    assert S.shape[0] == sum(len(y) for y, _ in source.responses()) == kept.sum() == 75
    assert_equal(S, StemMatrix().fit_transform(FRAME["text"][kept]))


def test_the_other_readers_of_texts_take_sources(files):
    source = scale.source(files, rows=11)
    cleaner = TextCleaner(max_df=0.5)
    assert cleaner.fit(source).transform(source) == TextCleaner(max_df=0.5).fit_transform(TEXTS)
    assert "report" in cleaner.frequent_
    tagger = Tagger({"wild": ["forest", "zebra"], "built": ["factory", "harbour"]})
    expected = tagger.fit(TEXTS).predict(TEXTS).tolist()
    assert expected[-1] == "wild"
    assert tagger.fit(source).predict(source).tolist() == expected


def test_a_source_must_have_one_column_of_texts(files):
    with pytest.raises(InputError, match=r"No column.*'size', 'stars'.*kinds=\{'text': 'text'\}"):
        StemMatrix().fit(scale.source(files, ignore="text"))
    two = FRAME.assign(title=[f"{text} once more" for text in TEXTS])
    with pytest.raises(InputError, match=r"2 could \('text', 'title'\).*columns=\['text'\]"):
        StemMatrix().fit(scale.source(two))
    model = StemMatrix().fit(scale.source(two, columns=["text"]))
    assert_learnt_alike(model, StemMatrix().fit(TEXTS))
    with pytest.raises(InputError, match=r"2 could"):
        model.transform(scale.source(two))
    labels = ["good film", "bad film", "good plot"] * 8
    short = pd.DataFrame({"text": labels, "size": np.arange(24.0) % 5})
    assert StemMatrix().fit(scale.source(short)).n_texts_ == 24  # few words, but no other column
    with pytest.raises(InputError, match="2 could"):
        StemMatrix().fit(scale.source(short.assign(town=["Rome", "Turin", "Pisa", "Bari"] * 6)))


def test_weights_are_refused_in_a_fit_alone():
    source = scale.source(FRAME, weight="stars")
    with pytest.raises(InputError, match=r"StemMatrix takes no weights.*without weight="):
        StemMatrix().fit(source)
    with pytest.raises(InputError, match="without weight="):
        StemMatrix().fit_transform(source)
    with pytest.raises(InputError, match="leave them out, or repeat texts"):
        StemMatrix().fit_chunks([(["clean air"], None, [2.0])])
    assert StemMatrix().fit(TEXTS).transform(source).shape[0] == len(TEXTS)


def test_chunks_that_are_none_are_refused():
    with pytest.raises(InputError, match="generator can only be iterated over once"):
        StemMatrix().fit_chunks(part for part in [TEXTS])
    for wrong in (3, "a text"):
        with pytest.raises(InputError, match=f"type {type(wrong).__name__}; give a list of lists"):
            StemMatrix().fit_chunks(wrong)
    with pytest.raises(InputError, match="There are no texts"):
        StemMatrix().fit_chunks([])
    with pytest.raises(InputError, match="Chunk 1 is one text"):
        StemMatrix().fit_chunks(["clean air", "clean water"])
    with pytest.raises(InputError, match="Chunk 2 holds 3 of type int in row 1"):
        StemMatrix().fit_chunks([["clean air"], ["water", 3]])
    with pytest.raises(InputError, match=r"Chunk 1 holds 0\.0 of type float"):
        StemMatrix().fit(scale.source(np.zeros((3, 1))))


def test_arrays_of_texts_are_a_source():
    texts = np.array([text or "" for text in TEXTS])
    found = StemMatrix().fit(scale.source(texts[:, None], rows=10))
    assert_learnt_alike(found, StemMatrix().fit(TEXTS))


class MadeChunks:
    """Chunks that are made as they are read, over ten megabytes of texts in all."""

    def __iter__(self):
        for number in range(40):
            yield [f"{'long' * 60} {'longer' * 40} word{number} {i}" for i in range(500)]


def test_one_block_of_texts_is_in_memory(monkeypatch):
    monkeypatch.setattr(numbering, "BLOCK", 500)
    StemMatrix().fit(["compiled before memory is measured"])
    tracemalloc.start()
    try:
        found = StemMatrix().fit_chunks(MadeChunks())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.n_texts_ == 20_000
    assert peak < 4e6  # three blocks, some with arrays of their characters: all texts are 10 MB
