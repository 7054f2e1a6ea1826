"""The ways of minimisers: paths over contours, and the value against steps and cost."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._grid import contour, on_grid
from bottega.plot._parts import colors, frame_of, plane, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, number, panels

__all__ = ["descent_chart", "descents_chart"]

_CELLS = 70  # per side
_LEVELS = np.array([0.02, 0.06, 0.13, 0.22, 0.34, 0.48, 0.64, 0.82])  # shares of the plane below
_MOST = 400  # points per line
_SIDE = 290
_ASTRAY = ("diverged", "unbounded", "not finite")
_BEGINNING = 5  # points shown of a run that went astray
_DEEPEST = 1e-16  # of the first gap: what is below is rounding


def descent_chart(minimum: Any) -> Any:
    """Draw the way of a minimiser.

    Parameters
    ----------
    minimum : Minimum
        What one of `bottega.optimize`'s minimisers returned.

    Returns
    -------
    altair.HConcatChart
        For two inputs contours and path; the value against steps, and against values and
        gradients computed; for `sgd` also the variance of its gradients.

    Examples
    --------
    >>> from bottega.optimize import gradient_descent
    >>> found = gradient_descent(lambda x: x[0] ** 2 + 4 * x[1] ** 2, [2.0, 1.0])
    >>> descent_chart(found).to_dict()["title"]["text"]
    'gradient descent: converged'
    """
    return _chart(
        {minimum.method: minimum},
        title=f"{minimum.method}: {minimum.verdict}",
        subtitle=[
            f"From {number(float(minimum.trace.values[0]))} to {number(float(minimum.value))} in "
            f"{number(minimum.n_iter)} {_cost(minimum)}."
        ],
        least=None,
    )


def descents_chart(minima: Mapping[str, Any], *, least: float | None = None) -> Any:
    """Draw several runs on one function together.

    Parameters
    ----------
    minima : mapping of str to Minimum
        Runs by name.
    least : float, optional
        The least value of f, where it is known; else the least that any run met.

    Returns
    -------
    altair.HConcatChart
        As `descent_chart`, one colour per run.

    Examples
    --------
    >>> from bottega.optimize import gradient_descent, newton
    >>> def f(x):
    ...     return x[0] ** 2 + 4 * x[1] ** 2
    >>> runs = {"steepest": gradient_descent(f, [2.0, 1.0]), "Newton": newton(f, [2.0, 1.0])}
    >>> descents_chart(runs).to_dict()["title"]["text"]
    '2 minimisers'
    """
    if not minima:
        raise InputError("There is nothing to draw: give at least one run by its name.")
    words = [
        f"{name}: {run.verdict}, {number(float(run.value))} after {number(run.n_iter)} steps"
        for name, run in minima.items()
    ]
    return _chart(dict(minima), title=f"{len(minima)} minimisers", subtitle=words, least=least)


def _chart(runs: dict[str, Any], *, title: str, subtitle: list[str], least: float | None) -> Any:
    alt = altair()
    names = list(runs)
    color = colors("run", names, show=len(names) > 1)
    parts = []
    if all(_drawable(run) for run in runs.values()):
        parts.append(_paths(runs, color))
    parts += _values(runs, color, least)
    return panels(
        alt.hconcat(*parts),
        title=title,
        subtitle=subtitle,
        description=f"{title}: the value of f against steps and cost. " + " ".join(subtitle),
    )


def _cost(run: Any) -> str:
    if hasattr(run, "variances"):
        return f"epochs of {number(run.batches)} steps"
    return (
        f"steps, {number(run.evaluations)} values and {number(run.gradient_evaluations)} gradients"
    )


def _drawable(run: Any) -> bool:
    points = run.trace.points
    return run.f is not None and points is not None and points.shape[1] == 2


def _paths(runs: dict[str, Any], color: Any) -> Any:
    """Return the contours of f with the path of each run on it."""
    alt = altair()
    finite = {name: _finite(run.trace.points) for name, run in runs.items()}
    shown = [finite[name][: _BEGINNING if run.verdict in _ASTRAY else None]
             for name, run in runs.items()]  # fmt: skip
    everywhere = np.vstack([*shown, *(run.x[None, :] for run in runs.values())])
    # A run that went astray would shrink the others to a dot: of that one only the beginning.
    low, high = frame_of(everywhere, 0.15)
    half = np.maximum(high - low, 0.2 * np.max(high - low)) / 2
    low, high = (low + high) / 2 - half, (low + high) / 2 + half
    f = next(iter(runs.values())).f
    heights = on_grid(lambda points: _heights(f, points), low, high, _CELLS)
    rows: list[dict[str, Any]] = []
    known = heights[np.isfinite(heights)]
    for level in np.unique(np.quantile(known, _LEVELS)) if known.size else ():
        rows += [{"height": number(float(level)), **piece}
                 for piece in contour(heights, float(level), low, high)]  # fmt: skip
    for name, points in finite.items():
        kept = thinned(len(points), _MOST)
        rows += records(px=points[kept, 0], py=points[kept, 1], step=kept, run=name)
        rows += records(ex=[runs[name].x[0]], ey=[runs[name].x[1]], run=name)
    channels = plane(low, high, ("x0", "x1"), tickCount=5)
    base = alt.Chart()
    place = tips(
        ("run:N", "run"), ("step:Q", "step"), ("px:Q", "x0", ".5~g"), ("py:Q", "x1", ".5~g")
    )
    path = base.transform_filter("isValid(datum.px)").encode(
        **channels("px", "py"), color=color, order="step:Q", tooltip=place
    )
    layers = [
        base.transform_filter("isValid(datum.ax)")
        .mark_rule(style="faint", clip=True)
        .encode(**channels("ax", "ay"), x2="bx", y2="by", tooltip=tips(("height:N", "f"))),
        path.mark_line(strokeWidth=1.6, clip=True),
        path.mark_point(filled=True, size=16, opacity=1, clip=True),
        base.transform_filter("isValid(datum.ex)")
        .mark_point(shape="diamond", size=110, filled=True, opacity=1, clip=True)
        .encode(**channels("ex", "ey"), color=color),
    ]
    return alt.layer(*layers, data=alt.Data(values=rows)).properties(width=_SIDE, height=_SIDE)


def _finite(points: FloatArray) -> FloatArray:
    return points[np.all(np.isfinite(points), axis=1)]


def _heights(f: Any, points: FloatArray) -> FloatArray:
    with np.errstate(all="ignore"):
        found = np.array([f(point) for point in points])
    return np.where(np.isfinite(found), found, np.nan)


def _values(runs: dict[str, Any], color: Any, least: float | None) -> list[Any]:
    """Return the panels of values: against steps, against cost, and the noise of gradients."""
    known = np.concatenate([run.trace.values for run in runs.values()])
    known = np.append(known[np.isfinite(known)], [run.value for run in runs.values()])
    bottom = float(np.min(known)) if least is None else float(least)
    gaps = known[known > bottom] - bottom
    log = bool(gaps.size and np.max(gaps) > 100 * np.min(gaps))
    title = "f above its least value" if log else "f"
    stochastic = all(hasattr(run, "variances") for run in runs.values())
    across = {"steps": "epochs" if stochastic else "steps"}
    if not stochastic:  # whose cost is the epochs
        across["cost"] = "values and gradients computed"
    # Below the first gaps, not the largest one: a run that diverges has fallen from nowhere.
    firsts = [float(run.trace.values[0]) - bottom for run in runs.values()]
    starts = [each for each in firsts if each > 0] or [float(np.min(gaps, initial=np.inf))]
    floor = _DEEPEST * max(starts) if log else 0.0
    rows: list[dict[str, Any]] = []
    noise: list[dict[str, Any]] = []
    for name, run in runs.items():
        trace = run.trace
        height = trace.values - bottom if log else trace.values
        cost = trace.evaluations + trace.gradient_evaluations
        if log:  # the least point itself is not drawn, unless the least value was given
            above = height > 0 if least is None else np.isfinite(height)
            height = np.where(above, np.maximum(height, floor), np.nan)
        seen = np.flatnonzero(np.isfinite(height))
        seen = seen[thinned(len(seen), _MOST)]
        rows += records(steps=seen, cost=cost[seen], value=height[seen], run=name)
        variances = getattr(run, "variances", None)
        if variances is not None:
            noise += records(steps=np.arange(1, len(variances) + 1), value=variances, run=name)
    found = [
        _panel(rows, field, words, title, log, color, run_count=len(runs))
        for field, words in across.items()
    ]
    if noise:
        found.append(
            _panel(
                noise,
                "steps",
                "epoch",
                "variance of the mini-batch gradients",
                False,
                color,
                run_count=len(runs),
            )
        )
    return [panel.properties(width=_SIDE - 30, height=_SIDE) for panel in found]


def _panel(
    rows: list[dict[str, Any]],
    field: str,
    words: str,
    title: str,
    log: bool,
    color: Any,
    *,
    run_count: int,
) -> Any:
    alt = altair()
    scale = {"type": "log", "format": "~e", "tickCount": 6} if log else {"zero": False}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=x_axis(field, words, nice=False, grid=False, tickMinStep=1, tickCount=5),
        y=y_axis("value", title, **scale),
        color=color,
        order=f"{field}:Q",
        tooltip=tips(("run:N", "run"), (f"{field}:Q", words), ("value:Q", title, ".5~g")),
    )
    few = len(rows) <= 60 * run_count
    layers = [base.mark_line(strokeWidth=2)]
    if few:
        layers.append(base.mark_point(size=20, filled=True, opacity=1))
    return alt.layer(*layers)
