"""Why the lasso gives zeros: contours of least squares meet a region that has corners."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._parts import apart, colors, only, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["region_chart"]

_POINTS = 240  # of a curve; a multiple of 8, so that corners and bisectors are among them
_NAMES = {1.0: "lasso", 2.0: "ridge"}


def region_chart(X: Any, y: Any, *, q: float | Sequence[float] = (1, 2), s: Any = None) -> Any:
    r"""Draw the regions :math:`\sum_j |\beta_j|^q \le s` with the contours of least squares.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Two inputs. They are centred, as y is; scale them first if they are to be penalised alike.
    y : array-like of shape (n,)
        Response.
    q : float or sequence of float
        Exponents of the penalty, positive: 1 is the lasso's, 2 that of ridge. From 1 on the region
        is convex; up to 1 it has corners on the axes, which is where coefficients are zero.
    s : float or sequence of float, optional
        Size of the region, one for all or one for each q. By default the half of the least-squares
        solution lies on the edge of every region.

    Returns
    -------
    altair.LayerChart
        For each q the region, the constrained solution, and the contour of the residual sum of
        squares that touches the region there.

    Examples
    --------
    >>> X = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> region_chart(X, [2.0, -2.0, 0.5, -0.5]).to_dict()["title"]["text"]
    'Least squares inside a region'
    """
    alt = altair()
    gram, best = _least_squares(X, y)
    exponents = np.atleast_1d(np.asarray(q, dtype=np.float64))
    if exponents.ndim != 1 or not exponents.size or not np.all(exponents > 0):
        raise InputError(f"q={q!r} is not allowed; give positive exponents.")
    sizes = _sizes(s, exponents, best)
    curves: list[dict[str, Any]] = []
    marks: list[dict[str, Any]] = []
    labels, levels = [], []
    for each, size in zip(exponents, sizes, strict=True):
        label = _NAMES.get(float(each), "bridge") + f" (q = {number(each)})"
        labels.append(label)
        solution = _solve(gram, best, float(each), float(size))
        gap = solution - best
        level = float(np.sqrt(gap @ gram @ gap))
        levels.append(level)
        curves += _curve(_edge(np.linspace(0, 2 * np.pi, _POINTS + 1), each, size), label, "region")
        if level > 0:
            curves += _curve(_ellipse(gram, best, level), label, "contour")
        marks.append({"series": label, "what": "solution", **_point(solution)})
    marks.append({"what": "least squares", **_point(best)})
    # Further contours, for the shape: half-way to the farthest touching one, and beyond it.
    far = max(levels)
    for share in (0.5, 1.4) if far > 0 else ():
        curves += _curve(_ellipse(gram, best, share * far), None, "further", piece=share)
    span = {"nice": False, "grid": False, "tickCount": 7}
    domain = _domain(curves, marks)
    base = alt.Chart().encode(
        x=x_axis("b1", "first coefficient", domain=domain[0], **span),
        y=y_axis("b2", "second coefficient", domain=domain[1], **span),
    )
    color = colors("series", labels, symbolOpacity=1)
    # Solutions may coincide (in a corner): the dot below is larger and shows around the one above.
    dots = [70.0 * 1.8**above for above in reversed(range(len(labels)))]
    tooltip = tips(
        ("what:N", "point"),
        ("b1:Q", "first coefficient", ".4~g"),
        ("b2:Q", "second coefficient", ".4~g"),
    )
    rows = {what: only(base, what, "what") for what in ("solution", "least squares")}
    rows |= {
        what: only(base.encode(order="step:Q"), what, "what")
        for what in ("further", "region", "contour")
    }
    dashed = {"strokeWidth": 1.6, "strokeDash": [5, 3], "clip": True}
    layers = [
        alt.Chart().mark_rule(style="guide", aria=False).encode(x=alt.datum(0)),
        alt.Chart().mark_rule(style="guide", aria=False).encode(y=alt.datum(0)),
        rows["further"].mark_line(style="faint", clip=True).encode(detail="piece:N"),
        rows["region"].mark_line(filled=True, opacity=0.13, clip=True).encode(color=color),
        rows["region"].mark_line(strokeWidth=1.6, clip=True).encode(color=color),
        rows["contour"].mark_line(**dashed).encode(color=color),
        rows["solution"]
        .mark_point(filled=True, opacity=1)
        .encode(color=color, size=apart(alt.Size, "series", labels, dots), tooltip=tooltip),
        rows["least squares"]
        .mark_point(style="label", size=70, filled=True, opacity=1)
        .encode(tooltip=tooltip),
        rows["least squares"].mark_text(style="label", text="least squares", dy=-13),
    ]
    found = [
        f"{label}: ({number(mark['b1'])}, {number(mark['b2'])})"
        for label, mark in zip(labels, marks, strict=False)
    ]
    return finish(
        alt.layer(*layers, data=alt.Data(values=[*curves, *marks])),
        title="Least squares inside a region",
        subtitle=["Dots: the least residual sum of squares in each region.", *found],
        description=(
            "Contours of the residual sum of squares of two coefficients, and the regions they "
            f"are held in. Least squares: ({number(best[0])}, {number(best[1])}); "
            f"{'; '.join(found)}."
        ),
        width=420,
        height=420,
    )


def _least_squares(X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != 2 or y.shape != (len(X),):
        raise InputError(
            f"The chart is for two inputs and one response; X has shape {X.shape} and y {y.shape}."
        )
    X, y = X - X.mean(axis=0), y - y.mean()
    if not np.all(np.isfinite(X)) or not np.all(np.isfinite(y)):
        raise InputError("X and y must be finite; leave out the rows without numbers.")
    if np.linalg.matrix_rank(X) < 2:
        raise InputError("The two inputs are collinear: least squares has no single solution.")
    return X.T @ X, np.linalg.lstsq(X, y, rcond=None)[0]


def _sizes(s: Any, q: FloatArray, best: FloatArray) -> FloatArray:
    if s is None:
        return np.array([np.sum(np.abs(best / 2) ** each) for each in q])
    sizes = np.broadcast_to(np.asarray(s, dtype=np.float64), q.shape)
    if not np.all(np.isfinite(sizes) & (sizes > 0)):
        raise InputError(f"s={s!r} is not allowed; give positive sizes.")
    return sizes


def _edge(angle: Any, q: float, s: float) -> FloatArray:
    """Return the points of the region's edge in the directions of the angles."""
    quarter = np.round(np.asarray(angle) / (np.pi / 2), 12)
    cos = np.where(np.mod(quarter, 2) == 1, 0.0, np.cos(angle))  # corners exactly on the axes
    sin = np.where(np.mod(quarter, 2) == 0, 0.0, np.sin(angle))
    length = (s / (np.abs(cos) ** q + np.abs(sin) ** q)) ** (1 / q)
    return np.stack([length * cos, length * sin], axis=-1)


