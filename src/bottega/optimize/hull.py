"""The convex hull of points, its vertices, and the largest value of a convex function on it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.frames import make_frame
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._convexity.hulls import affine_frame, corners, extreme_points
from bottega.optimize._convexity.piece import Piece
from bottega.optimize.objective import numbers_of

__all__ = ["Hull", "VertexMaximum", "convex_hull", "polytope"]


@stored
@dataclass(frozen=True, eq=False)
class VertexMaximum:
    """The largest value of a convex function on a polytope.

    Attributes
    ----------
    x : ndarray of shape (d,)
        A vertex where it is reached: the first of them.
    value : float
        The value.
    ties : ndarray of int
        Which vertices reach it, to rounding.
    values : ndarray of shape (m,)
        The values at all vertices.
    """

    x: FloatArray
    value: float
    ties: IntArray
    values: FloatArray


@stored
@dataclass(frozen=True, eq=False, repr=False)
class Hull(Shown):
    """The smallest convex set that holds a set of points.

    Attributes
    ----------
    points : ndarray of shape (n, d)
        The points.
    indices : ndarray of shape (m,)
        Which of them are vertices: in the plane counter-clockwise from the lowest index, elsewhere
        in the order of the points. Of equal points the first counts.
    dimension : int
        Of the flat that holds the points: less than d if they are collinear and the like.
    volume : float
        Length, area or volume in that flat; 0 of a single point.
    """

    points: FloatArray
    indices: IntArray
    dimension: int
    volume: float

    @property
    def vertices(self) -> FloatArray:
        """The vertices, one per row."""
        return self.points[self.indices]

    def contains(self, X: Any, *, tol: float = 1e-9) -> Any:
        """Return True for each row of X that is in the hull, or within `tol` of its size of it.

        Each row costs a small linear program.
        """
        rows = np.atleast_2d(numbers_of(X, "X"))
        if rows.shape[1] != self.points.shape[1] or not np.all(np.isfinite(rows)):
            raise InputError(
                f"X has shape {rows.shape}; the hull is of finite points of "
                f"{self.points.shape[1]} numbers."
            )
        from bottega.optimize._convexity.hulls import inside

        found = np.array([inside(self.vertices, row, tol) for row in rows])
        return found if np.ndim(X) > 1 else bool(found[0])

    def maximize(self, f: Callable[[FloatArray], float]) -> VertexMaximum:
        """Return the largest value of a convex function on the hull: at a vertex.

        Parameters
        ----------
        f : callable or Piece
            A convex function. A piece that is not known to be convex brings a warning: its
            largest value may be elsewhere.
        """
        if isinstance(f, Piece) and f.curvature not in ("convex", "affine"):
            warn_caller(
                f"{f.words()} is not known to be convex: its largest value on the hull may not be "
                "at a vertex.",
                DataWarning,
            )
        values = np.array([float(f(x.copy())) for x in self.vertices])
        if np.any(np.isnan(values)):
            bad = self.vertices[int(np.argmax(np.isnan(values)))]
            raise InputError(f"f is not a number at the vertex {bad.tolist()}.")
        top = float(values.max())
        near = values >= top - 1e-12 * abs(top) if np.isfinite(top) else values == top
        ties = np.flatnonzero(near)
        return VertexMaximum(self.vertices[ties[0]].copy(), top, ties, values)

    def to_frame(self, like: Any = None) -> Any:
        """Return the vertices as a data frame: ``index`` among the points, ``x0``, ``x1``, ..."""
        columns: dict[str, Any] = {"index": self.indices}
        columns.update({f"x{j}": column for j, column in enumerate(self.vertices.T)})
        return make_frame(columns, like)

    def summary(self) -> Summary:
        """Return the hull as a table that shows itself."""
        facts = {
            "points": len(self.points),
            "vertices": len(self.indices),
            "dimension": self.dimension,
            "volume": self.volume,
        }
        rows: dict[str, Any] = {"index": [int(i) for i in self.indices]}
        for j in range(min(self.points.shape[1], 8)):
            rows[f"x{j}"] = [float(v) for v in self.vertices[:, j]]
        return Summary(
            "Convex hull",
            (Section("", {"": list(facts), "found": list(facts.values())}), Section("", rows)),
        )

    def plot(self) -> Any:
        """Draw the points, the hull and its vertices; in two dimensions.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import hull_chart

        return hull_chart(self)


def convex_hull(points: Any) -> Hull:
    """Return the convex hull of points, with its vertices.

    A point is a vertex if it is not between two other points of the hull. The hull is computed in
    the flat that the points span, so they may be collinear, equal, or on a line.

    Parameters
    ----------
    points : array-like of shape (n, d)
        The points, one per row; a vector is n points of a line.

    Returns
    -------
    Hull
        The vertices, and the largest value of a convex function over them by `Hull.maximize`.

    Notes
    -----
    Qhull computes it in O(n log n) up to three dimensions; the number of faces grows with n to the
    power d/2, so that from about nine dimensions on it should not be tried. A point that leaves
    the flat of the others, or the line of two vertices, by less than rounding is on it.

    References
    ----------
    .. [1] Barber, C., Dobkin, D. and Huhdanpaa, H. (1996). The Quickhull algorithm for convex
       hulls. ACM Transactions on Mathematical Software 22, 469-483.

    Examples
    --------
    >>> hull = convex_hull([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0]])
    >>> hull.indices.tolist(), hull.volume
    ([0, 1, 2, 3], 4.0)
    >>> hull.maximize(lambda x: float(x @ x)).x.tolist()
    [2.0, 2.0]
    """
    given = numbers_of(points, "points")
    if given.ndim == 1:
        given = given[:, None]
    if given.ndim != 2 or not given.size:
        raise InputError(f"points have shape {given.shape}; give at least one point, one per row.")
    if not np.all(np.isfinite(given)):
        raise InputError("points have entries that are missing or infinite; leave those rows out.")
    first = np.sort(np.unique(given, axis=0, return_index=True)[1])
    frame = affine_frame(given[first])
    kept, volume = extreme_points(frame.coordinates)
    return Hull(given, first[kept], frame.dimension, volume * frame.unit)


def polytope(A: Any, b: Any) -> Hull:
    r"""Return the polytope :math:`\{x : Ax \le b\}` by its vertices.

    Parameters
    ----------
    A : array-like of shape (m, d)
        One half-space per row.
    b : array-like of shape (m,)
        Its limit.

    Returns
    -------
    Hull
        The hull of the vertices.

    Raises
    ------
    InputError
        If no x satisfies all of them, if the set is unbounded, or if it has no interior.

    Notes
    -----
    The number of vertices grows fast with the dimension (a cube has 2^d): to maximise a linear
    function use a linear program instead.

    Examples
    --------
    >>> square = polytope([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 0, 1, 0])
    >>> sorted(square.vertices.tolist())
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    matrix = np.atleast_2d(numbers_of(A, "A"))
    limit = np.atleast_1d(numbers_of(b, "b"))
    if matrix.ndim != 2 or limit.shape != (len(matrix),):
        raise InputError(
            f"A has shape {matrix.shape} and b {limit.shape}; give one limit per row of A."
        )
    if not (np.all(np.isfinite(matrix)) and np.all(np.isfinite(limit))):
        raise InputError("A and b have to be finite; leave out the rows without a limit.")
    return convex_hull(corners(matrix, limit))
