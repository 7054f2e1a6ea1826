"""The training rows of local polynomials: scaled, sorted, counted for the nearest fraction."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._local.nearest import NearestWindows

_TRIM = 0.1  # of the rows at each end, for the scale of an input


def coefficient_count(p: int, degree: int) -> int:
    """Return the number of coefficients of a polynomial of p inputs.

    Examples
    --------
    >>> coefficient_count(1, 2), coefficient_count(2, 2), coefficient_count(3, 1)
    (3, 6, 4)
    """
    return (1, 1 + p, 1 + p + p * (p + 1) // 2)[degree]


@dataclass(frozen=True)
class TrainingFit:
    """A surface at the rows it was fitted to.

    Attributes
    ----------
    fitted, leverage : ndarray of shape (n,)
        S y and the diagonal of S.
    trace_sst : float
        tr SS', nan unless asked for.
    widened : int
        Windows that held too few rows.
    two_delta : float
        tr(((I - S)(I - S)')^2), nan unless asked for.
    """

    fitted: FloatArray
    leverage: FloatArray
    trace_sst: float
    widened: int
    two_delta: float = np.nan


@stored
@dataclass(frozen=True)
class LocalRows:
    """Training rows, ascending in the first column.

    Attributes
    ----------
    X : ndarray of shape (n, p)
        Inputs that vary, on the scale of the distances.
    y, weight, mass : ndarray of shape (n,)
        Responses, sample weights, and what each row counts for in the nearest fraction.
    order : ndarray of shape (n,)
        Their positions in the data as given.
    columns, divisor : ndarray of shape (p,)
        Which inputs vary, and what they were divided by.
    """

    X: FloatArray
    y: FloatArray
    weight: FloatArray
    mass: FloatArray
    order: IntArray
    columns: IntArray
    divisor: FloatArray

    def highest_degree(self, degree: int) -> int:
        """Return the highest degree, up to the given, with fewer coefficients than places."""
        p = self.X.shape[1]
        wanted = coefficient_count(p, degree)
        counts = self.weight > 0
        places = max(len(np.unique(self.X[counts, c])) for c in range(p))
        if places <= wanted and p > 1:
            places = len(np.unique(self.X[counts], axis=0))
        while degree > 0 and places <= coefficient_count(p, degree):
            degree -= 1
        return degree

    def nearest(self, span: float, degree: int, weight: FloatArray | None = None) -> NearestWindows:
        """Return the windows of a span, for fits with the rows' weights or other ones."""
        total = float(self.mass.sum())
        # As many rows as the fraction holds whole; the first term guards against its rounding,
        # the last against that of the sums of masses.
        target = max(np.floor(total * min(span, 1.0) + 1e-5), 1.0) - 1e-9 * total
        return NearestWindows(
            self.X,
            self.weight if weight is None else weight,
            self.mass,
            target,
            float(np.sqrt(max(span, 1.0))),
            coefficient_count(self.X.shape[1], degree),
        )


def make_rows(
    X: FloatArray, y: FloatArray, weight: FloatArray | None, *, normalize: bool, by_weight: bool
) -> LocalRows:
    """Prepare the rows.

    Parameters
    ----------
    X, y, weight : ndarray
        Checked data.
    normalize : bool
        Whether to divide each of several inputs by its trimmed standard deviation.
    by_weight : bool
        Whether the nearest fraction counts weights, or rows.
    """
    weight = np.ones(len(y)) if weight is None else weight
    mass = np.ones(len(y))
    if by_weight:
        whole = np.all(weight == np.round(weight))
        mass = weight if whole else weight * (len(weight) / weight.sum())
    varies = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    columns = varies if len(varies) else np.array([0])
    divisor = np.ones(len(columns))
    if normalize and len(columns) > 1:
        divisor = np.array([_trimmed_deviation(X[:, c], mass) for c in columns])
    X = X[:, columns] / divisor
    order = np.argsort(X[:, 0], kind="stable")
    return LocalRows(
        np.ascontiguousarray(X[order]),
        np.ascontiguousarray(y[order]),
        np.ascontiguousarray(weight[order]),
        np.ascontiguousarray(mass[order]),
        order,
        columns,
        divisor,
    )


def _trimmed_deviation(x: FloatArray, mass: FloatArray) -> float:
    """Return the standard deviation of the middle of the rows, all of them where it is zero."""
    order = np.argsort(x, kind="stable")
    x, mass = x[order], mass[order]
    ends = np.cumsum(mass)
    total = ends[-1]
    trim = np.ceil(_TRIM * total)
    share = np.minimum(ends, total - trim) - np.maximum(ends - mass, trim)
    middle = _deviation(x, np.maximum(share, 0.0))
    return middle if middle > 0 else _deviation(x, mass)


def _deviation(x: FloatArray, mass: FloatArray) -> float:
    total = mass.sum()
    if total <= 1:
        return 0.0
    center = np.sum(mass * x) / total
    return float(np.sqrt(np.sum(mass * (x - center) ** 2) / (total - 1)))
