"""Charts of clusters: what they show, and bad input."""

import numpy as np
import pytest

from bottega.cluster import DensityClusters, Hierarchical, KMeans, gap_statistic, silhouette
from bottega.core.errors import InputError
from bottega.plot import (
    cluster_path_chart,
    cluster_steps_chart,
    clusters_chart,
    dendrogram_chart,
)


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(m, 0.5, size=(30, 2)) for m in ([0, 0], [4, 0], [2, 5])])


def values_of(spec):
    """Return all rows of data in a chart."""
    found = []
    if isinstance(spec, dict):
        rows = spec.get("values")
        if isinstance(rows, list) and rows and isinstance(rows[0], dict):
            found += rows
        for key, part in spec.items():
            if key != "config":
                found += values_of(part)
    elif isinstance(spec, list):
        for part in spec:
            found += values_of(part)
    return found


def test_silhouettes_are_sorted_within_clusters(X):
    found = silhouette(X, KMeans(3, random_state=0).fit(X).labels_)
    spec = found.plot().to_dict()
    rows = [row for row in values_of(spec) if "silhouette" in row]
    assert len(rows) == 90
    for name in {row["cluster"] for row in rows}:
        mine = [row["silhouette"] for row in rows if row["cluster"] == name]
        assert mine == sorted(mine, reverse=True)
    assert "Silhouettes: mean" in spec["title"]["text"]


def test_the_tree_has_a_line_for_each_join(X):
    model = Hierarchical(3).fit(X)
    rows = [row for row in values_of(model.plot(most=90).to_dict()) if "join" in row]
    assert len({row["join"] for row in rows}) == 89
    few = [row for row in values_of(model.plot(most=10).to_dict()) if "join" in row]
    assert len({row["join"] for row in few}) == 9
    heights = {row["join"]: row["height"] for row in rows}
    assert max(heights.values()) == pytest.approx(model.merges_[-1, 2], rel=1e-6)
    clusters = {row["cluster"] for row in rows}
    assert clusters == {"cluster 0", "cluster 1", "cluster 2", "joined"}
    assert dendrogram_chart(model.merges_, most=5).to_dict()


def test_the_path_shows_every_criterion(X):
    curve = KMeans("auto", max_clusters=4, random_state=0).path(X)
    rows = values_of(cluster_path_chart(curve).to_dict())
    assert len({row["criterion"] for row in rows}) == 4
    assert [row["n"] for row in rows if row["picked"]] == [3, 3, 3]
    for select in ("silhouette", "gap", "stability"):
        assert curve.plot(select=select).to_dict()
    fitted = KMeans("auto", max_clusters=4, random_state=0).fit(X)
    assert fitted.path_.plot().to_dict()


def test_steps_show_the_way_of_the_centres(X):
    steps = KMeans(3, init=X[:3], tol=0).steps(X)
    rows = values_of(cluster_steps_chart(X, steps).to_dict())
    last = [row for row in rows if row["step"] == f"step {len(steps) - 1}"]
    centres = sorted((row["x"], row["y"]) for row in last if row["kind"] == "centre")
    expected = sorted((c[0], c[1]) for c in steps[-1])
    assert np.array(centres) == pytest.approx(np.array(expected), rel=1e-6)
    with pytest.raises(InputError, match="two columns"):
        cluster_steps_chart(np.eye(3), steps)


def test_clusters_noise_and_curves(X):
    model = KMeans(3, random_state=0).fit(X)
    chart = clusters_chart(X, model.labels_, centers=model.cluster_centers_).to_dict()
    assert len(values_of(chart)) == 93
    noisy = np.where(np.arange(90) < 3, -1, model.labels_)
    assert "noise" in {row["cluster"] for row in values_of(clusters_chart(X, noisy).to_dict())}
    curve = DensityClusters().fit(X).plot().to_dict()
    assert "eps = " in curve["title"]["text"]
    gap = gap_statistic(X, n_clusters=4, n_references=3).plot().to_dict()
    assert gap["title"]["text"] == "Gap statistic: 3 clusters"
