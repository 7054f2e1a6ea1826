"""How local regression behaves as rows or inputs are added."""

from typing import Any

from bottega.plot.theme import altair, decades, finish, number, plain

__all__ = ["bias_variance_chart", "curse_chart", "rate_chart"]


def _lines(
    rows: list[dict[str, Any]],
    names: list[str],
    *,
    x: tuple[str, Any, Any],
    y: tuple[str, Any, Any],
    dash: dict[str, list[int]] | None = None,
) -> Any:
    """Layer lines with points over ``x``/``y`` of rows, one colour a name."""
    alt = altair()
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("x", type="quantitative", title=x[0], scale=x[1], axis=x[2]),
        y=alt.Y("y", type="quantitative", title=y[0], scale=y[1], axis=y[2]),
        color=alt.Color(
            "name",
            type="nominal",
            scale=alt.Scale(domain=names, range="category"),
            legend=alt.Legend(title=None, symbolType="stroke"),
        ),
        tooltip=[
            alt.Tooltip("name", type="nominal", title="line"),
            alt.Tooltip("x", type="quantitative", title=x[0], format=".4~g"),
            alt.Tooltip("y", type="quantitative", title=y[0], format=".4~g"),
        ],
    )
    line = base.mark_line(strokeWidth=2)
    if dash is not None:
        scale = alt.Scale(domain=names, range=[dash[name] for name in names])
        line = line.encode(
            strokeDash=alt.StrokeDash("name", type="nominal", scale=scale, legend=None)
        )
    return alt.layer(line, base.mark_point(size=26, filled=True, opacity=1))


def _log_axis(values: Any, *, grid: bool = False) -> tuple[Any, Any]:
    alt = altair()
    low, high = float(min(values)), float(max(values))
    return (
        alt.Scale(type="log", nice=False, padding=12),
        alt.Axis(grid=grid, values=decades(low, high), format="~g"),
    )


def rate_chart(result: Any) -> Any:
    """Draw mean squared errors against n on logarithmic axes.

    Parameters
    ----------
    result : RateExperiment
        With `n`, `local`, `linear` and `slopes`.

    Returns
    -------
    altair.LayerChart
    """
    slopes = result.slopes
    labels = {
        "local": f"local linear: slope {number(slopes['local'], 3)} (theory −0.8)",
        "linear": f"a line that is right: slope {number(slopes['linear'], 3)} (theory −1)",
    }
    rows = [
        {"name": label, "x": plain(n), "y": plain(error)}
        for name, label in labels.items()
        for n, error in zip(result.n, getattr(result, name), strict=True)
    ]
    return finish(
        _lines(
            rows,
            list(labels.values()),
            x=("rows", *_log_axis(result.n)),
            y=("mean squared error", *_log_axis([row["y"] for row in rows], grid=True)),
        ),
        title="Error against the number of rows",
        subtitle="The price of assuming less: a lesser slope. Both axes are logarithmic.",
        description=(
            f"Line chart of mean squared error against the number of rows: {labels['local']}; "
            f"{labels['linear']}."
        ),
    )


def bias_variance_chart(result: Any) -> Any:
    """Draw squared bias and variance against the bandwidth, exact and asymptotic.

    Parameters
    ----------
    result : BiasVariance
        With `bandwidth`, `bias`, `variance`, `asymptotic_bias` and `asymptotic_variance`.

    Returns
    -------
    altair.LayerChart
    """
    columns = {
        "squared bias": result.bias**2,
        "variance": result.variance,
        "squared bias, asymptotic": result.asymptotic_bias**2,
        "variance, asymptotic": result.asymptotic_variance,
    }
    rows = [
        {"name": name, "x": plain(h), "y": plain(value)}
        for name, column in columns.items()
        for h, value in zip(result.bandwidth, column, strict=True)
        if value > 0  # the axis is logarithmic
    ]
    dash = {name: [6, 4] if "asymptotic" in name else [1, 0] for name in columns}
    return finish(
        _lines(
            rows,
            list(columns),
            x=("bandwidth", *_log_axis(result.bandwidth)),
            y=("squared bias, variance", *_log_axis([row["y"] for row in rows], grid=True)),
            dash=dash,
        ),
        title=f"Bias and variance at {number(result.point)}",
        subtitle="Dashed: what the asymptotic formulas say. Both axes are logarithmic.",
        description=(
            "Line chart of squared bias and variance of local linear regression against the "
            "bandwidth, exact and by the asymptotic formulas."
        ),
    )


def curse_chart(result: Any) -> Any:
    """Draw the three signs of the curse of dimensionality against the number of inputs.

    Parameters
    ----------
    result : Curse
        With `p`, `nearest`, `edge`, `ball`, `n` and `share`.

    Returns
    -------
    altair.LayerChart
    """
    alt = altair()
    columns = {
        f"distance of the nearest of {number(result.n)} points": result.nearest,
        f"edge of the cube with {number(100 * result.share)} % of the points": result.edge,
        "share of a cube in the ball inside it": result.ball,
    }
    rows = [
        {"name": name, "x": plain(p), "y": plain(value)}
        for name, column in columns.items()
        for p, value in zip(result.p, column, strict=True)
    ]
    return finish(
        _lines(
            rows,
            list(columns),
            x=("inputs", alt.Scale(nice=False, padding=12), alt.Axis(grid=False, tickMinStep=1)),
            y=("length or share", alt.Scale(domain=[0, 1]), alt.Axis()),
        ),
        title="The curse of dimensionality",
        subtitle="With more inputs the nearest points are far, and all of them near the border.",
        description="Line chart against the number of inputs: " + "; ".join(columns) + ".",
    )
