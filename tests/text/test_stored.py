"""Methods for texts that are stored and read again."""

import pickle

import numpy as np
import pytest
import skops.io
from scipy.sparse import csr_matrix

from bottega.classify import NaiveBayes
from bottega.text import AggregateProportions, StemMatrix, Tagger, TextCleaner, WordScores
from bottega.workbench import trusted_types

TEXTS = ["clean air and water", "dirty air", "clean water is good", "waste of good air"]
NEW = ["water and waste", "", "the clean airs"]


def copies(model):
    """Return the model from a pickle, and from a file of skops that needs no further trust."""
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    trusted = skops.io.loads(content, trusted=trusted_types())
    return pickle.loads(pickle.dumps(model)), trusted


@pytest.mark.parametrize(
    "matrix",
    [
        StemMatrix(),
        StemMatrix(TextCleaner("english", idioms={"good air": "fresh"}), ngram_range=(1, 2)),
        StemMatrix(weighting="tf-idf", min_df=2),
        StemMatrix(n_features=8, weighting="counts"),
    ],
)
def test_a_stem_matrix(matrix):
    expected = matrix.fit(TEXTS).transform(NEW)
    for copy in copies(matrix):
        assert (copy.transform(NEW) != expected).nnz == 0
        assert copy.vocabulary_ == matrix.vocabulary_


def test_a_tagger():
    words = {"for": ["clean", "good water"], "against": {"waste": 2.0}}
    tagger = Tagger(words, default="off topic").fit(TEXTS)
    for copy in copies(tagger):
        assert copy.predict(NEW).tolist() == tagger.predict(NEW).tolist()
        assert np.array_equal(copy.scores(TEXTS), tagger.scores(TEXTS))


def test_word_scores():
    S = csr_matrix([[8, 2, 0, 0], [0, 2, 8, 0]])
    model = WordScores(rescale=True).fit(S, [-1.0, 1.0])
    for copy in copies(model):
        assert np.array_equal(copy.predict(S), model.predict(S))
        assert copy.words("abcd").equals(model.words("abcd"))


@pytest.mark.parametrize("method", ["adjusted_em", "inversion", "least_squares", "count"])
def test_aggregate_proportions(method):
    rng = np.random.default_rng(0)
    D = np.arange(60) % 2
    S = csr_matrix(rng.random((60, 8)) < np.where(D[:, None], 0.6, 0.3))
    model = AggregateProportions(method, estimator=NaiveBayes(), cv=3).fit(S, D)
    expected = model.proportions(S, n_bootstrap=20)
    for copy in copies(model):
        found = copy.proportions(S, n_bootstrap=20)
        assert np.array_equal(found.estimate, expected.estimate)
        assert np.array_equal(found.replicates, expected.replicates)
        if method != "count":
            test = copy.carry_over_test(S, n_bootstrap=20)
            assert test.p_value == model.carry_over_test(S, n_bootstrap=20).p_value
