"""The direction with which the fewest rows have a product of at most zero, by exact search."""

import math
from itertools import combinations, islice

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["count_violations", "fewest_violations"]

_ON_PLANE = 1e-10  # of rows of unit length: nearer than this counts as on the plane
_DIGITS = 9  # directions that agree so far are taken for one
_BATCH = 4096


def count_violations(Z: FloatArray, w: FloatArray) -> int:
    """Return how many rows have ``z.w <= 0``."""
    return int(np.count_nonzero(Z @ w <= 0))


def fewest_violations(Z: FloatArray, max_planes: int) -> tuple[FloatArray, int]:
    """Return the w with the fewest rows ``z.w <= 0``, and how many lines were looked at.

    Any arrangement of the signs of ``z.w`` without zeros touches a line of w on which some d - 1
    independent rows vanish. So it is enough to look at each such line, in both directions, and to
    solve the same problem, one dimension lower, for the rows that vanish there.

    Parameters
    ----------
    Z : ndarray of shape (m, d)
        Rows, turned so that a positive product is wanted of each.
    max_planes : int
        Most sets of d - 1 distinct rows to look at; an `InputError` says when more are needed.

    Returns
    -------
    w : ndarray of shape (d,)
        The direction.
    seen : int
        Sets of rows looked at.

    Examples
    --------
    >>> w, _ = fewest_violations(np.array([[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.1]]), 100)
    >>> count_violations(np.array([[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.1]]), w)
    1
    """
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
        return min(np.ones(1), -np.ones(1), key=lambda w: count_violations(Z, w)), 1
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
            found = count_violations(Z, w)
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
    toward, seen = fewest_violations(Z[on], max_planes)
    reach = np.abs(Z @ toward).max()
    least = np.abs(along[~on]).min(initial=1.0)
    return (line if reach == 0 else line + least / (2 * reach) * toward), seen
