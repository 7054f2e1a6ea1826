"""Learning a parameter from data: prior, likelihood, posterior, and what comes next."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.plot._parts import colors, facets, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, number, panels

__all__ = ["conjugate_chart", "four_panel_chart", "predictive_chart"]

_POINTS = 301
_TAIL = 0.002  # left out of the picture on each side
_MOST_BARS = 60
_MOST_PANELS = 12
_WORDS = {"mle": "maximum likelihood", "map": "MAP", "bayes": "full Bayes"}


def conjugate_chart(model: Any, *, level: float = 0.95) -> Any:
    """Draw prior, likelihood and posterior of a conjugate model.

    Parameters
    ----------
    model : BetaBernoulli, DirichletCategorical, NormalNormal, NormalGamma or GammaPoisson
        The model.
    level : float
        Probability of the interval that is drawn below the posterior.

    Returns
    -------
    altair.LayerChart or altair.FacetChart
        With one parameter the likelihood, scaled to area one, is drawn too; with several there is
        one panel each, of the parameter alone.

    Examples
    --------
    >>> from bottega.probability import BetaBernoulli
    >>> conjugate_chart(BetaBernoulli().update([1, 0, 0])).to_dict()["title"]["text"]
    'Bernoulli observations with a Beta prior'
    """
    alt = altair()
    names = list(model.parameters)[:_MOST_PANELS]
    before, after = model._marginals(prior=True), model._marginals()
    single = len(model.parameters) == 1
    series = ["prior", "likelihood (area 1)", "posterior"] if single else ["prior", "posterior"]
    if single and model.n == 0:
        series.remove("likelihood (area 1)")
    rows: list[dict[str, Any]] = []
    for name in names:
        x = _places(before[name], after[name])
        for title, marginal in (("prior", before[name]), ("posterior", after[name])):
            rows += records(panel=name, curve=title, x=x, y=_density(marginal.frozen(), x))
        if "likelihood (area 1)" in series:
            rows += records(panel=name, curve="likelihood (area 1)", x=x, y=_scaled(model, x))
        low, high = after[name].equal_tailed(level)
        rows += records(
            panel=name, low=np.clip([low], x[0], x[-1]), high=np.clip([high], x[0], x[-1])
        )
    base = alt.Chart(alt.Data(values=rows) if single else alt.Undefined)
    across = x_axis("x", names[0] if single else "value", zero=False, nice=False, grid=False)
    lines = (
        base.transform_filter("isValid(datum.curve)")
        .mark_line(strokeWidth=2, clip=True)
        .encode(
            x=across,
            y=y_axis("y", "density"),
            color=colors("curve", series, symbolType="stroke"),
            tooltip=tips(("curve:N",), ("x:Q", names[0], ".4~g"), ("y:Q", "density", ".4~g")),
        )
    )
    bar = (
        base.transform_filter("isValid(datum.low)")
        .mark_rule(style="picked", strokeWidth=5, opacity=0.8)
        .encode(
            x=x_axis("low", names[0] if single else "value", zero=False, nice=False, grid=False),
            x2="high",
            y=alt.datum(0),
            tooltip=tips(("low:Q", "low", ".4~g"), ("high:Q", "high", ".4~g")),
        )
    )
    notes = [_estimates(model), f"Bar: {100 * level:g} % of the posterior, equal tails."]
    if len(model.parameters) > len(names):
        notes.append(f"The first {len(names)} of {len(model.parameters)} parameters.")
    about = f"Densities of {', '.join(names)} before and after {model.n:g} observations."
    if single:
        return finish(alt.layer(lines, bar), title=model.title, subtitle=notes, description=about)
    panel = alt.layer(lines, bar, data=alt.Data(values=rows)).properties(width=260, height=170)
    split = facets(panel, "panel", names, 2).resolve_scale(x="independent", y="independent")
    return panels(split, title=model.title, subtitle=notes, description=about)


def predictive_chart(predictives: Mapping[str, Any], *, categories: Any = None) -> Any:
    """Draw the distribution of the next observation by several methods, side by side.

    Parameters
    ----------
    predictives : mapping of str to distribution of `scipy.stats`, or None
        By method, ``"mle"``, ``"map"``, ``"bayes"``; None where a method has no answer.
    categories : sequence, optional
        What the values 0, 1, ... are called.

    Returns
    -------
    altair.LayerChart or altair.Chart
        Curves of densities, or bars of probabilities.

    Examples
    --------
    >>> from scipy import stats
    >>> chart = predictive_chart({"mle": stats.bernoulli(0.3), "bayes": stats.bernoulli(0.4)})
    >>> [row["y"] for row in chart.to_dict()["data"]["values"]]
    [0.7, 0.3, 0.6, 0.4]
    """
    known = {name: each for name, each in predictives.items() if each is not None}
    words = [_WORDS.get(name, name) for name in known]
    discrete = all(hasattr(each, "pmf") for each in known.values())
    missing = [_WORDS.get(name, name) for name in predictives if name not in known]
    notes = [f"No answer by {', '.join(missing)}."] if missing else []
    title = "The next observation"
    about = f"Distribution of the next observation by {', '.join(words)}."
    if not discrete:
        from bottega.plot.lines import lines_chart

        ends = [each.ppf([_TAIL, 1 - _TAIL]) for each in known.values()]
        wide = [known["bayes"].ppf([0.01, 0.99])] if "bayes" in known else ends
        x = np.linspace(min(e[0] for e in wide), max(e[1] for e in wide), _POINTS)
        return lines_chart(
            x,
            {w: each.pdf(x) for w, each in zip(words, known.values(), strict=True)},
            x_title="value",
            y_title="density",
            title=title,
            subtitle=notes,
            points=False,
        )
    return _bars(known, words, categories, title, notes, about)


def _bars(
    known: Mapping[str, Any],
    words: list[str],
    categories: Any,
    title: str,
    notes: Sequence[str],
    about: str,
) -> Any:
    """Draw probabilities of whole numbers, methods side by side."""
    alt = altair()
    ends = np.array([each.ppf([_TAIL, 1 - _TAIL]) for each in known.values()])
    low, high = int(max(ends[:, 0].min(), -(2**53))), int(min(ends[:, 1].max(), 2**53))
    if categories is not None:
        low, high = 0, len(categories) - 1
    elif high - low < 2:
        low, high = min(low, 0), max(high, 1)
    step = -(-(high - low + 1) // _MOST_BARS)
    values = np.arange(low, high + 1, step)
    labels = [
        str(each)
        for each in (values if categories is None else np.array(categories, object)[values])
    ]
    rows: list[dict[str, Any]] = []
    for word, each in zip(words, known.values(), strict=True):
        rows += records(x=labels, y=each.pmf(values), method=word)
    if step > 1:
        notes = [*notes, f"Every {step}th value is drawn."]
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("x", type="ordinal", sort=labels, title="value", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("method", type="nominal", sort=words),
            y=y_axis("y", "probability"),
            color=colors("method", words),
            tooltip=tips(("method:N",), ("x:N", "value"), ("y:Q", "probability", ".4~g")),
        )
    )
    return finish(chart, title=title, subtitle=notes, description=about)


def four_panel_chart(
    theta: Any,
    prior: Any,
    likelihood: Any,
    product: Any,
    posterior: Any,
    *,
    parameter: str = "parameter",
    subtitle: str | Sequence[str] = (),
) -> Any:
    """Draw Bayes' rule in four panels: prior, likelihood, their product, the posterior.

    Parameters
    ----------
    theta : array-like of shape (m,)
        Values of the parameter.
    prior, likelihood, product, posterior : array-like of shape (m,)
        Heights there; likelihood and product may be scaled.
    parameter : str
        What the parameter is called.
    subtitle : str or sequence of str
        What to see in it.

    Returns
    -------
    altair.FacetChart
        The chart.

    Examples
    --------
    >>> t = np.linspace(0, 1, 5)
    >>> chart = four_panel_chart(t, t**0, t, t, 2 * t)
    >>> sorted({row["panel"] for row in chart.to_dict()["data"]["values"]})[0]
    '1. prior'
    """
    alt = altair()
    heights = {
        "1. prior": prior,
        "2. likelihood (greatest = 1)": likelihood,
        "3. prior × likelihood (greatest = 1)": product,
        "4. posterior": posterior,
    }
    rows: list[dict[str, Any]] = []
    for name, values in heights.items():
        rows += records(panel=name, x=theta, y=values)
    area = (
        alt.Chart()
        .mark_area(style="honest", opacity=0.25, line={"strokeWidth": 2})
        .encode(
            x=x_axis("x", parameter, zero=False, nice=False, grid=False),
            y=y_axis("y", None),
            tooltip=tips(("x:Q", parameter, ".4~g"), ("y:Q", "height", ".4~g")),
        )
        .properties(width=290, height=170)
    )
    layered = alt.layer(area, data=alt.Data(values=rows))
    split = facets(layered, "panel", list(heights), 2).resolve_scale(y="independent")
    return panels(
        split,
        title="From prior to posterior",
        subtitle=subtitle,
        description=f"Four panels over {parameter}: prior, likelihood, product and posterior.",
    )


def _places(before: Any, after: Any) -> FloatArray:
    """Return where to draw: most of the posterior, and of the prior up to some widths around it."""
    low, high = after.lower(_TAIL), after.upper(_TAIL)
    width = high - low if high > low else max(abs(high), 1e-12)
    first = max(before.lower(_TAIL), low - 3 * width)
    last = min(before.upper(_TAIL), high + 3 * width)
    return np.linspace(min(first, low), max(last, high), _POINTS)


def _density(distribution: Any, x: FloatArray) -> FloatArray:
    """Return the density, without places where it is infinite."""
    with np.errstate(all="ignore"):
        found = np.asarray(distribution.pdf(x), dtype=np.float64)
    return np.where(np.isfinite(found), found, np.nan)


def _scaled(model: Any, x: FloatArray) -> FloatArray:
    """Return the likelihood, scaled to area one in the picture."""
    log = np.asarray(model.log_likelihood(x))
    height = np.exp(log - log.max())
    return height / np.trapezoid(height, x)


def _estimates(model: Any) -> str:
    """Say what the estimates are."""
    estimates = model._three()[0]
    parts = []
    for name, values in estimates.items():
        if np.isfinite(values).all():
            shown = ", ".join(number(float(v)) for v in values[:4])
            more = ", ..." if len(values) > 4 else ""
            parts.append(f"{'posterior mean' if name == 'bayes' else _WORDS[name]} {shown}{more}")
    return f"{number(float(model.n))} observations: " + "; ".join(parts) + "."
