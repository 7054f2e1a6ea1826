"""The effects of the terms of an additive model: curves, levels and surfaces with their bands."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, shade, tips, x_axis, y_axis
from bottega.plot.theme import altair, number, panels, plain

__all__ = ["additive_effects_chart"]

_WIDTH, _HEIGHT = 200, 150
_MOST_LEVELS = 20
_MOST_NAMES = 10  # levels whose names all have room
_SIGNS = ["above the mean", "below the mean"]


def additive_effects_chart(
    effects: Sequence[Any],
    *,
    level: float = 0.95,
    band: str = "pointwise",
    most: int = 12,
    columns: int = 3,
) -> Any:
    """Draw what each term of an additive model adds, with its band.

    Parameters
    ----------
    effects : sequence of TermEffect
        Or any objects with `name`, `columns`, `points`, `effect`, `lower`, `upper`, `edf`, as
        `bottega.additive.TermEffect` has them.
    level, band : float, str
        What the bands cover, for the subtitle.
    most : int
        Of more terms, those with the widest effect are drawn.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.ConcatChart
        One panel per term, the widest effect first. Curves and levels are on the same height, so
        that they can be compared; surfaces are coloured, the deeper the farther from zero, all of
        them on one scale.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> x = np.arange(3.0)
    >>> line = SimpleNamespace(
    ...     name="linear(x)", columns=("x",), points=(x,), effect=x - 1, lower=x - 2, upper=x,
    ...     edf=1.0, response="",
    ... )
    >>> additive_effects_chart([line]).to_dict()["title"]["text"]
    'Effects of the terms'
    """
    alt = altair()
    effects = [effect for effect in effects if np.all(np.isfinite(effect.effect))]
    if not effects:
        raise InputError("There is no effect to draw.")
    order = sorted(effects, key=lambda effect: -float(np.ptp(effect.effect)))
    shown = order[:most]
    domain = _domain([effect for effect in shown if len(effect.columns) == 1])
    surfaces = [effect.effect for effect in shown if len(effect.columns) > 1]
    deepest = max((float(np.max(np.abs(height))) for height in surfaces), default=0.0) or 1.0
    drawn = []
    for place, effect in enumerate(shown):
        title = "effect" if place % columns == 0 else None
        if len(effect.columns) > 1:
            panel = _surface(effect, deepest)
        elif isinstance(effect.points[0], list):
            panel = _levels(effect, domain, title)
        else:
            panel = _curve(effect, domain, title)
        heading = alt.TitleParams(_heading(effect), fontSize=12.5, offset=6)
        drawn.append(panel.properties(title=heading, width=_WIDTH, height=_HEIGHT))
    rest = f" {len(order) - len(shown)} narrower effects are left out." if order[most:] else ""
    known = any(np.any(np.isfinite(effect.lower)) for effect in shown)
    bands = f"With {band} {100 * level:g} % bands; t" if known else "T"
    return panels(
        alt.concat(*drawn, columns=columns).resolve_scale(color="shared"),
        title="Effects of the terms",
        subtitle=f"{bands}he widest first.{rest}",
        description=" ".join(map(_in_words, shown)),
    )


def _curve(effect: Any, domain: list[Any], title: str | None) -> Any:
    alt = altair()
    x = np.asarray(effect.points[0], dtype=np.float64)
    rows = records(x=x, effect=effect.effect, low=effect.lower, high=effect.upper)
    base = alt.Chart().encode(
        x=x_axis(
            "x", effect.columns[0], zero=False, nice=False, grid=False, tickCount=4,
            labelOverlap=True,
        )
    )  # fmt: skip
    up = {"domain": domain, "zero": False, "nice": False, "tickCount": 5}
    layers = [
        alt.Chart().mark_rule(style="guide", aria=False).encode(y=alt.datum(0)),
        base.mark_area(style="honest", opacity=0.2, line=False, clip=True).encode(
            y=y_axis("low", title, **up), y2="high"
        ),
        base.mark_line(style="honest", strokeWidth=2.2, clip=True).encode(
            y=y_axis("effect", title, **up),
            tooltip=tips(
                ("x:Q", effect.columns[0], ".4~g"),
                ("effect:Q", "effect", ".4~g"),
                ("low:Q", "from", ".4~g"),
                ("high:Q", "to", ".4~g"),
            ),
        ),
    ]
    return alt.layer(*layers, data=alt.Data(values=rows))


def _levels(effect: Any, domain: list[Any], title: str | None) -> Any:
    alt = altair()
    order = np.argsort(-np.asarray(effect.effect), kind="stable")
    if len(order) > _MOST_LEVELS:  # both ends
        order = np.concatenate([order[: _MOST_LEVELS // 2], order[-_MOST_LEVELS // 2 :]])
    names = [effect.points[0][i] for i in order]
    rows = records(
        level=names,
        effect=effect.effect[order],
        low=effect.lower[order],
        high=effect.upper[order],
    )
    fewer = "greedy" if len(names) > _MOST_NAMES else False
    words = alt.Axis(labelAngle=-35, labelLimit=80, labelOverlap=fewer, ticks=False, grid=False)
    base = alt.Chart().encode(
        x=alt.X("level", type="nominal", sort=names, title=effect.columns[0], axis=words),
        tooltip=tips(
            ("level:N",),
            ("effect:Q", "effect", ".4~g"),
            ("low:Q", "from", ".4~g"),
            ("high:Q", "to", ".4~g"),
        ),
    )
    up = {"domain": domain, "zero": False, "nice": False, "tickCount": 5}
    layers = [
        alt.Chart().mark_rule(style="guide", aria=False).encode(y=alt.datum(0)),
        base.mark_rule(style="honest", strokeWidth=2, clip=True).encode(
            y=y_axis("low", title, **up), y2="high"
        ),
        base.mark_point(style="honest", filled=True, size=60, opacity=1).encode(
            y=y_axis("effect", title, **up)
        ),
    ]
    return alt.layer(*layers, data=alt.Data(values=rows))


def _surface(effect: Any, deepest: float) -> Any:
    alt = altair()
    a, b = (_cells(values) for values in effect.points[:2])
    height = np.asarray(effect.effect)
    rows = records(
        left=a[1],
        right=a[2],
        bottom=b[1],
        top=b[2],
        at=a[0],
        up=b[0],
        effect=height,
        size=np.abs(height) / deepest,
        sign=[_SIGNS[0] if value >= 0 else _SIGNS[1] for value in height],
    )
    options = {"zero": False, "nice": False, "grid": False, "tickCount": 4, "labelOverlap": True}
    base = alt.Chart(alt.Data(values=rows)).mark_rect(strokeWidth=0)
    return base.encode(
        x=x_axis("left", effect.columns[0], **options),
        x2="right",
        y=y_axis("bottom", effect.columns[1], **options),
        y2="top",
        color=colors("sign", _SIGNS, symbolOpacity=1),
        opacity=shade(alt.Opacity, "size", 0, 0.9),
        tooltip=tips(
            ("at:Q", effect.columns[0], ".4~g"),
            ("up:Q", effect.columns[1], ".4~g"),
            ("effect:Q", "effect", ".4~g"),
        ),
    )


def _cells(values: Any) -> tuple[Any, Any, Any]:
    """Return the values and both ends of the cells about them; a level's number is its place."""
    if isinstance(values, list):
        names = list(dict.fromkeys(values))
        at = np.array([names.index(value) for value in values], dtype=np.float64)
    else:
        at = np.asarray(values, dtype=np.float64)
    grid = np.unique(at)
    half = (grid[1] - grid[0]) / 2 if len(grid) > 1 else 0.5
    return at, at - half, at + half


