"""Every distance that scikit-learn's neighbours know, against theirs."""

from typing import Any

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.metrics import DistanceMetric, pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from bottega.core.errors import InputError, ParameterError
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    NeighborSearch,
)

RNG = np.random.default_rng(12)
X, NEW = RNG.normal(size=(90, 4)), RNG.normal(size=(20, 4))
Y, LABELS = RNG.normal(size=90), RNG.integers(0, 3, size=90)
COV = np.cov(X.T)

NAMED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("l1", {}, {}),
    ("l2", {}, {}),
    ("cityblock", {}, {}),
    ("manhattan", {}, {}),
    ("chebyshev", {}, {}),
    ("minkowski", {"p": 1}, {}),
    ("minkowski", {"p": 1.5}, {}),
    ("minkowski", {"p": 0.5}, {}),
    ("minkowski", {"p": float("inf")}, {}),
    ("minkowski", {}, {"w": [1.0, 0.2, 3.0, 0.5]}),
    ("minkowski", {"p": 3}, {"w": [1.0, 0.2, 3.0, 0.5]}),
    ("cosine", {}, {}),
    ("correlation", {}, {}),
    ("sqeuclidean", {}, {}),
    ("seuclidean", {}, {"V": [1.0, 2.0, 0.5, 4.0]}),
    ("mahalanobis", {}, {"VI": np.linalg.inv(COV)}),
    ("braycurtis", {}, {}),
    ("canberra", {}, {}),
    ("nan_euclidean", {}, {}),
]


@pytest.mark.filterwarnings("ignore:Mind that for 0 < p < 1")
@pytest.mark.parametrize(("metric", "more", "params"), NAMED)
@pytest.mark.parametrize("columns", [4, 12])
def test_a_named_distance_is_scikit_learns(
    metric: str, more: Any, params: Any, columns: int
) -> None:
    """Few columns may be searched by a tree, many by brute force."""
    tile = columns // 4
    given = {
        name: np.kron(np.eye(tile), value) if np.ndim(value) == 2 else np.tile(value, tile)
        for name, value in params.items()
    }
    rows, new = np.tile(X, (1, tile)), np.tile(NEW, (1, tile)) + 0.01
    options: dict[str, Any] = {"metric": metric, "metric_params": given or None, **more}
    peer = KNeighborsRegressor(5, algorithm="brute", **options).fit(rows, Y)
    ours = NearestNeighborsRegressor(5, **options).fit(rows, Y)
    np.testing.assert_allclose(ours.kneighbors(new)[0], peer.kneighbors(new)[0], rtol=1e-7)
    np.testing.assert_array_equal(ours.kneighbors(new)[1], peer.kneighbors(new)[1])
    np.testing.assert_allclose(ours.predict(new), peer.predict(new))
    np.testing.assert_array_equal(
        ours.kneighbors(return_distance=False), peer.kneighbors(return_distance=False)
    )


@pytest.mark.parametrize(
    "metric", ["jaccard", "dice", "rogerstanimoto", "russellrao", "sokalsneath", "yule"]
)
def test_presence_and_absence(metric: str) -> None:
    present = (RNG.uniform(size=(40, 9)) < 0.5).astype(float)
    present[:, 0] = 1.0
    found = NeighborSearch(present * 7, metric).distances(present[:6])
    expected = pairwise_distances(present[:6] > 0, present > 0, metric=metric)
    np.testing.assert_allclose(found, expected)
    assert (
        NearestNeighborsClassifier(3, metric=metric)
        .fit(present, LABELS[:40])
        .score(present, LABELS[:40])
        >= 0.3
    )
    if metric == "rogerstanimoto":
        other = NeighborSearch(present, "sokalmichener").distances(present[:6])
        np.testing.assert_array_equal(other, found)


def test_haversine_and_distance_objects() -> None:
    places = np.radians(RNG.uniform(-80, 80, size=(50, 2)))
    peer = KNeighborsRegressor(4, metric="haversine").fit(places, Y[:50])
    ours = NearestNeighborsRegressor(4, metric="haversine").fit(places, Y[:50])
    np.testing.assert_allclose(ours.predict(places + 0.01), peer.predict(places + 0.01))
    by_object = DistanceMetric.get_metric("manhattan")
    found = NearestNeighborsRegressor(4, metric=by_object).fit(X, Y)
    named = NearestNeighborsRegressor(4, metric="manhattan").fit(X, Y)
    np.testing.assert_allclose(found.predict(NEW), named.predict(NEW))


