"""Linear and quadratic programs: against R and SciPy, with multipliers and certificates."""

import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from bottega.core.errors import InputError, MissingExtra
from bottega.optimize import linear_program, nonnegative_least_squares, quadratic_program

REFERENCE = json.loads((Path(__file__).parents[1] / "reference/optimize/programs.json").read_text())
SEEDS = st.integers(0, 10_000)


def stationarity(found, gradient, A, E):
    """The gradient of the Lagrangian, which has to vanish."""
    return (
        gradient
        + A.T @ found.multipliers
        + E.T @ found.equality_multipliers
        + found.high_multipliers
        - found.low_multipliers
    )


# ---- linear --------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCE["linear"])
def test_linear_programs_against_r(case):
    assert case["solved"] == 1
    found = linear_program(
        -np.array(case["a"]),
        A_ub=np.vstack([case["A1"], -np.array(case["A2"])]),
        b_ub=[*case["b1"], -case["b2"]],
        low=0,
    )
    # boot::simplex pivots with a tolerance of 1e-10.
    assert found.x == pytest.approx(case["x"], abs=1e-8)
    assert -found.value == pytest.approx(case["value"], rel=1e-9)


def test_a_linear_program_of_two_inputs_by_its_vertices():
    # M703: the optimum is at a vertex, so looking at all of them is the simplex method's answer.
    A = np.array([[1.0, 2.0], [3.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [1.0, -1.0]])
    b = np.array([8.0, 9.0, 0.0, 0.0, 2.0])
    vertices = []
    for i in range(5):
        for j in range(i):
            if abs(np.linalg.det(A[[i, j]])) > 1e-12:
                v = np.linalg.solve(A[[i, j]], b[[i, j]])
                if np.all(A @ v <= b + 1e-12):
                    vertices.append(v)
    for c in ([-1.0, -1.0], [-3.0, 1.0], [1.0, 2.0], [-1.0, -2.5]):
        found = linear_program(c, A_ub=A, b_ub=b)
        values = np.array(vertices) @ c
        assert found.value == pytest.approx(values.min())
        assert found.x == pytest.approx(vertices[int(np.argmin(values))])


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(0, 6), st.integers(0, 2))
def test_linear_programs_are_proved_whatever_they_are(seed, d, m, p):
    rng = np.random.default_rng(seed)
    c, A, E = rng.normal(size=d), rng.normal(size=(m, d)), rng.normal(size=(min(p, d - 1), d))
    b, e = rng.normal(size=m), rng.normal(size=len(E))
    low = np.where(rng.uniform(size=d) < 0.5, -rng.exponential(size=d), -np.inf)
    high = np.where(rng.uniform(size=d) < 0.5, rng.exponential(size=d), np.inf)
    found = linear_program(c, A_ub=A, b_ub=b, A_eq=E, b_eq=e, low=low, high=high)
    theirs = optimize.linprog(
        c, A_ub=A if m else None, b_ub=b if m else None, A_eq=E if len(E) else None,
        b_eq=e if len(E) else None, bounds=np.column_stack([low, high]),
    )  # fmt: skip
    if found.verdict == "optimal":
        assert theirs.status == 0
        assert found.value == pytest.approx(theirs.fun, abs=1e-8, rel=1e-8)
        assert abs(found.gap) <= 1e-9 * (1 + abs(found.value))
        assert np.max(np.abs(stationarity(found, c, A, E))) <= 1e-9 * (1 + np.abs(c).max())
        assert all(
            np.all(each >= 0)
            for each in (found.multipliers, found.low_multipliers, found.high_multipliers)
        )
        assert np.all(A @ found.x <= b + 1e-8)
    elif found.verdict == "infeasible":
        assert theirs.status in (2, 4)
        y, z, up, down = np.split(found.certificate, np.cumsum([m, len(E), d]))
        assert np.all(y >= 0)
        assert np.all(up >= 0)
        assert np.all(down >= 0)
        assert np.max(np.abs(A.T @ y + E.T @ z + up - down)) <= 1e-9
        level = b @ y + e @ z + up[up > 0] @ high[up > 0] - down[down > 0] @ low[down > 0]
        assert level < -1e-9
    else:
        assert found.verdict == "unbounded"
        assert theirs.status in (3, 4)
        way = found.certificate
        assert c @ way < -1e-9
        assert np.max(A @ way, initial=0) <= 1e-9
        assert np.max(np.abs(E @ way), initial=0) <= 1e-9
        assert np.all(way[np.isfinite(high)] <= 1e-9)
        assert np.all(way[np.isfinite(low)] >= -1e-9)


