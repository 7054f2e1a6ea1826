"""A local polynomial curve on an even grid, for large n."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.rows import check_weight
from bottega.core.typing import FloatArray
from bottega.core.validate import refuse_masked
from bottega.smooth._local.binned import make_grid
from bottega.smooth._local.weights import get_kernel
from bottega.smooth._local.windows import Recipe
from bottega.smooth._path.in_range import check_range


def binned_curve(
    x: Any,
    y: Any,
    bandwidth: float,
    *,
    kernel: str = "normal",
    degree: int = 1,
    derivative: int = 0,
    n_bins: int = 401,
    limits: tuple[float, float] | None = None,
    sample_weight: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Return a local polynomial curve on an even grid, from binned rows.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        Rows, in any order.
    bandwidth : float
        Bandwidth, in the units of x.
    kernel : {"normal", "biquadratic", "tricube", "epanechnikov"}
        Weight function.
    degree : {0, 1, 2}
        Degree of the local polynomials.
    derivative : int
        Order of the derivative wanted, up to `degree`.
    n_bins : int
        Number of grid points; an even number is raised by one.
    limits : tuple of float, optional
        Ends of the grid, the range of x by default; rows beyond are left out.
    sample_weight : array-like of shape (n,), optional
        Row weights.

    Returns
    -------
    grid, curve : ndarray of shape (n_bins,)

    Notes
    -----
    The cost is that of one pass over the rows and at most ``n_bins^2`` more. See the module's text
    for the error; `LocalRegression` measures it.

    Examples
    --------
    >>> x = np.linspace(0, 1, 10_000)
    >>> grid, curve = binned_curve(x, x**2, 0.02)
    >>> curve[[100, 200, 300]].round(4)  # at 1/4, 1/2, 3/4
    array([0.0629, 0.2504, 0.5629])
    """
    refuse_masked(x=x, y=y)
    x, y = (np.ascontiguousarray(each, dtype=np.float64) for each in (x, y))
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(f"x and y must be rows of one length; got {x.shape} and {y.shape}.")
    if not (np.isfinite(bandwidth) and bandwidth > 0):
        raise InputError(f"bandwidth={bandwidth!r} is not allowed; it must be above zero.")
    if degree not in (0, 1, 2) or derivative not in range(degree + 1):
        raise InputError(
            f"degree={degree!r} with derivative={derivative!r} is not allowed; the degree is 0, 1 "
            "or 2, and the derivative at most the degree."
        )
    if n_bins < 3:
        raise InputError(f"n_bins={n_bins!r} is not allowed; use at least 3.")
    get_kernel(kernel)
    weight = check_weight(sample_weight, len(y))
    low, high = (float(x.min()), float(x.max())) if limits is None else map(float, limits)
    if not (np.isfinite(low) and np.isfinite(high) and high > low and np.all(np.isfinite(y))):
        raise InputError(
            f"The grid would go from {low} to {high}, with responses that must be finite: correct "
            "the rows or the limits."
        )
    check_range(np.array([low, high]), "the grid")
    if limits is not None:
        inside = (x >= low) & (x <= high)
        x, y = x[inside], y[inside]
        weight = None if weight is None else weight[inside]
    grid = make_grid(x, y, np.ones(1) if weight is None else weight, low, high, n_bins)
    window = grid.window(Recipe(kernel, degree), float(bandwidth))
    if len(window.rows.y) <= degree:
        raise InputError(f"Only {len(window.rows.y)} bins hold rows: too few for degree {degree}.")
    found = window.at(grid.points[:, None], count=derivative + 1).found[:, derivative]
    return grid.points, found
