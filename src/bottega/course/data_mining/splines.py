"""Lectures 15 and 16: splines and equivalent degrees of freedom."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from bottega.basis import Polynomial
from bottega.core.typing import FloatArray
from bottega.course.experiment import Experiment, experiment
from bottega.linear import LeastSquares
from bottega.plot import lines_chart
from bottega.smooth import (
    LocalRegression,
    Loess,
    RegressionSpline,
    SmoothingSpline,
)

__all__ = ["equal_degrees_of_freedom"]


@experiment(
    "D-E32",
    claim="A smoothing spline goes from the least squares line to interpolation, its degrees of "
    "freedom from 2 to the number of places; smoothers of equal degrees of freedom look alike.",
    items="D118, D123",
)
def equal_degrees_of_freedom(
    *, rows: int = 60, df: float = 8.0, noise: float = 0.3, random_state: int = 0
) -> Experiment:
    """Sweep the penalty of a smoothing spline; fit other smoothers with the same trace.

    Parameters
    ----------
    rows : int
        Places, evenly spaced on [0, 1].
    df : float
        Common degrees of freedom, a whole number for the regression spline.
    noise : float
        Standard deviation of the noise.
    random_state : int
        Of the noise.
    """
    rng = np.random.default_rng(random_state)
    x = ((np.arange(rows) + 0.5) / rows)[:, None]
    y = np.sin(2 * np.pi * x[:, 0]) + noise * rng.normal(size=rows)
    penalties = np.geomspace(1e-12, 1e6, 19)
    freedom = np.array([SmoothingSpline(float(each)).fit(x, y).df_ for each in penalties])
    stiff = SmoothingSpline(float(penalties[-1])).fit(x, y)
    loose = SmoothingSpline(float(penalties[0])).fit(x, y)
    line = LeastSquares().fit(x, y)
    fits = {
        "smoothing spline": SmoothingSpline(df=df).fit(x, y).predict(x),
        "regression spline": RegressionSpline(int(df) - 4).fit(x, y).predict(x),
        "local linear": _with_df(LocalRegression, x, y, df, 0.005, 0.5).predict(x),
        "loess": _with_df(Loess, x, y, df, 0.1, 1.0).predict(x),
        "polynomial": _polynomial(x, y, int(df) - 1),
    }
    each = np.array(list(fits.values()))
    names = list(fits)
    # Among smoothers; a polynomial is no local smoother and is only shown.
    apart = float(np.max(np.std(each[:-1], axis=0, ddof=1)))
    other = SmoothingSpline(df=df / 2).fit(x, y).predict(x)
    base = float(np.sqrt(np.mean((each[0] - other) ** 2)))
    typical = float(
        np.mean([np.sqrt(np.mean((a - b) ** 2)) for i, a in enumerate(each[:-1]) for b in each[:i]])
    )
    holds = (
        np.all(np.diff(freedom) < 0)
        and abs(freedom[-1] - 2) < 1e-3
        and freedom[0] > rows - 0.5
        and np.max(np.abs(stiff.predict(x) - line.predict(x))) < 1e-3
        and np.max(np.abs(loose.predict(x) - y)) < 0.02
        and typical < base
        and typical < noise / 3
    )
    order = np.argsort(x[:, 0])
    return Experiment(
        columns={"x": x[:, 0], "y": y, **fits},
        holds=bool(holds),
        finding=f"degrees of freedom go from {freedom[-1]:.4f} to {freedom[0]:.2f} of {rows}; at "
        f"{df:g} four smoothers differ by {typical:.3f} on average (half the degrees of freedom "
        f"would change the fit by {base:.3f}), nowhere by more than {apart:.2f}",
        draw=partial(
            lines_chart,
            x[order, 0],
            {name: fits[name][order] for name in names},
            x_title="x",
            y_title="fit",
            title=f"Five smoothers of {df:g} degrees of freedom",
            subtitle="Equal traces, nearly equal curves",
            points=False,
        ),
    )


def _polynomial(x: FloatArray, y: FloatArray, degree: int) -> FloatArray:
    design = Polynomial(degree).fit(x).transform(x)
    return np.asarray(LeastSquares().fit(design, y).predict(design))


def _with_df(
    make: Callable[[float], Any], x: FloatArray, y: FloatArray, df: float, low: float, high: float
) -> Any:
    """Return the smoother whose degrees of freedom, falling in its knob, come nearest to df."""
    for _ in range(30):
        middle = np.sqrt(low * high)
        model = make(float(middle)).fit(x, y)
        low, high = (middle, high) if model.df_ > df else (low, middle)
    return model
