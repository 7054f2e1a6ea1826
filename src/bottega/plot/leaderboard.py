"""The comparison at one glance: each method's error with its uncertainty."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import tips, x_axis, y_names
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["leaderboard_chart"]


def leaderboard_chart(
    leaderboard: Any, *, loss: str = "error", best: str | None = None, what: str | None = None
) -> Any:
    """Draw each method's error with one standard error to both sides, the best on top.

    Parameters
    ----------
    leaderboard : data frame or list of dict
        With ``method``, ``title``, ``error`` and ``std_error``.
    loss : str
        Name of the loss that the errors average.
    best : str, optional
        Method to mark; the one of least error by default.
    what : str, optional
        Words of the axis, where the errors are no means of a loss over rows; ``"mean <loss>"`` by
        default.

    Returns
    -------
    altair.LayerChart
        The dashed line is the error of the baseline: a method to its right has learned nothing.

    Examples
    --------
    >>> rows = [dict(method="ridge", title="Ridge", error=2.0, std_error=0.1),
    ...         dict(method="baseline", title="Mean", error=3.0, std_error=0.2)]
    >>> leaderboard_chart(rows).to_dict()["title"]["text"]
    'Error of each method'
    """
    alt = altair()
    frame = nw.from_native(leaderboard, eager_only=True, pass_through=True)
    given = list(frame.iter_rows(named=True)) if isinstance(frame, nw.DataFrame) else list(frame)
    given = [row for row in given if row["error"] is not None and np.isfinite(row["error"])]
    if not given:
        raise InputError("The leaderboard has no method with a finite error to draw.")
    given.sort(key=lambda row: row["error"])
    best = given[0]["method"] if best is None else best
    words = f"mean {loss}" if what is None else what
    titles = [str(row["title"]) for row in given]
    rows = []
    for row, title in zip(given, titles, strict=True):
        error, se = float(row["error"]), float(row["std_error"])
        rows.append(
            {
                "title": title if titles.count(title) == 1 else f"{title} ({row['method']})",
                "method": str(row["method"]),
                "error": plain(error),
                "se": plain(se),
                "low": plain(error - se),
                "high": plain(error + se),
                "best": row["method"] == best,
            }
        )
    names = [row["title"] for row in rows]
    ends = [row[key] for row in rows for key in ("low", "high") if row[key] is not None]
    ends += [row["error"] for row in rows]
    log = min(ends) > 0 and max(ends) > 100 * min(ends)
    # An error axis from zero shows how much is left; far from zero it would hide the differences.
    zero = min(ends) < 0.4 * max(ends)
    scale = {"type": "log"} if log else {"zero": zero, "nice": True}
    x = x_axis("error", words, tickCount=6, **scale)
    base = alt.Chart().encode(
        y=y_names("title", names, labelPadding=10, labelLimit=190, grid=True, labelFontSize=12.5),
        tooltip=tips(
            ("title:N", "method"),
            ("error:Q", words, ".5~g"),
            ("se:Q", "its standard error", ".3~g"),
        ),
    )
    layers = []
    reference = next((row for row in rows if row["method"] == "baseline"), None)
    if reference is not None:
        line = alt.Chart().transform_filter("datum.method == 'baseline'")
        layers.append(line.mark_rule(style="reference").encode(x=x))
    for style, which, size in (("honest", "!datum.best", 90), ("picked", "datum.best", 140)):
        part = base.transform_filter(which)
        # An error without spread (no row is wrong) has no bar.
        if any(row["low"] is not None for row in rows if row["best"] == (style == "picked")):
            layers.append(part.mark_rule(style=style, strokeWidth=2).encode(x="low:Q", x2="high"))
        layers.append(part.mark_point(style=style, filled=True, size=size, opacity=1).encode(x=x))
    about = "the dashed line is the baseline" if reference is not None else "no baseline was run"
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Error of each method",
        subtitle=f"Further left is better; bars are ± 1 standard error; {about}.",
        description=(
            f"Dot chart of the {words} of {len(rows)} methods: "
            + ", ".join(f"{row['title']} {number(row['error'])}" for row in rows)
            + "."
        ),
        height=38 * len(rows),
    )
