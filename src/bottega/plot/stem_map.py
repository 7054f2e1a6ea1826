"""A map of stems: those that go together lie together."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, words_apart, x_axis, y_axis
from bottega.plot.theme import altair, finish, plain

__all__ = ["stem_map_chart"]

_SIZE = 440


def stem_map_chart(
    stems: Sequence[str],
    places: Any,
    texts: Any,
    *,
    most: int = 40,
    titles: Sequence[str] = ("dimension 1", "dimension 2"),
) -> Any:
    """Draw stems where their correlations with two dimensions put them.

    Parameters
    ----------
    stems : sequence of str of shape (p,)
        Their names.
    places : array-like of shape (p, 2)
        Correlation of each with the first and the second dimension.
    texts : array-like of shape (p,)
        In how many texts each is: larger words are in more.
    most : int
        Of more stems those farthest from the middle are drawn.
    titles : sequence of str
        Of the dimensions.

    Returns
    -------
    altair.LayerChart

    Examples
    --------
    >>> chart = stem_map_chart(["good", "bad"], [[0.8, 0.1], [-0.7, 0.2]], [10, 5])
    >>> len(chart.to_dict()["data"]["values"])
    2
    """
    alt = altair()
    at, many = np.asarray(places, dtype=np.float64), np.asarray(texts, dtype=np.float64)
    if at.shape != (len(stems), 2) or many.shape != (len(stems),) or not len(stems):
        raise InputError(
            f"places has shape {at.shape} and texts {many.shape} for {len(stems)} stems; give two "
            "numbers, and a count, for each."
        )
    at = np.nan_to_num(at)
    chosen = np.sort(np.argsort(-np.linalg.norm(at, axis=1), kind="stable")[:most])
    edge = plain(1.15 * (float(np.abs(at[chosen]).max()) or 1.0))
    words = words_apart(at[chosen], 0.045 * edge)
    rows = records(
        stem=[str(stems[j]) for j in chosen],
        x=words[:, 0],
        y=words[:, 1],
        first=at[chosen, 0],
        second=at[chosen, 1],
        texts=many[chosen],
        size=9 + 9 * np.sqrt(many[chosen] / max(float(many[chosen].max()), 1.0)),
    )
    options = {"domain": [-edge, edge], "nice": False, "grid": False}
    base = alt.Chart().encode(
        x=x_axis("x", f"correlation with {titles[0]}", **options),
        y=y_axis("y", f"correlation with {titles[1]}", **options),
        tooltip=tips(
            ("stem:N",), ("texts:Q", "texts", ",d"),
            ("first:Q", titles[0], ".2f"), ("second:Q", titles[1], ".2f"),
        ),
    )  # fmt: skip
    text = base.mark_text(style="label", fontWeight=600).encode(
        text="stem:N", size=alt.Size("size:Q", scale=None)
    )
    cross = [
        alt.Chart().mark_rule(style="reference", aria=False).encode(x=alt.datum(0)),
        alt.Chart().mark_rule(style="reference", aria=False).encode(y=alt.datum(0)),
    ]
    left = "" if len(chosen) == len(stems) else f" The {len(chosen)} farthest of {len(stems):,}."
    return finish(
        alt.layer(*cross, text, data=alt.Data(values=rows)),
        title="Map of stems",
        subtitle=f"Stems of the same texts lie together; larger ones are in more texts.{left}",
        description=(
            f"{len(chosen)} stems by their correlations with two dimensions: "
            f"{', '.join(str(stems[j]) for j in chosen)}."
        ),
        width=_SIZE,
        height=_SIZE,
    )
