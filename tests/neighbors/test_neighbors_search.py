"""The search beneath, its kernels against their numpy twins, and the two editing functions."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    NeighborSearch,
    condense,
    edit,
)
from bottega.neighbors._kernels.distances import project

SMALL = settings(max_examples=25, deadline=None, derandomize=True)


def twin(a: np.ndarray, b: np.ndarray, metric: str) -> np.ndarray:
    """Return all distances, by their definitions."""
    gap = a[:, None] - b[None]
    if metric == "euclidean":
        return np.sqrt(np.sum(gap**2, axis=2))
    if metric == "manhattan":
        return np.sum(np.abs(gap), axis=2)
    if metric == "chebyshev":
        return np.max(np.abs(gap), axis=2)
    if metric == "hamming":
        return np.mean(gap != 0, axis=2)
    if metric == "cosine":
        length = np.outer(np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1))
        return 1 - a @ b.T / length
    inverse = np.linalg.pinv(np.cov(b.T))
    return np.sqrt(np.einsum("ijk,kl,ijl->ij", gap, inverse, gap))


def edit_twin(a: str, b: str) -> int:
    if not a or not b:
        return len(a) + len(b)
    return min(
        edit_twin(a[1:], b) + 1, edit_twin(a, b[1:]) + 1, edit_twin(a[1:], b[1:]) + (a[0] != b[0])
    )


METRICS = ["euclidean", "manhattan", "chebyshev", "hamming", "cosine", "mahalanobis"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("p", [2, 20])
def test_search_finds_the_nearest_by_any_distance(metric: str, p: int) -> None:
    """Few columns are searched by a tree, many by brute force (M143: both must be exact)."""
    rng = np.random.default_rng(p)
    X = rng.integers(-3, 9, size=(80, p)) + (
        0.0 if metric == "hamming" else rng.normal(size=(80, p))
    )
    new = X[:15] + (rng.integers(0, 2, size=(15, p)) if metric == "hamming" else 0.1)
    expected = twin(new, X, metric)
    # cos is computed as half a squared difference here and as 1 - cos there.
    np.testing.assert_allclose(
        NeighborSearch(X, metric).distances(new), expected, rtol=1e-8, atol=1e-13
    )
    distances, indices = NeighborSearch(X, metric).query(new, 7)
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :7], rtol=1e-8, atol=1e-13)
    np.testing.assert_allclose(
        np.take_along_axis(expected, indices, axis=1), distances, rtol=1e-8, atol=1e-13
    )


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
@SMALL
@given(seed=st.integers(0, 10**6), tied=st.booleans())
def test_tree_and_brute_force_agree(metric: str, seed: int, tied: bool) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(40, 3)).astype(float) if tied else rng.normal(size=(40, 3))
    new = np.r_[X[:5], rng.normal(size=(5, 3))]
    tree = NeighborSearch(X, metric)
    assert tree._index._tree is not None
    # Columns of zeros change no distance but make the tree a bad choice.
    brute = NeighborSearch(np.hstack([X, np.zeros((40, 12))]), metric)
    assert brute._index._brute is not None
    for found, other in zip(
        tree.query(new, 6), brute.query(np.hstack([new, np.zeros((10, 12))]), 6), strict=True
    ):
        np.testing.assert_array_equal(found, other)


@pytest.mark.parametrize("p", [3, 20])
def test_all_ties_are_listed_and_duplicates_are_at_distance_zero(p: int) -> None:
    """Far from the origin the square expands badly; the lists must be exact all the same."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(12, p)), 10, axis=0) + 1e6
    search = NeighborSearch(X)
    for rows, distances, indices in search.neighborhoods(None, 3):
        for i, row in enumerate(rows):
            assert set(indices[i, :10]) == set(range(row // 10 * 10, row // 10 * 10 + 10))
            np.testing.assert_array_equal(distances[i, :10], 0.0)
            assert len(indices[i]) == 10 or distances[i, 10] > 0


def test_brute_force_far_from_the_origin_loses_nothing() -> None:
    rng = np.random.default_rng(1)
    spread = np.r_[rng.normal(size=(100, 12)), 1e9 * np.ones((1, 12))]  # one row far outside
    X = spread * 1e-3
    distances, _ = NeighborSearch(X).query(X[:100], 6)
    expected = np.sort(twin(X[:100], X, "euclidean"), axis=1)[:, :6]
    np.testing.assert_allclose(distances, expected, rtol=1e-12)


@SMALL
@given(st.lists(st.text("abc", max_size=4), min_size=1, max_size=4), st.text("abc", max_size=4))
def test_edit_distance(words: list[str], word: str) -> None:
    found = NeighborSearch(words, "edit").distances([word])
    np.testing.assert_array_equal(found, [[edit_twin(word, each) for each in words]])


def test_edit_distance_known_pairs() -> None:
    pairs = [("kitten", "sitting", 3), ("saturday", "sunday", 3), ("", "abc", 3), ("è", "e", 1)]
    for a, b, expected in pairs:
        assert NeighborSearch([b], "edit").distances([a])[0, 0] == expected


def test_projection_is_a_product_and_keeps_equal_rows_equal() -> None:
    rng = np.random.default_rng(2)
    points, directions = rng.normal(size=(50, 7)), rng.normal(size=(7, 7))
    points[31] = points[2]
    found = project(points, directions)
    np.testing.assert_allclose(found, points @ directions, rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(found[31], found[2])


def test_singular_covariance_takes_the_pseudo_inverse() -> None:
    X = np.random.default_rng(3).normal(size=(20, 2))
    doubled = np.column_stack([X, X[:, 0] + X[:, 1]])
    np.testing.assert_allclose(
        NeighborSearch(doubled, "mahalanobis").distances(doubled),
        NeighborSearch(X, "mahalanobis").distances(X),
        atol=1e-7,  # the pseudo-inverse squares the rounding of a covariance that is singular
    )
    assert np.all(NeighborSearch(np.ones((4, 2)), "mahalanobis").distances(np.ones((2, 2))) == 0)


def test_rows_of_zeros_are_at_right_angles_to_all() -> None:
    search = NeighborSearch([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0]], "cosine")
    np.testing.assert_allclose(search.distances([[0.0, 0.0], [7.0, 0.0]]), [[0, 1, 1], [1, 0, 1]])


def test_multiples_of_a_row_have_its_direction() -> None:
    """Normalising rounds; rows that only rounding tells apart are one direction (A19's tie)."""
    rows = np.random.default_rng(6).normal(size=(4, 3))
    X = np.concatenate([factor * rows for factor in (1.0, 3.0, 0.7, 1e5, 1 / 3)])
    search = NeighborSearch(X, "cosine")
    for rows_done, distances, indices in search.neighborhoods(None, 1):
        for i, row in enumerate(rows_done):
            assert set(indices[i][distances[i] == 0]) == set(range(row % 4, 20, 4))


@SMALL
@given(
    st.integers(0, 10**6),
    st.sampled_from(["uniform", "distance", "balanced"]),
    st.sampled_from(["euclidean", "manhattan", "hamming", "mahalanobis"]),
)
def test_order_of_the_rows_does_not_matter(seed: int, weights: str, metric: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(20, 2)).astype(float)
    y = rng.integers(0, 3, size=20)
    new = rng.integers(0, 6, size=(10, 2)) / 2
    order = rng.permutation(20)
    model = NearestNeighborsClassifier(n_neighbors=4, weights=weights, metric=metric)
    labels, shares = model.fit(X, y).predict(new), model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-13)
    np.testing.assert_array_equal(model.fit(X[order], y[order]).predict(new), labels)
    np.testing.assert_allclose(model.predict_proba(new), shares, rtol=1e-9)
    if weights != "balanced":
        regressor = NearestNeighborsRegressor(n_neighbors=4, weights=weights, metric=metric)
        before = regressor.fit(X, y).predict(new)
        after = regressor.fit(X[order], y[order]).predict(new)
        np.testing.assert_allclose(after, before, rtol=1e-9)


def test_edit_drops_rows_that_their_neighbours_outvote() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 2)) + 3 * np.repeat([[0.0], [1.0]], 60, axis=0)
    y = np.repeat(["a", "b"], 60)
    y[[3, 70]] = ["b", "a"]
    kept = edit(X, y)
    assert not {3, 70} & set(kept.tolist())
    for i in range(len(y)):
        rest = np.arange(len(y)) != i
        label = (
            NearestNeighborsClassifier(n_neighbors=3).fit(X[rest], y[rest]).predict(X[i : i + 1])[0]
        )
        assert (label == y[i]) == (i in kept)


