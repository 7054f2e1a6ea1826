"""How local regression behaves as rows or inputs are added."""

from typing import Any

from bottega.plot.lines import lines_chart
from bottega.plot.theme import number

__all__ = ["bias_variance_chart", "curse_chart", "rate_chart"]


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
    slopes = {name: number(slope, 3) for name, slope in result.slopes.items()}
    return lines_chart(
        result.n,
        {
            f"local linear: slope {slopes['local']} (theory −0.8)": result.local,
            f"a line that is right: slope {slopes['linear']} (theory −1)": result.linear,
        },
        x_title="rows",
        y_title="mean squared error",
        title="Error against the number of rows",
        subtitle="Assuming less costs slope. Both axes are logarithmic.",
        log_x=True,
        log_y=True,
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
    return lines_chart(
        result.bandwidth,
        {
            "squared bias": result.bias**2,
            "variance": result.variance,
            "squared bias, asymptotic": result.asymptotic_bias**2,
            "variance, asymptotic": result.asymptotic_variance,
        },
        x_title="bandwidth",
        y_title="squared bias, variance",
        title=f"Bias and variance at {number(result.point)}",
        subtitle="Dashed: the asymptotic formulas. Both axes are logarithmic.",
        log_x=True,
        log_y=True,
        dashed=("squared bias, asymptotic", "variance, asymptotic"),
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
    return lines_chart(
        result.p,
        {
            f"distance of the nearest of {number(result.n)} points": result.nearest,
            f"edge of the cube with {number(100 * result.share)} % of the points": result.edge,
            "share of a cube in the ball inside it": result.ball,
        },
        x_title="inputs",
        y_title="length or share",
        title="The curse of dimensionality",
        subtitle="With more inputs the nearest points are far, and all of them near the border.",
    )
