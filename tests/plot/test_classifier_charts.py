"""Pictures of classifiers: boundaries with margins, posteriors, coordinates, pairs of inputs."""

import numpy as np
import pandas as pd
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC

from bottega.core.errors import InputError
from bottega.plot import (
    boundaries_chart,
    discriminant_chart,
    intervals_chart,
    parts_chart,
    posterior_surface_chart,
    scatter_matrix_chart,
    threshold_cost_chart,
)
from bottega.plot._grid import contour


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    return rng.normal(size=(90, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[y], y


def test_contours_lie_where_the_value_is():
    """Of x^2 + y^2 on a fine grid the line of 1 is the unit circle, to a cell's width."""
    low, high = np.array([-2.0, -2.0]), np.array([2.0, 2.0])
    middle = -2 + 4 * (np.arange(80) + 0.5) / 80
    pieces = contour(middle[None, :] ** 2 + middle[:, None] ** 2, 1.0, low, high)
    ends = np.array([[p["ax"], p["ay"]] for p in pieces] + [[p["bx"], p["by"]] for p in pieces])
    assert np.hypot(*ends.T) == pytest.approx(1, abs=2e-3)
    length = sum(np.hypot(p["ax"] - p["bx"], p["ay"] - p["by"]) for p in pieces)
    assert length == pytest.approx(2 * np.pi, rel=5e-3)


def test_a_saddle_has_two_pieces():
    pieces = contour(np.array([[1.0, -1.0], [-1.0, 1.0]]), 0.0, np.zeros(2), np.ones(2))
    assert len(pieces) == 2
    assert contour(np.ones((3, 3)), 0.0, np.zeros(2), np.ones(2)) == []


def test_margins_and_support_vectors_of_a_linear_machine(sample):
    X, y = sample
    X, y = X[y < 2], y[y < 2]
    model = SVC(kernel="linear").fit(X, y)
    rows = boundaries_chart({"machine": model}, X, y).to_dict()["data"]["values"]
    for line, values in (("boundary", [0.0]), ("margin", [-1.0, 1.0])):
        pieces = [row for row in rows if row.get("line") == line]
        ends = np.array([[row["ax"], row["ay"]] for row in pieces])
        found = model.decision_function(ends)
        assert np.min(np.abs(found[:, None] - values), axis=1) == pytest.approx(0, abs=1e-4)
    rings = np.array([[row["sx"], row["sy"]] for row in rows if "sx" in row])
    assert rings == pytest.approx(model.support_vectors_, rel=1e-5)
    plain = boundaries_chart({"m": model}, X, y, margins=False).to_dict()["data"]["values"]
    assert not any("line" in row or "sx" in row for row in plain)
    other = boundaries_chart({"m": LogisticRegression().fit(X, y)}, X, y, margins=True)
    lines = [row.get("line") for row in other.to_dict()["data"]["values"]]
    assert "margin" in lines


def test_posteriors_are_shaded_by_how_sure_they_are(sample):
    X, y = sample
    model = QuadraticDiscriminantAnalysis().fit(X, y)
    chart = posterior_surface_chart(model, X, y, bayes=lambda Z: Z[:, 0] > 0).to_dict()
    rows = chart["data"]["values"]
    cells = [row for row in rows if "left" in row]
    for row in cells[::50]:
        at = [[(row["left"] + row["right"]) / 2, (row["bottom"] + row["top"]) / 2]]
        share = model.predict_proba(at).max()
        # A rectangle has one shade of twelve; its middle may lie one shade off.
        assert row["sure"] == pytest.approx((share - 1 / 3) * 1.5, abs=0.13)
    line = np.array([[row["ax"], row["ay"]] for row in rows if "ax" in row])
    top = np.sort(model.predict_proba(line), axis=1)
    assert np.median(top[:, -1] - top[:, -2]) < 0.02
    assert sum("px" in row for row in rows) == 90
    with pytest.raises(InputError, match="no probabilities"):
        posterior_surface_chart(LinearRegression().fit(X, y), X, y)
    with pytest.raises(InputError, match="two inputs"):
        posterior_surface_chart(model, np.zeros((4, 3)), y[:4])


@pytest.mark.parametrize("d", [1, 2, 3])
def test_discriminant_coordinates(sample, d):
    rng = np.random.default_rng(1)
    Z, y = rng.normal(size=(90, d)), sample[1]
    centers = np.array([Z[y == k].mean(axis=0) for k in range(3)])
    spec = discriminant_chart(Z, y, centers, [0, 1, 2], np.ones(d) / d).to_dict()
    rows = spec["data"]["values"]
    assert len([row for row in rows if "x" in row]) == 90
    assert [row["cx"] for row in rows if "cx" in row] == pytest.approx(centers[:, 0], rel=1e-5)
    with pytest.raises(InputError, match="one mean per class"):
        discriminant_chart(Z, y, centers[:2], [0, 1, 2])


def test_pairs_of_inputs(sample):
    X, y = sample
    frame = pd.DataFrame({f"col{j}": X[:, j % 2] for j in range(8)})
    spec = scatter_matrix_chart(frame, y).to_dict()
    assert len(spec["vconcat"]) == len(spec["vconcat"][0]["hconcat"]) == 6
    assert "Pairs of 6 of 8 inputs" in spec["title"]["text"]
    corner = spec["vconcat"][5]["hconcat"][0]["encoding"]
    assert (corner["x"]["title"], corner["y"]["title"]) == ("col0", "col5")
    assert spec["vconcat"][2]["hconcat"][2]["encoding"]["y"]["aggregate"] == "count"
    many = scatter_matrix_chart(
        np.random.default_rng(0).random((600, 2)), np.random.default_rng(1).integers(0, 12, 600)
    )
    labels = {row["label"] for row in many.to_dict()["data"]["values"]}
    assert len(labels) == 11
    assert "other" in labels
    assert {row["label"] for row in scatter_matrix_chart(X).to_dict()["data"]["values"]} == {"rows"}
    for bad, says in (((X, y[:3]), "X has 90 rows"), ((X[:, 0], None), "give a table")):
        with pytest.raises(InputError, match=says):
            scatter_matrix_chart(*bad)
    with pytest.raises(InputError, match="1 entries for 2"):
        scatter_matrix_chart(X, names=["a"])


def test_intervals_parts_and_costs(rows_of):
    rows = rows_of(
        intervals_chart(
            ["a", "b"], [1.0, 2.0], [[0.5, 1.5], [np.nan, np.nan]], x_title="x", title="t"
        )
    )
    assert rows[1] == {"name": "b", "estimate": 2.0, "low": None, "high": None}
    rows = rows_of(parts_chart({"up": 2.0, "down": -0.5}, total="rest"))
    assert [(row["name"], row["end"]) for row in rows] == [("up", 2), ("down", 1.5), ("rest", 1.5)]
    never = threshold_cost_chart([0.9, 0.1], [0.4, 0.5], best=np.inf, none=0.3).to_dict()
    assert "No threshold costs less" in never["title"]["subtitle"][0]
    with pytest.raises(InputError, match="one estimate and two ends"):
        intervals_chart(["a"], [1.0, 2.0], [[0, 1]], x_title="x", title="t")
