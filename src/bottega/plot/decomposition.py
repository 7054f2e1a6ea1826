"""Bias, variance and noise along a knob, or along the input."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.plot.lines import lines_chart
from bottega.plot.theme import number

__all__ = ["decomposition_chart"]

_WIDE = 30  # ratio of values from which a logarithmic axis shows them better


def decomposition_chart(result: Any) -> Any:
    """Draw squared bias, variance and their sum with the noise.

    Parameters
    ----------
    result : Decomposition
        Or any object with its attributes.

    Returns
    -------
    altair.LayerChart
        Against the values of the knob; with a single value, against the input, of which there must
        be one only.
    """
    return _along_knob(result) if len(result.values) > 1 else _along_input(result)


def _along_knob(result: Any) -> Any:
    values = np.asarray(result.values)
    if values.dtype.kind not in "iuf":
        raise InputError("The values of the knob are no numbers; use to_frame instead.")
    best = result.best
    flat = np.full(len(values), result.noise)
    log = bool(values.min() > 0 and values.max() / values.min() >= _WIDE)
    return lines_chart(
        values,
        {
            "expected error": result.error,
            "squared bias": result.bias2,
            "variance": result.variance,
            "training error": result.train_error,
            "noise": flat,
        },
        x_title=result.knob,
        y_title="mean squared error",
        title=f"Bias and variance along {result.knob}",
        subtitle=(
            f"Least expected error {number(float(result.error[best]))} at {result.knob} = "
            f"{number(values[best])}; n = {result.n:,}, {result.n_repeats:,} training sets."
        ),
        log_x=log,
        dashed=("noise",),
    )


def _along_input(result: Any) -> Any:
    if result.points.shape[1] != 1:
        raise InputError(
            "Bias and variance of one value can be drawn against one input only; give several "
            "values of the knob, or use point_frame."
        )
    order = np.argsort(result.points[:, 0], kind="stable")
    variance = result.point_variance[0][order]
    # Less what the mean of so many predictions owes to chance, as in the averages.
    bias2 = result.point_bias[0][order] ** 2 - variance / result.n_repeats
    return lines_chart(
        result.points[order, 0],
        {
            "expected error": bias2 + variance + result.noise,
            "squared bias": bias2,
            "variance": variance,
            "noise": np.full(len(order), result.noise),
        },
        x_title="x",
        y_title="mean squared error",
        title="Bias and variance along the input",
        subtitle=f"n = {result.n:,}, {result.n_repeats:,} training sets.",
        dashed=("noise",),
        points=False,
    )