def test_variances_and_covariances_are_those_of_the_training_rows() -> None:
    by_default = NeighborSearch(X, "seuclidean").distances(NEW)
    given = NeighborSearch(X, "seuclidean", metric_params={"V": X.var(axis=0, ddof=1)})
    np.testing.assert_allclose(by_default, given.distances(NEW), rtol=1e-12)
    turned = NeighborSearch(X, "mahalanobis").distances(NEW)
    for params in ({"V": COV}, {"VI": np.linalg.inv(COV)}):
        other = NeighborSearch(X, "mahalanobis", metric_params=params)
        np.testing.assert_allclose(other.distances(NEW), turned, rtol=1e-9)
    still = np.column_stack([X, np.ones(90)])  # what does not vary does not count
    np.testing.assert_allclose(
        NeighborSearch(still, "seuclidean").distances(np.column_stack([NEW, np.zeros(20)])),
        by_default,
        rtol=1e-12,
    )


def test_missing_values_are_left_out_of_the_distance() -> None:
    holes = np.where(RNG.uniform(size=X.shape) < 0.2, np.nan, X)
    holes[:, 3] = X[:, 3]
    peer = KNeighborsRegressor(5, metric="nan_euclidean").fit(holes, Y)
    ours = NearestNeighborsRegressor(5, metric="nan_euclidean").fit(holes, Y)
    np.testing.assert_allclose(ours.predict(NEW), peer.predict(NEW))
    np.testing.assert_allclose(
        NeighborSearch(holes, "nan_euclidean").distances(NEW),
        pairwise_distances(NEW, holes, metric="nan_euclidean"),
    )
    nothing = [[np.nan, 1.0], [1.0, np.nan]]
    assert NeighborSearch(nothing, "nan_euclidean").distances(nothing)[0, 1] == np.inf
    with pytest.raises(InputError, match=r"2 neighbors per samples are required.*only 1"):
        NeighborSearch(nothing, "nan_euclidean").query(nothing, 2)


def test_a_function_gets_its_keywords_and_rows_of_lists() -> None:
    def scaled(a: Any, b: Any, factor: float = 1.0) -> float:
        return float(factor * np.abs(np.asarray(a) - np.asarray(b)).sum())

    options: dict[str, Any] = {"metric": scaled, "metric_params": {"factor": 3.0}}
    model = NearestNeighborsRegressor(4, **options).fit(X.tolist(), Y)
    assert model.n_features_in_ == 4
    named = NearestNeighborsRegressor(4, metric="l1").fit(X, Y)
    np.testing.assert_allclose(model.kneighbors(NEW.tolist())[0], 3 * named.kneighbors(NEW)[0])
    assert model.effective_metric_params_ == {"factor": 3.0}
    with pytest.raises(ValueError, match="features"):
        model.predict(NEW[:, :2])

    def common(a: Any, b: Any) -> float:
        return float(abs(a - b).sum())

    rows = sparse.csr_array(np.where(X > 0, X, 0))
    by_rows = NearestNeighborsRegressor(4, metric=common).fit(rows, Y)
    dense = NearestNeighborsRegressor(4, metric="l1").fit(rows.toarray(), Y)
    np.testing.assert_allclose(by_rows.predict(rows[:9]), dense.predict(rows[:9].toarray()))


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine"])
def test_sparse_rows_are_searched_as_dense_ones(metric: str) -> None:
    dense = np.where(RNG.uniform(size=(60, 15)) < 0.3, RNG.integers(1, 4, size=(60, 15)), 0) * 1.0
    dense[[7, 21]] = dense[3]
    dense[50] = 0.0
    new = np.r_[dense[:10], np.where(RNG.uniform(size=(8, 15)) < 0.3, 1.5, 0)]
    one, other = NeighborSearch(dense, metric), NeighborSearch(sparse.coo_matrix(dense), metric)
    np.testing.assert_allclose(other.distances(new), one.distances(new), atol=1e-14)
    assert other.distances(dense[[3]])[0, [3, 7, 21]].tolist() == [0, 0, 0]
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.lil_matrix, np.asarray):
        for found, expected in zip(other.query(form(new), 6), one.query(new, 6), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-14)
    np.testing.assert_array_equal(one.query(sparse.csr_array(new), 6)[1], one.query(new, 6)[1])
    labels = RNG.integers(0, 2, size=60)
    path = NearestNeighborsClassifier(metric=metric).path(sparse.csr_array(dense), labels)
    expected = NearestNeighborsClassifier(metric=metric).path(dense, labels)
    np.testing.assert_allclose(path.error, expected.error)
    folds = NearestNeighborsClassifier(metric=metric).path(sparse.csr_array(dense), labels, cv=4)
    np.testing.assert_array_equal(
        folds.error, NearestNeighborsClassifier(metric=metric).path(dense, labels, cv=4).error
    )


def test_many_sparse_rows_in_threads() -> None:
    rows = sparse.csr_array(sparse.random(700, 40, density=0.1, random_state=3))
    found = NeighborSearch(rows).distances(rows)
    np.testing.assert_allclose(found, pairwise_distances(rows.toarray()), atol=1e-7)


