"""Scores of texts and words, and the words that decide."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline

from bottega.classify import LogisticRegression, NaiveBayes
from bottega.core.errors import DataWarning, InputError
from bottega.latent import MDS, PCA, TSNE, FactorAnalysis
from bottega.text import (
    StemMatrix,
    TextCleaner,
    WordScores,
    deciding_words,
    latent_scores,
    typical_stems,
)  # fmt: skip
from bottega.tree import TreeClassifier

# Table 1 of Laver, Benoit and Garry (2003): 37 words, the same frequencies in each text, five
# words further on in each reference text, and seven words on in the text to be scored.
PUBLISHED = json.loads(
    (Path(__file__).parents[1] / "reference/text/word_scores.json").read_text(encoding="utf-8")
)
POSITIONS = PUBLISHED["positions"]


def counts(start):
    found = np.zeros(37)
    found[start : start + len(PUBLISHED["counts"])] = PUBLISHED["counts"]
    return found


REFERENCES = np.array([counts(start) for start in PUBLISHED["first_word"]])
VIRGIN = counts(PUBLISHED["new_first_word"])[None, :]


def test_the_published_example_of_word_scores():
    model = WordScores().fit(REFERENCES, POSITIONS)
    for word, score in PUBLISHED["words"].items():
        assert model.scores_[int(word)] == pytest.approx(score, abs=5e-8)  # the digits given
    position, error = model.predict(VIRGIN, return_std=True)
    assert position == pytest.approx(PUBLISHED["new_position"], abs=5e-8)
    assert error == pytest.approx(PUBLISHED["new_std_error"], abs=5e-9)
    sparse = WordScores().fit(csr_matrix(REFERENCES), POSITIONS)
    assert sparse.predict(csr_matrix(VIRGIN)) == pytest.approx(position)


def test_rescaled_scores_give_the_extremes_their_positions():
    model = WordScores(rescale=True).fit(REFERENCES, POSITIONS)
    found = model.predict(REFERENCES)
    assert found[[0, 4]] == pytest.approx([-1.5, 1.5])
    assert np.all(np.diff(found) > 0)
    words = model.words([f"w{j}" for j in range(37)])
    assert set(words["stem"][:5]) == {f"w{j}" for j in range(5)}  # of the first text alone
    assert words["score"].is_monotonic_increasing


def test_texts_without_common_words():
    model = WordScores().fit([[1, 1, 0], [0, 1, 0]], [-1.0, 1.0])
    assert np.isnan(model.scores_[2])
    with pytest.warns(DataWarning, match="1 of 2 texts have no word in common"):
        assert np.isnan(model.predict([[0, 0, 5], [1, 0, 5]])).tolist() == [True, False]
    with pytest.raises(InputError, match="None of these texts has a word in common"):
        model.predict([[0, 0, 5]])
    with pytest.raises(InputError, match="at one position"):
        WordScores().fit([[1, 0], [0, 1]], [1.0, 1.0])
    with pytest.raises(InputError, match="Negative values"):
        WordScores().fit([[1, -1], [0, 1]], [0.0, 1.0])


GOOD, BAD, FILL = "great loved superb", "awful hated boring", "film plot actor scene music camera"


@pytest.fixture(scope="module")
def reviews():
    rng = np.random.default_rng(0)
    texts, labels = [], []
    for i in range(60):
        own = (GOOD if i % 2 else BAD).split()
        words = [*rng.choice(own, 2), *rng.choice(FILL.split(), 3)]
        texts.append(" ".join(words))
        labels.append("for" if i % 2 else "against")
    matrix = StemMatrix(TextCleaner(None, stop_words=None)).fit(texts)
    return texts, np.array(labels), matrix, matrix.transform(texts)


@pytest.mark.parametrize("method", [PCA(2), FactorAnalysis(1), MDS(2), TSNE(perplexity=8.0)])
def test_latent_scores(reviews, method):
    _, _, matrix, S = reviews
    names = matrix.get_feature_names_out()
    found = latent_scores(S, method, names, high=["great"])
    assert found.scores.shape == (60, method.n_components)
    j = matrix.vocabulary_["great"]
    assert found.correlations[j, 0] >= 0
    for d in range(method.n_components):
        expected = [np.corrcoef(column, found.scores[:, d])[0, 1] for column in S.toarray().T]
        assert found.correlations[:, d] == pytest.approx(expected, abs=1e-10)
    assert found.texts.tolist() == matrix.texts_.tolist()
    low, high = found.ends(0, 3)
    assert not set(low) & set(high)
    assert len(found.to_frame()) == len(names)


def test_latent_scores_that_cannot_be(reviews):
    _, _, matrix, S = reviews
    with pytest.raises(InputError, match="no column of S"):
        latent_scores(S, PCA(1), matrix.get_feature_names_out(), high=["sea"])
    with pytest.raises(InputError, match="two dimensions"):
        latent_scores(S, PCA(1)).plot()


def test_contributions_to_a_linear_classifier_add_up(reviews):
    _, labels, matrix, S = reviews
    model = LogisticRegression(alpha=0.1).fit(S.toarray(), labels)
    found = deciding_words(model, S, matrix.get_feature_names_out(), most=100)
    assert found.exact
    assert found.predicted.tolist() == model.predict(S.toarray()).tolist()
    score = model.decision_function(S.toarray()) - np.ravel(model.intercept_)
    total = np.bincount(found.row, found.contribution, minlength=60)
    assert total == pytest.approx(np.where(found.predicted == "for", score, -score), abs=1e-8)
    first = [found.of(i)[0][0] for i in range(60)]
    assert set(first) <= set((GOOD + " " + BAD).split())


@pytest.mark.parametrize("model", [NaiveBayes(), TreeClassifier()])
def test_other_classifiers_predict_without_each_word(reviews, model):
    _, labels, matrix, S = reviews
    model.fit(S.toarray(), labels)
    names = matrix.get_feature_names_out()
    found = deciding_words(model, S[:4], names, most=100)
    assert not found.exact
    for i in range(4):
        row = S[i].toarray()
        k = list(model.classes_).index(found.predicted[i])
        full = model.predict_proba(row)[0, k]
        for stem, value in found.of(i):
            without = row.copy()
            without[0, matrix.vocabulary_[stem]] = 0
            assert value == pytest.approx(full - model.predict_proba(without)[0, k])
        assert {stem for stem, _ in found.of(i)} == set(names[row[0] > 0])


def test_deciding_words_of_a_pipeline_and_of_several_classes():
    from sklearn.linear_model import LogisticRegression as Peer

    texts = ["red apple", "red cherry", "green pear", "green lime", "blue plum", "blue berry"]
    model = make_pipeline(StemMatrix(), Peer()).fit(texts, [0, 0, 1, 1, 2, 2])
    found = deciding_words(model, ["a green plum", ""], most=1)
    assert found.exact
    assert found.of(0)[0][0] == "green"
    assert found.of(1) == []
    assert "they add up" in str(found)
    with pytest.raises(InputError, match="no word"):
        found.plot(1)
    with pytest.raises(InputError, match="10 columns and there are 1"):
        deciding_words(model[-1], np.eye(10), ["one"])


def test_pictures(reviews):
    _, labels, matrix, S = reviews
    names = matrix.get_feature_names_out()
    typical = typical_stems(S, labels, names, most=3).plot().to_dict()
    assert len(typical["vconcat"]) == 2
    drawn = latent_scores(S, PCA(2), names).plot(most=5).to_dict()
    assert len(drawn["data"]["values"]) == 5
    model = NaiveBayes().fit(S.toarray(), labels)
    chart = deciding_words(model, S[:1], names).plot().to_dict()
    assert chart["title"]["text"] == "Deciding words"
