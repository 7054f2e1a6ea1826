"""The complexity path as a picture: honest and training error against the knob."""

import json
from typing import Any

import numpy as np

from bottega.core.path import ESTIMATES
from bottega.core.typing import FloatArray
from bottega.plot._knob import (
    families_of,
    family_axis,
    knob_axis,
    name_of_knob,
    place_on_axis,
    setting_in_words,
    tip_of_df,
    value_in_words,
)
from bottega.plot._parts import only, thinned, tips, y_axis
from bottega.plot.theme import HEIGHT, altair, decades, finish, number, plain

__all__ = ["path_chart"]

RULE_WORDS = {"min": "the least error", "one_se": "the one-SE rule"}

_HEADROOM = 44  # pixels above the curves, where the two labels stand
_MANY = 40  # from here on error bars would touch: a band is drawn
_MOST = 400  # more points than pixels show nothing more


def path_chart(path: Any, *, select: str | None = None) -> Any:
    """Draw a path: honest error with its standard error, training error, and the picked model.

    Parameters
    ----------
    path : Path
        Or any object with its attributes and `best`.
    select : str, optional
        Rule by which the model is picked; by default the one that the path was made for.

    Returns
    -------
    altair.LayerChart
        Complexity grows to the right. The dashed line is the least error plus its standard error:
        the one-SE rule picks the simplest model below it. Where several parameters vary there is
        one line per value of those beside the main one.

    Notes
    -----
    Both axes turn logarithmic by themselves: the knob when it spans over two decades (or over a
    factor of five in equal ratios), the error when its greatest value is over a hundred times its
    least. On a logarithmic axis a training error below a tenth of the least honest error, and
    whatever is below 1e-12 of the greatest, runs out of the picture at the bottom.

    Examples
    --------
    >>> from bottega.core.path import Path, along
    >>> curve = Path(along("k", [9, 5, 1]), df=[1, 2, 10], train_error=[4, 2, 0],
    ...              error=[4.1, 3.9, 6], error_se=[0.3, 0.3, 0.5], estimate="loo",
    ...              loss="squared error")
    >>> path_chart(curve).to_dict()["title"]["text"]
    'Error along k'
    """
    alt = altair()
    select = select or getattr(path, "select", None) or "one_se"
    picked, least = path.best(select), path.best("min")
    limit = plain(path.error[least] + path.error_se[least])
    families = families_of(path)
    if families is not None:
        return _families_chart(path, select, picked, least, limit, *families)
    x, share = knob_axis(path)
    error_axis, floor = _error_axis(path, limit)
    honest = f"honest error ({ESTIMATES.get(path.estimate, path.estimate)}) ± 1 SE"
    series = [honest, "training error", "least error + 1 SE"][: 2 if limit is None else 3]

    def named(chart: Any, place: int) -> Any:
        """Give a layer its name in the legend, which is made of all of them."""
        patterns = [[1, 0], [1, 0], [5, 4]][: len(series)]
        kind: dict[str, Any] = {"type": "nominal", "legend": alt.Legend(title=None)}
        return chart.transform_calculate(series=json.dumps(series[place])).encode(
            color=alt.Color("series", scale=alt.Scale(domain=series, range="ordinal"), **kind),
            strokeDash=alt.StrokeDash(
                "series", scale=alt.Scale(domain=series, range=patterns), **kind
            ),
        )

    y = y_axis("error", f"mean {path.loss}", **error_axis)
    knob = name_of_knob(path)
    tooltip = tips(
        ("value:N", knob),
        *tip_of_df(path),
        ("error:Q", "honest error", ".5~g"),
        ("se:Q", "its standard error", ".3~g"),
        ("train:Q", "training error", ".5~g"),
    )
    point = {"y": y, "tooltip": tooltip}
    base = alt.Chart().encode(x=x)
    bars = base.encode(y="low:Q", y2="high")
    clip = floor is not None
    layers = [
        bars.mark_area(style="honest", opacity=0.16, strokeWidth=0, aria=False)
        if len(path) > _MANY
        else bars.mark_rule(style="honest", strokeWidth=1.3, opacity=0.75, aria=False),
        named(base.mark_line(strokeWidth=1.8, clip=True).encode(y="train:Q"), 1),
        named(base.mark_line(strokeWidth=2, clip=clip).encode(y=y), 0),
        base.mark_point(style="honest", size=22, opacity=1, filled=True, clip=clip).encode(**point),
    ]
    if limit is not None:
        line = only(alt.Chart(), "least", "mark").mark_rule(style="reference")
        layers.append(named(line.encode(y="limit:Q"), 2))
    layers += _marked(base, point, path, share, picked, least)
    rows = _rows(path, picked, least, limit, floor)
    how = RULE_WORDS.get(select, f"least {select.upper()}")
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Error along {knob}",
        subtitle=f"Simple models on the left, complex ones on the right; picked by {how}.",
        description=(
            f"Line chart of the mean {path.loss} against {knob}, {len(path)} values from simple "
            f"to complex. Least honest error {number(path.error[least])} at "
            f"{setting_in_words(path, least)}; picked by {how}: {setting_in_words(path, picked)} "
            f"with error {number(path.error[picked])}."
        ),
    )


