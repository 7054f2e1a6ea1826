"""K-means of sparse tables: the clusters of the dense table, in fit, stream and answers."""

import numpy as np
import pytest
from scipy import sparse

from bottega.cluster import KMeans
from bottega.core.errors import InputError
from bottega.core.sparse import SMALL


def _groups(n: int, p: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    X = np.where(rng.random((n, p)) < 0.02, rng.random((n, p)), 0.0)
    group = np.arange(n) % 3
    X[np.arange(n), group] = 20.0
    return X


@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array"])
def test_a_small_sparse_table_gives_the_answer_of_the_dense_one(form):
    X = _groups(60, 8)
    table = getattr(sparse, form)(X)
    dense = KMeans(3, random_state=0).fit(X)
    model = KMeans(3, random_state=0).fit(table)
    assert np.array_equal(model.labels_, dense.labels_)
    assert np.array_equal(model.cluster_centers_, dense.cluster_centers_)
    assert np.array_equal(model.predict(table), dense.labels_)
    assert np.array_equal(model.transform(table), dense.transform(X))
    assert model.score(table) == dense.score(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_large_sparse_table_is_passed_over_in_blocks(weighted):
    X = _groups(2400, 2000)
    assert X.size > SMALL
    weight = np.where(np.arange(len(X)) < 1200, 2.0, 1.0) if weighted else None
    table = sparse.csr_array(X)
    model = KMeans(3, random_state=0).fit(table, sample_weight=weight)
    dense = KMeans(3, init=model.cluster_centers_).fit(X, sample_weight=weight)
    # Sums are taken in other blocks: the last bits differ.
    assert np.array_equal(model.labels_, dense.labels_)
    assert np.allclose(model.cluster_centers_, dense.cluster_centers_, rtol=0, atol=1e-12)
    assert np.isclose(model.inertia_, dense.inertia_, rtol=1e-12)
    assert np.array_equal(model.predict(table), model.labels_)
    assert np.allclose(model.transform(table), dense.transform(X), rtol=1e-9)
    assert sorted(np.bincount(model.labels_)) == [800, 800, 800]


def test_medians_of_a_large_sparse_table_are_refused():
    table = sparse.csr_array((SMALL // 1000 + 1, 1000))
    with pytest.raises(InputError, match="large sparse tables are clustered by Lloyd's"):
        KMeans(2, norm=1).fit(table)


def test_batches_may_be_sparse():
    X = _groups(90, 5)
    dense, model = (KMeans(3, random_state=0) for _ in range(2))
    for rows in np.split(np.arange(90), 3):
        dense.partial_fit(X[rows])
        model.partial_fit(sparse.csr_array(X[rows]))
    assert np.array_equal(model.cluster_centers_, dense.cluster_centers_)
