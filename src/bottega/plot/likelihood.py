"""Maximum likelihood in pictures: data with a fitted distribution, and profiles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats

from bottega.plot._parts import colors, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["fitted_chart", "profile_chart"]

_POINTS = 301
_MOST_BARS = 60


def fitted_chart(
    data: Any,
    distribution: Any,
    *,
    weights: Any = None,
    title: str,
    subtitle: str | Sequence[str] = (),
) -> Any:
    """Draw data as bars, and a distribution over them.

    Parameters
    ----------
    data : array-like of shape (n,)
        Observations.
    distribution : frozen distribution of `scipy.stats`
        What was fitted to them.
    weights : array-like of shape (n,), optional
        How often each occurred.
    title : str
        Title.
    subtitle : str or sequence of str
        What to see in it.

    Returns
    -------
    altair.LayerChart
        A histogram and the density; or shares of whole numbers and their probabilities.

    Examples
    --------
    >>> chart = fitted_chart([0, 1, 1, 2], stats.poisson(1.0), title="Four counts")
    >>> chart.to_dict()["data"]["values"][0]["share"]
    0.25
    """
    alt = altair()
    values = np.asarray(data, dtype=np.float64)
    mass = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    mass = mass / mass.sum()
    discrete = hasattr(distribution.dist, "pmf")
    low, high = float(values.min()), float(values.max())
    if discrete:
        wide = max(1, -(-int(high - low + 1) // _MOST_BARS))
        edges = np.arange(low, high + wide + 0.5, wide) - 0.5
    else:
        bins = min(max(int(np.ceil(np.sqrt(len(values)))), 5), _MOST_BARS)
        edges = np.linspace(low, high if high > low else low + 1, bins + 1)
    share = np.histogram(values, edges, weights=mass)[0]
    height = share if discrete else share / np.diff(edges)
    kinds = ["data", "fitted"]
    rows = records(left=edges[:-1], right=edges[1:], share=height, kind="data")
    if discrete:
        at = 0.5 * (edges[1:] + edges[:-1])
        rows += records(x=at, y=np.diff(distribution.cdf(edges)), kind="fitted")
    else:
        margin = 0.05 * (edges[-1] - edges[0])
        at = np.linspace(edges[0] - margin, edges[-1] + margin, _POINTS)
        with np.errstate(all="ignore"):
            curve = distribution.pdf(at)
        rows += records(x=at, y=np.where(np.isfinite(curve), curve, np.nan), kind="fitted")
    up = "share" if discrete else "density"
    base = alt.Chart(alt.Data(values=rows))
    bars = (
        base.transform_filter("datum.kind == 'data'")
        .mark_rect(opacity=0.35, strokeWidth=0)
        .encode(
            x=x_axis("left", "value", zero=False, nice=False, grid=False),
            x2="right",
            y=y_axis("share", up),
            y2=alt.datum(0),
            color=colors("kind", kinds),
            tooltip=tips(("left:Q", "from", ".4~g"), ("right:Q", "to", ".4~g"), ("share:Q", up)),
        )
    )
    line = base.transform_filter("datum.kind == 'fitted'").encode(
        x=x_axis("x", "value", zero=False, nice=False, grid=False),
        y=y_axis("y", up),
        color=colors("kind", kinds),
        tooltip=tips(("x:Q", "value", ".4~g"), ("y:Q", up, ".4~g")),
    )
    layers = [bars, line.mark_line(strokeWidth=2)]
    if discrete:
        layers.append(line.mark_point(size=40, filled=True, opacity=1))
    about = f"{title}: {up} of the data and of the fitted distribution."
    return finish(alt.layer(*layers), title=title, subtitle=subtitle, description=about)


def profile_chart(
    values: Any,
    log_likelihood: Any,
    *,
    parameter: str,
    estimate: float,
    interval: tuple[float, float],
    level: float,
) -> Any:
    """Draw a profile likelihood and its interval.

    Parameters
    ----------
    values : array-like of shape (m,)
        Values of the parameter, increasing.
    log_likelihood : array-like of shape (m,)
        Log-likelihood there, less its greatest.
    parameter : str
        What the parameter is called.
    estimate : float
        Where the likelihood is highest.
    interval : (float, float)
        Where the profile crosses its cutoff.
    level : float
        Confidence of the interval.

    Returns
    -------
    altair.LayerChart
        The chart.

    Examples
    --------
    >>> x = np.linspace(-3, 3, 7)
    >>> chart = profile_chart(
    ...     x, -x**2 / 2, parameter="mean", estimate=0.0, interval=(-1.96, 1.96), level=0.95
    ... )
    >>> chart.to_dict()["title"]["text"]
    'Profile likelihood of mean'
    """
    alt = altair()
    cutoff = -0.5 * float(stats.chi2.ppf(level, 1))
    rows = records(x=values, y=log_likelihood)
    across = x_axis("x", parameter, zero=False, nice=False, grid=False)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=across,
        y=y_axis("y", "log-likelihood, less its greatest"),
        tooltip=tips(("x:Q", parameter, ".5~g"), ("y:Q", "log-likelihood", ".4~g")),
    )
    layers = [base.mark_line(style="honest", strokeWidth=2)]
    layers.append(alt.Chart().mark_rule(style="reference").encode(y=alt.datum(cutoff)))
    for at in (*interval, estimate):
        if np.isfinite(at):
            style = "picked" if at == estimate else "guide"
            layers.append(alt.Chart().mark_rule(style=style).encode(x=alt.datum(float(at))))
    low, high = interval
    note = f"Estimate {estimate:.5g}; {100 * level:g} % between {low:.5g} and {high:.5g}."
    return finish(
        alt.layer(*layers),
        title=f"Profile likelihood of {parameter}",
        subtitle=note,
        description=f"Line chart of the profile log-likelihood of {parameter}. {note}",
    )
