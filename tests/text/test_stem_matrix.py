"""The matrix of texts and stems, against scikit-learn's and the notes."""

import numpy as np
import pytest
import skops.io
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer
from sklearn.pipeline import make_pipeline

import bottega.data.texts.counts as counts
import bottega.data.texts.numbering as numbering
from bottega.classify import NaiveBayes
from bottega.core.errors import DataWarning, InputError, NotKept, ParameterError
from bottega.text import Corpus, StemMatrix, TextCleaner
from bottega.workbench import trusted_types

WORDS = TextCleaner(None, stop_words=None, numbers=True, other_alphabets=True)
TEXTS = [
    "Clean air, clean water!", "the water is not clean", "AIR-conditioned room 101",
    "perché l'aria è più pulita", "water water water", "one room, one price",
]  # fmt: skip


def assert_equal(found, expected):
    """Check that two sparse matrices are equal to the last bit; scikit-learn's may be unsorted."""
    expected.sort_indices()
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert (found != expected).nnz == 0
    assert np.array_equal(found.indices, expected.indices)


@pytest.fixture
def in_small_blocks(monkeypatch):
    """Read few texts at a time, and forget words and terms as often as can be."""
    monkeypatch.setattr(numbering, "BLOCK", 2)
    monkeypatch.setattr(numbering, "_MOST_WORDS", 3)
    monkeypatch.setattr(counts, "_MOST_TERMS", 3)


def test_the_matrix_of_the_notes():
    """D218: texts on nuclear power, with the stem of the fourth column as it is printed."""
    stems = ["nucl", "pericol", "scor", "inquin", "risc", "energ"]
    texts = [
        "Il nucleare è energia!",
        "Nucleare? Che rischio...",
        "Nucleare, pericoli, scorie: l'inquinamento è un rischio",
        "Le scorie del nucleare inquinano: pericoloso, rischi ovunque",
        "I rischi del nucleare: le scorie e l'inquinamento",
        "Nucleare: le scorie, ma anche l'energia",
    ]
    printed = ["100001", "100010", "111110", "111110", "101110", "101001"]
    found = StemMatrix(TextCleaner("italian"), vocabulary=stems).fit_transform(texts)
    assert ["".join(map(str, row)) for row in found.toarray()] == printed


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (1, 3), (2, 3)])
def test_counts_equal_those_of_scikit_learn(sizes):
    peer = CountVectorizer(ngram_range=sizes)
    expected = peer.fit_transform(TEXTS)
    ours = StemMatrix(WORDS, weighting="counts", ngram_range=sizes)
    assert_equal(ours.fit_transform(TEXTS), expected)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert_equal(clone(ours).fit(TEXTS).transform(TEXTS), expected)
    new = ["clean water at one price", "nothing known"]
    assert_equal(ours.transform(new), peer.transform(new))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abèñß δЖ01_.,!?-'\n\t", max_size=25), min_size=1, max_size=6))
def test_any_texts_are_counted_as_scikit_learn_does(texts):
    texts = [*texts, "ab abb"]  # at least one word
    expected = CountVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    ours = StemMatrix(WORDS, weighting="counts", ngram_range=(1, 2), vocabulary=None)
    assert_equal(ours._weighted(_quietly(ours, texts)), expected)


def _quietly(model, texts):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # texts without a word
        return model.fit_transform(texts)


@pytest.mark.parametrize("norm", ["l2", "l1", None])
@pytest.mark.parametrize("smooth", [True, False])
@pytest.mark.parametrize("sublinear", [True, False])
def test_weights_equal_those_of_scikit_learn(norm, smooth, sublinear):
    peer = TfidfTransformer(norm=norm, smooth_idf=smooth, sublinear_tf=sublinear)
    words = CountVectorizer().fit_transform(TEXTS)
    words.sort_indices()  # sums of squares are taken in this order
    expected = peer.fit_transform(words)
    options = {"norm": norm, "smooth_idf": smooth, "sublinear_tf": sublinear}
    ours = StemMatrix(WORDS, weighting="tf-idf", **options)
    assert_equal(ours.fit_transform(TEXTS), expected)
    assert np.array_equal(ours.idf_, peer.idf_)


def test_limits_equal_those_of_scikit_learn():
    for limits in ({"min_df": 2}, {"max_df": 2}, {"min_df": 0.3}, {"max_df": 0.4}):
        peer = CountVectorizer(**limits).fit(TEXTS)
        ours = StemMatrix(WORDS, **limits).fit(TEXTS)
        assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    # Of equal stems the first by name are kept.
    assert list(StemMatrix(WORDS, max_features=2).fit(TEXTS).vocabulary_) == ["clean", "water"]
    assert list(StemMatrix(WORDS, max_features=1).fit(["b a aa bb"]).vocabulary_) == ["aa"]


def test_hashed_stems_equal_those_of_scikit_learn(in_small_blocks):
    peer = HashingVectorizer(n_features=32, alternate_sign=False, norm=None)
    ours = StemMatrix(WORDS, weighting="counts", n_features=32)
    found = ours.fit_transform(TEXTS)
    assert np.array_equal(found.toarray(), peer.transform(TEXTS).toarray())
    assert ours.vocabulary_ == {}
    with pytest.raises(NotKept, match="hashed"):
        ours.get_feature_names_out()


