"""Where a fitted curve bends for sure: its second derivative against its standard error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils.validation import check_is_fitted

from bottega.core.errors import InputError
from bottega.core.frames import make_frame
from bottega.core.results import check_level
from bottega.core.typing import FloatArray, IntArray

__all__ = ["SignificantCurvature", "significant_curvature"]


@dataclass(frozen=True)
class SignificantCurvature:
    """The second derivative (or the slope) of a curve along a grid, with its limits.

    Attributes
    ----------
    x : ndarray of shape (m,)
        Points.
    estimate, std_error, lower, upper : ndarray of shape (m,)
        The derivative, its standard error and its limits.
    sign : ndarray of int, shape (m,)
        1 where the limits lie above zero (convex, rising), -1 where below, 0 where they hold zero.
    level : float
        Coverage of the limits at each point.
    derivative : int
        1 for the slope, 2 for the curvature.
    caution : str
        What the limits do not say.
    """

    x: FloatArray
    estimate: FloatArray
    std_error: FloatArray
    lower: FloatArray
    upper: FloatArray
    sign: IntArray
    level: float
    derivative: int
    caution: str = (
        "The limits hold at one point at a time and ignore the bias of the smooth: among many "
        "points some will look significant by chance."
    )

    def regions(self) -> list[tuple[float, float, int]]:
        """Return the stretches of one sign as (from, to, sign), those of sign 0 left out."""
        starts = np.flatnonzero(np.diff(self.sign, prepend=self.sign[:1] - 5))
        ends = np.append(starts[1:], len(self.sign)) - 1
        return [
            (float(self.x[a]), float(self.x[b]), int(self.sign[a]))
            for a, b in zip(starts, ends, strict=True)
            if self.sign[a] != 0
        ]

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per point as a data frame."""
        columns = {
            "x": self.x,
            "estimate": self.estimate,
            "std_error": self.std_error,
            "conf_low": self.lower,
            "conf_high": self.upper,
            "sign": self.sign,
        }
        return make_frame(columns, like)


def significant_curvature(
    model: Any, grid: Any = None, level: float = 0.95, *, derivative: int = 2
) -> SignificantCurvature:
    """Return where the second derivative of a fitted curve differs from zero.

    Parameters
    ----------
    model : fitted smoother of one input
        One whose ``predict(X, return_std=True, derivative=2)`` works: `SmoothingSpline`,
        `RegressionSpline`, `PSpline`.
    grid : array-like of shape (m,), optional
        Points, rising; 200 across the data by default.
    level : float
        Coverage of the limits at each point.
    derivative : {1, 2}
        1 for the slope instead.

    Returns
    -------
    SignificantCurvature
        With `sign` at each point and `regions()`.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.smooth import SmoothingSpline
    >>> rng = np.random.default_rng(0)
    >>> x = np.linspace(0, 2 * np.pi, 300)
    >>> model = SmoothingSpline().fit(x[:, None], np.sin(x) + 0.1 * rng.normal(size=300))
    >>> [sign for *_, sign in significant_curvature(model, np.linspace(1, 2, 20)).regions()]
    [-1]
    """
    check_is_fitted(model)
    if derivative not in (1, 2):
        raise InputError(f"derivative={derivative!r} is not allowed; use 1 or 2.")
    check_level(level)
    if grid is None:
        low, high = model._range
        grid = np.linspace(low, high, 200)
    x = np.asarray(grid, dtype=np.float64).ravel()
    if not len(x) or np.any(np.diff(x) < 0):
        raise InputError("grid must be a list of points from left to right.")
    estimate, error = model.predict(x[:, None], return_std=True, derivative=derivative)
    half = stats.t.ppf(0.5 + level / 2, model.smoother_.df_residual) * error
    lower, upper = estimate - half, estimate + half
    sign = np.where(lower > 0, 1, np.where(upper < 0, -1, 0))
    return SignificantCurvature(x, estimate, error, lower, upper, sign, float(level), derivative)