def _domain(effects: Sequence[Any]) -> list[Any]:
    """Return the heights that all panels share: all curves, and bands as far as they are near."""
    if not effects:
        return [-1.0, 1.0]
    middle = np.concatenate([np.ravel(effect.effect) for effect in effects])
    ends = np.concatenate([np.ravel([effect.lower, effect.upper]) for effect in effects])
    ends = ends[np.isfinite(ends)]
    span = float(np.ptp(middle)) or float(np.max(np.abs(middle))) or 1.0
    # A band that is far wider than every effect would leave all of them flat.
    low = max(float(min(ends.min(initial=0.0), middle.min())), float(middle.min()) - span)
    high = min(float(max(ends.max(initial=0.0), middle.max())), float(middle.max()) + span)
    gap = 0.05 * (high - low)
    return [plain(low - gap), plain(high + gap)]


def _heading(effect: Any) -> str:
    name = f"{effect.response}: {effect.name}" if effect.response else effect.name
    name = name if len(name) <= 26 else name[:25] + "…"
    return f"{name}, df {effect.edf:.1f}"


def _in_words(effect: Any) -> str:
    low, high = float(np.min(effect.effect)), float(np.max(effect.effect))
    return f"The effect of {effect.name} lies between {number(low)} and {number(high)}."
