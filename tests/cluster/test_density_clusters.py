"""Density-based clusters: shapes, noise, the radius by the k-distance curve, bad input."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import distance
from sklearn.cluster import DBSCAN

from bottega.cluster import DensityClusters
from bottega.core.errors import DataWarning, InputError, ParameterError


@pytest.fixture(scope="module")
def rings():
    rng = np.random.default_rng(0)
    angle = np.linspace(0, 2 * np.pi, 80, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    noise = np.array([[9.0, 9.0], [-9.0, 8.0]])
    return np.vstack([ring, 4 * ring, noise]) + 0.02 * rng.normal(size=(162, 2))


def test_it_is_scikit_learns(rings):
    ours = DensityClusters(eps=0.8, min_samples=4).fit(rings)
    theirs = DBSCAN(eps=0.8, min_samples=4).fit(rings)
    assert np.array_equal(ours.labels_, theirs.labels_)
    assert np.array_equal(ours.core_sample_indices_, theirs.core_sample_indices_)
    assert (ours.n_clusters_, ours.n_noise_) == (2, 2)


def test_the_radius_is_found_at_the_knee(rings):
    model = DensityClusters(min_samples=4).fit(rings)
    assert (model.n_clusters_, model.n_noise_) == (2, 2)
    # All rings are denser than the radius, the noise is far outside of it.
    assert model.k_distances_[-3] <= model.eps_ < 4
    curve = model.path_
    assert np.all(np.diff(curve.train_error) >= 0)  # a smaller radius leaves more noise
    assert curve.values[0] == pytest.approx(model.k_distances_[-1])
    assert curve.train_error[0] == 0.0


def test_the_radius_by_silhouettes():
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(m, 0.3, size=(50, 2)) for m in ([0, 0], [5, 5], [0, 6])])
    model = DensityClusters(select="silhouette").fit(X)
    assert model.n_clusters_ == 3


def test_hdbscan_takes_clusters_of_different_density():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 0.05, size=(60, 2)), rng.normal(5, 0.8, size=(60, 2))])
    model = DensityClusters(method="hdbscan", min_cluster_size=15).fit(X)
    assert model.n_clusters_ == 2
    assert np.isnan(model.eps_)
    assert np.all((model.probabilities_ >= 0) & (model.probabilities_ <= 1))
    assert np.all(model.probabilities_[model.labels_ == -1] == 0)
    with pytest.raises(ParameterError, match="no path"):
        DensityClusters(method="hdbscan").path(X)


@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_units_do_not_matter(rings, factor):
    plain = DensityClusters(min_samples=4).fit(rings)
    scaled = DensityClusters(min_samples=4).fit(rings * factor)
    assert np.array_equal(plain.labels_, scaled.labels_)
    assert scaled.eps_ / factor == pytest.approx(plain.eps_)


def test_order_does_not_matter_but_for_names(rings):
    order = np.random.default_rng(0).permutation(len(rings))
    a, b = (DensityClusters(eps=0.8, min_samples=4).fit(X).labels_ for X in (rings, rings[order]))
    pairs = set(zip(a[order].tolist(), b.tolist(), strict=True))
    assert len(pairs) == 3  # two clusters and noise


def test_standardized_radius_is_in_standard_deviations(rings):
    uneven = rings * [1.0, 1e4]
    a = DensityClusters(eps=0.3, min_samples=4, standardize=True).fit(uneven)
    b = DensityClusters(eps=0.3, min_samples=4).fit(rings / rings.std(axis=0))
    assert np.array_equal(a.labels_, b.labels_)


def test_equal_few_and_hopeless_rows(rings):
    same = DensityClusters(min_samples=2).fit(np.ones((5, 2)))
    assert same.labels_.tolist() == [0] * 5
    with pytest.warns(DataWarning, match="all rows are noise"):
        model = DensityClusters(eps=1e-9, min_samples=3).fit(rings)
    assert model.n_noise_ == len(rings)
    with pytest.warns(DataWarning, match="all rows are noise"):
        DensityClusters(min_samples=5).fit([[0.0], [1.0]])


def test_bad_input_is_refused(rings):
    with pytest.raises(ParameterError, match="eps=0"):
        DensityClusters(eps=0).fit(rings)
    with pytest.raises(ParameterError, match="method="):
        DensityClusters(method="optics").fit(rings)
    with pytest.raises(InputError, match="direction"):
        DensityClusters(metric="cosine").fit(np.vstack([rings, [0.0, 0.0]]))
    with pytest.raises(ValueError, match="NaN"):
        DensityClusters().fit([[np.nan], [1.0]])


def test_columns_are_standardized_before_angles_are_taken():
    X = np.random.default_rng(5).normal(2, 1, size=(40, 3)) * [1.0, 10.0, 100.0]
    options = {"eps": 0.02, "min_samples": 3, "metric": "cosine"}
    inside = DensityClusters(standardize=True, **options).fit(X)
    before = DensityClusters(**options).fit(X / X.std(axis=0))
    assert inside.k_distances_ == pytest.approx(before.k_distances_)
    assert np.array_equal(inside.labels_, before.labels_)
    plain = DensityClusters(**options).fit(X)
    assert not np.allclose(plain.k_distances_, inside.k_distances_)


def test_summary_puts_noise_last(rings):
    model = DensityClusters(eps=0.8, min_samples=4).fit(rings)
    section = model.summary().sections[0]
    assert section.columns["cluster"] == ["0", "1", "noise"]
    assert section.columns["rows"] == [80, 80, 2]
    assert "2 rows are noise (1.2%)" in str(model.summary())


def test_the_cure_of_nothing_but_noise_is_one_that_the_method_has():
    X = np.random.default_rng(0).uniform(size=(12, 2))
    with pytest.warns(DataWarning, match="a smaller min_cluster_size=") as told:
        DensityClusters(method="hdbscan", min_cluster_size=10, min_samples=8).fit(X)
    assert "eps" not in str(told[0].message)
    with pytest.warns(DataWarning, match="a larger eps="):
        DensityClusters(eps=1e-9, min_samples=5).fit(X)


def test_distances_by_name_by_function_and_computed_before_give_the_same_clusters():
    X = np.random.default_rng(3).normal(size=(60, 2)) + 6 * (np.arange(60) % 3)[:, None]
    D = distance.squareform(distance.pdist(X, "cityblock"))
    plain = DensityClusters(eps=1.6, metric="manhattan").fit(X)
    assert plain.n_clusters_ == 3
    assert np.array_equal(plain.components_, X[plain.core_sample_indices_])
    for model in (
        DensityClusters(eps=1.6, metric="l1", algorithm="ball_tree", leaf_size=5),
        DensityClusters(eps=1.6, metric="minkowski", p=1),
        DensityClusters(eps=1.6, metric="minkowski", metric_params={"p": 1}),
        DensityClusters(eps=1.6, metric=distance.cityblock),
    ):
        assert np.array_equal(model.fit(X).labels_, plain.labels_)
    found = DensityClusters(eps=1.6, metric="precomputed").fit(D)
    assert np.array_equal(found.labels_, plain.labels_)
    assert np.allclose(found.k_distances_, plain.k_distances_)
    auto = [DensityClusters(metric=m).fit(d).labels_ for m, d in (("l1", X), ("precomputed", D))]
    assert np.array_equal(*auto)
    hierarchy = [
        DensityClusters(method="hdbscan", metric=m).fit(d).labels_
        for m, d in (("minkowski", X), ("euclidean", X))
    ]
    assert np.array_equal(*hierarchy)


def test_a_sparse_table_gives_the_clusters_of_the_dense_one(rings):
    X = np.where(rings > 0.3, rings, 0.0)
    plain = DensityClusters(eps=0.5).fit(X)
    found = DensityClusters(eps=0.5).fit(sparse.csr_array(X))
    assert np.array_equal(found.labels_, plain.labels_)
    assert np.array_equal(found.components_, plain.components_)


def test_distances_that_cannot_be_used_are_refused(rings):
    with pytest.raises(ParameterError, match="metric='cosinus' is not allowed"):
        DensityClusters(metric="cosinus").fit(rings)
    with pytest.raises(InputError, match=r"square array of distances; X has shape \(4, 3\)"):
        DensityClusters(metric="precomputed").fit(np.ones((4, 3)))
    with pytest.raises(InputError, match="and is sparse"):
        DensityClusters(metric="precomputed").fit(sparse.csr_array(np.eye(4)))
    with pytest.raises(ParameterError, match="cannot be standardised"):
        DensityClusters(metric="precomputed", standardize=True).fit(np.eye(4))
