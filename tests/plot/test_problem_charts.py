import numpy as np
import pytest

from bottega.core.errors import InputError
from bottega.optimize import Problem
from bottega.plot import dual_chart, problem_chart

CIRCLE = Problem(lambda x: -(x[0] + x[1]), inequality=[lambda x: x @ x - 1], x0=[0.0, 0.0])


def kinds(rows, kind):
    return [row for row in rows if row["kind"] == kind]


def test_the_region_its_edge_and_the_solution(rows_of):
    rows = rows_of(CIRCLE.plot())
    (dot,) = kinds(rows, "solution")
    assert (dot["x"], dot["y"]) == pytest.approx((0.5**0.5, 0.5**0.5), abs=1e-6)
    area = sum((r["right"] - r["left"]) * (r["top"] - r["bottom"]) for r in kinds(rows, "region"))
    assert area == pytest.approx(np.pi, rel=0.01)  # cells of a 120 x 120 grid
    edge = np.array([[row["ax"], row["ay"]] for row in kinds(rows, "edge")])
    assert np.linalg.norm(edge, axis=1) == pytest.approx(1, abs=1e-3)
    best = np.array([[row["ax"], row["ay"]] for row in kinds(rows, "best")])
    assert best.sum(axis=1) == pytest.approx(2**0.5)
    assert len(kinds(rows, "contour")) > 100
    assert CIRCLE.plot().to_dict()["title"]["text"] == "Minimum at (0.7071, 0.7071)"


def test_equations_and_problems_without_a_solution(rows_of):
    line = Problem(
        lambda x: x @ x, inequality=[lambda x: x[0] - 3], equality=[lambda x: x[0] + x[1] - 2],
        x0=[0.0, 0.0],
    )  # fmt: skip
    rows = rows_of(problem_chart(line, low=[-1, -1], high=[3, 3]))
    drawn = np.array([[row["ax"], row["ay"]] for row in kinds(rows, "equation")])
    assert drawn.sum(axis=1) == pytest.approx(2)
    none = Problem(lambda x: x[0], inequality=[lambda x: x @ x + 1], x0=[0.0, 0.0])
    chart = problem_chart(none)
    assert chart.to_dict()["title"]["text"] == "The problem is infeasible"
    assert kinds(rows_of(chart), "solution") == []
    free = Problem(lambda x: (x[0] - 1) ** 2 + x[1] ** 2, x0=[0.0, 0.0])
    assert kinds(rows_of(problem_chart(free)), "solution")[0]["x"] == pytest.approx(1)


def test_the_dual_function_is_drawn_below_the_minimum(rows_of):
    rows = rows_of(CIRCLE.plot_dual(high=2.0))
    drawn = kinds(rows, "dual")
    for row in drawn:
        assert row["g"] == pytest.approx(-1 / (2 * row["a"]) - row["a"], rel=1e-5)
    assert max(row["a"] for row in drawn) == 2.0
    (limit,) = kinds(rows, "limit")
    assert max(row["g"] for row in drawn) <= limit["g"]
    (best,) = kinds(rows, "best")
    assert best["a"] == pytest.approx(0.5**0.5, abs=1e-6)
    # An equation has a multiplier of either sign: g(n) = n - n^2 / 4.
    equation = Problem(lambda x: (x[0] - 2) ** 2, equality=[lambda x: x[0] - 1], x0=[0.0])
    signs = {np.sign(row["a"]) for row in kinds(rows_of(dual_chart(equation)), "dual")}
    assert signs == {-1, 1}


def test_charts_that_cannot_be_drawn():
    with pytest.raises(InputError, match="for two inputs; this problem has 1"):
        problem_chart(Problem(lambda x: x[0] ** 2, x0=[1.0]))
    with pytest.raises(InputError, match="0 inequalities and 0 equations"):
        dual_chart(Problem(lambda x: x[0] ** 2, x0=[1.0]))
    with pytest.raises(InputError, match="high=-1"):
        dual_chart(CIRCLE, high=-1)
    nowhere = Problem(lambda x: x[0] ** 3, inequality=[lambda x: -x[0]], x0=[1.0])
    with pytest.raises(InputError, match="nowhere finite"):
        dual_chart(nowhere)
