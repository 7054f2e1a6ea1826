"""The rows that are missed by most."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import records, tips, x_axis, y_names
from bottega.plot.theme import altair, finish

__all__ = ["worst_rows_chart"]


def worst_rows_chart(
    names: Any, losses: Any, *, what: str = "loss", share: float | None = None, n: int | None = None
) -> Any:
    """Draw the losses of single rows, the largest on top.

    Parameters
    ----------
    names : sequence of str
        What the rows are called; of equal names only one is drawn.
    losses : array-like of shape (m,)
        Their losses.
    what : str
        Name of the loss, for the axis.
    share : float, optional
        Their share in the loss of all rows, for the subtitle.
    n : int, optional
        The number of all rows.

    Returns
    -------
    altair.LayerChart
        Few rows with most of the loss are worth a look: wrong entries, or rows of another kind.

    Examples
    --------
    >>> chart = worst_rows_chart(["row 3", "row 8"], [2.0, 1.0], share=0.5, n=40)
    >>> chart.to_dict()["title"]["subtitle"]
    ['2 of 40 rows make up 50 % of the loss.']
    """
    alt = altair()
    labels, values = [str(name) for name in names], np.asarray(losses, dtype=np.float64)
    if values.shape != (len(labels),) or not labels:
        raise InputError(
            f"One loss for each name is needed; there are {len(labels)} names and the losses have "
            f"shape {values.shape}."
        )
    order = np.argsort(-values, kind="stable")
    ranked = [labels[i] for i in order]
    bars = alt.Chart().mark_bar(style="picked", height={"band": 0.62}, opacity=0.7)
    bars = bars.encode(
        y=y_names("name", ranked, labelPadding=8, labelLimit=260),
        x=x_axis("loss", what, zero=True, nice=False, tickCount=6),
        tooltip=tips(("name:N", "row"), ("loss:Q", what, ".4~g")),
    )
    words = "" if share is None else f" make up {100 * share:.3g} % of the {what}"
    of_all = "" if n is None else f" of {n:,}"
    return finish(
        alt.layer(bars, data=alt.Data(values=records(name=ranked, loss=values[order]))),
        title="Rows that are missed by most",
        subtitle=f"{len(labels)}{of_all} rows{words or ', the worst on top'}.",
        description=f"Bars of the {what} of {len(labels)} rows; the worst is {ranked[0]}.",
        width=420,
        height=max(24 * len(labels), 60),
    )
