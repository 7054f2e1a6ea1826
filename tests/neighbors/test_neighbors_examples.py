"""Worked examples and claims of the course notes, by their item numbers."""

import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.neighbors import (
    NearestNeighborsClassifier,
    NearestNeighborsRegressor,
    NeighborSearch,
    ParzenClassifier,
)

RNG = np.random.default_rng(8)


def test_m104_one_red_point_owns_its_cell() -> None:
    X = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]]
    y = ["blue", "blue", "blue", "blue", "red"]
    assert NearestNeighborsClassifier(n_neighbors=1).fit(X, y).predict([[1.1, 0.9]]) == ["red"]
    assert NearestNeighborsClassifier(n_neighbors=3).fit(X, y).predict([[1.1, 0.9]]) == ["blue"]


def test_m105_probabilities_are_shares_of_the_k_nearest() -> None:
    X = np.arange(5.0)[:, None]
    model = NearestNeighborsClassifier(n_neighbors=4).fit(X, [0, 1, 1, 2, 2])
    np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[0.25, 0.5, 0.25]])


def test_m106_votes_of_a_rare_class_count_by_the_imbalance_ratio() -> None:
    # 80 blue, 20 green: r = 4. Of the ten nearest 6 are blue and 4 green: 6 against 16.
    X = np.r_[np.linspace(0.1, 0.6, 6), np.linspace(0.15, 0.45, 4), np.linspace(5, 9, 90)][:, None]
    y = np.array(["blue"] * 6 + ["green"] * 4 + ["blue"] * 74 + ["green"] * 16)
    plain = NearestNeighborsClassifier(n_neighbors=10).fit(X, y)
    balanced = NearestNeighborsClassifier(n_neighbors=10, weights="balanced").fit(X, y)
    assert plain.predict([[0.0]]) == ["blue"]
    assert balanced.predict([[0.0]]) == ["green"]
    np.testing.assert_allclose(balanced.predict_proba([[0.0]]), [[6 / 22, 16 / 22]], rtol=1e-15)


def test_m107_votes_by_inverse_distance_break_an_even_vote() -> None:
    model = NearestNeighborsClassifier(n_neighbors=2, weights="distance").fit(
        [[0.0], [4.0]], ["a", "b"]
    )
    np.testing.assert_allclose(model.predict_proba([[3.0]]), [[0.25, 0.75]], rtol=1e-15)
    assert model.predict([[3.0]]) == ["b"]


def test_m108_inverse_distances_divide_by_their_own_sum() -> None:
    X, y = [[0.0], [3.0]], [6.0, 0.0]
    model = NearestNeighborsRegressor(n_neighbors=2, weights="distance").fit(X, y)
    # (6/1 + 0/2) / (1/1 + 1/2) = 4; the notes' prose (sum of distances) would give 2.
    np.testing.assert_allclose(model.predict([[1.0]]), [4.0], rtol=1e-15)
    assert model.predict([[1.5]])[0] == 3.0  # equal distances: the plain mean


def test_m131_mahalanobis_with_unit_covariance_is_euclidean() -> None:
    X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * np.sqrt(3 / 4)
    np.testing.assert_allclose(np.cov(X.T), np.eye(2), atol=1e-15)
    new = RNG.normal(size=(6, 2))
    np.testing.assert_allclose(
        NeighborSearch(X, "mahalanobis").distances(new),
        NeighborSearch(X).distances(new),
        rtol=1e-13,
    )


def test_m138_diagonal_mahalanobis_is_euclidean_on_z_scores() -> None:
    # A full factorial is exactly uncorrelated; ranges [0, 50] and [0, 6] as in the notes.
    X = np.array([[a, b] for a in (0.0, 20.0, 50.0) for b in (0.0, 1.0, 6.0)])
    new = np.array([[10.0, 3.0], [49.0, 0.5]])
    mean, scale = X.mean(axis=0), X.std(axis=0, ddof=1)
    scored = NeighborSearch((X - mean) / scale)
    np.testing.assert_allclose(
        NeighborSearch(X, "mahalanobis").distances(new),
        scored.distances((new - mean) / scale),
        rtol=1e-13,
    )


def test_e3_full_mahalanobis_is_euclidean_on_whitened_data() -> None:
    X = RNG.normal(size=(30, 3)) @ RNG.normal(size=(3, 3))
    new = RNG.normal(size=(5, 3))
    inverse = np.linalg.inv(np.cov(X.T))
    gap = new[:, None] - X[None]
    expected = np.sqrt(np.einsum("ijk,kl,ijl->ij", gap, inverse, gap))
    np.testing.assert_allclose(NeighborSearch(X, "mahalanobis").distances(new), expected, rtol=1e-9)