def test_verdicts_in_words():
    none = linear_program([1.0], A_ub=[[1], [-1]], b_ub=[0, -1])
    assert none.x is None
    assert none.value == np.inf
    assert none.gap == 0
    assert "0 <= -1 (rows of A_ub 0, 1)" in none.message
    assert none.certificate.tolist() == [1, 1, 0, 0]
    endless = linear_program([1.0, 0.0], high=0)
    assert endless.value == -np.inf
    assert endless.certificate[0] == -1
    assert "unbounded" in repr(endless)
    assert "<table>" in endless._repr_html_()
    assert linear_program([0.0, 0.0]).verdict == "optimal"
    crossed = linear_program([1.0], low=1, high=0)
    assert crossed.verdict == "infeasible"
    assert "upper bounds 0; lower bounds 0" in crossed.message


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_units_are_no_matter(scale):
    A, b, c = np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([4.0, 3.0]), np.array([-1.0, -2.0])
    found = linear_program(c * scale, A_ub=A * scale, b_ub=b, low=0)
    assert found.x * scale == pytest.approx([1, 3])
    assert found.multipliers == pytest.approx([1, 1])
    assert found.value == pytest.approx(-7)


# ---- quadratic -----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", REFERENCE["quadratic"])
def test_quadratic_programs_against_r(case):
    assert case["how"] == "converged"
    X, A, b = (np.array(case[name]) for name in ("X", "A", "b"))
    found = quadratic_program(
        X.T @ X, case["c"], A_ub=np.vstack([A, -A]), b_ub=np.append(b + 3, -b), low=-2, high=2
    )
    # ipop is an interior-point method asked for 12 digits of its gap: the point has half of them.
    assert found.x == pytest.approx(case["x"], abs=1e-6)
    assert found.verdict == "optimal"


def test_nonnegative_least_squares_as_a_quadratic_program():
    # M704 with E44 put right: Q = X'X and c = -X'y; the notes print XX' and +Xy.
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 5)), rng.normal(size=30)
    found = quadratic_program(X.T @ X, -X.T @ y, A_ub=-np.eye(5), b_ub=np.zeros(5))
    assert found.x == pytest.approx(nonnegative_least_squares(X, y), abs=1e-10)
    bounded = quadratic_program(X.T @ X, -X.T @ y, low=0)
    assert bounded.x == pytest.approx(found.x, abs=1e-10)
    assert bounded.low_multipliers == pytest.approx(found.multipliers, abs=1e-9)
    wrong = quadratic_program(X.T @ X, X.T @ y, low=0)
    assert np.max(np.abs(wrong.x - found.x)) > 0.01


def test_the_box_projection_as_a_quadratic_program():
    # M706, M707: the nearest point of a box.
    found = quadratic_program(np.eye(2), [5.0, -10.0], low=0)
    assert found.x == pytest.approx([0, 10], abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 5), st.integers(0, 6), st.integers(0, 2))
def test_quadratic_programs_are_proved_whatever_they_are(seed, d, m, p):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(max(1, d - 1), d))  # singular: some programs have no end
    Q, c = X.T @ X, rng.normal(size=d)
    A, b = rng.normal(size=(m, d)), rng.normal(size=m)
    E, e = rng.normal(size=(min(p, d - 1), d)), rng.normal(size=min(p, d - 1))
    found = quadratic_program(Q, c, A_ub=A, b_ub=b, A_eq=E, b_eq=e)
    if found.verdict == "optimal":
        assert abs(found.gap) <= 1e-7 * (1 + abs(found.value))
        gradient = Q @ found.x + c
        size = 1 + np.abs(Q) @ np.abs(found.x) + np.abs(A.T) @ found.multipliers
        assert np.all(np.abs(stationarity(found, gradient, A, E)) <= 1e-7 * size)
        assert np.all(A @ found.x <= b + 1e-7 * (1 + np.abs(A) @ np.abs(found.x)))
        assert np.all(found.multipliers >= 0)
    elif found.verdict == "infeasible":
        y, z, *_ = np.split(found.certificate, np.cumsum([m, len(E)]))
        assert np.all(y >= 0)
        assert np.max(np.abs(A.T @ y + E.T @ z)) <= 1e-8
        assert b @ y + e @ z < 0
    else:
        assert found.verdict == "unbounded"
        way = found.certificate
        assert c @ way < 0
        assert np.max(np.abs(Q @ way)) <= 1e-7
        assert np.max(A @ way, initial=0) <= 1e-7
        assert np.max(np.abs(E @ way), initial=0) <= 1e-7


def test_quadratic_programs_against_scipy():
    rng = np.random.default_rng(4)
    for _ in range(5):
        X = rng.normal(size=(8, 4))
        Q, c = X.T @ X, rng.normal(size=4)
        A, b = rng.normal(size=(3, 4)), rng.normal(size=3)
        found = quadratic_program(Q, c, A_ub=A, b_ub=b, A_eq=np.ones((1, 4)), b_eq=[1])
        theirs = optimize.minimize(
            lambda x: x @ Q @ x / 2 + c @ x,  # noqa: B023
            np.zeros(4), jac=lambda x: Q @ x + c, method="SLSQP",  # noqa: B023
            constraints=[
                {"type": "ineq", "fun": lambda x: b - A @ x, "jac": lambda x: -A},  # noqa: B023, ARG005
                {"type": "eq", "fun": lambda x: x.sum() - 1, "jac": lambda x: np.ones((1, 4))},  # noqa: ARG005
            ], options={"ftol": 1e-16, "maxiter": 500},
        )  # fmt: skip
        assert found.value == pytest.approx(theirs.fun, abs=1e-8)


