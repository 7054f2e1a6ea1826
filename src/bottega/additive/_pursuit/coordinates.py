"""Inputs as uncorrelated coordinates of variance one, in which every direction is alike."""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from bottega.core.errors import InputError
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.core.validate import check_columns

# Eigenvalues of the correlations, against the largest, that are rounding.
_SINGULAR = 1e-10
_CONSTANT = 1e-28  # variance against the mean square of a column that does not vary
_STEPS = 2.0**30  # of a standard deviation


@dataclass(frozen=True)
class WhiteCoordinates:
    """The map from inputs to coordinates: ``(X - center) / scale @ axes``."""

    center: FloatArray
    scale: FloatArray
    axes: FloatArray  # (inputs, coordinates)
    inverse: FloatArray  # (coordinates, inputs): the direction of each standardised input

    def standardized(self, X: FloatArray) -> FloatArray:
        """Return the inputs, centred and divided by their standard deviations."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((X - self.center) / self.scale)

    def of(self, X: FloatArray) -> FloatArray:
        """Return the coordinates of rows."""
        return np.ascontiguousarray(on_grid(self.standardized(X)) @ self.axes)


def on_grid(Z: FloatArray) -> FloatArray:
    """Return standardised numbers to nine decimals.

    In other units they differ in their last digits alone, and a search would go on from there to
    another answer.

    Examples
    --------
    >>> on_grid(np.array([1.0 + 1e-15, -0.25])).tolist()
    [1.0, -0.25]
    """
    return np.round(Z * _STEPS) / _STEPS


def coordinates_of(X: FloatArray, weight: FloatArray | None) -> WhiteCoordinates:
    """Return the coordinates of rows; those that are combinations of others are left out."""
    n, p = X.shape
    share = np.full(n, 1 / n) if weight is None else weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        center = share @ X
        gap = X - center
        variance = share @ gap**2
        check_columns(variance, mean=center)
        size = variance + center**2
    varies = variance > _CONSTANT * size
    if not np.any(varies):
        raise InputError(
            f"None of the {p} columns of X varies over the {n} rows; there is no direction to "
            "project on."
        )
    scale = np.sqrt(np.where(varies, variance, 1.0))
    gap = on_grid(gap / scale)
    gap[:, ~varies] = 0.0
    with one_thread():
        d, V = linalg.eigh(gap.T @ (gap * share[:, None]))
    real = d > _SINGULAR * d[-1]
    root = np.sqrt(d[real])
    return WhiteCoordinates(center, scale, V[:, real] / root, (V[:, real] * root).T)
