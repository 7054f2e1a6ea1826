"""How a prediction changes with one input of any model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, dashes, records, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish, panels, plain

__all__ = ["effect_chart", "partial_effects_chart"]

_CURVES = ["partial dependence", "local effects"]
_DAY = 86_400_000  # milliseconds
_WIDTH, _HEIGHT = 190, 150
_SLANTED = 7  # names of levels that fit side by side unless they stand upright


def effect_chart(effect: Any) -> Any:
    """Draw the effect of one input, with single rows behind it.

    Parameters
    ----------
    effect : Effect
        Or any object with `column`, `kind`, `values`, `average`, `by_fold`, `single`, `local` and
        `outcome`, as `bottega.explain.Effect` has them.

    Returns
    -------
    altair.LayerChart
        The thick line is the mean prediction if all rows had the value, the shade how far the
        models of the folds differ, thin lines are single rows; the dashed line adds up local
        changes, which does not ask for rows that cannot be. Ticks are at percentiles of the input.
    """
    layers = _panel(effect, _domain([effect]), _curves_of([effect]), title=effect.outcome)
    kinds = "Thin lines are single rows" if effect.kind != "category" else "Dots are means"
    return finish(
        layers,
        title=f"Effect of {effect.column}",
        subtitle=f"{kinds}; the shade is the range of the models of the folds.",
        description=_in_words(effect),
        width=420,
        height=280,
    )


def partial_effects_chart(effects: Sequence[Any], *, columns: int = 3) -> Any:
    """Draw the effects of several inputs side by side, all on the same height.

    Parameters
    ----------
    effects : sequence of Effect
        As `effect_chart` takes them.
    columns : int
        Panels side by side.

    Returns
    -------
    altair.ConcatChart
        One panel per input.
    """
    alt = altair()
    effects = list(effects)
    if not effects:
        raise InputError("There is no effect to draw.")
    domain, curves = _domain(effects), _curves_of(effects)
    drawn = []
    for place, effect in enumerate(effects):
        title = effect.outcome if place % columns == 0 else None
        panel = _panel(effect, domain, curves, title=title)
        name = alt.TitleParams(_cut(effect.column), fontSize=12.5, offset=6)
        drawn.append(panel.properties(title=name, width=_WIDTH, height=_HEIGHT))
    return panels(
        alt.concat(*drawn, columns=columns),
        title="Effects of the leading inputs",
        subtitle="Thin lines are single rows; the shade is the range of the models of the folds.",
        description=" ".join(map(_in_words, effects)),
    )


def _curves_of(effects: Sequence[Any]) -> list[str]:
    """Return the curves that some panel has: one legend is for all of them."""
    return _CURVES if any(effect.local is not None for effect in effects) else _CURVES[:1]


def _panel(effect: Any, domain: list[Any], curves: list[str], title: str | None) -> Any:
    up = {"domain": domain, "zero": False, "nice": False, "tickCount": 5}
    draw = _levels if effect.kind == "category" else _lines
    legend = colors("kind", curves, show=len(curves) > 1, symbolType="stroke", symbolOpacity=1)
    return draw(effect, lambda field: y_axis(field, title, **up), legend)


def _lines(effect: Any, up: Any, color: Any) -> Any:
    alt = altair()
    scale = _DAY if effect.kind == "date" else 1
    x = np.asarray(effect.values, dtype=np.float64) * scale
    folds, single = np.asarray(effect.by_fold), np.asarray(effect.single)
    curves = _curves_of([effect])
    columns = dict(zip(curves, (effect.average, effect.local), strict=False))
    columns |= {"low": folds.min(axis=0), "high": folds.max(axis=0)}
    columns |= {f"r{number}": line for number, line in enumerate(single)}
    if effect.kind == "date":
        across = alt.X("x", type="temporal", title=None, axis=alt.Axis(grid=False, tickCount=4))
    else:
        across = x_axis(
            "x", None, zero=False, nice=False, grid=False, tickCount=4, labelOverlap=True
        )
    base = alt.Chart().encode(x=across)
    at = ("x:T", "at") if effect.kind == "date" else ("x:Q", "at", ".4~g")
    each_row = base.transform_fold([f"r{i}" for i in range(len(single))], as_=["row", "y"])
    layers = [
        each_row.mark_line(style="faint", opacity=0.45, clip=True, aria=False).encode(
            y=up("y"), detail="row:N"
        ),
        base.mark_area(style="honest", opacity=0.16, line=False, clip=True).encode(
            y=up("low"), y2="high"
        ),
        base.transform_fold(curves, as_=["kind", "y"])
        .mark_line(strokeWidth=2.2, clip=True)
        .encode(
            y=up("y"),
            color=color,
            # Of one legend with the colours: Vega-Lite warns where one says yes and one no.
            strokeDash=dashes("kind", _CURVES, [[1, 0], [5, 3]]).legend(color["legend"]),
            tooltip=tips(("kind:N",), at, ("y:Q", effect.outcome, ".4~g")),
        ),
        base.mark_tick(
            style="label", orient="vertical", size=6, thickness=1, opacity=0.5, aria=False
        ).encode(y=alt.value("height")),
    ]
    return alt.layer(*layers, data=alt.Data(values=records(x=x, **columns)))


def _levels(effect: Any, up: Any, color: Any) -> Any:
    alt = altair()
    folds = np.asarray(effect.by_fold)
    order = np.argsort(-np.asarray(effect.average), kind="stable")
    names = [str(effect.values[i]) for i in order]
    rows = records(
        kind=_CURVES[0],
        level=names,
        y=np.asarray(effect.average)[order],
        low=folds.min(axis=0)[order],
        high=folds.max(axis=0)[order],
    )
    angle = -90 if len(names) > _SLANTED else -35
    words = alt.Axis(labelAngle=angle, labelLimit=80, ticks=False, grid=False)
    base = alt.Chart().encode(
        x=alt.X("level", type="nominal", sort=names, title=None, axis=words),
        color=color,
        tooltip=tips(("level:N",), ("y:Q", effect.outcome, ".4~g")),
    )
    layers = [
        base.mark_rule(strokeWidth=7, opacity=0.25, clip=True).encode(y=up("low"), y2="high"),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=up("y")),
    ]
    return alt.layer(*layers, data=alt.Data(values=rows))


def _domain(effects: Sequence[Any]) -> list[Any]:
    """Return the heights that all panels share: all curves, and nearly all single rows."""
    parts = []
    for effect in effects:
        parts += [np.ravel(effect.average), np.ravel(effect.by_fold)]
        parts += [] if effect.local is None else [np.ravel(effect.local)]
        if effect.kind != "category":
            parts.append(np.quantile(np.ravel(effect.single), [0.05, 0.95]))
    heights = np.concatenate(parts)
    low, high = float(heights.min()), float(heights.max())
    gap = 0.05 * (high - low) or max(abs(low), 1.0) * 0.05
    return [plain(low - gap), plain(high + gap)]


def _in_words(effect: Any) -> str:
    average = np.asarray(effect.average)
    low, high = (effect.values[int(at)] for at in (average.argmin(), average.argmax()))
    return (
        f"The mean {effect.outcome} is lowest at {effect.column} = {low} ({average.min():.4g}) and "
        f"highest at {high} ({average.max():.4g})."
    )


def _cut(name: str) -> str:
    return name if len(name) <= 30 else name[:29] + "…"
