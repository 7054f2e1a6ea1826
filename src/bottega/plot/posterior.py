"""How the posterior of a straight line narrows as points come in: prior, likelihood, posterior."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.plot._parts import frame_of, plane, records, shade, values_along
from bottega.plot.theme import altair, panels

__all__ = ["posterior_chart"]

_CELLS = 80  # per side of a picture of a density: two pixels each
_SIDE = 160


def posterior_chart(
    x: Any,
    y: Any,
    posteriors: Mapping[int, tuple[Any, Any]],
    *,
    noise: float,
    truth: Any = None,
    lines: int = 6,
    random_state: Any = 0,
) -> Any:
    """Draw what is known of a line y = w0 + w1 x before any point and after some of them.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Points, in the order in which they were seen.
    posteriors : mapping of int to (mean, covariance)
        By the number of points seen, 0 for the prior: mean and covariance of (w0, w1).
    noise : float
        Standard deviation of y around the line.
    truth : (float, float), optional
        The true weights, marked by a cross.
    lines : int
        Lines drawn from each posterior.
    random_state : int, RandomState, Generator or None
        Seed of these draws.

    Returns
    -------
    altair.VConcatChart
        One row of panels per posterior: the likelihood of the latest point over the weights, the
        posterior over the weights, and lines drawn from it with the points seen.

    Examples
    --------
    >>> prior = (np.zeros(2), np.eye(2))
    >>> posterior_chart([0.5], [1.0], {0: prior}, noise=0.2).to_dict()["title"]["text"]
    'A posterior narrows point by point'
    """
    alt = altair()
    x = np.asarray(x, dtype=np.float64)
    y = values_along(y, "y", x)
    counts = sorted(posteriors)
    if not counts or counts[0] < 0 or counts[-1] > len(x):
        raise InputError(
            f"posteriors are by numbers of points from 0 to {len(x)}; got {list(posteriors)}."
        )
    found = {n: tuple(np.asarray(each, dtype=np.float64) for each in posteriors[n]) for n in counts}
    if any(mean.shape != (2,) or cov.shape != (2, 2) for mean, cov in found.values()):
        raise InputError("A posterior of a line is a mean of 2 weights and a 2 x 2 covariance.")
    widest, spread = found[counts[0]][0], np.sqrt(np.diag(found[counts[0]][1]))
    corners = np.array([widest - 2 * spread, widest + 2 * spread])
    if truth is not None:
        corners = np.vstack([corners, np.asarray(truth, dtype=np.float64)])
    low, high = frame_of(corners, 0.03)
    rng = np.random.default_rng(seed_of(random_state, "posterior_chart"))
    drawn = {n: rng.multivariate_normal(found[n][0], found[n][1], size=lines) for n in counts}
    ends = np.concatenate(frame_of(x[:, None], 0.15))
    ends_of_lines = [(w[:, :1] + w[:, 1:] * ends).ravel() for w in drawn.values()]
    bounds = np.concatenate(frame_of(np.concatenate([y, *ends_of_lines])[:, None], 0.05))
    rows = []
    for n in counts:
        title = f"{lines} lines, {n} point{'' if n == 1 else 's'}"
        rows.append(
            alt.hconcat(
                _density(
                    _likelihood(x[n - 1], y[n - 1], noise) if n else "0",
                    (low, high),
                    truth,
                    f"likelihood of point {n}" if n else "no point yet",
                ),
                _density(_normal(*found[n]), (low, high), truth, "posterior" if n else "prior"),
                _lines(x[:n], y[:n], drawn[n], ends, bounds, title),
            )
        )
    return panels(
        alt.vconcat(*rows),
        title="A posterior narrows point by point",
        subtitle="Left: what the latest point tells about the weights; middle: what is known of "
        "them; right: lines drawn from it",
        description="Prior, likelihood and posterior of a line after "
        + ", ".join(map(str, counts))
        + " points.",
    )


def _likelihood(x: float, y: float, noise: float) -> str:
    """Return the likelihood of weights (datum.a, datum.b) for one point, at most 1."""
    return f"exp(-0.5 * pow(({y:.9g} - datum.a - datum.b * ({x:.9g})) / {noise:.9g}, 2))"


def _normal(mean: FloatArray, covariance: FloatArray) -> str:
    """Return a normal density of weights (datum.a, datum.b), at most 1."""
    P = np.linalg.inv(covariance)
    a, b = f"(datum.a - ({mean[0]:.9g}))", f"(datum.b - ({mean[1]:.9g}))"
    return (
        f"exp(-0.5 * ({P[0, 0]:.9g} * pow({a}, 2) + {2 * P[0, 1]:.9g} * {a} * {b}"
        f" + {P[1, 1]:.9g} * pow({b}, 2)))"
    )


def _density(formula: str, limits: tuple[FloatArray, FloatArray], truth: Any, title: str) -> Any:
    """Draw a density over the weights, computed where it is drawn: the chart holds no grid."""
    alt = altair()
    low, high = limits
    step = (high - low) / _CELLS
    left = f"{low[0]:.9g} + {step[0]:.9g} * (datum.cell % {_CELLS})"
    bottom = f"{low[1]:.9g} + {step[1]:.9g} * floor(datum.cell / {_CELLS})"
    cells = (
        alt.Chart(alt.sequence(0, _CELLS**2, as_="cell"))
        .transform_calculate(left=left, bottom=bottom)
        .transform_calculate(
            right=f"datum.left + {step[0]:.9g}",
            top=f"datum.bottom + {step[1]:.9g}",
            a=f"datum.left + {step[0] / 2:.9g}",
            b=f"datum.bottom + {step[1] / 2:.9g}",
        )
        .transform_calculate(density=formula)
    )

    channels = plane(low, high, ("intercept", "slope"), tickCount=4)
    chart = cells.mark_rect(style="honest", strokeWidth=0).encode(
        **channels("left", "bottom"),
        x2="right",
        y2="top",
        opacity=shade(alt.Opacity, "density", 0, 1),
    )
    if truth is not None:
        cross = records(left=truth[:1], bottom=truth[1:])
        chart = chart + alt.Chart(alt.Data(values=cross)).mark_point(
            style="picked", shape="cross", size=60, filled=True
        ).encode(**channels("left", "bottom"))
    return chart.properties(width=_SIDE, height=_SIDE, title=title)


def _lines(
    x: FloatArray,
    y: FloatArray,
    weights: FloatArray,
    ends: FloatArray,
    bounds: FloatArray,
    title: str,
) -> Any:
    """Draw lines of the given weights, and the points seen."""
    alt = altair()
    drawn = []
    for i, w in enumerate(weights):
        drawn += records(line=i, x=ends, y=w[0] + w[1] * ends)
    points = records(x=x, y=y)
    low, high = np.array([ends, bounds]).T
    where = plane(low, high, "xy", tickCount=4)("x", "y")
    base = alt.Chart(alt.Data(values=drawn)).mark_line(style="honest", clip=True, strokeWidth=1.2)
    layers = [base.encode(**where, detail="line:N")]
    if points:
        seen = alt.Chart(alt.Data(values=points)).mark_point(style="picked", filled=True, size=30)
        layers.append(seen.encode(**where))
    return alt.layer(*layers).properties(width=_SIDE, height=_SIDE, title=title)