def test_blocks_of_any_size_give_the_same_matrix(in_small_blocks):
    expected = CountVectorizer(ngram_range=(1, 3)).fit_transform(TEXTS)
    ours = StemMatrix(WORDS, weighting="counts", ngram_range=(1, 3))
    assert_equal(ours.fit_transform(TEXTS), expected)
    assert len(list(ours.transform_blocks(TEXTS))) == 3
    assert_equal(ours.transform(TEXTS), expected)
    assert_equal(ours.fit(Corpus(TEXTS)).transform(Corpus(TEXTS)), expected)


def test_blocks_hold_so_many_texts_and_characters(monkeypatch):
    monkeypatch.setattr(numbering, "BLOCK", 3)
    monkeypatch.setattr(numbering, "_CHARACTERS", 4)
    texts = ["a", "bb", "c", "", "dddddd", "ee", "ff", "g"]
    blocks = [["a", "bb", "c"], [""], ["dddddd"], ["ee"], ["ff", "g"]]
    assert list(numbering.blocks_of(iter(texts))) == blocks


def test_stems_and_stop_words_are_those_of_the_cleaner():
    peer = CountVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 2))
    texts = ["The runners were running", "He runs with other runners", "the with"]
    cleaner = TextCleaner("english").fit(texts)
    expected = peer.fit_transform(cleaner.transform(texts))
    with pytest.warns(DataWarning, match="1 of 3 texts have no stem"):
        ours = StemMatrix(cleaner, weighting="counts", ngram_range=(1, 2)).fit(texts)
    assert ours.get_feature_names_out().tolist() == peer.get_feature_names_out().tolist()
    assert_equal(ours.transform(texts), expected)
    assert ours.n_empty_ == 1


def test_the_vocabulary_is_inspected_and_pruned():
    ours = StemMatrix(WORDS, weighting="tf-idf").fit(TEXTS)
    frame = ours.frequencies()
    assert frame["stem"].tolist()[0] == "water"
    row = frame[frame["stem"] == "water"].iloc[0]
    assert (row["texts"], row["times"], row["share"]) == (3, 5, 0.5)
    fewer = ours.without("water", "room")
    kept = [j for name, j in ours.vocabulary_.items() if name not in ("water", "room")]
    assert fewer.transform(TEXTS).shape[1] == len(kept)
    assert np.array_equal(fewer.idf_, ours.idf_[kept])
    with pytest.raises(InputError, match="no column 'sea'"):
        ours.without("sea")


def test_it_works_in_a_pipeline_and_is_stored():
    texts, labels = (
        ["good film", "good plot", "bad film", "bad music"] * 3,
        ["+", "+", "-", "-"] * 3,
    )
    matrix = StemMatrix(weighting="tf-idf").fit(texts)
    content = skops.io.dumps(matrix)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    again = skops.io.loads(content, trusted=trusted_types())
    assert (again.transform(texts) != matrix.transform(texts)).nnz == 0
    dense = StemMatrix().fit_transform(texts).toarray()
    assert NaiveBayes().fit(dense, labels).predict(dense).tolist() == labels
    from sklearn.naive_bayes import MultinomialNB

    model = make_pipeline(StemMatrix(), MultinomialNB()).fit(texts, labels)
    assert model.predict(["a good story"]).tolist() == ["+"]


def test_frames_and_columns_give_the_same_matrix(in_small_blocks):
    import pandas as pd
    import polars as pl

    expected = StemMatrix().fit_transform(TEXTS)
    for column in (
        pd.Series(TEXTS), pd.DataFrame({"t": TEXTS}), pl.Series(TEXTS), pl.DataFrame({"t": TEXTS}),
        np.array(TEXTS), np.array(TEXTS, dtype=object)[:, None], iter(TEXTS),
    ):  # fmt: skip
        assert_equal(StemMatrix().fit_transform(column), expected)
    with pytest.raises(InputError, match="2 columns"):
        StemMatrix().fit(pd.DataFrame({"a": TEXTS, "b": TEXTS}))


def test_bad_settings_are_refused():
    for sizes in ((0, 1), (2, 1), (1, 4), 2):
        with pytest.raises(ParameterError, match="ngram_range"):
            StemMatrix(ngram_range=sizes).fit(TEXTS)
    with pytest.raises(ParameterError, match="not both"):
        StemMatrix(vocabulary=["a"], n_features=4).fit(TEXTS)
    with pytest.raises(ParameterError, match="TextCleaner"):
        StemMatrix("english").fit(TEXTS)
    with pytest.raises(ParameterError, match="none twice"):
        StemMatrix(vocabulary=["a", "a"]).fit(TEXTS)
    with pytest.raises(InputError, match="no text"):
        StemMatrix(WORDS, vocabulary=["sea", "air"], weighting="tf-idf", smooth_idf=False).fit(
            TEXTS
        )
