"""A constrained problem of two inputs as a map, and the dual function of one multiplier."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._grid import contour, on_grid, rectangles
from bottega.plot._parts import frame_of, plane, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["dual_chart", "problem_chart"]

_CELLS = 120  # per side
_SIDE = 400
_LEVELS = 7
_POINTS = 200  # of the dual function
_FEASIBLE = "feasible"


def problem_chart(problem: Any, *, low: Any = None, high: Any = None) -> Any:
    """Draw the feasible region, contours of the objective and the solution.

    Parameters
    ----------
    problem : Problem
        With two inputs.
    low, high : array-like of shape (2,), optional
        Corners of the part of the plane to show; by default around the solution and the feasible
        points near it.

    Returns
    -------
    altair.LayerChart
        Shaded where all inequalities hold; equations are lines. The contour through the solution
        is drawn stronger: under strong duality it touches the region there.

    Examples
    --------
    >>> from bottega.optimize import Problem
    >>> problem = Problem(lambda x: -x[0] - x[1], inequality=[lambda x: x @ x - 1], x0=[0.0, 0.0])
    >>> problem_chart(problem).to_dict()["title"]["text"]
    'Minimum at (0.7071, 0.7071)'
    """
    alt = altair()
    solution = problem.solve()
    d = len(problem._start)
    if d != 2:
        raise InputError(f"The chart is for two inputs; this problem has {d}.")
    center = problem._start if solution.x is None else solution.x
    corners = _corners(problem, center, low, high)

    def along(function: Any) -> FloatArray:
        def values(points: FloatArray) -> FloatArray:
            with np.errstate(all="ignore"):
                return np.array([function.value(x) for x in points])

        return np.asarray(on_grid(values, *corners, _CELLS), dtype=np.float64)

    limits = [along(c) for c in problem.inequality]
    inside = np.all([g <= 0 for g in limits], axis=0) if limits else np.ones((_CELLS, _CELLS), bool)
    rows: list[dict[str, Any]] = []
    for each in rectangles(np.where(inside, _FEASIBLE, ""), *corners):
        if each["label"] == _FEASIBLE:
            rows.append({"kind": "region", **each})
    heights = along(problem.f)
    finite = heights[np.isfinite(heights)]
    for level in np.quantile(finite, np.linspace(0.06, 0.94, _LEVELS)):
        rows += _line(heights, float(level), corners, "contour", f"f = {number(float(level))}")
    for c, g in zip(problem.inequality, limits, strict=True):
        rows += _line(g, 0.0, corners, "edge", f"{c.name} = 0")
    for c in problem.equality:
        rows += _line(along(c), 0.0, corners, "equation", f"{c.name} = 0")
    if solution.x is not None:
        here = f"f = {number(solution.value)}"
        rows += _line(heights, solution.value, corners, "best", here)
        rows.append(
            {"kind": "solution", "x": plain(float(center[0])), "y": plain(float(center[1])),
             "what": f"solution, {here}"}
        )  # fmt: skip
    channels = plane(*corners, ("x0", "x1"))
    base = alt.Chart()

    def lines(kind: str, **mark: Any) -> Any:
        return (
            base.transform_filter(f"datum.kind == '{kind}'")
            .mark_rule(clip=True, **mark)
            .encode(**channels("ax", "ay"), x2="bx", y2="by", tooltip=tips(("what:N", "line")))
        )

    region = (
        base.transform_filter("datum.kind == 'region'")
        .mark_rect(style="honest", opacity=0.16)
        .encode(**channels("left", "bottom"), x2="right", y2="top")
    )
    dot = (
        base.transform_filter("datum.kind == 'solution'")
        .mark_point(style="picked", filled=True, size=110, opacity=1)
        .encode(
            **channels("x", "y"),
            tooltip=tips(("what:N", "point"), ("x:Q", "x0", ".6~g"), ("y:Q", "x1", ".6~g")),
        )
    )
    layers = [
        region,
        lines("contour", style="faint"),
        lines("edge", style="honest", strokeWidth=1.8),
        lines("equation", style="honest", strokeWidth=2.2),
        lines("best", style="picked", strokeWidth=1.6),
        dot,
    ]
    title, note = _words(solution)
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=title,
        subtitle=note,
        description=f"Map of a constrained problem of two inputs. {title}. {' '.join(note)}",
        width=_SIDE,
        height=_SIDE,
    )


def dual_chart(problem: Any, *, high: float | None = None) -> Any:
    """Draw the dual function of a problem with one multiplier, below the minimum.

    Parameters
    ----------
    problem : Problem
        With one inequality or one equation.
    high : float, optional
        The largest multiplier shown; by default some three times the best one. The multiplier of
        an equation is shown from minus that.

    Returns
    -------
    altair.LayerChart
        The dual function, with its maximum; the dashed rule is the minimum of the problem, which
        no dual value exceeds. Where the function is not drawn it is minus infinity.

    Examples
    --------
    >>> from bottega.optimize import Problem
    >>> problem = Problem(lambda x: -x[0] - x[1], inequality=[lambda x: x @ x - 1], x0=[0.0, 0.0])
    >>> dual_chart(problem).to_dict()["title"]["text"]
    'Dual function: at most −1.414'
    """
    alt = altair()
    counts = len(problem.inequality), len(problem.equality)
    if sum(counts) != 1:
        raise InputError(
            f"The chart is for one multiplier; this problem has {counts[0]} inequalities and "
            f"{counts[1]} equations."
        )
    solution, best = problem.solve(), problem.solve_dual()
    if best.x is None:
        raise InputError(f"The dual function has no maximum to show: {best.verdict}.")
    top = float(np.append(best.multipliers, best.equality_multipliers)[0])
    end = float(high) if high is not None else 3 * max(abs(top), 0.25)
    if not (np.isfinite(end) and end > 0):
        raise InputError(f"high={high!r} is not allowed; give a number above 0.")
    grid = np.linspace(0.0 if counts[0] else -end, end, _POINTS)
    values = np.array(
        [problem.dual([a]).value if counts[0] else problem.dual(None, [a]).value for a in grid]
    )
    # Near a pole the function falls out of sight: a few times the height of interest is shown.
    seen = np.isfinite(values)
    usual = best.value - float(np.quantile(values[seen], 0.25))
    seen &= values >= best.value - 3 * max(usual, 1e-9 * (1 + abs(best.value)))
    rows = records(kind="dual", a=grid[seen], g=values[seen])
    rows.append({"kind": "best", "a": plain(top), "g": plain(best.value)})
    feasible = solution.x is not None
    if feasible:
        rows.append({"kind": "limit", "g": plain(solution.value)})
    base = alt.Chart()
    shown = [plain(float(grid[0])), plain(end)]
    across = x_axis("a", "multiplier", nice=False, zero=False, domain=shown)
    up = y_axis("g", "dual function", zero=False)
    tooltip = tips(("a:Q", "multiplier", ".5~g"), ("g:Q", "dual value", ".6~g"))
    layers = [
        base.transform_filter("datum.kind == 'limit'").mark_rule(style="reference").encode(y=up),
        base.transform_filter("datum.kind == 'dual'")
        .mark_line(style="honest", strokeWidth=2)
        .encode(x=across, y=up, tooltip=tooltip),
        base.transform_filter("datum.kind == 'best'")
        .mark_point(style="picked", filled=True, size=110, opacity=1)
        .encode(x=across, y=up, tooltip=tooltip),
    ]
    notes = [f"Largest at a multiplier of {number(top)}."]
    if feasible:
        gap = max(solution.value - best.value, 0.0)
        notes.append(
            f"Dashed: the minimum of the problem, {number(solution.value)}; the duality gap is "
            f"{number(gap if gap > 1e-9 * (1 + abs(best.value)) else 0.0)}."
        )
    title = f"Dual function: at most {number(best.value)}"
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=title,
        subtitle=notes,
        description=f"Line chart of the dual function against the multiplier. {' '.join(notes)}",
    )


def _corners(
    problem: Any, center: FloatArray, low: Any, high: Any
) -> tuple[FloatArray, FloatArray]:
    """Return the part of the plane to show: the feasible points near the solution, with room."""
    if low is not None and high is not None:
        return np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    reach = 2.0 * max(1.0, float(np.max(np.abs(center))))
    ticks = np.linspace(-reach, reach, 61)
    grid = np.stack(np.meshgrid(*(ticks + each for each in center)), axis=-1).reshape(-1, 2)
    with np.errstate(all="ignore"):
        fine = [x for x in grid if all(c.value(x) <= 0 for c in problem.inequality)]
    shown = np.vstack([*fine, center, center - reach / 4, center + reach / 4])
    found = frame_of(shown, 0.15)
    middle, half = (found[0] + found[1]) / 2, float(np.max(found[1] - found[0])) / 2
    return middle - half, middle + half  # one unit is as long up as across


def _line(values: FloatArray, level: float, corners: Any, kind: str, what: str) -> Any:
    fine = np.where(np.isfinite(values), values, np.nanmax(values[np.isfinite(values)]))
    return [{"kind": kind, "what": what, **piece} for piece in contour(fine, level, *corners)]


def _words(solution: Any) -> tuple[str, list[str]]:
    if solution.x is None:
        return f"The problem is {solution.verdict}", ["Grey: contours of the objective."]
    at = ", ".join(number(float(v) + 0.0) for v in solution.x)
    notes = ["Shaded: the feasible region. Through the dot: the contour of the objective there."]
    shown = [number(float(v)) for v in (*solution.multipliers, *solution.equality_multipliers)]
    if shown:
        notes.append(f"Multipliers: {', '.join(shown)}; duality gap {number(_small(solution))}.")
    return f"Minimum at ({at})", notes


def _small(solution: Any) -> float:
    gap = float(solution.gap)
    return gap if abs(gap) > 1e-9 * (1 + abs(float(solution.value))) else 0.0