def _families_chart(
    path: Any,
    select: str,
    picked: int,
    least: int,
    limit: float | None,
    main: str,
    others: str,
    named: list[str],
) -> Any:
    """Draw a path over several parameters: a line per value of those beside the main one."""
    alt = altair()
    x, values, share = family_axis(path, main)
    error_axis, floor = _error_axis(path, limit)
    order = sorted(set(named), key=lambda name: (_as_number(name), name))
    y = y_axis("error", f"mean {path.loss}", **error_axis)
    tooltip = tips(
        ("value:N", name_of_knob(path)),
        *tip_of_df(path),
        ("error:Q", "honest error", ".5~g"),
        ("se:Q", "its standard error", ".3~g"),
        ("train:Q", "training error", ".5~g"),
    )
    point = {"y": y, "tooltip": tooltip}
    base = alt.Chart().encode(x=x)
    family = {"scale": alt.Scale(domain=order, range="category"), "type": "nominal"}
    legend = alt.Legend(title=others, symbolType="stroke")
    line = base.encode(color=alt.Color("family", legend=legend, **family))
    clip = floor is not None
    layers = [
        line.mark_line(strokeWidth=1.2, strokeDash=[4, 3], opacity=0.6, clip=True).encode(
            y="train:Q"
        ),
        line.mark_line(strokeWidth=2, clip=clip).encode(y=y),
        line.mark_point(size=18, opacity=1, filled=True, clip=clip).encode(**point),
    ]
    if limit is not None:
        guide = only(alt.Chart(), "least", "mark").mark_rule(style="reference")
        layers.append(guide.encode(y="limit:Q"))
    layers += _marked(base, point, path, share, picked, least)
    rows = _rows(path, picked, least, limit, floor, places=values)
    for row, name in zip(rows, named, strict=True):
        row["family"] = name
    how = RULE_WORDS.get(select, f"least {select.upper()}")
    judge = ESTIMATES.get(path.estimate, path.estimate)
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Error along {name_of_knob(path)}",
        subtitle=f"Honest error ({judge}) solid, training error dashed; picked by {how}.",
        description=(
            f"Line chart of the mean {path.loss} against {main}, one line for each "
            f"{others} in {'; '.join(order)}. Least honest error {number(path.error[least])} at "
            f"{setting_in_words(path, least)}; picked by {how}: {setting_in_words(path, picked)} "
            f"with error {number(path.error[picked])}."
        ),
    )


def _as_number(text: str) -> float:
    try:
        return float(text.replace("−", "-").replace(",", ""))
    except ValueError:
        return np.inf


