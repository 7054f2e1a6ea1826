"""Risk against the number of training rows."""

from typing import Any

import numpy as np

from bottega.core.losses import get_loss
from bottega.plot._parts import colors, dashes, records, tips, x_axis, y_axis
from bottega.plot.lines import lines_chart
from bottega.plot.theme import altair, decades, finish, number

__all__ = ["excess_chart", "learning_curve_chart"]

_RISK, _TRAIN, _BAYES = "expected risk ± 2 SE", "training error", "Bayes risk"


def learning_curve_chart(curve: Any) -> Any:
    """Draw expected risk and training error against the number of rows, with the Bayes risk.

    Parameters
    ----------
    curve : LearningCurve
        Or any object with its attributes.

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    known = bool(np.isfinite(curve.bayes_risk))
    names = [_RISK, _TRAIN, *([_BAYES] if known else [])]
    spread = 2 * curve.risk_se
    limits = {"low": curve.risk - spread, "high": curve.risk + spread}
    rows = records(m=curve.train_sizes, y=curve.risk, line=_RISK, **limits)
    rows += records(m=curve.train_sizes, y=curve.train_error, line=_TRAIN)
    if known:
        rows += records(m=curve.train_sizes, y=float(curve.bayes_risk), line=_BAYES)
    ticks = decades(float(curve.train_sizes[0]), float(curve.train_sizes[-1]))
    at = {"format": "~s", "grid": False} | ({"values": ticks} if ticks else {})
    what = f"mean {get_loss(curve.loss).title}"
    base = alt.Chart().encode(
        x=x_axis("m", "training rows", type="log", nice=False, padding=12, **at),
        y=y_axis("y", what, format="~g"),
        color=colors("line", names, symbolType="stroke"),
        tooltip=tips(("line:N",), ("m:Q", "training rows", ","), ("y:Q", what, ".4~g")),
    )
    patterns = [[1, 0], [1, 0], [6, 4]][: len(names)]
    solid = alt.FieldOneOfPredicate(field="line", oneOf=names[:2])
    layers = [
        base.transform_filter(alt.FieldEqualPredicate(field="line", equal=_RISK))
        .mark_rule(strokeWidth=1.3, opacity=0.75, aria=False)
        .encode(y="low:Q", y2="high"),
        base.mark_line(strokeWidth=2).encode(strokeDash=dashes("line", names, patterns)),
        base.transform_filter(solid).mark_point(size=26, filled=True, opacity=1),
    ]
    last = f"at {curve.train_sizes[-1]:,} rows {number(float(curve.risk[-1]))}"
    above = f", Bayes risk {number(float(curve.bayes_risk))}" if known else ""
    return finish(
        alt.layer(*layers, data=alt.Data(values=rows)),
        title="Learning curve",
        subtitle=f"Expected risk {last}{above}; {curve.n_repeats:,} training sets per size.",
        description=(
            f"Line chart of {what} against the number of training rows, "
            f"{len(curve.train_sizes)} sizes: expected risk {last}{above}; training error "
            f"{number(float(curve.train_error[-1]))} there."
        ),
    )


def excess_chart(result: Any) -> Any:
    """Draw the excess over the Bayes risk against the number of rows, on logarithmic axes.

    Parameters
    ----------
    result : Consistency
        Or any object with its attributes.

    Returns
    -------
    altair.LayerChart
        With the line whose slope is reported; what is not above 0 cannot be drawn.
    """
    curve = result.curve
    m = np.asarray(curve.train_sizes, dtype=np.float64)
    lines = {"excess over the Bayes risk": np.asarray(curve.excess)}
    subtitle = "Too few sizes have a clear excess for a slope."
    if result.used:
        used = np.isin(curve.train_sizes, result.used)
        middle = np.log(curve.excess[used]).mean() - result.slope * np.log(m[used]).mean()
        fitted = np.where(used, np.exp(middle + result.slope * np.log(m)), np.nan)
        if np.isfinite(result.slope):
            lines[f"slope {result.slope:.2f}"] = fitted
            subtitle = (
                f"Slope {number(result.slope, 3)}, between {number(result.slope_low, 3)} and "
                f"{number(result.slope_high, 3)}: {result.verdict}."
            )
    return lines_chart(
        m,
        lines,
        x_title="training rows",
        y_title="risk above the Bayes risk",
        title="Excess risk as rows are added",
        subtitle=subtitle,
        log_x=True,
        log_y=True,
        dashed=tuple(lines)[1:],
    )
