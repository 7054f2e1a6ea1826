r"""Half spaces with the fewest mistakes, exactly: possible for tiny problems only.

Minimise over w the number of rows with :math:`y_t\, w^\top x_t \le 0`. Deciding whether k mistakes
suffice is NP-complete, and no polynomial algorithm comes within a constant factor of the least
number unless P = NP.
"""

import math
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from bottega.core.errors import InputError
from bottega.core.typing import Array, FloatArray

__all__ = ["HalfSpace", "half_space_erm"]

_ON_PLANE = 1e-10  # of rows of unit length: nearer than this counts as on the plane
_DIGITS = 9  # directions that agree so far are taken for one
_BATCH = 4096


@dataclass(frozen=True)
class HalfSpace:
    """A half space with the fewest mistakes on its training rows.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Normal vector.
    intercept : float
        0 for a half space through the origin.
    classes : ndarray of shape (2,)
        The label outside and the label inside.
    mistakes : int
        Rows with ``y w.x <= 0``: a row on the plane is a mistake.
    error : float
        Their share.
    planes : int
        Sets of rows whose plane had to be looked at: what makes the search blow up.
    """

    coef: FloatArray
    intercept: float
    classes: Array
    mistakes: int
    error: float
    planes: int

    def predict(self, X: Any) -> Array:
        """Return the label of each row; the plane itself belongs to the second class."""
        inside = np.asarray(X, dtype=np.float64) @ self.coef + self.intercept >= 0
        return np.asarray(self.classes[inside.astype(np.intp)])


def half_space_erm(
    X: Any, y: Any, *, intercept: bool = True, max_planes: int = 2_000_000
) -> HalfSpace:
    r"""Return a half space with the fewest mistakes on the training rows.

    Any arrangement of signs :math:`\mathrm{sgn}(w^\top x_t)` without zeros touches a line of w on
    which some d - 1 independent rows vanish. So it is enough to look at each such line, in both
    directions, and to solve the same problem, one dimension lower, for the rows that vanish there.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Inputs.
    y : array-like of shape (m,)
        Two labels; the second in sorted order is the inside.
    intercept : bool
        Whether the plane may miss the origin: a column of ones is then appended.
    max_planes : int
        Most sets of d - 1 distinct rows (of d with the intercept) to look at.

    Returns
    -------
    HalfSpace

    Notes
    -----
    Rows nearer to a plane than 1e-10 of their length count as on it. Use it to see what the least
    training error is on a toy problem. To learn, take the perceptron, logistic regression or a
    support vector machine, which minimise something else and are fast.

    References
    ----------
    .. [1] Johnson, D. S. and Preparata, F. P. (1978). The densest hemisphere problem. Theoretical
       Computer Science 6, 93-107.

    Examples
    --------
    No line separates the corners of a square labelled crosswise; one mistake is the least.

    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> half_space_erm(corners, [-1, 1, 1, -1]).mistakes
    1
    """
    X, y = check_X_y(X, y, dtype=np.float64)
    classes = np.unique(y)
    if len(classes) != 2:
        raise InputError(f"A half space tells two classes apart; y has {len(classes)}.")
    rows = np.column_stack([X, np.ones(len(X))]) if intercept else X
    signed = np.where(y == classes[1], 1.0, -1.0)[:, np.newaxis] * rows
    w, seen = _search(signed, max_planes)
    mistakes = _count(signed, w)
    return HalfSpace(
        w[: X.shape[1]],
        float(w[-1]) if intercept else 0.0,
        classes,
        mistakes,
        mistakes / len(X),
        seen,
    )


def _count(Z: FloatArray, w: FloatArray) -> int:
    """Return how many rows z have z.w <= 0."""
    return int(np.count_nonzero(Z @ w <= 0))


def _search(Z: FloatArray, max_planes: int) -> tuple[FloatArray, int]:
    """Return the w with the fewest z.w <= 0, and how many lines were looked at."""
    length = np.linalg.norm(Z, axis=1)
    nonzero = length > 0  # a row of zeros is a mistake of every w
    if not np.any(nonzero):
        return np.zeros(Z.shape[1]), 0
    unit = Z[nonzero] / length[nonzero][:, np.newaxis]
    _, weight, axes = np.linalg.svd(unit, full_matrices=False)
    axes = axes[weight > _ON_PLANE * weight[0]]
    # In the coordinates of the row space the rows span everything, so every cell has a corner.
    w, seen = _search_spanning(unit @ axes.T, max_planes)
    return axes.T @ w, seen


def _search_spanning(Z: FloatArray, max_planes: int) -> tuple[FloatArray, int]:
    """Do the search for unit rows that span the space."""
    m, r = Z.shape
    if m == r:  # independent rows: all signs are possible
        return np.asarray(np.linalg.solve(Z, np.ones(m)), dtype=np.float64), 0
    if r == 1:
        return min(np.ones(1), -np.ones(1), key=lambda w: _count(Z, w)), 1
    directions = _distinct(Z)
    subsets_in_all = math.comb(len(directions), r - 1)
    if subsets_in_all > max_planes:
        raise InputError(
            f"The exact search has to look at {subsets_in_all:,} planes, more than max_planes="
            f"{max_planes:,}: it grows as a power of the number of rows and there is no fast exact "
            "algorithm. Use fewer rows or columns, or a perceptron or logistic regression."
        )
    best = np.zeros(r)
    least, seen = m, 0
    subsets = combinations(range(len(directions)), r - 1)
    while least and (batch := list(islice(subsets, _BATCH))):
        _, weight, axes = np.linalg.svd(directions[np.array(batch)], full_matrices=True)
        seen += len(batch)
        # What is orthogonal to independent rows; many rows may share a plane.
        lines = _distinct(axes[weight[:, -1] > _ON_PLANE, -1])
        side = Z @ lines.T
        wrong = np.stack([side < -_ON_PLANE, side > _ON_PLANE]).sum(axis=1)
        for flat in np.argsort(wrong, axis=None, kind="stable"):
            turn, place = divmod(int(flat), len(lines))
            if wrong[turn, place] >= least:
                break  # the rows on the line can only add mistakes
            line = -lines[place] if turn else lines[place]
            w, deeper = _tilt(Z, line, max_planes)
            seen += deeper
            found = _count(Z, w)
            if found < least:
                best, least = w, found
    return best, seen


def _distinct(directions: FloatArray) -> FloatArray:
    """Return unit vectors that differ by more than rounding and sign."""
    rounded = np.round(directions, _DIGITS) + 0.0  # no minus zero
    first = np.argmax(rounded != 0, axis=1)
    sign = np.sign(np.take_along_axis(rounded, first[:, np.newaxis], axis=1))
    _, places = np.unique(rounded * sign, axis=0, return_index=True)
    return directions[np.sort(places)]


def _tilt(Z: FloatArray, line: FloatArray, max_planes: int) -> tuple[FloatArray, int]:
    """Move off a line a little, so that the rows vanishing on it fall on their best side."""
    along = Z @ line
    on = np.abs(along) <= _ON_PLANE
    toward, seen = _search(Z[on], max_planes)
    reach = np.abs(Z @ toward).max()
    least = np.abs(along[~on]).min(initial=1.0)
    return (line if reach == 0 else line + least / (2 * reach) * toward), seen
