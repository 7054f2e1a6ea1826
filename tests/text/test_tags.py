"""Tags by dictionaries and by people."""

import numpy as np
import pandas as pd
import pytest

from bottega.core.errors import InputError, ParameterError
from bottega.metrics import kappa
from bottega.text import StemMatrix, Tagger, TextCleaner, read_tags, typical_stems

WORDS = {
    "for": {"clean": 1.0, "very healthy": 2.0},
    "against": ["pollution", "waste", "risk"],
}


def test_a_dictionary_tags_by_the_largest_weight():
    texts = [
        "It is clean and it is healthy.",  # for 1
        "Very healthy, in spite of some risks!",  # for 2, against 1
        "Polluting, wasteful, and not clean",  # against 2, for 1
        "A clean waste",  # one each: the first tag by name
        "Nothing to say",
        "",
    ]
    cleaner = TextCleaner("english", stop_words=None)
    tagger = Tagger(WORDS, cleaner=cleaner, default="off topic").fit(texts)
    assert tagger.classes_.tolist() == ["against", "for"]
    scores = [[0, 1], [1, 2], [2, 1], [1, 1], [0, 0], [0, 0]]
    assert tagger.scores(texts).tolist() == scores
    expected = ["for", "for", "against", "against", "off topic", "off topic"]
    assert tagger.predict(texts).tolist() == expected
    strict = Tagger(WORDS, cleaner=cleaner, threshold=1.0).fit(texts)
    assert strict.predict(texts).tolist() == [None, "for", "against", None, None, None]


def test_a_bad_dictionary_is_refused():
    for bad in (None, {}, ["clean"]):
        with pytest.raises(ParameterError, match="words of each tag"):
            Tagger(bad).fit(["a text"])
    with pytest.raises(ParameterError, match="'neutral' has no list"):
        Tagger({**WORDS, "neutral": []}).fit(["a text"])  # a class without examples
    with pytest.raises(ParameterError, match="'the' of the tag 'x' has 0 words"):
        Tagger({"x": ["the"]}).fit(["the cat is on the table"])


def rows(tags):
    return pd.DataFrame(tags, columns=["text", "who", "tag"])


def test_tags_of_people(tmp_path):
    given = rows([
        ("a", "Ada", "for"), ("a", "Bo", "for"), ("a", "Cy", "against"),
        ("b", "Ada", "against"), ("b", "Bo", "against"), ("c", "Ada", "for"),
        ("c", "Bo", "against"), ("d", "Cy", "neutral"), ("e", "Ada", None),
    ])  # fmt: skip
    given.to_csv(tmp_path / "tags.csv", index=False)
    found = read_tags(tmp_path / "tags.csv", annotator="who")
    assert found.texts == ("a", "b", "c", "d")
    assert found.annotators == ("Ada", "Bo", "Cy")
    assert found.majority() == ["for", "against", None, "neutral"]
    assert found.of(["d", "x", "a"]) == ["neutral", None, "for"]
    expected = kappa(["for", "against", "for"], ["for", "against", "against"]).value
    assert found.kappa("Ada", "Bo").value == expected
    # By hand: the coincidences of a (3 tags), b and c (2 each), 7 values.
    assert found.alpha().value == pytest.approx(1 - (4 / 7) / (2 * 3 * 4 / 42))
    assert "Agreement of two" in str(found)
    with pytest.raises(InputError, match=r"no annotator 'Add'.*'Ada'"):
        found.kappa("Add", "Bo")
    with pytest.raises(InputError, match="twice"):
        read_tags(rows([("a", "Ada", "for"), ("a", "Ada", "for")]), annotator="who")
    with pytest.raises(InputError, match="No row has a tag"):
        read_tags(rows([("a", "Ada", None)]))
    with pytest.raises(InputError, match=r"no column 'tags'.*'tag'"):
        read_tags(given, tag="tags")


def test_one_class_in_the_tags():
    found = read_tags(rows([("a", "Ada", "for"), ("a", "Bo", "for"), ("b", "Ada", "for")]),
                      annotator="who")  # fmt: skip
    assert np.isnan(found.alpha().value)
    assert "Agreement" not in str(found)  # there is nothing to disagree on
    with pytest.raises(InputError, match="kappa needs two"):
        found.kappa("Ada", "Bo")
    with pytest.raises(InputError, match="All texts are of the class for"):
        typical_stems(np.eye(2), ["for", "for"])


def test_typical_stems_by_hand():
    texts = ["good film", "good story", "good film", "bad film", "bad music"]
    labels = ["for"] * 3 + ["against"] * 2
    matrix = StemMatrix(weighting="tf-idf").fit(texts)
    found = typical_stems(matrix.transform(texts), labels, matrix.get_feature_names_out())
    j = matrix.vocabulary_["film"]
    assert found.classes.tolist() == ["against", "for"]
    assert (found.share[1, j], found.elsewhere[1, j]) == (2 / 3, 1 / 2)
    a, b, c, d = 2.5, 1.5, 1.5, 1.5  # half a text is added to each count
    expected = np.log(a * d / (b * c)) / np.sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    assert found.z[1, j] == pytest.approx(expected)
    assert found.z[0] == pytest.approx(-found.z[1])  # of two classes one mirrors the other
    dense = typical_stems(matrix.transform(texts).toarray(), labels)
    assert np.array_equal(dense.z, found.z)
    assert found.of("against")[0] == "bad"
    with pytest.raises(InputError, match="no class 'neutral'"):
        found.of("neutral")
    with pytest.raises(InputError, match="one label per row"):
        typical_stems(np.eye(3), ["for", "against"])
    with pytest.raises(InputError, match="missing label"):
        typical_stems(np.eye(2), ["for", None])