def test_m136_scale_changes_the_neighbours() -> None:
    X = np.array([[0.0, 0.0], [50.0, 6.0], [12.0, 6.0]])
    assert NearestNeighborsClassifier(n_neighbors=1).fit(X, [0, 1, 2]).predict([[14.0, 0.0]]) == [2]
    scaled = X / [50.0, 6.0]
    new = np.array([[14.0, 0.0]]) / [50.0, 6.0]
    assert NearestNeighborsClassifier(n_neighbors=1).fit(scaled, [0, 1, 2]).predict(new) == [0]


def test_m139_nearest_neighbours_become_far_in_many_dimensions() -> None:
    ratio = []
    for p in (1, 10, 100):
        X = np.random.default_rng(0).uniform(size=(200, p))
        distances = NeighborSearch(X).query(X, 200)[0]
        ratio.append(np.mean(distances[:, 1] / distances[:, -1]))
    assert ratio[0] < 0.05 < 0.2 < ratio[1] < 0.6 < ratio[2]


def test_m132_objects_with_a_distance_can_be_classified() -> None:
    words = ["house", "mouse", "horse", "tree", "three", "free"]
    model = NearestNeighborsClassifier(n_neighbors=3, metric="edit").fit(
        words, ["h", "h", "h", "t", "t", "t"]
    )
    assert model.predict(["hose", "tre"]).tolist() == ["h", "t"]

    def overlap(a: frozenset[int], b: frozenset[int]) -> float:
        return 1 - len(a & b) / len(a | b)

    sets = [frozenset({1, 2}), frozenset({1, 3}), frozenset({7, 8})]
    sized = NearestNeighborsRegressor(n_neighbors=2, metric=overlap).fit(sets, [1.0, 3.0, 100.0])
    assert sized.predict([frozenset({1, 2, 3})])[0] == 2.0


def test_a19_majority_of_the_equidistant_then_the_default_label() -> None:
    X = [[1.0], [-1.0], [-1.0], [5.0]]
    assert NearestNeighborsClassifier(n_neighbors=1).fit(X, [-1, 1, 1, -1]).predict([[0.0]]) == [1]
    even = [[1.0], [-1.0], [5.0]]
    for label in (-1, 1):
        model = NearestNeighborsClassifier(n_neighbors=1, default_label=label).fit(even, [-1, 1, 1])
        assert model.predict([[0.0]]) == [label]
    assert NearestNeighborsClassifier(n_neighbors=1).fit(even, [-1, 1, 1]).predict([[0.0]]) == [-1]
    # A default that is not among the tied classes does not win.
    model = NearestNeighborsClassifier(n_neighbors=1, default_label=0).fit(
        [[1.0], [-1.0], [9.0]], [2, 1, 0]
    )
    assert model.predict([[0.0]]) == [1]


def test_a20_training_error_of_one_neighbour_is_zero_unless_duplicates_contradict() -> None:
    X, y = RNG.normal(size=(40, 2)), RNG.integers(0, 2, 40)
    assert NearestNeighborsClassifier(n_neighbors=1).fit(X, y).score(X, y) == 1.0
    assert NearestNeighborsClassifier().path(X, y, values=[1]).train_error[0] == 0.0
    X, y = np.r_[X, X[:1]], np.r_[y, 1 - y[0]]
    assert NearestNeighborsClassifier(n_neighbors=1).fit(X, y).score(X, y) == pytest.approx(40 / 41)


def test_a23_all_neighbours_make_a_constant_classifier() -> None:
    X, y = RNG.normal(size=(21, 2)), np.r_[np.zeros(13), np.ones(8)]
    model = NearestNeighborsClassifier(n_neighbors=21).fit(X, y)
    assert np.all(model.predict(RNG.normal(size=(50, 2))) == 0)
    assert model.df_ == pytest.approx(1.0)


def test_a24_the_most_frequent_of_several_labels_wins() -> None:
    model = NearestNeighborsClassifier(n_neighbors=5).fit(
        np.arange(5.0)[:, None], ["c", "a", "b", "b", "a"]
    )
    assert model.predict([[2.0]]) == ["a"]  # a and b have two each: the first in sorted order
    model = NearestNeighborsClassifier(n_neighbors=5, default_label="b")
    assert model.fit(np.arange(5.0)[:, None], ["c", "a", "b", "b", "a"]).predict([[2.0]]) == ["b"]


def test_a25_c04_regression_is_the_mean_and_exact_matches_count_alone() -> None:
    X, y = [[0.0], [1.0], [1.0], [3.0]], [1.0, 2.0, 6.0, 100.0]
    assert NearestNeighborsRegressor(n_neighbors=3).fit(X, y).predict([[0.5]])[0] == 3.0
    weighted = NearestNeighborsRegressor(n_neighbors=4, weights="distance").fit(X, y)
    assert weighted.predict([[1.0]])[0] == 4.0
    # Distances so small that their inverse overflows are still distances.
    tiny = NearestNeighborsRegressor(n_neighbors=2, weights="distance").fit(
        [[0.0], [3e-160]], [0.0, 3.0]
    )
    assert tiny.predict([[1e-160]])[0] == pytest.approx(1.0)


