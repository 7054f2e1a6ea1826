"""Attention maps: how much each place of a sequence looks at each other one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import tips
from bottega.plot.theme import altair, finish, plain

__all__ = ["attention_chart"]

_MOST = 60  # places that can be told apart
_SIDE = 460


def attention_chart(
    weights: Any,
    names: Sequence[str] | None = None,
    *,
    title: str = "Attention",
    subtitle: str = "Row: the place that looks; column: the place that is looked at.",
) -> Any:
    """Draw the weights of one head of attention.

    Parameters
    ----------
    weights : array-like of shape (T, T)
        Row i holds the weights that place i gives to all places.
    names : sequence of str, optional
        Of the places, words for example; their numbers from 0 by default.
    title, subtitle : str
        What is to be seen.

    Returns
    -------
    altair.Chart
        Darker is more. Weights below zero, of attention without a softmax, have another colour.

    Examples
    --------
    >>> chart = attention_chart([[0.9, 0.1], [0.4, 0.6]], ["the", "cat"])
    >>> chart.to_dict()["title"]["text"]
    'Attention'
    """
    alt = altair()
    A = np.asarray(weights, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or not A.size or len(A) > _MOST:
        raise InputError(
            f"weights has shape {A.shape}; give a square of at most {_MOST} places by as many."
        )
    words = [str(i) for i in range(len(A))] if names is None else [str(each) for each in names]
    if len(words) != len(A):
        raise InputError(f"There are {len(words)} names for {len(A)} places; give one each.")
    rows = [
        {"i": i, "j": j, "from": words[i], "to": words[j], "weight": plain(A[i, j])}
        for i in range(len(A))
        for j in range(len(A))
    ]
    signed = bool(np.any(A < 0))
    largest = float(np.max(np.abs(A))) or 1.0
    scale = (
        alt.Scale(scheme="blueorange", domain=[-largest, largest], reverse=True)
        if signed
        else alt.Scale(scheme="blues", domain=[0, largest])
    )
    labels = "datum.value >= 0 ? " + str(words) + "[datum.value] : ''"

    def places(channel: Any, field: str, angle: int) -> Any:
        axis = alt.Axis(labelExpr=labels, labelAngle=angle, title=None, ticks=False, domain=False)
        return channel(field, type="ordinal", axis=axis, scale=alt.Scale(padding=0))

    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_rect()
        .encode(
            x=places(alt.X, "j", 0 if max(map(len, words)) < 4 else -45),
            y=places(alt.Y, "i", 0),
            color=alt.Color(
                "weight",
                type="quantitative",
                scale=scale,
                legend=alt.Legend(title="weight", orient="right", gradientLength=120),
            ),
            tooltip=tips(("from:N",), ("to:N",), ("weight:Q", "weight", ".3~f")),
        )
    )
    side = min(_SIDE, 34 * len(A) + 20)
    return finish(
        chart,
        title=title,
        subtitle=subtitle,
        description=f"{title}: weights of {len(A)} places for one another.",
        width=side,
        height=side,
    )
