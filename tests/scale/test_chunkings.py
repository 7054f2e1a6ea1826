"""Every class that fits chunks: the answer does not depend on where the chunks end."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from bottega import scale
from bottega.core.errors import InputError
from bottega.registry import estimators

# Chunks of texts are in tests/text/test_texts_in_chunks.py.
CHUNKED = [each for each in estimators() if each.card.chunks and each.card.task != "text"]
ENDS = [0, 3, 90, 91, 300, 500, 690, 700]  # seven uneven chunks

# How exact the answers are. Sums of chunks are merged in another order than those of all rows,
# which leaves 1e-9 of the size of the answers; what is found by iteration stops within its
# tolerance: a relative gap of 1e-12 in the likelihood leaves about its root in the probabilities.
SETTINGS = {
    "LogisticRegression": ({"tol": 1e-12}, 1e-6),
    "KMeans": ({"n_clusters": 3, "random_state": 0}, 1e-9),
    "GaussianMixture": (
        {"n_components": 2, "covariance_type": "diag", "random_state": 0, "tol": 1e-9},
        1e-6,
    ),
    "FactorAnalysis": ({"n_components": 1}, 1e-6),
    "PCA": ({"n_components": 2}, 1e-9),
    # Their sizes are given: folds that choose one share the bins of all rows.
    "TreeClassifier": ({"thresholds": "binned", "max_depth": 4}, 1e-9),
    "TreeRegressor": ({"thresholds": "binned", "max_depth": 4}, 1e-9),
    "RandomForestClassifier": ({"n_estimators": 5, "max_features": 2}, 1e-9),
    "RandomForestRegressor": ({"n_estimators": 5, "max_features": 2}, 1e-9),
    "AdaBoostClassifier": ({"thresholds": "binned", "n_estimators": 10}, 1e-9),
    "GradientBoostingClassifier": ({"n_estimators": 5}, 1e-9),
    "GradientBoostingRegressor": ({"n_estimators": 5}, 1e-9),
    # In the order of the rows; shuffled passes are others.
    "NetworkClassifier": ({"max_iter": 2, "shuffle": False}, 1e-9),
    "NetworkRegressor": ({"max_iter": 2, "shuffle": False}, 1e-9),
    "MatrixFactorization": ({"n_components": 2, "alpha": 1.0, "max_iter": 5, "tol": 0.0}, 1e-9),
    "NonnegativeFactorization": ({"n_components": 2, "max_iter": 500}, 1e-9),
    "ProbabilisticPCA": ({"n_components": 2}, 1e-9),
}


# Bins of boosting are those of `fit` where a column has at most 255 distinct values.
ROUNDED = ("GradientBoostingClassifier", "GradientBoostingRegressor")


def answer(model, X):
    for name in ("predict_proba", "decision_function", "score_samples", "predict", "transform"):
        if hasattr(model, name):
            return np.asarray(getattr(model, name)(X))
    raise AssertionError("nothing to compare")


def chunks_of(ends, X, y, w):
    return [(X[a:b], y[a:b], w[a:b]) for a, b in pairwise(ends)]


@pytest.mark.parametrize("each", CHUNKED, ids=lambda each: each.__name__)
def test_every_chunking_gives_the_answer_of_all_rows(each, rows):
    X, y, label, w = rows
    y = label if each.card.task == "classification" else y
    X = X.round(0) if each.__name__ in ROUNDED else X
    X = np.abs(X) if each.card.task == "decomposition" else X
    w = w if each.card.weights else np.ones(len(X))
    settings, near = SETTINGS.get(each.__name__, ({}, 1e-9))
    model = each(**settings)
    weights = {"sample_weight": w} if each.card.weights else {}
    whole = answer(clone(model).fit(X, y, **weights), X)
    made = [
        [(X, y, w)],
        chunks_of(ENDS, X, y, w),
        chunks_of([0, 0, 200, 200, 700], X, y, w),  # two of them empty
        scale.source(X, y, weight=w, rows=130),
    ]
    for chunks in made:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = answer(clone(model).fit(chunks) if chunks is made[-1]
                           else clone(model).fit_chunks(chunks), X)  # fmt: skip
        np.testing.assert_allclose(found, whole, rtol=near, atol=near * np.ptp(whole))


def test_a_class_that_needs_all_rows_says_so():
    from bottega.neighbors import NearestNeighborsRegressor

    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(InputError, match=r"needs all rows in memory.*chunks=True"):
        NearestNeighborsRegressor().fit(scale.source(X, X[:, 0]))


def test_a_source_has_its_own_responses():
    from bottega.linear import Ridge

    X = np.arange(20.0).reshape(10, 2)
    with pytest.raises(InputError, match="A source has its own responses"):
        Ridge().fit(scale.source(X, X[:, 0]), X[:, 0])


def test_a_fit_that_failed_is_no_fit(rows):
    from bottega.linear import LeastSquares

    X, y, _, _ = rows
    model = LeastSquares().fit(X, y)
    with pytest.raises(InputError, match="Chunk 2 has 3 columns and the first one 4"):
        model.fit_chunks([(X, y), (X[:, :3], y)])
    assert not hasattr(model, "coef_")