def _ellipse(gram: FloatArray, center: FloatArray, radius: float) -> FloatArray:
    """Return the contour at which the residual sum of squares has risen by radius squared."""
    angle = np.linspace(0, 2 * np.pi, _POINTS + 1)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    return center + radius * np.linalg.solve(np.linalg.cholesky(gram).T, circle).T


def _solve(gram: FloatArray, best: FloatArray, q: float, s: float) -> FloatArray:
    """Return the point of the region with the least residual sum of squares."""
    if np.sum(np.abs(best) ** q) <= s:
        return best

    def rise(angle: float) -> float:
        gap = _edge(angle, q, s) - best
        return float(gap @ gram @ gap)

    grid = np.linspace(0, 2 * np.pi, _POINTS + 1)
    step = grid[1] - grid[0]
    nearest = min(grid, key=rise)
    # A corner is on the grid; a smooth minimum lies within a step of the best angle of the grid.
    inside = [
        minimize_scalar(rise, bounds=(a, a + step), method="bounded", options={"xatol": 1e-12}).x
        for a in (nearest - step, nearest)
    ]
    return _edge(min([nearest, *inside], key=rise), q, s)


def _point(b: FloatArray) -> dict[str, Any]:
    return {"b1": plain(float(b[0])), "b2": plain(float(b[1]))}


def _curve(
    points: FloatArray, series: str | None, what: str, piece: float = 0.0
) -> list[dict[str, Any]]:
    named = {} if series is None else {"series": series}
    return [
        {**named, "what": what, "piece": piece, "step": i, **_point(point)}
        for i, point in enumerate(points)
    ]


def _domain(curves: list[dict[str, Any]], marks: list[dict[str, Any]]) -> list[list[Any]]:
    """Return the two axes' ranges: of one length, around the regions, touching contours, points."""
    shown = [row for row in curves if row["what"] == "region"] + marks
    around = np.array([[row["b1"], row["b2"]] for row in shown])
    low, high = around.min(axis=0), around.max(axis=0)
    half = 0.68 * float((high - low).max())
    middle = (low + high) / 2
    return [[plain(float(m - half)), plain(float(m + half))] for m in middle]
