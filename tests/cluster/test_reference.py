"""Clusters against R: kmeans, silhouette, hclust, cutree, clusGap."""

import json
from pathlib import Path

import numpy as np
import pytest

from bottega.cluster import GapStatistic, Hierarchical, KMeans, silhouette

FILE = Path(__file__).parents[1] / "reference" / "cluster" / "clusters.json"


@pytest.fixture(scope="module")
def reference():
    return json.loads(FILE.read_text())


def same_partition(a, b):
    """Return True if two labelings name the same groups."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


@pytest.mark.parametrize("run", range(3))
def test_lloyd_from_the_same_start(reference, run):
    X, expected = np.array(reference["X"]), reference["kmeans"][run]
    model = KMeans(len(expected["rows"]), init=X[expected["rows"]], tol=0).fit(X)
    assert model.labels_.tolist() == expected["labels"]
    # The file holds 15 digits.
    assert model.cluster_centers_ == pytest.approx(np.array(expected["centers"]), rel=1e-12)
    assert model.inertia_ == pytest.approx(expected["inertia"], rel=1e-12)
    assert np.bincount(model.labels_).tolist() == expected["sizes"]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_silhouettes(reference, metric):
    X, labels = np.array(reference["X"]), reference["kmeans"][0]["labels"]
    found = silhouette(X, labels, metric=metric)
    # Sums of 150 distances in another order.
    assert found.values == pytest.approx(np.array(reference["silhouettes"][metric]), rel=1e-9)


@pytest.mark.parametrize("method", ["ward", "average", "complete", "single", "weighted"])
def test_trees(reference, method):
    Y, expected = np.array(reference["Y"]), reference["trees"][method]
    model = Hierarchical(4, linkage=method).fit(Y)
    # The update of a distance at each of 29 joins rounds a little otherwise.
    assert model.merges_[:, 2] == pytest.approx(expected["heights"], rel=1e-10)
    assert (model.labels_ + 1).tolist() == expected["cut4"]
    assert same_partition(Hierarchical(9, linkage=method).fit(Y).labels_, expected["cut9"])
    assert model.cophenetic_correlation_ == pytest.approx(expected["cophenetic"], rel=1e-9)
    height = np.sort(expected["heights"])[-4:-2].mean()  # between the cuts into 4 and 3
    by_height = Hierarchical(None, distance_threshold=height, linkage=method).fit(Y)
    assert same_partition(by_height.labels_, expected["cut4"])


@pytest.mark.parametrize("method", ["centroid", "median"])
def test_trees_of_centres(reference, method):
    Y, expected = np.array(reference["Y"]), reference["squared"][method]
    model = Hierarchical(4, linkage=method).fit(Y)
    # R sorts joins as they are made; so does SciPy, inversions included.
    assert np.sort(model.merges_[:, 2]) == pytest.approx(np.sort(expected["heights"]), rel=1e-9)


def test_log_within_of_the_gap_statistic(reference):
    X = np.array(reference["X"])
    found = [
        np.log(KMeans(k, init=X[np.arange(1, k + 1) * 29 - 1], tol=0).fit(X).inertia_)
        for k in (2, 3, 4)
    ]
    # R's W is half the sum of squares.
    expected = np.array(reference["log_within"][1:]) + np.log(2)
    assert found == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("case", range(6))
def test_the_rule_of_the_gap_statistic(reference, case):
    rule = reference["rules"][case]
    gap, se = np.array(rule["gap"]), np.array(rule["se"])
    zero = np.zeros(len(gap))
    found = GapStatistic(np.arange(1, len(gap) + 1), zero, zero, gap, se)
    assert found.best() == rule["picked"]
