"""B-splines as functions: knots, basis, derivatives, penalties. What the spline classes share."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bottega.basis._kernels import spline as kernels
from bottega.core.errors import InputError
from bottega.core.rows import are_counts
from bottega.core.typing import FloatArray, IntArray

__all__ = [
    "LocalDesign",
    "check_knots",
    "clamped_knots",
    "design",
    "difference_penalty",
    "even_knots",
    "natural_transform",
    "penalty",
    "place_knots",
]


@dataclass(frozen=True)
class LocalDesign:
    """A design matrix whose rows have few neighbouring non-zeros.

    Attributes
    ----------
    values : ndarray of shape (n, degree + 1)
        The non-zeros of each row.
    first : ndarray of int, shape (n,)
        Column of the first of them.
    size : int
        Number of columns.
    """

    values: FloatArray
    first: IntArray
    size: int

    def toarray(self) -> FloatArray:
        """Return the matrix with its zeros."""
        n, k = self.values.shape
        found = np.zeros((n, self.size))
        columns = self.first[:, None] + np.arange(k)
        np.put_along_axis(found, columns, self.values, axis=1)
        return found

    def tocsr(self) -> Any:
        """Return the matrix in SciPy's compressed sparse rows."""
        n, k = self.values.shape
        columns = (self.first[:, None] + np.arange(k)).ravel()
        return sparse.csr_array(
            (self.values.ravel(), columns, np.arange(0, n * k + 1, k)), shape=(n, self.size)
        )

    def __matmul__(self, coef: FloatArray) -> FloatArray:
        columns = self.first[:, None] + np.arange(self.values.shape[1])
        return np.einsum("ij,ij...->i...", self.values, coef[columns])


def clamped_knots(interior: Any, low: float, high: float, degree: int) -> FloatArray:
    """Return interior knots between boundary knots repeated ``degree + 1`` times.

    The basis has ``len(interior) + degree + 1`` functions: every spline of the degree with these
    knots.
    """
    inside = np.sort(np.asarray(interior, dtype=np.float64).ravel())
    ends = np.full(degree + 1, 1.0)
    return np.concatenate([low * ends, inside, high * ends])


def even_knots(low: float, high: float, size: int, degree: int) -> FloatArray:
    """Return even knots, going on beyond both ends, for `size` functions on [low, high]."""
    pieces = size - degree
    if pieces < 1:
        raise InputError(
            f"{size} B-splines of degree {degree} have no interval; take at least {degree + 1}."
        )
    step = (high - low) / pieces
    knots = np.asarray(low + step * np.arange(-degree, pieces + degree + 1.0))
    knots[degree], knots[pieces + degree] = low, high  # to the last digit
    return knots


def place_knots(
    x: FloatArray, count: int, how: str = "quantile", weight: FloatArray | None = None
) -> FloatArray:
    """Return `count` interior knots: at quantiles of x (R's default kind), or evenly spaced.

    Weights that are whole numbers are counts: the quantiles are those of rows repeated so many
    times. Others are relative: only their ratios matter, and equal ones are as none.
    """
    low, high = float(x.min()), float(x.max())
    inner = np.linspace(0, 1, count + 2)[1:-1]
    if how == "even":
        return low + (high - low) * inner
    if weight is None or np.all(weight == weight[0]):
        return np.quantile(x, inner)
    order = np.lexsort((weight, x))  # of equal x by weight: the order of the rows has no meaning
    at, mass = x[order], weight[order]
    if not are_counts(mass):
        # Each row at the middle of its mass, the first at 0 and the last at 1.
        middle = np.cumsum(mass) - mass / 2
        return np.interp(inner, (middle - middle[0]) / (middle[-1] - middle[0]), at)
    ends = np.cumsum(mass)
    # The quantile of repeated rows: position p (N - 1) among N, between two neighbours.
    place = inner * (ends[-1] - 1)
    below = np.searchsorted(ends, np.floor(place + 1e-9), side="right")
    above = np.searchsorted(ends, np.floor(place + 1e-9) + 1, side="right")
    share = np.maximum(place - np.floor(place + 1e-9), 0.0)
    last = len(at) - 1
    return (1 - share) * at[np.minimum(below, last)] + share * at[np.minimum(above, last)]


