"""Effects of single inputs and of pairs, as sums of hinges have them."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, x_axis, y_axis
from bottega.plot.theme import altair, panels, plain

__all__ = ["hinge_effects_chart"]

_WIDTH, _HEIGHT = 190, 140
_SIDE = 190  # of a surface
_LONG = 30  # letters of a title


def hinge_effects_chart(effects: Any, *, most: int = 12, columns: int = 3) -> Any:
    """Draw the effects of single inputs as bent lines, and those of pairs as surfaces.

    Parameters
    ----------
    effects : AdaptiveEffects
        What ``AdaptiveSplines.effects()`` returns, or any object with `mains` (name, values,
        effect, category), `pairs` (names, values, effect, category), `title` and `beyond`.
    most : int
        Of more inputs, or pairs, the first are drawn.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.VConcatChart
        Curves have one scale of heights, and surfaces one scale of colours. Outside the hull of the
        data a surface is blank.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> main = SimpleNamespace(name="age", values=[20, 50, 80], effect=[-1, 0, 2], category=False)
    >>> effects = SimpleNamespace(mains=[main], pairs=[], title="income", beyond=0)
    >>> hinge_effects_chart(effects).to_dict()["title"]["text"]
    'Effects on income'
    """
    alt = altair()
    mains, pairs = list(effects.mains), list(effects.pairs)
    if not mains and not pairs:
        raise InputError("The model is a constant: it has no effects to draw.")
    rows = []
    if mains:
        domain = _range([np.ravel(one.effect) for one in mains])
        drawn = [_curve(one, domain, first=k % columns == 0) for k, one in enumerate(mains[:most])]
        rows.append(alt.concat(*drawn, columns=columns, spacing=22))
    if pairs:
        heights = [np.ravel(two.effect)[np.isfinite(np.ravel(two.effect))] for two in pairs]
        reach = max((float(np.max(np.abs(each), initial=0.0)) for each in heights), default=1.0)
        drawn = [_surface(two, reach or 1.0) for two in pairs[:most]]
        rows.append(alt.concat(*drawn, columns=columns, spacing=22))
    words = ["Centred at zero over the data; curves of one input have the same scale."]
    if pairs:
        words.append("Surfaces add up both inputs and their product; blank outside the data.")
    left_out = max(len(mains) - most, 0) + max(len(pairs) - most, 0)
    if left_out or effects.beyond:
        many = f"{effects.beyond} terms of three and more inputs" if effects.beyond else ""
        less = f"{left_out} weaker effects" if left_out else ""
        words.append(f"Not drawn: {' and '.join(each for each in (less, many) if each)}.")
    names = [one.name for one in mains[:most]] + [" and ".join(two.names) for two in pairs[:most]]
    return panels(
        alt.vconcat(*rows, spacing=26).resolve_scale(color="shared"),
        title=f"Effects on {effects.title}",
        subtitle=words,
        description=f"Effects of {', '.join(names)} on {effects.title}.",
    )


def _range(parts: Any) -> list[Any]:
    heights = np.concatenate(parts)
    low, high = float(np.min(heights)), float(np.max(heights))
    gap = 0.05 * (high - low) or max(abs(low), 1.0) * 0.05
    return [plain(low - gap), plain(high + gap)]


def _titled(chart: Any, name: str, width: int, height: int) -> Any:
    shown = name if len(name) <= _LONG else name[: _LONG - 1] + "…"
    heading = altair().TitleParams(shown, fontSize=12.5, offset=6)
    return chart.properties(title=heading, width=width, height=height)


def _curve(one: Any, domain: list[Any], *, first: bool) -> Any:
    alt = altair()
    up = y_axis("effect", "effect" if first else None, domain=domain, nice=False, tickCount=5)
    zero = alt.Chart().mark_rule(style="guide", aria=False).encode(y=alt.datum(0))
    if one.category:
        names = [str(value) for value in one.values]
        data = alt.Data(values=records(level=names, effect=np.asarray(one.effect)))
        words = alt.Axis(labelAngle=-35, labelLimit=80, ticks=False, grid=False)
        dots = alt.Chart().mark_point(style="honest", filled=True, size=60, opacity=1)
        dots = dots.encode(
            x=alt.X("level", type="nominal", sort=names, title=None, axis=words),
            y=up,
            tooltip=tips(("level:N",), ("effect:Q", "effect", ".4~g")),
        )
        return _titled(alt.layer(zero, dots, data=data), one.name, _WIDTH, _HEIGHT)
    x = np.asarray(one.values, dtype=np.float64)
    knot = np.arange(len(x)) % max(len(x) - 1, 1) != 0
    data = alt.Data(values=records(x=x, effect=np.asarray(one.effect), knot=knot))
    across = x_axis("x", None, zero=False, nice=False, grid=False, tickCount=4, labelOverlap=True)
    base = alt.Chart().encode(
        x=across, y=up, tooltip=tips(("x:Q", "at", ".4~g"), ("effect:Q", "effect", ".4~g"))
    )
    line = base.mark_line(style="honest", strokeWidth=2)
    dots = base.transform_filter("datum.knot").mark_point(
        style="honest", filled=True, size=28, opacity=1
    )
    return _titled(alt.layer(zero, line, dots, data=data), one.name, _WIDTH, _HEIGHT)


def _surface(two: Any, reach: float) -> Any:
    """Draw one pair: cells of numbers, or rows of the levels of a category."""
    alt = altair()
    effect = np.asarray(two.effect, dtype=np.float64)
    axes, encoded = [], {}
    for k, (channel, name) in enumerate(zip("xy", two.names, strict=True)):
        values = two.values[k]
        if two.category[k]:
            axes.append([(str(value), None) for value in values])
            words = [str(value) for value in values]
            make = alt.X if channel == "x" else alt.Y
            encoded[channel] = make(channel, type="nominal", sort=words, title=name)
            continue
        x = np.asarray(values, dtype=np.float64)
        half = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
        axes.append([(value - half, value + half) for value in x])
        make = x_axis if channel == "x" else y_axis
        encoded[channel] = make(channel, name, zero=False, nice=False, grid=False, tickCount=4)
        encoded[f"{channel}2"] = f"{channel}2"
    rows = [
        {"x": _plain(a), "x2": _plain(a2), "y": _plain(b), "y2": _plain(b2), "effect": plain(value)}
        for (a, a2), line in zip(axes[0], effect, strict=True)
        for (b, b2), value in zip(axes[1], line, strict=True)
        if np.isfinite(value)
    ]
    ends = plain(-reach), plain(reach)
    color = alt.Color(
        "effect",
        type="quantitative",
        title="effect",
        scale=alt.Scale(domain=[ends[0], 0, ends[1]], scheme="blueorange"),
        legend=alt.Legend(gradientLength=120, tickCount=5),
    )
    cells = alt.Chart(alt.Data(values=rows)).mark_rect(stroke=None, strokeWidth=0, clip=True)
    cells = cells.encode(**encoded, color=color, tooltip=tips(("effect:Q", "effect", ".4~g")))
    return _titled(cells, " and ".join(two.names), _SIDE, _SIDE)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else plain(float(value))
