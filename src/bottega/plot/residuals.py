"""How the predictions of a regression miss: residuals against fitted, observed against fitted."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray
from bottega.plot._parts import records, segment, tips, x_axis, y_axis
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
    x, y, note = _points(fitted, residual, ("fitted", "residual"))
    zero = altair().Chart().mark_rule(style="reference", aria=False)
    spread = float(np.sqrt(np.mean(y**2))) if y.size else float("nan")
    return _cloud(
        (x, y),
        (f"fitted {what}", y_axis("residual", "observed − fitted", nice=True)),
        zero.encode(y=altair().datum(0)),
        title="Residuals against fitted values",
        subtitle=note or "A shapeless cloud about zero is what a good model leaves.",
        description=(
            f"Scatter plot of {len(x):,} residuals against fitted values with a line at zero; "
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
    a, b, note = _points(fitted, y, ("fitted", "y"))
    ends = (max(a.min(), b.min()), min(a.max(), b.max())) if a.size else (0, 0)
    r = np.corrcoef(a, b)[0, 1] if a.size > 1 and np.ptp(a) > 0 and np.ptp(b) > 0 else np.nan
    return _cloud(
        (a, b),
        (f"fitted {what}", y_axis("observed", f"observed {what}", zero=False, nice=True)),
        segment(*map(plain, ends), style="reference", clip=True, aria=False),
        title="Observed against fitted values",
        subtitle=note or "On the dashed line a prediction is exact.",
        description=(
            f"Scatter plot of {len(a):,} observed against fitted values with the diagonal; "
            f"correlation {number(float(r))}."
        ),
    )


def _cloud(
    values: tuple[FloatArray, FloatArray], axes: tuple[str, Any], line: Any, **words: str
) -> Any:
    """Draw points against fitted values (the more there are, the lighter), and a line."""
    alt, field = altair(), axes[1].shorthand
    rows = records(**{"fitted": values[0], field: values[1]})
    few = len(rows) <= 500
    # No words for single points: the chart's description speaks for them.
    cloud = alt.Chart().mark_circle(
        style="honest", size=34 if few else 20, opacity=0.65 if few else 0.4, aria=False
    )
    cloud = cloud.encode(
        x=x_axis("fitted", axes[0], zero=False, nice=True),
        y=axes[1],
        tooltip=tips(("fitted:Q", "fitted", ".5~g"), (f"{field}:Q", field, ".5~g")),
    )
    return finish(alt.layer(cloud, line, data=alt.Data(values=rows)), **words)


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
