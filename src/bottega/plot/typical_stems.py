"""Which stems the texts of a class have more often than others."""

from collections.abc import Sequence
from typing import Any

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, tips, x_axis
from bottega.plot.theme import altair, panels

__all__ = ["typical_stems_chart"]

_KINDS = ["in the class", "in other texts"]


def typical_stems_chart(
    classes: Sequence[Any], stems: Sequence[str], share: Any, elsewhere: Any
) -> Any:
    """Draw the typical stems of each class: the share of its texts that have them, and of others.

    Parameters
    ----------
    classes, stems : sequence of shape (m,)
        Class and stem of each row; rows of a class together, the most typical stem first.
    share, elsewhere : array-like of shape (m,)
        Share of the texts of the class that have the stem, and of the other texts.

    Returns
    -------
    altair.VConcatChart
        One panel per class.

    Examples
    --------
    >>> chart = typical_stems_chart(["for", "against"], ["good", "bad"], [0.4, 0.3], [0.1, 0.0])
    >>> len(chart.to_dict()["vconcat"])
    2
    """
    alt = altair()
    if not len(stems):
        raise InputError("No stem is typical of a class, so there is nothing to draw.")
    known = list(dict.fromkeys(str(each) for each in classes))
    top = max(*map(float, share), *map(float, elsewhere))
    drawn, shown = [], []
    for place, name in enumerate(known):
        at = [i for i, each in enumerate(classes) if str(each) == name]
        words = [str(stems[i]) for i in at]
        rows = [
            row
            for kind, values in zip(_KINDS, (share, elsewhere), strict=True)
            for row in records(stem=words, share=[float(values[i]) for i in at], kind=kind)
        ]
        last = place == len(known) - 1
        x = x_axis(
            "share", "share of texts" if last else None,
            domain=[0, top], nice=True, format="~%", tickCount=5,
        )  # fmt: skip
        panel = (
            alt.Chart(alt.Data(values=rows))
            .mark_point(filled=True, size=70, opacity=0.9)
            .encode(
                y=alt.Y(
                    "stem", type="nominal", sort=words, title=None,
                    axis=alt.Axis(grid=True, domain=False, ticks=False, labelPadding=8),
                ),
                x=x,
                color=colors("kind", _KINDS, symbolType="circle", orient="top"),
                tooltip=tips(("stem:N",), ("kind:N", "texts"), ("share:Q", "share", ".1%")),
            )
            .properties(width=420, height=max(20 * len(words), 30), title=name)
        )  # fmt: skip
        drawn.append(panel)
        shown.append(f"{name}: {', '.join(words)}")
    return panels(
        alt.vconcat(*drawn, spacing=18),
        title="Typical stems of each class",
        subtitle="Share of the texts that have a stem; the most typical on top.",
        description=f"Typical stems of {len(known)} classes. {'; '.join(shown)}.",
    )