def test_c05_few_neighbours_follow_the_noise() -> None:
    X = RNG.uniform(size=(400, 2))
    y = (X[:, 0] > 0.5) ^ (RNG.uniform(size=400) < 0.25)
    path = NearestNeighborsClassifier().path(X, y)
    assert path.train_error[-1] == 0.0
    # A quarter of the labels are noise: 1-NN errs about 2 * 0.25 * 0.75, many neighbours 0.25.
    assert path.error[-1] > path.error.min() + 0.05


def test_a53_a54_many_neighbours_reach_the_bayes_risk_and_few_stay_within_the_bound() -> None:
    # eta jumps from 0.1 to 0.9 at 1/2, so the Bayes risk is 0.1, and 1-NN errs 2 * 0.1 * 0.9.
    rng = np.random.default_rng(53)
    X = rng.uniform(size=(4000, 1))
    y = (X[:, 0] > 0.5) ^ (rng.uniform(size=4000) < 0.1)
    path = NearestNeighborsClassifier().path(X, y, values=[1, 3, 5, 25, 63])
    error = dict(zip(path.values.tolist(), path.error.tolist(), strict=True))
    # Four standard errors, 4 * sqrt(p (1 - p) / 4000): a false alarm once in 10,000 seeds.
    assert error[1] == pytest.approx(0.18, abs=0.0243)
    assert error[63] == pytest.approx(0.1, abs=0.019)  # k near the root of n
    for k, bound in {1: 0.7325, 3: 0.4651, 5: 0.3828, 25: 0.2265}.items():
        assert bound == pytest.approx(0.1 + 2 * np.sqrt(0.1 / k), abs=5e-5)
        assert error[k] <= bound


def test_m133_class_densities_integrate_to_one() -> None:
    model = ParzenClassifier(bandwidth=0.7).fit([[0.0], [1.0], [4.0]], [0, 0, 1])
    grid = np.linspace(-8, 12, 4001)
    density = np.exp(model.log_density(grid[:, None]))
    np.testing.assert_allclose(density.sum(axis=0) * (grid[1] - grid[0]), 1.0, rtol=1e-9)


def test_m135_a_ratio_of_one_goes_to_the_first_class() -> None:
    model = ParzenClassifier(bandwidth=1.0).fit([[-1.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0], [1e-3], [-1e-3]]).tolist() == ["a", "b", "a"]


def test_m135_equal_probabilities_go_to_the_default_label() -> None:
    """M135 gives a ratio of 1 to class 1; the first class in sorted order would be 0."""
    X, y = [[-1.0], [1.0]], [0, 1]
    assert ParzenClassifier(bandwidth=1.0, default_label=1).fit(X, y).predict([[0.0]]) == [1]
    assert ParzenClassifier(bandwidth=1.0, default_label=0).fit(X, y).predict([[0.0]]) == [0]
    assert ParzenClassifier(bandwidth=1.0).fit(X, y).predict([[0.0]]) == [0]
    # Leave-one-out breaks ties the same way: of two rows each side, both middle ones tie.
    four, labels = [[-3.0], [-1.0], [1.0], [3.0]], [0, 1, 0, 1]
    for label in (0, 1):
        path = ParzenClassifier(default_label=label).path(four, labels, values=[1e6])
        left_out = [
            ParzenClassifier(bandwidth=1e6, default_label=label)
            .fit(np.delete(four, i, axis=0), np.delete(labels, i))
            .predict([four[i]])[0]
            for i in range(4)
        ]
        assert path.error[0] == np.mean(np.array(left_out) != labels)
    with pytest.raises(InputError, match="default_label=7 is not a class"):
        ParzenClassifier(default_label=7).fit(X, y)


def test_parzen_goes_from_the_nearest_row_to_the_largest_class() -> None:
    X, y = RNG.normal(size=(31, 2)), np.r_[np.zeros(20, int), np.ones(11, int)]
    new = RNG.normal(size=(50, 2), scale=2)
    nearest = NearestNeighborsClassifier(n_neighbors=1).fit(X, y).predict(new)
    np.testing.assert_array_equal(ParzenClassifier(bandwidth=1e-3).fit(X, y).predict(new), nearest)
    wide = ParzenClassifier(bandwidth=1e6).fit(X, y)
    np.testing.assert_allclose(wide.predict_proba(new), np.tile([20 / 31, 11 / 31], (50, 1)))
    # So far from all rows that every density is 0 in floating point.
    assert np.all(np.isfinite(wide.set_params(bandwidth=1e-3).fit(X, y).predict_proba(new + 1e6)))