def check_knots(knots: Any, low: float, high: float, name: str = "knots") -> FloatArray:
    """Return given interior knots in order, or say what is wrong with them."""
    try:
        given = np.sort(np.asarray(knots, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        given = np.array([np.nan])
    if not np.all(np.isfinite(given)):
        raise InputError(f"{name}={knots!r} is not allowed; {name} must be finite numbers.")
    outside = given[(given <= low) | (given >= high)]
    if len(outside):
        raise InputError(
            f"The knot {outside[0]:g} lies outside the data, which go from {low:g} to {high:g}; "
            "leave it out: interior knots must lie between."
        )
    if np.any(np.diff(given) == 0):
        raise InputError(
            f"The knot {given[:-1][np.diff(given) == 0][0]:g} is given twice; give each once."
        )
    return given


def design(
    x: Any, knots: Any, degree: int = 3, derivative: int = 0, *, linear_ends: bool = False
) -> LocalDesign:
    """Return the B-splines of all knots at each x, or a derivative of them.

    Parameters
    ----------
    x : array-like of shape (n,)
        Points. Outside the boundary knots the outermost polynomials go on.
    knots : array-like of shape (size + degree + 1,)
        All knots, with the repeats (or further knots) at both ends; see `clamped_knots`.
    degree : int
        Degree of the pieces.
    derivative : int
        Order of the derivative; above the degree all are zero.
    linear_ends : bool
        Whether the functions go on along their tangents beyond the boundary knots instead.

    Returns
    -------
    LocalDesign
        ``degree + 1`` numbers a row; ``toarray()`` and ``tocsr()`` give the whole matrix.

    Examples
    --------
    >>> design([0.25], clamped_knots([], 0, 1, 1), 1).toarray()
    array([[0.75, 0.25]])
    """
    points = np.ascontiguousarray(x, dtype=np.float64)
    knots = np.ascontiguousarray(knots, dtype=np.float64)
    size = len(knots) - degree - 1
    if size <= degree:
        raise InputError(
            f"{len(knots)} knots make no spline of degree {degree}; give at least {2 * degree + 2}."
        )
    inside = np.clip(points, knots[degree], knots[size]) if linear_ends else points
    values, first = kernels.local_basis(inside, knots, degree, derivative)
    beyond = points != inside
    if np.any(beyond):
        if derivative == 0:
            slope = kernels.local_basis(inside[beyond], knots, degree, 1)[0]
            values[beyond] += (points - inside)[beyond, None] * slope
        elif derivative > 1:
            values[beyond] = 0.0
    return LocalDesign(values, first, size)


def penalty(knots: Any, degree: int = 3, order: int = 2) -> FloatArray:
    r"""Return the matrix of :math:`\int B_j^{(m)} B_k^{(m)}` between the boundary knots.

    Parameters
    ----------
    knots : array-like
        All knots, see `design`.
    degree, order : int
        Degree of the splines and order m of the derivative; 0 gives the Gram matrix.

    Returns
    -------
    ndarray of shape (size, size)
        Exact: Gauss-Legendre integration on each piece, whose integrand is a polynomial.
    """
    knots = np.ascontiguousarray(knots, dtype=np.float64)
    size = len(knots) - degree - 1
    ends = np.unique(knots[degree : size + 1])
    nodes, weights = np.polynomial.legendre.leggauss(max(degree - order, 0) + 1)
    half = np.diff(ends) / 2
    points = ((ends[:-1] + ends[1:]) / 2)[:, None] + half[:, None] * nodes
    mass = (half[:, None] * weights).ravel()
    B = design(points.ravel(), knots, degree, order).tocsr()
    found = (B.T @ (B * mass[:, None])).toarray()
    return np.asarray((found + found.T) / 2)


def difference_penalty(size: int, order: int = 2) -> FloatArray:
    """Return D'D of the differences of an order between neighbouring coefficients."""
    D = np.diff(np.eye(size), order, axis=0)
    return np.asarray(D.T @ D)


def natural_transform(knots: Any, degree: int = 3, *, skip: int = 0) -> FloatArray:
    """Return T such that the columns of ``B T`` have no second derivative at the boundary knots.

    `skip` leaves out the first functions of B before.
    """
    knots = np.ascontiguousarray(knots, dtype=np.float64)
    size = len(knots) - degree - 1
    bend = design(knots[[degree, size]], knots, degree, 2).toarray()[:, skip:]
    Q, _ = np.linalg.qr(bend.T, mode="complete")
    return np.asarray(Q[:, 2:])
