"""How soon the rows of a class are found: the gain curve."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, dashes, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["lift_chart"]

_MOST_POINTS = 300
_FIRST = 0.1


def lift_chart(rows: Any, found: Any, *, base: float, label: Any = "the class") -> Any:
    """Draw the share of a class that is found against the share of rows that are looked at.

    Parameters
    ----------
    rows, found : array-like of shape (m,)
        Shares from 0 to 1, rising: of all rows, taken by falling score, and of the rows of the
        class among them.
    base : float
        Share of the class among all rows.
    label : object
        The class.

    Returns
    -------
    altair.LayerChart
        Between the curve of perfect scores, which find nothing but rows of the class until all are
        found, and the diagonal of chance.

    Examples
    --------
    >>> chart = lift_chart([0, 0.1, 1], [0, 0.4, 1], base=0.2, label="ill")
    >>> chart.to_dict()["title"]["subtitle"]
    ['The first 10 % of the rows hold 40 % of ill: 4.0 times as many as by chance.']
    """
    alt = altair()
    x, y = (np.asarray(each, dtype=np.float64) for each in (rows, found))
    if x.ndim != 1 or x.shape != y.shape or len(x) < 2 or not 0 < base <= 1:
        raise InputError(
            "rows and found must be two rising lists of equal length, and base a share; they have "
            f"shapes {x.shape} and {y.shape}, and base is {base!r}."
        )
    kept = thinned(len(x), _MOST_POINTS)
    names = ["model", "perfect", "chance"]
    data = records(curve="model", rows=x[kept], found=y[kept])
    data += records(curve="perfect", rows=[0.0, base, 1.0], found=[0.0, 1.0, 1.0])
    data += records(curve="chance", rows=[0.0, 1.0], found=[0.0, 1.0])
    early = float(np.interp(_FIRST, x, y))
    share = {"domain": [0, 1], "format": "~%", "tickCount": 5}
    line = alt.Chart().mark_line(strokeWidth=2, interpolate="linear")
    color = colors("curve", names, symbolType="stroke")
    line = line.encode(
        x=x_axis("rows", "rows looked at, the highest scores first", **share),
        y=y_axis("found", f"share of {label} found", **share),
        order="rows:Q",
        color=color,
        strokeDash=dashes("curve", names, [[1, 0], [6, 4], [2, 3]]).legend(color["legend"]),
        tooltip=tips(("curve:N",), ("rows:Q", "rows", ".1%"), ("found:Q", "found", ".1%")),
    )
    words = (
        f"The first {100 * _FIRST:g} % of the rows hold {100 * early:.3g} % of {label}: "
        f"{early / _FIRST:.1f} times as many as by chance."
    )
    return finish(
        alt.layer(line, data=alt.Data(values=data)),
        title="How soon the class is found (gain)",
        subtitle=words,
        description=f"Gain curve with those of chance and of perfect scores. {words}",
        width=380,
        height=330,
    )
