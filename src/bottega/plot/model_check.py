"""Four looks at the residuals of a model: quantiles, against fitted, their shape, observed."""

from typing import Any

import numpy as np

from bottega.plot._parts import records, segment, thinned, tips, x_axis, y_axis
from bottega.plot.theme import altair, number, panels, plain

__all__ = ["model_check_chart"]

_WIDTH, _HEIGHT = 290, 210
_MOST = 1_000  # points of a panel
_BARS = 24


def model_check_chart(check: Any) -> Any:
    """Draw the quantiles of residuals, residuals and responses against fitted, and a histogram.

    Parameters
    ----------
    check : AdditiveCheck
        Or any object with `quantiles`, `residual`, `predictor`, `fitted`, `y` and `level`, as
        `bottega.additive.AdditiveCheck` has them.

    Returns
    -------
    altair.ConcatChart
        Residuals of a good model stay inside the band of the first panel, without a bend or a
        funnel in the second, and symmetric in the third.
    """
    alt = altair()
    drawn = [_quantiles(check), _cloud(check), _bars(check), _observed(check)]
    names = (
        "Quantiles of the residuals",
        "Residuals against predictor",
        "Histogram of the residuals",
        "Observed against fitted",
    )
    drawn = [
        panel.properties(
            title=alt.TitleParams(name, fontSize=12.5, offset=6), width=_WIDTH, height=_HEIGHT
        )
        for panel, name in zip(drawn, names, strict=True)
    ]
    return panels(
        alt.concat(*drawn, columns=2),
        title="Check of the model",
        subtitle=(
            f"Deviance residuals. {number(100 * check.outside)} % of them are outside of their "
            f"limits; about {number(100 * (1 - check.level))} % or fewer are expected."
        ),
        description=(
            f"Four charts of the residuals of {len(check.y):,} rows; the largest is "
            f"{number(float(np.max(np.abs(check.residual))))}."
        ),
    )


def _quantiles(check: Any) -> Any:
    alt = altair()
    kept = thinned(len(check.quantiles["observed"]), _MOST)
    columns = {name: values[kept] for name, values in check.quantiles.items()}
    base = alt.Chart().encode(x=x_axis("expected", "expected residual", nice=True))
    ends = plain(columns["expected"][0]), plain(columns["expected"][-1])
    layers = [
        base.mark_area(style="honest", opacity=0.2, line=False).encode(
            y=y_axis("low", "residual", nice=True), y2="high"
        ),
        segment(*ends, style="reference", aria=False),
        base.mark_circle(style="picked", size=22, opacity=0.8, aria=False).encode(
            y=y_axis("observed", "residual", nice=True),
            tooltip=tips(("expected:Q", "expected", ".4~g"), ("observed:Q", "observed", ".4~g")),
        ),
    ]
    return alt.layer(*layers, data=alt.Data(values=records(**columns)))


def _cloud(check: Any) -> Any:
    alt = altair()
    kept = thinned(len(check.residual), _MOST)
    rows = records(predictor=check.predictor[kept], residual=check.residual[kept])
    points = _points(
        x_axis("predictor", "linear predictor", zero=False, nice=True),
        y_axis("residual", "residual", nice=True),
    )
    zero = alt.Chart().mark_rule(style="reference", aria=False).encode(y=alt.datum(0))
    return alt.layer(points, zero, data=alt.Data(values=rows))


def _bars(check: Any) -> Any:
    alt = altair()
    counts, ends = np.histogram(check.residual, bins=min(_BARS, max(5, len(check.residual) // 5)))
    rows = records(left=ends[:-1], right=ends[1:], rows=counts)
    base = alt.Chart(alt.Data(values=rows)).mark_bar(style="honest", opacity=0.7)
    return base.encode(
        x=x_axis("left", "residual", zero=False, nice=True, grid=False),
        x2="right",
        y=y_axis("rows", "rows"),
        y2=alt.datum(0),
        tooltip=tips(("left:Q", "from", ".4~g"), ("right:Q", "to", ".4~g"), ("rows:Q",)),
    )


def _observed(check: Any) -> Any:
    alt = altair()
    kept = thinned(len(check.y), _MOST)
    fitted, y = check.fitted[kept], check.y[kept]
    points = _points(
        x_axis("fitted", "fitted", zero=False, nice=True),
        y_axis("observed", "observed", zero=False, nice=True),
    )
    ends = plain(float(fitted.min())), plain(float(fitted.max()))
    line = segment(*ends, style="reference", aria=False)
    return alt.layer(points, line, data=alt.Data(values=records(fitted=fitted, observed=y)))


def _points(across: Any, up: Any) -> Any:
    cloud = altair().Chart().mark_circle(style="honest", size=22, opacity=0.5, aria=False)
    named = [channel.shorthand for channel in (across, up)]
    return cloud.encode(x=across, y=up, tooltip=tips(*((f"{n}:Q", n, ".4~g") for n in named)))