def _marked(
    base: Any, point: dict[str, Any], path: Any, share: FloatArray, picked: int, least: int
) -> list[Any]:
    """Mark the picked and the least point, each labelled on a line of its own above the curves."""

    def into_room(i: int) -> str:
        return "right" if share[i] > 0.5 else "left"

    marks = [("least" if picked == least else "picked", picked, 8, into_room(picked))]
    if picked != least:
        # The dotted line of the upper label runs through the row of the lower one: the lower goes
        # to the mark with more room on the far side from the other, and points to that side.
        room = {
            i: share[i] if share[i] < share[j] else 1 - share[i]
            for i, j in ((picked, least), (least, picked))
        }
        low = max(room, key=lambda i: room[i])
        outward = "right" if share[low] <= min(share[picked], share[least]) else "left"
        side = outward if room[low] >= 0.3 else into_room(low)
        marks = [
            (code, i, 26 if i == low else 8, side if i == low else into_room(i))
            for code, i in (("picked", picked), ("least", least))
        ]
    layers = []
    for code, i, top, align in marks:
        chart = only(base, code, "mark")
        style = "picked" if i == picked else "honest"
        words = "picked" if i == picked else "least error"
        guide = chart.mark_rule(style="guide")
        layers += [
            guide.encode(y=point["y"], y2=altair().value(top + 7)),
            chart.mark_point(
                style=style, size=110, opacity=1, filled=style == "picked", strokeWidth=2.5
            ).encode(**point),
            chart.mark_text(
                style="strong-label" if i == picked else "label",
                text=f"{words}: {setting_in_words(path, i)}",
                align=align,
                dx=4 if align == "right" else -4,
                baseline="middle",
            ).encode(y=altair().value(top)),
        ]
    return layers


def _rows(
    path: Any,
    picked: int,
    least: int,
    limit: float | None,
    floor: float | None,
    places: FloatArray | None = None,
) -> list[dict[str, Any]]:
    """Return a row per model at the given places, or those that can be told apart on the knob."""
    shown = np.arange(len(path))
    if places is None:
        shown = np.union1d(thinned(len(path), _MOST), [picked, least])
    rows = []
    for i in shown.tolist():
        error, se = float(path.error[i]), float(path.error_se[i])
        train = path.train_error[i]
        row = {
            "x": place_on_axis(path, i) if places is None else plain(places[i]),
            "value": value_in_words(path, i),
            **({} if path.df is None else {"df": plain(path.df[i])}),
            "error": plain(error),
            "se": plain(se),
            "low": plain(error - se if floor is None else max(error - se, floor)),
            "high": plain(error + se),
            "train": plain(train) if floor is None or train > 0 else None,
        }
        if i in (picked, least):
            row["mark"] = "least" if i == least else "picked"
        if i == least:
            row["limit"] = limit
        rows.append(row)
    return rows


def _error_axis(path: Any, limit: float | None) -> tuple[dict[str, Any], float | None]:
    """Return options of the y axis, with room for labels on top; the lowest value if it is log."""
    error, se = path.error, np.nan_to_num(path.error_se)
    candidates = np.concatenate([error, error + se, path.train_error, [limit or np.nan]])
    finite = candidates[np.isfinite(candidates)]
    high = float(finite.max())
    honest = error[np.isfinite(error)]
    stretch = HEIGHT / (HEIGHT - _HEADROOM)
    if honest.min() > 0 and honest.max() > 100 * honest.min():
        train = path.train_error[np.isfinite(path.train_error) & (path.train_error > 0)]
        least = max(min(honest.min(), train.min(initial=np.inf)), honest.min() / 10)
        floor = float(max(least / 1.3, high * 1e-12))
        top = floor * (high / floor) ** stretch
        ticks = {"values": decades(floor, high, most=7), "format": "~g", "nice": False}
        return {"type": "log", "domain": [plain(floor), plain(top)], **ticks}, floor
    low = float(np.concatenate([finite, (error - se)[np.isfinite(error)]]).min())
    if low < 0.35 * high:
        low = min(low, 0.0)  # near zero already: show how far from it the errors are
    else:
        low -= 0.06 * (high - low)
    top = low + ((high - low) or 1.0) * stretch
    span = [plain(low), plain(top)]
    return {"domain": span, "nice": False, "zero": False, "tickCount": 7}, None