@SMALL
@given(seed=st.integers(0, 10**6), metric=st.sampled_from(["euclidean", "manhattan", "hamming"]))
def test_condensed_rows_label_every_row_right(seed: int, metric: str) -> None:
    rng = np.random.default_rng(seed)
    X = np.unique(rng.integers(0, 6, size=(30, 2)), axis=0).astype(float)
    y = rng.integers(0, 3, size=len(X))
    kept = condense(X, y, metric=metric, random_state=seed)
    model = NearestNeighborsClassifier(n_neighbors=1, metric=metric).fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.predict(X), y)


def test_condense_keeps_little_of_separated_classes_and_all_of_a_contradiction() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(200, 2)) + 12 * np.repeat([[0.0], [1.0]], 100, axis=0)
    y = np.repeat([0, 1], 100)
    assert len(condense(X, y)) == 2
    assert condense([[0.0], [0.0]], ["a", "b"]).tolist() == [0, 1]
    words: list[Any] = ["aaa", "aab", "zzz", "zzy"]
    assert len(condense(words, [0, 0, 1, 1], metric="edit")) == 2


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "canberra"])
@pytest.mark.parametrize("copies", [1, 4])
def test_ties_are_broken_by_row_not_by_the_last_bit(metric: str, copies: int) -> None:
    """Tenths are not exact: distances that tie among whole numbers differ in their last bits."""
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0), [0.0, 1.0]), axis=-1).reshape(-1, 3)
    exact = np.tile(grid + 1, (1, copies))
    tenths = exact * 0.1 if metric == "canberra" else exact * 0.1 + 0.3
    for k in (3, 8):
        found = NeighborSearch(tenths, metric).query(None, k)[1]
        np.testing.assert_array_equal(found, NeighborSearch(exact, metric).query(None, k)[1])
    y = np.arange(50) % 3
    model = NearestNeighborsClassifier(5, metric=metric, weights="distance")
    expected = model.fit(exact, y).predict(exact + 0.5)
    at = (exact + 0.5) * 0.1 if metric == "canberra" else (exact + 0.5) * 0.1 + 0.3
    np.testing.assert_array_equal(model.fit(tenths, y).predict(at), expected)
