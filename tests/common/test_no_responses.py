"""Every method without responses says which column it cannot read, and ignores a y it is given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bottega.core.errors import InputError
from bottega.registry import estimators

WITHOUT = [
    each
    for each in estimators()
    if each.card.task in ("clustering", "decomposition", "density")
    and each.__name__ not in ("MatrixFactorization", "BayesianNetwork")  # they take words
]
SETTINGS = {
    "KMeans": {"n_clusters": 3, "random_state": 0},
    "GaussianMixture": {"n_components": 2, "random_state": 0},
    "FactorAnalysis": {"n_components": 1},
    "PCA": {"n_components": 2},
    "ProbabilisticPCA": {"n_components": 2},
    "NonnegativeFactorization": {"n_components": 2},
}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("each", WITHOUT, ids=lambda each: each.__name__)
def test_a_column_of_words_is_named(each, make):
    X = make({"size": np.arange(30.0) % 7, "town": ["Rome", "Milan", "Turin"] * 10})
    with pytest.raises(InputError, match=r"Column 'town' of X does not hold numbers.*describe"):
        each().fit(X)


@pytest.mark.parametrize("each", WITHOUT, ids=lambda each: each.__name__)
def test_missing_values_that_cannot_be_taken_are_refused_with_their_cure(each):
    X = np.arange(60.0).reshape(20, 3) % 7
    X[4, 1] = np.nan
    if each().__sklearn_tags__().input_tags.allow_nan or each.__name__ == "BooleanFactorization":
        return  # it takes them, or looks for zeros and ones first
    with pytest.raises(InputError, match=rf"{each.__name__} takes no missing.*ProbabilisticPCA"):
        each().fit(X)


@pytest.mark.parametrize(
    "each", [each for each in WITHOUT if each.card.chunks], ids=lambda each: each.__name__
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_responses_of_chunks_are_ignored(each, weighted):
    rng = np.random.default_rng(0)
    X = np.abs(np.vstack([rng.normal(m, 1, size=(40, 4)) for m in (0, 6)]))
    y = rng.choice(["yes", "no", None], 80)  # nothing that could be read as numbers
    parts = [slice(0, 30), slice(30, 80)]
    made = {"own": [], "given": []}
    for part in parts:
        weight = (np.ones(part.stop - part.start),) if weighted else ()
        made["own"].append((X[part], None, *weight))
        made["given"].append((X[part], y[part], *weight))
    models = [each(**SETTINGS[each.__name__]).fit_chunks(chunks) for chunks in made.values()]
    name = "score_samples" if hasattr(models[0], "score_samples") else "transform"
    np.testing.assert_array_equal(*(getattr(model, name)(X) for model in models))


def test_a_column_of_words_in_a_chunk_is_named():
    each = next(each for each in WITHOUT if each.__name__ == "KMeans")
    chunk = pd.DataFrame({"size": np.arange(9.0), "town": ["Rome", "Milan", "Turin"] * 3})
    with pytest.raises(InputError, match="Column 'town' of X does not hold numbers"):
        each(2).fit_chunks([chunk])
