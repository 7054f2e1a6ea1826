"""A mixture of normal distributions in a plane: ellipses, doubt, lines of equal density, steps."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._grid import contour, on_grid
from bottega.plot._parts import apart, colors, facets, frame_of, plane, records, thinned, tips
from bottega.plot.theme import altair, finish, panels

__all__ = ["mixture_chart", "mixture_steps_chart"]

_MOST = 1_500  # points drawn
_CELLS = 90
_SIDE = 200
# Squared radii that hold half and 95 % of a normal distribution in the plane.
_HALF, _MOST_OF_IT = -2 * np.log(0.5), -2 * np.log(0.05)
_TURN = np.linspace(0, 2 * np.pi, 73)


def mixture_chart(
    X: Any,
    weights: Any,
    means: Any,
    covariances: Any,
    *,
    labels: Any = None,
    uncertainty: Any = None,
    names: Sequence[str] = ("x1", "x2"),
    kind: str = "ellipses",
) -> Any:
    """Draw rows in a plane with the components of a mixture.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Rows.
    weights, means, covariances : array-like of shapes (k,), (k, 2), (k, 2, 2)
        The mixture in the plane.
    labels : array-like of shape (n,), optional
        Component of each row.
    uncertainty : array-like of shape (n,), optional
        How likely it is wrong.
    names : pair of str
        Of the columns.
    kind : {"ellipses", "uncertainty", "density"}
        Ellipses that hold half and 95 % of each component; the same with points as large as their
        uncertainty; or lines of equal density.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> chart = mixture_chart([[0.0, 0.0], [4.0, 4.0]], [0.5, 0.5], [[0, 0], [4, 4]],
    ...                       [np.eye(2), np.eye(2)])
    >>> chart.to_dict()["title"]["text"]
    'A mixture of 2 components'
    """
    alt = altair()
    X, weights, means, covariances = _checked(X, weights, means, covariances)
    if kind not in ("ellipses", "uncertainty", "density"):
        raise InputError(f"kind={kind!r} is not known; use 'ellipses', 'uncertainty' or 'density'.")
    X, labels, uncertainty, note = _shown(X, labels, uncertainty)
    low, high = _frame(X, means, covariances)
    components = [str(j) for j in range(len(weights))]
    channels = plane(low, high, names)
    rows = records(px=X[:, 0], py=X[:, 1], label=labels, doubt=uncertainty)
    lines: list[dict[str, Any]] = []
    if kind == "density":
        lines = _levels(weights, means, covariances, low, high)
    else:
        for j, component in enumerate(components):
            lines += _ellipses(means[j], covariances[j], label=component)
    color = colors("label", components, show=kind != "density" and len(components) <= 10)
    base = alt.Chart()
    points = base.transform_filter("isValid(datum.px)").encode(
        **channels("px", "py"),
        color=color,
        tooltip=tips(("label:N", "component"), ("doubt:Q", "uncertainty", ".3f")),
    )
    if kind == "uncertainty":
        size = alt.Size("doubt:Q", scale=alt.Scale(domain=[0, 0.5], range=[4, 190]), legend=None)
        points = points.mark_point(filled=True, opacity=0.6).encode(size=size)
    else:
        points = points.mark_point(filled=True, size=14, opacity=0.55)
    layers = [points]
    if kind == "density":
        layers.append(
            base.transform_filter("isValid(datum.ax)")
            .mark_rule(style="label", strokeWidth=1.1, strokeCap="square", clip=True)
            .encode(**channels("ax", "ay"), x2="bx", y2="by")
        )
    else:
        layers += _curves(base, channels, color)
    words = {
        "ellipses": "Ellipses hold half and 95 % of each component; diamonds are the means.",
        "uncertainty": "Large points: another component is nearly as likely.",
        "density": "Lines of equal density: each has half the density of the one inside it.",
    }
    count = f"{len(components)} component{'' if len(components) == 1 else 's'}"
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows + lines)),
        title=f"A mixture of {count}",
        subtitle=words[kind] + note,
        description=f"Rows in the plane of {names[0]} and {names[1]} with {count}.",
    )


def mixture_steps_chart(
    X: Any, steps: Sequence[tuple[int, float, Any, Any, Any]], *, names: Any = ("x1", "x2")
) -> Any:
    """Draw the ellipses of a mixture after some iterations of its fit, a panel each.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Rows.
    steps : sequence of (iteration, log-likelihood, weights, means, covariances)
        The mixture in the plane after iterations.
    names : pair of str
        Of the columns.

    Returns
    -------
    altair.FacetChart
        One panel per iteration.

    Examples
    --------
    >>> start = (0, -9.0, [1.0], [[0.0, 0.0]], [np.eye(2)])
    >>> chart = mixture_steps_chart([[0.0, 1.0], [1.0, 0.0]], [start])
    >>> chart.to_dict()["title"]["text"]
    'Expectation-maximisation, 1 of its steps'
    """
    alt = altair()
    if not steps:
        raise InputError("There is no step to draw.")
    rows: list[dict[str, Any]] = []
    titles = []
    table, *_ = _checked(X, *steps[0][2:])
    table, _, _, note = _shown(table, None, None)
    ends = [_frame(table, np.asarray(s[3], float), np.asarray(s[4], float)) for s in steps]
    low, high = np.min([e[0] for e in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    components = [str(j) for j in range(len(steps[0][2]))]
    for iteration, height, weights, means, covariances in steps:
        _, weights, means, covariances = _checked(X, weights, means, covariances)
        title = f"{'start' if iteration == 0 else f'iteration {iteration}'}: {height:,.2f}"
        titles.append(title)
        density = _density(weights, means, covariances)
        chosen = [str(j) for j in np.argmax(density(table), axis=1)]
        rows += records(panel=title, px=table[:, 0], py=table[:, 1], label=chosen)
        for j, component in enumerate(components):
            rows += _ellipses(means[j], covariances[j], panel=title, label=component)
    channels = plane(low, high, names, tickCount=4)
    color = colors("label", components, show=False)
    base = alt.Chart()
    points = (
        base.transform_filter("isValid(datum.px)")
        .mark_point(filled=True, size=8, opacity=0.45)
        .encode(**channels("px", "py"), color=color)
    )
    panel = alt.layer(
        points, *_curves(base, channels, color), data=alt.Data(values=rows)
    ).properties(width=_SIDE, height=_SIDE)
    return panels(
        facets(panel, "panel", titles, 3),
        title=f"Expectation-maximisation, {len(steps)} of its steps",
        subtitle="Titles give the log-likelihood; ellipses hold half and 95 % of each component."
        + note,
        description=f"Ellipses of the components after {len(steps)} iterations.",
    )


def _curves(base: Any, channels: Any, color: Any) -> list[Any]:
    """Return the layers of ellipses and of means."""
    alt = altair()
    ellipses = base.transform_filter("isValid(datum.at)").encode(
        **channels("ex", "ey"), color=color, order="at:Q", detail=["label:N", "ring:N"]
    )
    thick = apart(alt.StrokeWidth, "ring", ["half", "most"], [2.0, 1.1])
    middles = base.transform_filter("isValid(datum.mx)").encode(**channels("mx", "my"), color=color)
    return [
        ellipses.mark_line(interpolate="linear", clip=True).encode(strokeWidth=thick),
        middles.mark_point(shape="diamond", size=70, filled=True, opacity=1),
    ]


def _checked(X: Any, weights: Any, means: Any, covariances: Any) -> tuple[FloatArray, ...]:
    arrays = [np.asarray(each, dtype=np.float64) for each in (X, weights, means, covariances)]
    k = len(arrays[1]) if arrays[1].ndim == 1 else -1
    wanted = ((k,), (k, 2), (k, 2, 2))
    shapes = tuple(each.shape for each in arrays[1:])
    if arrays[0].ndim != 2 or arrays[0].shape[1] != 2 or shapes != wanted or k < 1:
        raise InputError(
            f"The chart is for two columns; X has shape {arrays[0].shape}, weights, means and "
            f"covariances {', '.join(map(str, shapes))}."
        )
    return tuple(arrays)


def _shown(X: FloatArray, labels: Any, uncertainty: Any) -> tuple[FloatArray, Any, Any, str]:
    """Return the rows to draw, with what belongs to them, and a note if they are not all."""
    whole = np.flatnonzero(np.isfinite(X).all(axis=1))
    shown = whole[thinned(len(whole), _MOST)] if len(whole) else whole
    names = "0" if labels is None else [str(label) for label in np.asarray(labels)[shown].tolist()]
    doubt = 0.0 if uncertainty is None else np.asarray(uncertainty, dtype=np.float64)[shown]
    note = "" if len(shown) == len(X) else f" {len(shown):,} of {len(X):,} rows."
    return X[shown], names, doubt, note


def _frame(X: FloatArray, means: FloatArray, covariances: FloatArray) -> Any:
    reach = np.sqrt(_HALF * np.diagonal(covariances, axis1=1, axis2=2))
    return frame_of(np.concatenate([X, means - reach, means + reach]), 0.05)


def _ellipses(mean: FloatArray, covariance: FloatArray, **more: Any) -> list[dict[str, Any]]:
    """Return the points of the two ellipses of a component, and its mean."""
    values, vectors = np.linalg.eigh(covariance)
    circle = np.stack([np.cos(_TURN), np.sin(_TURN)])
    shape = vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    found = records(mx=mean[:1], my=mean[1:], **more)
    for ring, square in (("half", _HALF), ("most", _MOST_OF_IT)):
        curve = mean[:, None] + np.sqrt(square) * shape
        found += records(ex=curve[0], ey=curve[1], at=np.arange(len(_TURN)), ring=ring, **more)
    return found


def _density(weights: FloatArray, means: FloatArray, covariances: FloatArray) -> Any:
    """Return the function from points to weight times density of each component."""
    inverse = np.linalg.inv(covariances)
    height = weights / (2 * np.pi * np.sqrt(np.linalg.det(covariances)))

    def at(points: FloatArray) -> FloatArray:
        gap = points[:, None, :] - means
        square = np.einsum("nki,kij,nkj->nk", gap, inverse, gap)
        found: FloatArray = height * np.exp(-0.5 * square)
        return found

    return at


def _levels(
    weights: FloatArray, means: FloatArray, covariances: FloatArray, low: Any, high: Any
) -> list[dict[str, Any]]:
    """Return lines of equal density, each at half that of the one before."""
    density = _density(weights, means, covariances)
    heights = on_grid(lambda points: density(points).sum(axis=1), low, high, _CELLS)
    found = []
    for i in range(1, 9):
        found += contour(heights, float(heights.max()) * 0.5**i, low, high)
    return found
