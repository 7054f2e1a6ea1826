"""Charts of the linear methods: their data against numbers computed by hand."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bottega.core.errors import InputError
from bottega.core.path import Path, along
from bottega.linear import orthogonal_shrinkage
from bottega.plot import (
    coefficient_chart,
    criteria_chart,
    region_chart,
    shrinkage_chart,
    threshold_chart,
)

# Orthogonal columns of squared length 2, so least squares is X'y / 2 = (2, 0.5).
X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
Y = np.array([2.0, -2.0, 0.5, -0.5])


@pytest.fixture
def judged():
    return Path(
        along("size", [0, 1, 2, 3]),
        df=[1.0, 2.0, 3.0, 4.0],
        train_error=[9, 4, 3, 2.9],
        error=[9, 5, 4, 5],
        error_se=[1, 1, 1, 1],
        estimate="cv",
        loss="squared error",
        criteria={
            "aic": [50.0, 22.0, 20.0, 21.5],
            "bic": [51.0, 24.0, 25.0, 29.0],
            "cp": [33.0, 5.0, 3.0, np.inf],
            "gcv": [1.0, 2.0, 3.0, 4.0],
        },
    )


def points(rows, what, series=None):
    chosen = [r for r in rows if r["what"] == what and series in (None, r.get("series"))]
    return np.array([[row["b1"], row["b2"]] for row in chosen])


# ---- coefficients -------------------------------------------------------------------------------


def test_coefficients_against_the_l1_norm(curve, rows_of, layers_of):
    chart = coefficient_chart(curve, against="l1")
    rows = rows_of(chart)
    # |0.1| + |-0.2|, |0.5| + |-0.4|, |1| + |-3|
    assert [row["x"] for row in rows if row["name"] == "x0"] == pytest.approx([0.3, 0.9, 4.0])
    assert {row["x"] for row in rows if row.get("picked")} == {0.3}
    assert layers_of(chart)[0]["encoding"]["x"]["field"] == "x"
    assert "absolute" in layers_of(chart)[0]["encoding"]["x"]["title"]


def test_coefficients_against_the_knob_on_a_log_axis(curve, rows_of, layers_of):
    path = dataclasses.replace(curve, settings=along("alpha", [1000.0, 10.0, 0.1]))
    chart = coefficient_chart(path, against="knob")
    assert [row["x"] for row in rows_of(chart) if row["name"] == "x1"] == [1000.0, 10.0, 0.1]
    x = layers_of(chart)[0]["encoding"]["x"]
    assert (x["scale"]["type"], x["scale"]["reverse"]) == ("log", True)
    assert x["title"].startswith("alpha")


def test_coefficients_against_something_else_are_refused(curve):
    with pytest.raises(InputError, match="against='lambda' is not allowed; use 'df', 'knob'"):
        coefficient_chart(curve, against="lambda")


# ---- criteria -----------------------------------------------------------------------------------


def test_criteria_are_drawn_less_their_least_value(judged, rows_of, layers_of):
    chart = criteria_chart(judged, which=("aic", "bic"))
    rows = rows_of(chart)
    aic = [row for row in rows if row["criterion"] == "AIC: least at size = 2"]
    bic = [row for row in rows if row["criterion"] == "BIC: least at size = 1"]
    assert [row["loss"] for row in aic] == [30.0, 2.0, 0.0, 1.5]
    assert [row["loss"] for row in bic] == [27.0, 0.0, 1.0, 5.0]
    assert [row["df"] for row in aic] == [1.0, 2.0, 3.0, 4.0]
    assert [row["df"] for row in rows if row.get("least")] == [3.0, 2.0]
    assert layers_of(chart)[0]["encoding"]["y"]["scale"] == {}


def test_infinite_criteria_are_left_out_and_steep_ones_get_a_root_axis(judged, rows_of, layers_of):
    rows = rows_of(criteria_chart(judged, which="cp"))
    assert [row["loss"] for row in rows] == [30.0, 2.0, 0.0]
    steep = dataclasses.replace(judged, criteria={"aic": [100.0, 22.0, 20.0, 21.0]})
    chart = criteria_chart(steep, which=("aic",))
    assert layers_of(chart)[0]["encoding"]["y"]["scale"] == {"type": "sqrt"}
    assert "square roots" in chart.to_dict()["title"]["subtitle"][0]


def test_criteria_that_cannot_be_drawn_are_refused(judged, curve):
    with pytest.raises(InputError, match="'gcv' cannot be drawn here; use some of aic"):
        criteria_chart(judged, which=("gcv",))
    with pytest.raises(InputError, match="has no criteria, not 'aic'"):
        criteria_chart(curve)


# ---- shrinkage ----------------------------------------------------------------------------------


def test_ridge_shrinks_smoothly_and_components_in_steps(rows_of, layers_of):
    chart = shrinkage_chart([1.0, 3.0, 2.0], alphas=[4.0, 1.0], n_components=2)
    rows = rows_of(chart)
    kept = {}
    for row in rows:
        kept.setdefault(row["series"], []).append(row["kept"])
    # d^2 = 9, 4, 1: over d^2 + 1 and d^2 + 4; the sums are the degrees of freedom.
    assert list(kept) == [
        "ridge, alpha = 1 (df 2.2)",
        "ridge, alpha = 4 (df 1.39)",
        "2 components (df 2)",
    ]
    assert kept["ridge, alpha = 1 (df 2.2)"] == pytest.approx([0.9, 0.8, 0.5])
    assert kept["ridge, alpha = 4 (df 1.39)"] == pytest.approx([9 / 13, 0.5, 0.2])
    assert kept["2 components (df 2)"] == [1.0, 1.0, 0.0]
    assert [row["d"] for row in rows[:3]] == [3.0, 2.0, 1.0]
    assert layers_of(chart)[1]["mark"]["interpolate"] == "step"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0, 0.0], 1.0), "positive singular values"),
        (([2.0, 1.0],), "nothing to draw"),
        (([2.0, 1.0], -1.0), "must not be negative"),
        (([2.0, 1.0], (), 3), "components lie between 0 and 2"),
    ],
)
def test_bad_shrinkage_is_refused(given, message):
    with pytest.raises(InputError, match=message):
        shrinkage_chart(*given)


def test_thresholds_of_one_coefficient(rows_of):
    rows = rows_of(threshold_chart(0.5, limit=2.0))

    def at(rule, b):
        """Read a rule off its straight pieces."""
        for piece in sorted({row["piece"] for row in rows if row["rule"] == rule}):
            line = [(row["b"], row["shrunk"]) for row in rows if row["piece"] == piece]
            if line[0][0] < b <= line[-1][0]:
                return np.interp(b, *np.transpose(line))
        return None

    # The notes' numbers (D82): b = 2 with penalty 0.5 becomes 1.3333 and 1.5, b = 0.3 0.2 and 0.
    assert at("ridge", 2.0) == pytest.approx(4 / 3)
    assert at("ridge", 0.3) == pytest.approx(0.2)
    assert at("lasso", 2.0) == pytest.approx(1.5)
    assert at("lasso", 0.3) == 0
    assert at("lasso", -1.5) == pytest.approx(-1.0)  # printed (|b - lambda|)+ would give 2
    # The penalty 0.5 a coefficient pays where b^2 / 2 is more: |b| > 1.
    assert [at("subset", b) for b in (2.0, 1.1, 0.9, -0.9)] == [2.0, 1.1, 0.0, 0.0]
    assert at("subset", -1.5) == pytest.approx(-1.5)
    for rule in ("ridge", "lasso", "subset"):
        for b in (-1.7, -0.8, -0.2, 0.4, 0.95, 1.9):
            assert at(rule, b) == pytest.approx(orthogonal_shrinkage(b, 0.5, penalty=rule))


@pytest.mark.parametrize(("given", "message"), [((0.0,), "positive number"), ((1.0, 0.5), "limit")])
def test_bad_thresholds_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        threshold_chart(given[0], limit=given[1] if len(given) > 1 else None)


# ---- regions ------------------------------------------------------------------------------------


def test_constrained_solutions_of_orthogonal_inputs(rows_of):
    rows = rows_of(region_chart(X, Y, s=1.0))
    assert points(rows, "least squares").tolist() == [[2.0, 0.5]]
    # Least squares (2, 0.5) on the diamond of size 1: soft thresholding by 1 gives (1, 0).
    assert points(rows, "solution", "lasso (q = 1)").tolist() == [[1.0, 0.0]]
    # On the disc of radius 1: the same direction, shrunk to length 1.
    ridge = np.array([2.0, 0.5]) / np.hypot(2, 0.5)
    assert_allclose(points(rows, "solution", "ridge (q = 2)")[0], ridge, rtol=1e-6)


def test_lasso_inside_an_edge_is_soft_thresholding(rows_of):
    rows = rows_of(region_chart(X, Y, q=1, s=2.1))
    # Thresholding (2, 0.5) by t = 0.2 gives |1.8| + |0.3| = 2.1.
    assert_allclose(points(rows, "solution")[0], [1.8, 0.3], rtol=1e-6)


def test_correlated_inputs_satisfy_the_conditions_of_a_minimum(rows_of):
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 2)) @ [[1.0, 0.6], [0.0, 0.8]]
    y = A @ [2.0, 1.0] + rng.normal(size=40)
    Z, t = A - A.mean(axis=0), y - y.mean()
    rows = rows_of(region_chart(A, y))
    b = points(rows, "solution", "ridge (q = 2)")[0]
    gradient = Z.T @ (t - Z @ b)
    # Ridge: the gradient is a positive multiple of b. The chart holds seven digits.
    assert gradient / b == pytest.approx(np.mean(gradient / b), rel=1e-4)
    assert np.all(gradient / b > 0)
    half = np.linalg.lstsq(Z, t, rcond=None)[0] / 2
    assert np.sum(b**2) == pytest.approx(np.sum(half**2), rel=1e-5)  # on the edge of its region
    a = points(rows, "solution", "lasso (q = 1)")[0]
    gradient = Z.T @ (t - Z @ a)
    assert np.abs(a).sum() == pytest.approx(np.abs(half).sum(), rel=1e-6)
    active = a != 0
    assert np.all(np.abs(gradient) <= np.abs(gradient[active]).max() * (1 + 1e-4))
    assert np.all(np.sign(gradient[active]) == np.sign(a[active]))


def test_the_drawn_contour_touches_the_region_at_the_solution(rows_of):
    rows = rows_of(region_chart(X, Y, q=2, s=1.0))
    edge, contour = points(rows, "region"), points(rows, "contour")
    solution = points(rows, "solution")[0]
    assert_allclose(np.hypot(*edge.T), 1, rtol=1e-6)
    # X'X = 2 I: contours are circles about (2, 0.5), this one through the solution.
    radius = np.hypot(*(solution - [2.0, 0.5]))
    assert_allclose(np.hypot(*(contour - [2.0, 0.5]).T), radius, rtol=1e-6)
    assert np.hypot(*contour.T).min() == pytest.approx(1, abs=1e-3)


def test_least_squares_inside_the_region_is_its_own_solution(rows_of):
    rows = rows_of(region_chart(X, Y, q=(0.5, 1), s=10.0))
    assert points(rows, "solution").tolist() == [[2.0, 0.5], [2.0, 0.5]]
    assert not any(row["what"] == "contour" for row in rows)


@pytest.mark.parametrize("q", [0.5, 1.0, 1.5, 2.0, 4.0])
def test_edges_are_the_level_sets_of_their_penalty(q, rows_of):
    edge = points(rows_of(region_chart(X, Y, q=q, s=1.0)), "region")
    assert_allclose(np.sum(np.abs(edge) ** q, axis=1), 1, rtol=2e-6)  # seven digits each
    assert [1.0, 0.0] in edge.tolist()
    assert [0.0, -1.0] in edge.tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((X[:, :1], Y), "two inputs"),
        ((X[:, [0, 0]], Y), "collinear"),
        ((X, Y, 0), "positive exponents"),
        ((X, Y, 1, -1.0), "positive sizes"),
        ((X, np.where(Y > 1, np.nan, Y)), "finite"),
    ],
)
def test_bad_regions_are_refused(given, message):
    A, y, *rest = given
    keywords = dict(zip(("q", "s"), rest, strict=False))
    with pytest.raises(InputError, match=message):
        region_chart(A, y, **keywords)
