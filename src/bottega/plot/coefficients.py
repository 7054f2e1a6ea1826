"""Coefficient profiles: how each coefficient grows as the model may be more complex."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names
from bottega.core.typing import FloatArray
from bottega.plot._knob import (
    complexity_axis,
    knob_axis,
    name_of_knob,
    place_on_axis,
    setting_in_words,
    tip_of_df,
    value_in_words,
)
from bottega.plot._parts import colors, thinned, tips, y_axis
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["coefficient_chart"]

_MOST_LINES = 30
_MOST_POINTS = 60  # of a line
_NAMED = 8
_WORDS = {"df": "degrees of freedom", "knob": "the knob", "l1": "the sum of their absolute values"}


def coefficient_chart(
    path: Any,
    *,
    select: str = "one_se",
    names: Sequence[str] | None = None,
    against: str | None = None,
    bands: tuple[Any, Any] | None = None,
) -> Any:
    """Draw each coefficient against the complexity, the picked model marked.

    Parameters
    ----------
    path : Path
        With `coef` of shape (m, p).
    select : str
        Rule by which the model is picked.
    names : sequence of str, optional
        Names of the p columns; ``x0, x1, ...`` by default.
    against : {"df", "knob", "l1"}, optional
        What stands on the axis: the degrees of freedom (the default where the path has them), the
        knob (on a logarithmic axis where it spans decades, simple models left), or the sum of the
        absolute coefficients.
    bands : pair of array-like of shape (m, p), optional
        Lower and upper limits of the coefficients, drawn around those that are named.

    Returns
    -------
    altair.LayerChart
        At most the 30 coefficients that grow largest; the first 8 in colour and named.

    Examples
    --------
    >>> from bottega.core.path import Path, along
    >>> curve = Path(along("alpha", [10.0, 1.0]), df=[0.5, 1.5], train_error=[2, 1],
    ...              error=[2, 1.5], error_se=[0.1, 0.1], estimate="loo", loss="squared error",
    ...              coef=[[0.1, 0.0], [0.9, -0.2]])
    >>> coefficient_chart(curve).to_dict()["title"]["text"]
    'Coefficients along alpha'
    """
    alt = altair()
    if path.coef is None:
        raise InputError(f"The path along {name_of_knob(path)!r} has no coefficients to draw.")
    coef = np.asarray(path.coef, dtype=np.float64)
    if coef.ndim != 2 or len(coef) != len(path):
        raise InputError(
            f"coef has shape {coef.shape}; a chart needs one response, so "
            f"({len(path)}, number of columns)."
        )
    terms = default_names(coef.shape[1]) if names is None else list(map(str, names))
    if len(terms) != coef.shape[1]:
        raise InputError(f"names has {len(terms)} entries for {coef.shape[1]} coefficients.")
    if against is None:
        against = "knob" if path.df is None else "df"
    if against not in ("df", "knob", "l1"):
        raise InputError(f"against={against!r} is not allowed; use 'df', 'knob' or 'l1'.")
    if against == "df" and path.df is None:
        raise InputError(
            f"The path along {name_of_knob(path)!r} has no degrees of freedom; use 'knob' or 'l1'."
        )
    limits = None if bands is None else [np.asarray(each, dtype=np.float64) for each in bands]
    if limits is not None and any(each.shape != coef.shape for each in limits):
        raise InputError(f"bands must be two arrays of the shape {coef.shape} of the coefficients.")
    x, place = _axis(path, coef, against)
    height = np.nan_to_num(np.abs(coef)).max(axis=0)
    drawn = np.argsort(-height, kind="stable")[:_MOST_LINES]
    picked = path.best(select)
    points = sorted({*thinned(len(coef), _MOST_POINTS).tolist(), picked})
    rows = [
        {
            "term": int(rank),
            "name": terms[j],
            **({} if path.df is None else {"df": plain(path.df[i])}),
            "value": value_in_words(path, i),
            "coef": plain(coef[i, j]),
            **({} if against == "df" else {"x": place[i]}),
            **({"named": terms[j]} if rank < _NAMED else {}),
            **_ends(limits, i, j, rank),
            **({"picked": True} if i == picked else {}),
        }
        for rank, j in enumerate(drawn)
        for i in points
    ]
    base = alt.Chart().encode(
        x=x,
        y=y_axis("coef", "coefficient"),
        detail="term:N",
        tooltip=tips(
            ("name:N", "column"),
            ("value:N", name_of_knob(path)),
            *tip_of_df(path),
            ("coef:Q", "coefficient", ".4~g"),
        ),
    )
    legend = [terms[j] for j in drawn[:_NAMED]]
    layers = []
    if drawn.size > _NAMED:
        layers.append(base.mark_line(style="faint").transform_filter("!isValid(datum.named)"))
    if limits is not None:
        layers.append(
            base.mark_area(opacity=0.16, strokeWidth=0)
            .transform_filter("isValid(datum.low)")
            .encode(
                y=y_axis("low", "coefficient"),
                y2="high",
                color=colors(
                    "named", legend, orient="right", columns=1, labelLimit=140, symbolOpacity=1
                ),
            )
        )
    layers += [
        base.mark_line(strokeWidth=2)
        .transform_filter("isValid(datum.named)")
        .encode(
            color=colors(
                "named", legend, orient="right", columns=1, labelLimit=140, symbolOpacity=1
            )
        ),
        alt.Chart().mark_rule(style="guide", aria=False).encode(y=alt.datum(0)),
        base.mark_rule(style="reference")
        .transform_filter("datum.picked && datum.term == 0")
        .encode(y=alt.value(0), y2=alt.value("height")),
    ]
    shown = (
        f"The {drawn.size} largest of {coef.shape[1]:,} coefficients; the"
        if (drawn.size < coef.shape[1])
        else "The"
    )
    size = "" if path.df is None else f" with {number(path.df[picked])} degrees of freedom"
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title=f"Coefficients along {name_of_knob(path)}",
        subtitle=f"{shown} dashed line is the picked model, {setting_in_words(path, picked)}.",
        description=(
            f"Line chart of {drawn.size} coefficients against {_WORDS[against]}; "
            f"picked: {setting_in_words(path, picked)}{size}. Largest: {', '.join(legend)}."
        ),
    )


def _ends(limits: Any, i: int, j: int, rank: int) -> dict[str, Any]:
    """Return the limits of a coefficient, where it is named."""
    if limits is None or rank >= _NAMED:
        return {}
    return {"low": plain(limits[0][i, j]), "high": plain(limits[1][i, j])}


def _axis(path: Any, coef: FloatArray, against: str) -> tuple[Any, list[Any]]:
    """Return the x channel and each model's place on it."""
    if against == "knob":
        return knob_axis(path)[0], [place_on_axis(path, i) for i in range(len(path))]
    field, title = ("df", "degrees of freedom")
    if against == "l1":
        field, title = ("x", "sum of absolute coefficients")
    sizes = [plain(size) for size in np.abs(coef).sum(axis=1)]
    return complexity_axis(field, title, padding=6), sizes
