"""Trees of clusters: cuts by number and height, order, distances given, bad input."""

import pickle

import numpy as np
import pytest
import skops.io
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from bottega.cluster import Hierarchical, KMeans
from bottega.cluster.silhouette import silhouette
from bottega.core.errors import InputError, ParameterError
from bottega.workbench import trusted_types

LINKAGES = ["ward", "average", "complete", "single", "weighted", "centroid", "median"]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(m, 0.5, size=(15, 2)) for m in ([0, 0], [5, 0], [0, 7])])


@pytest.mark.parametrize("linkage", LINKAGES)
def test_auto_finds_clusters_far_apart(rows, linkage):
    model = Hierarchical(linkage=linkage).fit(rows)
    assert model.n_clusters_ == 3
    assert np.bincount(model.labels_).tolist() == [15, 15, 15]
    assert 0.8 < model.cophenetic_correlation_ <= 1
    best = model.path_.best("silhouette")
    assert model.path_.criteria["silhouette"][best] == pytest.approx(
        1 - silhouette(rows, model.labels_).mean
    )


@pytest.mark.parametrize("linkage", LINKAGES)
def test_every_number_of_clusters_is_a_cut_of_the_tree(rows, linkage):
    before = None
    for K in range(1, 46):
        labels = Hierarchical(K, linkage=linkage).fit(rows).labels_
        assert len(np.unique(labels)) == K
        if before is not None:  # each cluster lies within one of the coarser cut
            assert len(set(zip(labels, before, strict=True))) == K
        before = labels


def test_labels_follow_the_leaves(rows):
    model = Hierarchical(5).fit(rows)
    along = model.labels_[model.leaves_]
    assert np.sum(np.diff(along) != 0) == 4  # clusters stand together
    first = [int(np.flatnonzero(model.labels_ == k)[0]) for k in range(5)]
    assert first == sorted(first)
    assert sorted(model.leaves_) == list(range(45))


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single", "weighted"])
def test_a_cut_at_the_height_is_the_cut_into_that_number(rows, linkage):
    by_number = Hierarchical(4, linkage=linkage).fit(rows)
    by_distance = Hierarchical(
        None, distance_threshold=by_number.distance_threshold_, linkage=linkage
    ).fit(rows)
    assert by_distance.n_clusters_ == 4
    assert np.array_equal(by_distance.labels_, by_number.labels_)
    one = Hierarchical(1, linkage=linkage).fit(rows).distance_threshold_
    assert Hierarchical(None, distance_threshold=one, linkage=linkage).fit(rows).n_clusters_ == 1
    assert Hierarchical(None, distance_threshold=0.0, linkage=linkage).fit(rows).n_clusters_ == 45


@pytest.mark.parametrize("metric", ["euclidean", "l2", "manhattan", "cosine", "precomputed"])
@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_words_have_the_meaning_of_scikit_learn(rows, linkage, metric):
    metric = "euclidean" if linkage == "ward" else metric
    X = squareform(pdist(rows)) if metric == "precomputed" else rows
    options = {"n_clusters": 4, "linkage": linkage, "metric": metric}
    peer = AgglomerativeClustering(**options, compute_distances=True).fit(X)
    ours = Hierarchical(**options).fit(X)
    # Rows are centred here, which rounds small distances otherwise.
    assert ours.distances_ == pytest.approx(peer.distances_, rel=1e-9, abs=1e-12)
    assert np.sort(ours.children_).tolist() == np.sort(peer.children_).tolist()
    assert (ours.n_clusters_, ours.n_leaves_) == (peer.n_clusters_, peer.n_leaves_)
    assert adjusted_rand_score(ours.labels_, peer.labels_) == 1


def test_clusters_at_the_threshold_are_not_joined():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    for distance, count in ((0.5, 4), (1.0, 4), (1.5, 3), (2.0, 3), (4.0, 2), (4.5, 1)):
        options = {"n_clusters": None, "distance_threshold": distance, "linkage": "single"}
        peer = AgglomerativeClustering(**options).fit(X)
        assert Hierarchical(**options).fit(X).n_clusters_ == peer.n_clusters_ == count


def test_wards_heights_are_what_joins_add_to_the_sum_of_squares(rows):
    heights = Hierarchical(1).fit(rows).merges_[:, 2]
    total = KMeans(1).fit(rows).inertia_
    assert np.sum(heights**2) / 2 == pytest.approx(total)