def test_quadratic_programs_without_conditions():
    found = quadratic_program([[2, 0], [0, 4]], [-2, -4])
    assert found.x == pytest.approx([1, 1])
    assert found.value == pytest.approx(-3)
    endless = quadratic_program([[1, 0], [0, 0]], [0, -1])
    assert endless.verdict == "unbounded"
    assert endless.certificate == pytest.approx([0, 1])
    assert quadratic_program([[0.0]], [1.0], low=2).x.tolist() == [2]


def test_rows_may_come_in_any_order_and_twice():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(6, 3))
    A, b = rng.normal(size=(4, 3)), rng.uniform(size=4)
    once = quadratic_program(X.T @ X, [-5, -5, -5], A_ub=A, b_ub=b)
    turned = quadratic_program(X.T @ X, [-5, -5, -5], A_ub=A[::-1], b_ub=b[::-1])
    twice = quadratic_program(X.T @ X, [-5, -5, -5], A_ub=np.vstack([A, A]), b_ub=np.append(b, b))
    assert turned.x == pytest.approx(once.x, abs=1e-9)
    assert turned.multipliers[::-1] == pytest.approx(once.multipliers, abs=1e-8)
    assert twice.x == pytest.approx(once.x, abs=1e-8)
    assert twice.multipliers[:4] + twice.multipliers[4:] == pytest.approx(
        once.multipliers, abs=1e-7
    )


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_units_of_a_quadratic_program_are_no_matter(scale):
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(20, 4)), rng.normal(size=20)
    found = quadratic_program(X.T @ X * scale * scale, -X.T @ y * scale, low=0)
    assert found.x * scale == pytest.approx(nonnegative_least_squares(X, y), abs=1e-10)


# ---- bad input -----------------------------------------------------------------------------------


def test_a_program_that_is_not_convex_is_refused_with_its_eigenvalue():
    with pytest.raises(InputError, match="least eigenvalue is -1, below 0"):
        quadratic_program([[1, 2], [2, 1]], [0, 0], low=-1, high=1)


def test_squares_that_overflow_are_told():
    with pytest.raises(InputError, match="measure x in larger units"):
        quadratic_program(np.eye(2), [-1e300, -1e300], A_ub=np.eye(2), b_ub=[1e300, 1e300])


def test_bad_input():
    with pytest.raises(InputError, match=r"Q has shape \(1, 2\); c asks for \(2, 2\)"):
        quadratic_program([[1, 2]], [0, 0])
    with pytest.raises(InputError, match="Q has entries that are missing"):
        quadratic_program([[np.nan]], [0])
    for solver in (linear_program, lambda c, **more: quadratic_program(np.eye(len(c)), c, **more)):
        with pytest.raises(InputError, match="c has entries that are missing"):
            solver([np.nan])
        with pytest.raises(InputError, match="A_ub is given without b_ub"):
            solver([1.0], A_ub=[[1]])
        with pytest.raises(InputError, match="b_eq is given without A_eq"):
            solver([1.0], b_eq=[1])
        with pytest.raises(InputError, match=r"A_ub has shape \(1, 1\)"):
            solver([1.0, 2.0], A_ub=[[1]], b_ub=[1])
        with pytest.raises(InputError, match=r"b_ub has shape \(2,\)"):
            solver([1.0], A_ub=[[1]], b_ub=[1, 2])
        with pytest.raises(InputError, match="low has entries that are missing or inf"):
            solver([1.0], low=np.inf)
    with pytest.raises(InputError, match=r"A has shape \(2, 2\) and b \(3,\)"):
        nonnegative_least_squares(np.eye(2), np.ones(3))


def test_without_clarabel_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bottega\[optimize\]'"):
        quadratic_program([[1.0]], [1.0], low=2)
    assert quadratic_program([[1.0]], [1.0]).x == pytest.approx([-1])
    assert linear_program([1.0], low=2).x == pytest.approx([2])


def test_an_answer_can_be_kept_and_read_as_a_table():
    found = quadratic_program(np.eye(2), [-1, -1], A_ub=[[1, 1]], b_ub=[1])
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.x, found.x)
    frame = found.to_frame()
    assert list(frame.columns) == ["part", "entry", "value"]
    assert (
        frame["part"].tolist()
        == ["x", "x", "multiplier"] + ["low multiplier"] * 2 + ["high multiplier"] * 2
    )
    assert str(found).startswith("quadratic program: optimal")
