"""Values that were imputed, with their limits, beside those that were observed."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot._parts import colors, records, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, finish

__all__ = ["imputation_chart"]

_MOST = 200
_LIMITS = 1.959963984540054  # standard deviations to each side that hold 95 % of a normal
_KINDS = ["imputed, 95 % limits", "observed"]


def imputation_chart(values: Any, std: Any, observed: Any, *, name: str = "x") -> Any:
    """Draw imputed values of a column in order of size, with 95 % limits, beside observed ones.

    Parameters
    ----------
    values, std : array-like of shape (m,)
        Imputed values and their standard deviations.
    observed : array-like of shape (r,)
        Observed values of the same column.
    name : str
        Name of the column.

    Returns
    -------
    altair.LayerChart
        Both sorted, against the share of values below: where the two curves differ, other values
        are missing than are observed.

    Examples
    --------
    >>> chart = imputation_chart([1.0, 2.0], [0.5, 0.5], [0.0, 3.0], name="age")
    >>> chart.to_dict()["title"]["text"]
    'Imputed values of age'
    """
    alt = altair()
    guess, spread = (np.asarray(each, dtype=np.float64) for each in (values, std))
    known = np.sort(np.asarray(observed, dtype=np.float64))
    if guess.ndim != 1 or guess.shape != spread.shape or not guess.size:
        raise InputError(
            f"values has shape {guess.shape} and std {spread.shape}; give one of each per value."
        )
    order = np.argsort(guess, kind="stable")
    some = order[thinned(len(guess), _MOST)]
    share = (thinned(len(guess), _MOST) + 0.5) / len(guess)
    half = _LIMITS * spread[some]
    rows = records(x=share, y=guess[some], low=guess[some] - half, high=guess[some] + half,
                   std=spread[some], kind=_KINDS[0])  # fmt: skip
    if known.size:
        at = thinned(len(known), _MOST)
        rows += records(x=(at + 0.5) / len(known), y=known[at], kind=_KINDS[1])
    across = x_axis("x", "share of values below", domain=[0, 1], format=".0%")
    color = colors("kind", _KINDS)
    base = alt.Chart()
    bars = base.transform_filter("isValid(datum.low)").mark_rule(opacity=0.45)
    points = base.mark_point(filled=True, size=18, opacity=0.9)
    lines = [("kind:N", "value"), ("y:Q", name, ".4g"), ("std:Q", "standard deviation", ".3g")]
    words = f"{len(guess):,} missing values, {len(known):,} observed; each sorted by size."
    return finish(
        alt.layer(
            bars.encode(x=across, y=y_axis("low", name, zero=False), y2="high", color=color),
            points.encode(x=across, y=y_axis("y", name, zero=False), color=color,
                          tooltip=tips(*lines)),
            data=alt.Data(values=rows),
        ),
        title=f"Imputed values of {name}",
        subtitle=words,
        description=f"Imputed values of {name} with 95 % limits. {words}",
        height=320,
    )  # fmt: skip
