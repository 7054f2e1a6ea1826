"""The complexity path as a picture: honest and training error against the knob."""

import json
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.plot._parts import only, thinned, tips, x_axis, y_axis
from bottega.plot.theme import HEIGHT, altair, decades, finish, number, plain

__all__ = ["path_chart"]

ESTIMATES = {
    "loo": "leave-one-out",
    "gcv": "generalised cross-validation",
    "cv": "cross-validation",
    "oob": "out-of-bag rows",
    "validation": "validation rows",
}
RULE_WORDS = {"min": "the least error", "one_se": "the one-SE rule"}

_HEADROOM = 44  # pixels above the curves, where the two labels stand
_MANY = 40  # from here on error bars would touch: a band is drawn
_MOST = 400  # more points than pixels show nothing more


def path_chart(path: Any, *, rule: str = "one_se") -> Any:
    """Draw a path: honest error with its standard error, training error, and the picked model.

    Parameters
    ----------
    path : Path
        Or any object with its attributes and `best`.
    rule : str
        Rule by which the model is picked.

    Returns
    -------
    altair.LayerChart
        Complexity grows to the right. The dashed line is the least error plus its standard error:
        the one-SE rule picks the simplest model below it.

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
    picked, least = path.best(rule), path.best("min")
    limit = plain(path.error[least] + path.error_se[least])
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
    how = RULE_WORDS.get(rule, f"least {rule.upper()}")
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
    path: Any, picked: int, least: int, limit: float | None, floor: float | None
) -> list[dict[str, Any]]:
    """Return one row per value of the knob, thinned where there are more than can be seen."""
    shown = np.union1d(thinned(len(path), _MOST), [picked, least])
    rows = []
    for i in shown:
        error, se = float(path.error[i]), float(path.error_se[i])
        train = path.train_error[i]
        row = {
            "x": place_on_axis(path, i),
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


def _varying(path: Any) -> list[str]:
    """Return the parameters that vary along a path; of a path of one model, all of them."""
    found = [name for name in path.knobs if len({str(s[name]) for s in path.settings}) > 1]
    return found or list(path.knobs)


def name_of_knob(path: Any) -> str:
    """Return what varies along a path: one parameter, or several."""
    return ", ".join(_varying(path))


def value_in_words(path: Any, i: int) -> str:
    """Write the value of the knob of a model, or its setting where several parameters vary."""
    varying = _varying(path)
    if len(varying) > 1:
        return setting_in_words(path, i)
    return number(path.settings[i][varying[0]])


def setting_in_words(path: Any, i: int) -> str:
    """Write what sets a model of a path apart from the others.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> path = SimpleNamespace(knobs=("alpha", "l1_ratio"), settings=[
    ...     {"alpha": 2.0, "l1_ratio": 0.5}, {"alpha": 0.1, "l1_ratio": 0.5}])
    >>> setting_in_words(path, 1)
    'alpha = 0.1'
    """
    return ", ".join(f"{name} = {number(path.settings[i][name])}" for name in _varying(path))


def tip_of_df(path: Any) -> list[tuple[str, ...]]:
    """Return the line of a tooltip about degrees of freedom, for a path that has them."""
    return [] if path.df is None else [("df:Q", "degrees of freedom", ".4~g")]


def place_on_axis(path: Any, i: int) -> Any:
    """Return where a model stands on `knob_axis`: by its knob, or by its complexity."""
    if len(_varying(path)) > 1:
        return plain(path.complexity[i])
    return plain(path.values[i]) if is_axis_of_numbers(path) else number(path.values[i])


def is_axis_of_numbers(path: Any) -> bool:
    """Return True if one knob varies, and its values are numbers that run one way."""
    if len(_varying(path)) > 1:
        return False
    values = path.values
    if values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        return False
    step = np.diff(values)
    return bool(np.all(step > 0) or np.all(step < 0))


def complexity_axis(field: str, title: str, padding: int = 12) -> Any:
    """Return the x channel of a size of models, simplest left."""
    spread = {"zero": False, "nice": False, "padding": padding}
    return x_axis(field, f"{title}  (more complex →)", grid=False, tickCount=8, **spread)


def knob_axis(path: Any) -> tuple[Any, FloatArray]:
    """Return the x channel, simplest left, and each value's place on it as a share of its width."""
    if len(_varying(path)) > 1:
        span = path.complexity[-1] - path.complexity[0]
        channel = complexity_axis("x", "complexity" if path.df is None else "degrees of freedom")
        return channel, (path.complexity - path.complexity[0]) / (span or 1.0)
    title = f"{path.knob}  (more complex →)"
    if not is_axis_of_numbers(path):
        place = np.linspace(0, 1, len(path)) if len(path) > 1 else np.zeros(1)
        order = [number(value) for value in path.values]
        words = altair().Axis(labelAngle=0, labelOverlap=True)
        return altair().X("x", type="ordinal", sort=order, title=title, axis=words), place
    values = path.values.astype(np.float64)
    positive = values[values > 0]
    wide = values.min() >= 0 and positive.size > 0 and _is_log_scaled(positive)
    given: dict[str, Any] = {"reverse": bool(values[0] > values[-1])}
    place = values
    if wide:
        ticks = decades(positive.min(), positive.max())
        if values.min() > 0:
            given["type"] = "log"
            place = np.log10(values)
        else:  # zero has no logarithm: linear up to the least positive value, logarithmic above
            given |= {"type": "symlog", "constant": float(positive.min())}
            place = np.log1p(values / positive.min())
            ticks = [0.0, *ticks]
        given |= {"values": ticks, "format": "~g"}
    else:
        given["zero"] = False
    given |= {"nice": False, "padding": 12, "tickCount": 8, "labelOverlap": True, "grid": False}
    share = (place - place[0]) / ((place[-1] - place[0]) or 1.0)
    return x_axis("x", title, **given), share


def _is_log_scaled(values: FloatArray) -> bool:
    """Return True if positive values span over two decades, or were laid out in equal ratios."""
    if values.max() > 100 * values.min():
        return True
    ratios = np.diff(np.log(values))
    return values.max() > 5 * values.min() and bool(np.ptp(ratios) < 0.01 * np.abs(ratios).max())


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
