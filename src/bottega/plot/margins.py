"""The margins of a vote: how clearly each row is classified."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["margin_chart"]

_MOST = 400  # more points than pixels show nothing more


def margin_chart(margins: Any, *, unit: str = "margin") -> Any:
    """Draw the cumulative distribution of the margins of the training rows.

    Parameters
    ----------
    margins : array-like of shape (n,) or mapping of str to array-like
        The margin of each row (the share of the votes for its own class less the largest share of
        another: negative where the vote is wrong), or several, as after 5 and after 500 rounds.
    unit : str
        Title of the axis.

    Returns
    -------
    altair.LayerChart
        A curve's height at zero is the training error; curves that move to the right while the
        training error is zero already are what boosting goes on doing.

    Examples
    --------
    >>> margin_chart({"5 rounds": [-0.2, 0.1, 0.4]}).to_dict()["title"]["text"]
    'Distribution of the margins'
    """
    alt = altair()
    given = margins if isinstance(margins, Mapping) else {"": margins}
    rows: list[dict[str, Any]] = []
    words = []
    for name, values in given.items():
        sorted_values = np.sort(np.asarray(values, dtype=np.float64).ravel())
        if not sorted_values.size or not np.all(np.isfinite(sorted_values)):
            raise InputError(f"The margins{f' {name!r}' if name else ''} must be finite numbers.")
        wrong = float(np.mean(sorted_values <= 0))
        label = f"{name}: {wrong:.1%} at or below zero" if name else "margins"
        words.append(f"{wrong:.1%} at or below zero" if not name else label)
        below = np.arange(1, sorted_values.size + 1) / sorted_values.size
        # Each step from the distribution before it: the curve starts at zero.
        rows += records(margin=sorted_values[:1], share=0.0, series=label)
        shown = thinned(len(sorted_values), _MOST)
        rows += records(margin=sorted_values[shown], share=below[shown], series=label)
    labels = list(dict.fromkeys(row["series"] for row in rows))
    share = {"domain": [0, 1], "format": "%", "tickCount": 5}
    base = alt.Chart().encode(
        x=x_axis("margin", unit, zero=True, nice=True, grid=False, tickCount=8),
        y=y_axis("share", "share of the rows with at most this margin", **share),
        color=colors("series", labels, show=len(labels) > 1, columns=2),
    )
    return finish(
        alt.layer(
            alt.Chart().mark_rule(style="reference").encode(x=alt.datum(0)),
            base.mark_line(interpolate="step-after", strokeWidth=2),
            data=alt.Data(values=rows),
        ),
        title="Distribution of the margins",
        subtitle="Left of the dashed line the vote is wrong."
        + (f" {words[0]}." if len(words) == 1 else ""),
        description=f"Cumulative distribution of margins; {'; '.join(words)}.",
    )