def test_distances_may_be_given(rows):
    square = squareform(pdist(rows))
    given = Hierarchical(3, linkage="average", metric="precomputed").fit(square)
    own = Hierarchical(3, linkage="average").fit(rows)
    assert np.array_equal(given.labels_, own.labels_)
    assert given.merges_ == pytest.approx(own.merges_)
    for bad, message in (
        (square[:, :5], "square"),
        (-square, "negative"),
        (square + np.triu(np.ones((45, 45)), 1), "symmetric"),
    ):
        with pytest.raises(InputError, match=message):
            Hierarchical(3, linkage="average", metric="precomputed").fit(bad)


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_units_do_not_matter(rows, factor):
    plain, scaled = (Hierarchical(4).fit(X) for X in (rows, rows * factor))
    assert np.array_equal(plain.labels_, scaled.labels_)
    assert scaled.merges_[:, 2] / factor == pytest.approx(plain.merges_[:, 2])
    moved = Hierarchical(4).fit(rows + 1e7)
    assert np.array_equal(plain.labels_, moved.labels_)


def test_standardized_columns_count_alike(rows):
    uneven = rows * [1.0, 1e6]
    a = Hierarchical(4, standardize=True).fit(uneven)
    b = Hierarchical(4).fit(rows / rows.std(axis=0))
    assert np.array_equal(a.labels_, b.labels_)


def test_order_of_leaves_is_made_near(rows):
    def way(model):
        return np.linalg.norm(np.diff(rows[model.leaves_], axis=0), axis=1).sum()

    assert way(Hierarchical(3, optimal_order=True).fit(rows)) <= way(Hierarchical(3).fit(rows))


def test_equal_and_few_rows():
    same = Hierarchical(2).fit(np.ones((4, 2)))
    assert same.merges_[:, 2].tolist() == [0, 0, 0]
    assert np.isnan(same.cophenetic_correlation_)
    assert Hierarchical().fit([[0.0], [1.0]]).n_clusters_ == 2
    assert Hierarchical().fit([[0.0], [1.0], [9.0]]).labels_.tolist() == [0, 0, 1]


def test_bad_input_is_refused(rows):
    with pytest.raises(InputError, match="n_samples = 45"):
        Hierarchical(46).fit(rows)
    with pytest.raises(ParameterError, match="Euclidean"):
        Hierarchical(2, metric="cityblock").fit(rows)
    with pytest.raises(ParameterError, match="n_clusters= or distance_threshold="):
        Hierarchical(None).fit(rows)
    with pytest.raises(ParameterError, match="twice"):
        Hierarchical(3, distance_threshold=1.0).fit(rows)
    with pytest.raises(InputError, match="at most 30,000"):
        Hierarchical(3).fit(np.zeros((30_001, 1)))
    with pytest.raises(InputError, match="sample_weight"):
        Hierarchical(3)._read(rows, None, np.ones(45))
    with pytest.raises(InputError, match="direction"):
        Hierarchical(2, linkage="average", metric="correlation").fit(np.ones((4, 3)))


def test_saved_trees_are_the_same(rows):
    model = Hierarchical().fit(rows)
    content = skops.io.dumps(model)
    assert not set(skops.io.get_untrusted_types(data=content)) - set(trusted_types())
    for copy in (pickle.loads(pickle.dumps(model)), skops.io.loads(content, trusted_types())):
        assert np.array_equal(copy.merges_, model.merges_)
        assert np.array_equal(copy.labels_, model.labels_)


@pytest.mark.parametrize("metric", ["cosine", "correlation", "cityblock"])
def test_columns_are_standardized_before_any_distance(metric):
    X = np.random.default_rng(5).normal(2, 1, size=(30, 4)) * [1.0, 10.0, 100.0, 0.1]
    options = {"linkage": "average", "metric": metric}
    inside = Hierarchical(3, standardize=True, **options).fit(X)
    before = Hierarchical(3, **options).fit(X / X.std(axis=0))
    assert inside.merges_ == pytest.approx(before.merges_)
    plain = Hierarchical(3, **options).fit(X)
    assert not np.allclose(plain.merges_[:, 2], inside.merges_[:, 2])


def test_distances_given_cannot_be_standardized(rows):
    with pytest.raises(ParameterError, match="leave standardize=False"):
        Hierarchical(3, metric="precomputed", standardize=True).fit(squareform(pdist(rows)))


def test_summary_has_the_sizes(rows):
    text = str(Hierarchical(3).fit(rows).summary())
    assert "ward" in text
    assert text.count("15") == 3