def test_given_distances() -> None:
    between, to_new = pairwise_distances(X), pairwise_distances(NEW, X)
    plain = NearestNeighborsClassifier(7, weights="distance").fit(X, LABELS)
    for form in (np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.lil_matrix):
        given = NearestNeighborsClassifier(7, weights="distance", metric="precomputed")
        given.fit(form(between), LABELS)
        np.testing.assert_allclose(given.predict_proba(form(to_new)), plain.predict_proba(NEW))
        np.testing.assert_array_equal(given.predict(None), plain.predict(None))
        np.testing.assert_array_equal(given.kneighbors()[1], plain.kneighbors()[1])
        chosen = NearestNeighborsClassifier(metric="precomputed").fit(form(between), LABELS)
        assert chosen.n_neighbors_ == NearestNeighborsClassifier().fit(X, LABELS).n_neighbors_


def test_a_graph_of_neighbours_stands_for_distances() -> None:
    graph = NearestNeighbors(n_neighbors=12).fit(X)
    near, to_new = (
        graph.kneighbors_graph(mode="distance"),
        graph.kneighbors_graph(NEW, mode="distance"),
    )
    given = NearestNeighborsRegressor(12, metric="precomputed").fit(near, Y)
    plain = NearestNeighborsRegressor(12).fit(X, Y)
    np.testing.assert_allclose(given.predict(to_new), plain.predict(NEW))
    np.testing.assert_allclose(given.predict(None), plain.predict(None))
    with pytest.raises(InputError, match=r"13 neighbors per samples are required.*only 12"):
        given.kneighbors(to_new, 13)
    with pytest.raises(TypeError, match="handling of explicit zeros"):
        given.predict(to_new.todok())


def test_models_of_any_distance_come_back_from_a_file() -> None:
    for metric, data in (
        ("canberra", X),
        ("nan_euclidean", X),
        ("cosine", sparse.csr_array(np.where(X > 0, X, 0))),
        ("precomputed", pairwise_distances(X)),
    ):
        model = NearestNeighborsRegressor(3, metric=metric).fit(data, Y)
        stored = skops.io.dumps(model)
        types = skops.io.get_untrusted_types(data=stored)
        assert all(name.startswith("bottega.") for name in types)
        again = skops.io.loads(stored, trusted=types)
        np.testing.assert_array_equal(again.predict(data), model.predict(data))


def test_bad_distances_are_named() -> None:
    model = NearestNeighborsRegressor
    for bad in (0, -1, "2", np.nan):
        with pytest.raises(ParameterError, match=r"p=.* is not allowed"):
            model(3, p=bad).fit(X, Y)
    with pytest.raises(ParameterError, match="p=-1 is not allowed"), pytest.warns(SyntaxWarning):
        model(3, metric_params={"p": -1}).fit(X, Y)
    with pytest.raises(ParameterError, match="metric_params=3 is not allowed"):
        model(3, metric_params=3).fit(X, Y)
    with pytest.raises(InputError, match="w must have one number"):
        model(3, metric_params={"w": [1.0]}).fit(X, Y)
    with pytest.raises(InputError, match="V and VI must be symmetric matrices of 4 rows"):
        model(3, metric="mahalanobis", metric_params={"VI": np.eye(3)}).fit(X, Y)
    with pytest.raises(ParameterError, match="'edit' takes none"):
        model(1, metric="edit", metric_params={"w": 1}).fit(["a", "b"], [1, 2])
    with pytest.raises(InputError, match="Metric 'canberra' not valid for sparse input"):
        model(3, metric="canberra").fit(sparse.csr_array(X), Y)
    with pytest.raises(InputError, match="a square table"):
        model(3, metric="precomputed").fit(X, Y)
    with pytest.raises(InputError, match="Negative values"):
        model(3, metric="precomputed").fit(-pairwise_distances(X), Y)
    given = model(3, metric="precomputed").fit(pairwise_distances(X), Y)
    with pytest.raises(ValueError, match="features"):
        given.predict(NEW)
    for algorithm in ("kd_tree", "ball_tree"):
        with pytest.raises(ParameterError, match="does not support 0 < p < 1"):
            model(3, p=0.5, algorithm=algorithm).fit(X, Y)
        with pytest.raises(InputError, match="takes dense inputs"):
            model(3, algorithm=algorithm).fit(X, Y).predict(sparse.csr_array(NEW))


@pytest.mark.parametrize("algorithm", ["auto", "ball_tree", "kd_tree", "brute"])
def test_algorithm_leaf_size_and_threads_have_no_influence(algorithm: str) -> None:
    plain = KNeighborsClassifier(5).fit(X, LABELS)
    model = NearestNeighborsClassifier(5, algorithm=algorithm, leaf_size=3, n_jobs=2)
    np.testing.assert_array_equal(model.fit(X, LABELS).predict_proba(NEW), plain.predict_proba(NEW))
    assert model.effective_metric_ == "euclidean"
    assert model.n_samples_fit_ == 90
    with pytest.raises(ParameterError, match="algorithm='tree' is not allowed"):
        model.set_params(algorithm="tree").fit(X, LABELS)
