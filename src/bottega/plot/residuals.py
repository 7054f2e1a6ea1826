"""How the predictions of a regression miss: residuals against fitted, observed against fitted."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot.theme import altair, finish, number, plain

__all__ = ["observed_chart", "residual_chart"]

MOST_POINTS = 2000


def residual_chart(fitted: Any, residual: Any, *, what: str = "response") -> Any:
    """Draw residuals (observed minus fitted) against fitted values.

    Parameters
    ----------
    fitted, residual : array-like of shape (n,)
        Rows without a finite pair are left out; above 2,000 rows a fixed random sample is drawn,
        and the subtitle says so.
    what : str
        What is predicted, for the axes.

    Returns
    -------
    altair.LayerChart
        A good model leaves a shapeless cloud about the line at zero: a bend says that something
        was missed, a funnel that the noise grows with the level.

    Examples
    --------
    >>> residual_chart([1.0, 2.0], [0.5, -0.5]).to_dict()["title"]["text"]
    'Residuals against fitted values'
    """
    alt = altair()
    x, y, note = _points(fitted, residual, ("fitted", "residual"))
    rows = [{"fitted": plain(a), "residual": plain(b)} for a, b in zip(x, y, strict=True)]
    cloud = (
        alt.Chart()
        .mark_circle(style="honest", **_dot(len(rows)))
        .encode(
            x=alt.X("fitted", type="quantitative", title=f"fitted {what}", scale=_SNUG),
            y=alt.Y("residual", type="quantitative", title="observed − fitted", scale=_NICE),
            tooltip=[
                alt.Tooltip("fitted", type="quantitative", format=".5~g"),
                alt.Tooltip("residual", type="quantitative", format=".5~g"),
            ],
        )
    )
    zero = alt.Chart().mark_rule(style="reference", aria=False).encode(y=alt.datum(0))
    spread = float(np.sqrt(np.mean(y**2))) if y.size else float("nan")
    return finish(
        alt.layer(cloud, zero, data=alt.Data(values=rows)),
        title="Residuals against fitted values",
        subtitle=note or "A shapeless cloud about zero is what a good model leaves.",
        description=(
            f"Scatter plot of {len(rows):,} residuals against fitted values with a line at zero; "
            f"root mean square residual {number(spread)}."
        ),
    )


def observed_chart(y: Any, fitted: Any, *, what: str = "response") -> Any:
    """Draw observed against fitted values, with the line where both agree.

    Parameters
    ----------
    y, fitted : array-like of shape (n,)
        Rows without a finite pair are left out; above 2,000 rows a fixed random sample is drawn,
        and the subtitle says so.
    what : str
        What is predicted, for the axes.

    Returns
    -------
    altair.LayerChart
        The closer the points to the diagonal, the better the predictions.

    Examples
    --------
    >>> observed_chart([1.0, 2.0], [1.5, 1.5]).to_dict()["title"]["text"]
    'Observed against fitted values'
    """
    alt = altair()
    a, b, note = _points(fitted, y, ("fitted", "y"))
    rows = [{"fitted": plain(f), "observed": plain(o)} for f, o in zip(a, b, strict=True)]
    ends = [plain(v) for v in (max(a.min(), b.min()), min(a.max(), b.max()))] if a.size else [0, 0]
    cloud = (
        alt.Chart()
        .mark_circle(style="honest", **_dot(len(rows)))
        .encode(
            x=alt.X("fitted", type="quantitative", title=f"fitted {what}", scale=_SNUG),
            y=alt.Y("observed", type="quantitative", title=f"observed {what}", scale=_SNUG),
            tooltip=[
                alt.Tooltip("fitted", type="quantitative", format=".5~g"),
                alt.Tooltip("observed", type="quantitative", format=".5~g"),
            ],
        )
    )
    diagonal = (
        alt.Chart()
        .mark_rule(style="reference", clip=True, aria=False)
        .encode(
            x=alt.datum(ends[0]), y=alt.datum(ends[0]), x2=alt.datum(ends[1]), y2=alt.datum(ends[1])
        )
    )
    r = np.corrcoef(a, b)[0, 1] if a.size > 1 and np.ptp(a) > 0 and np.ptp(b) > 0 else np.nan
    return finish(
        alt.layer(cloud, diagonal, data=alt.Data(values=rows)),
        title="Observed against fitted values",
        subtitle=note or "On the dashed line a prediction is exact.",
        description=(
            f"Scatter plot of {len(rows):,} observed against fitted values with the diagonal; "
            f"correlation {number(float(r))}."
        ),
    )


_SNUG = {"zero": False, "nice": True}
_NICE = {"nice": True}


def _dot(n: int) -> dict[str, Any]:
    """Return size and opacity of the points: the more there are, the lighter."""
    return {
        "size": 34 if n <= 500 else 20,
        "opacity": 0.65 if n <= 500 else 0.4,
        "aria": False,  # the chart's description speaks for its points
    }


def _points(first: Any, second: Any, names: tuple[str, str]) -> tuple[FloatArray, FloatArray, str]:
    """Return the finite pairs, at most `MOST_POINTS` of them, and what was left out."""
    a, b = (np.asarray(each, dtype=np.float64) for each in (first, second))
    if a.ndim != 1 or a.shape != b.shape:
        raise InputError(
            f"{names[0]} and {names[1]} must be two columns of equal length; "
            f"they have shapes {a.shape} and {b.shape}."
        )
    kept = np.flatnonzero(np.isfinite(a) & np.isfinite(b))
    total = kept.size
    if total > MOST_POINTS:
        # Always the same sample of the same rows: a chart drawn twice is the same chart.
        kept = np.sort(np.random.default_rng(0).choice(kept, MOST_POINTS, replace=False))
    notes = []
    if total < a.size:
        notes.append(f"{a.size - total:,} rows without a number are left out.")
    if kept.size < total:
        notes.append(f"A random {kept.size:,} of {total:,} rows.")
    return a[kept], b[kept], " ".join(notes)
