"""Numbers near the ends of what floating point holds, and rows that are equal."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    NeighborSearch,
    ParzenClassifier,
    edit,
)

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 2))
Y = X[:, 0] + 0.1 * RNG.normal(size=40)
CLASSES = (Y > 0).astype(int) + (Y > 1)
# Powers of two near 1e155, 1e300, 1e-160, 1e-200 and 1e-300: what they multiply keeps its digits.
SCALES = [2.0**k for k in (515, 996, -531, -664, -996)]
FAR = [[1e300, 0.0], [-1e300, 1e300], [1e155, 1e155], [0.0, -1e200]]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("wide", [False, True], ids=["tree", "brute force"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "mahalanobis"])
def test_neighbours_do_not_depend_on_the_unit(scale, wide, metric):
    table = np.hstack([X, RNG.normal(size=(40, 10))]) if wide else X
    new = table + 0.01
    plain = NeighborSearch(table, metric).query(new, 5)
    found = NeighborSearch(table * scale, metric).query(new * scale, 5)
    np.testing.assert_array_equal(found[1], plain[1])
    unit = 1.0 if metric in ("cosine", "mahalanobis") else scale
    np.testing.assert_allclose(found[0], plain[0] * unit, rtol=1e-12)


@pytest.mark.parametrize("p", [1.5, 3, 40, 1000])
def test_high_powers_do_not_overflow(p):
    for scale in (1e7, *SCALES):
        found = NeighborSearch(X * scale, p=p, metric="minkowski").query(X * scale, 3)[0] / scale
        gap = np.abs(X[:, None] - X)
        top = gap.max(axis=2, keepdims=True)
        shares = np.divide(gap, top, out=np.zeros_like(gap), where=top > 0)
        expected = top[:, :, 0] * np.sum(shares**p, axis=2) ** (1 / p)
        np.testing.assert_allclose(found, np.sort(expected, axis=1)[:, :3], rtol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_predictions_and_paths_do_not_depend_on_the_unit(scale):
    new = X[:10] + 0.05
    for model, y in [
        (NearestNeighborsRegressor(), Y),
        (NearestNeighborsRegressor(5, weights="distance"), Y),
        (NearestNeighborsClassifier(), CLASSES),
    ]:
        plain = model.fit(X, y).predict(new)
        path = getattr(model, "path_", None)
        found = model.fit(X * scale, y).predict(new * scale)
        np.testing.assert_allclose(found, plain, rtol=1e-12)
        if path is not None:
            np.testing.assert_array_equal(model.path_.error, path.error)


@pytest.mark.parametrize("scale", SCALES)
def test_parzen_windows_do_not_depend_on_the_unit(scale):
    model = ParzenClassifier().fit(X, CLASSES)
    scaled = ParzenClassifier().fit(X * scale, CLASSES)
    assert scaled.bandwidth_ == model.bandwidth_ * scale
    np.testing.assert_array_equal(scaled.path_.error, model.path_.error)
    shares = model.predict_proba(X + 0.1)
    np.testing.assert_allclose(scaled.predict_proba((X + 0.1) * scale), shares, rtol=1e-12)
    density = model.log_density(X + 0.1) - 2 * np.log(scale)
    np.testing.assert_allclose(scaled.log_density((X + 0.1) * scale), density, rtol=1e-12)


def test_points_far_from_all_rows_are_as_far_from_each():
    """At 1e300 the rows differ by less than rounding: all of them are neighbours."""
    model = NearestNeighborsRegressor(3).fit(X, Y)
    np.testing.assert_allclose(model.predict(FAR), Y.mean())
    largest = np.bincount(CLASSES).argmax()
    assert np.all(NearestNeighborsClassifier(3).fit(X, CLASSES).predict(FAR) == largest)
    parzen = ParzenClassifier().fit(X, CLASSES)
    shares = np.bincount(CLASSES) / len(CLASSES)
    np.testing.assert_allclose(parzen.predict_proba(FAR), np.tile(shares, (4, 1)))
    assert np.all(parzen.log_density(FAR) == -np.inf)
    # Near points beside far ones are predicted as without them.
    np.testing.assert_array_equal(model.predict(np.r_[X, FAR])[:40], model.predict(X))
    np.testing.assert_array_equal(parzen.predict_proba(np.r_[X, FAR])[:40], parzen.predict_proba(X))


def test_a_large_number_hides_no_difference_in_another_column():
    new = X[:10] + 0.05
    expected = NeighborSearch(X).query(new, 5)
    beside = NeighborSearch(np.c_[X, np.full(40, 1e300)]).query(np.c_[new, np.full(10, 1e300)], 5)
    np.testing.assert_array_equal(beside[1], expected[1])
    np.testing.assert_allclose(beside[0], expected[0], rtol=1e-12)
    outside = NeighborSearch(np.r_[X, [[1e300, -1e300]]]).query(new, 5)
    np.testing.assert_array_equal(outside[1], expected[1])
    small = NeighborSearch(np.r_[X * 1e-200, [[1.0, 1.0]]]).query(new * 1e-200, 5)
    np.testing.assert_array_equal(small[1], expected[1])


def test_numbers_without_differences_are_refused():
    with pytest.raises(InputError, match="distances between rows cannot be represented"):
        NearestNeighborsRegressor(3).fit(np.array([[1.7e308], [-1.7e308], [0.0], [1.0]]), Y[:4])
    with pytest.raises(InputError, match="which has the same neighbours"):
        NeighborSearch(X * 1e200, "sqeuclidean").query(X * 1e200, 3)


def by_definition(table, y, new, k, *, weights, left_out=False):
    """Return the mean of the neighbourhoods of new points, written out."""
    found = []
    for i, point in enumerate(new):
        kept = np.arange(len(y)) != i if left_out else np.ones(len(y), dtype=bool)
        distance = np.sqrt(np.sum((table[kept] - point) ** 2, axis=1))
        near = distance <= np.sort(distance)[k - 1] * (1 + 1e-12)
        near &= (distance == 0) if weights == "distance" and distance.min() == 0 else True
        share = 1 / distance[near] if weights == "distance" and distance.min() > 0 else None
        found.append(np.average(y[kept][near], weights=share))
    return np.array(found)


REPEATED = np.repeat(RNG.integers(0, 4, size=(12, 2)).astype(float), 15, axis=0)
RESPONSES = RNG.normal(size=180)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 7, 40, 179])
def test_equal_rows_count_one_by_one(weights, k):
    order = np.random.default_rng(0).permutation(180)
    table, y = REPEATED[order], RESPONSES[order]
    model = NearestNeighborsRegressor(k, weights=weights).fit(table, y)
    assert model.search_.places is not None  # else this tests something else
    new = np.r_[table[:20], table[:20] + 0.25]
    expected = by_definition(table, y, new, k, weights=weights)
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-12, atol=1e-14)
    held_out = by_definition(table, y, table, k, weights=weights, left_out=True)
    np.testing.assert_allclose(model.predict(None), held_out, rtol=1e-10, atol=1e-12)
    path = NearestNeighborsRegressor(weights=weights).path(table, y, values=[k])
    assert path.error[0] == pytest.approx(np.mean((y - held_out) ** 2), rel=1e-10)
    distances = np.sqrt(((table[:, None] - table) ** 2).sum(axis=2))
    near = distances <= np.sort(distances, axis=1)[:, [k - 1]] * (1 + 1e-12)
    near = distances == 0 if weights == "distance" else near
    assert model.df_ == pytest.approx(np.sum(1 / near.sum(axis=1)))


@pytest.mark.parametrize("weights", ["uniform", "distance", "balanced"])
def test_votes_of_equal_rows_count_one_by_one(weights):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, size=180)
    grouped = NearestNeighborsClassifier(20, weights=weights).fit(REPEATED, labels)
    assert grouped.search_.places is not None
    new = REPEATED[::15] + 0.3
    indicator = (labels[:, None] == np.arange(3)).astype(float)
    if weights == "balanced":
        counts = np.bincount(labels)
        shares = np.column_stack(
            [by_definition(REPEATED, column, new, 20, weights="uniform") for column in indicator.T]
        )
        shares = shares / counts
        shares /= shares.sum(axis=1, keepdims=True)
    else:
        shares = np.column_stack(
            [by_definition(REPEATED, column, new, 20, weights=weights) for column in indicator.T]
        )
    np.testing.assert_allclose(grouped.predict_proba(new), shares, rtol=1e-10, atol=1e-12)
    held_out = np.column_stack(
        [
            by_definition(REPEATED, column, REPEATED, 20, weights="uniform", left_out=True)
            for column in indicator.T
        ]
    )
    if weights == "uniform":
        np.testing.assert_allclose(grouped.predict_proba(None), held_out, rtol=1e-10, atol=1e-12)
        kept = edit(REPEATED, labels, n_neighbors=20)
        expected = np.flatnonzero(np.argmax(held_out, axis=1) == labels)
        np.testing.assert_array_equal(kept, expected)


def test_lists_of_equal_rows_are_by_distance_then_by_row():
    order = np.random.default_rng(2).permutation(180)
    table = REPEATED[order]
    search = NeighborSearch(table)
    assert search.places is not None
    distances = np.sqrt(((table[:, None] - table) ** 2).sum(axis=2))
    expected = np.lexsort((np.tile(np.arange(180), (180, 1)), distances), axis=1)
    for k in (1, 16, 60):
        found = search.query(table, k)
        np.testing.assert_array_equal(found[1], expected[:, :k])
        others = np.array([row[row != i] for i, row in enumerate(expected)])
        found = search.query(None, k)
        np.testing.assert_array_equal(found[1], others[:, :k])
        near = np.take_along_axis(distances, others[:, :k], axis=1)
        np.testing.assert_allclose(found[0], near, rtol=1e-12)


@pytest.mark.timeout(30)
def test_ten_thousand_equal_rows_take_no_time():
    """All rows are neighbours of all: without a place for equal rows, n^2 of them in every list."""
    n = 10_000
    y = np.random.default_rng(0).normal(size=n)
    model = NearestNeighborsRegressor().fit(np.ones((n, 2)), y)
    np.testing.assert_allclose(model.predict([[1.0, 1.0], [3.0, 0.0]]), y.mean())
    assert model.path_.error[-1] == pytest.approx(np.var(y) * (n / (n - 1)) ** 2)
    labels = (y > 0.1).astype(int)
    assert NearestNeighborsClassifier().fit(np.ones((n, 2)), labels).predict([[0, 0]]) == 0
    assert model.kneighbors(n_neighbors=2)[1][:3].tolist() == [[1, 2], [0, 2], [0, 1]]
    ParzenClassifier().fit(np.ones((500, 2)), labels[:500])


@pytest.mark.parametrize("metric", ["euclidean", "hamming", "manhattan"])
def test_the_order_of_rows_does_not_matter(metric):
    rng = np.random.default_rng(3)
    table = rng.integers(0, 3, size=(120, 4)).astype(float)
    y, order = rng.normal(size=120), rng.permutation(120)
    model = NearestNeighborsRegressor(metric=metric)
    plain = model.fit(table, y)
    expected, k = plain.predict(table + 0.2), plain.n_neighbors_
    permuted = NearestNeighborsRegressor(metric=metric).fit(table[order], y[order])
    assert permuted.n_neighbors_ == k
    np.testing.assert_allclose(permuted.predict(table + 0.2), expected, rtol=1e-10, atol=1e-12)


def one_apart(a, b):
    return float(np.any(a != b))


def test_masked_values_are_refused_wherever_rows_are_read():
    masked = np.ma.masked_greater(X, 1.0)
    for refused in (
        lambda: NeighborSearch(masked),
        lambda: NeighborSearch(X).query(masked, 2),
        lambda: NearestNeighborsRegressor(2).fit(masked, Y),
        lambda: NearestNeighborsRegressor(2).fit(X, Y).predict(masked),
        lambda: NearestNeighborsRegressor(2, metric=one_apart).fit(X, Y).predict(masked),
        lambda: ParzenClassifier().fit(X, CLASSES).predict(masked),
    ):
        with pytest.raises(InputError, match=r"X has \d+ masked value"):
            refused()
