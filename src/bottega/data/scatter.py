"""Means of the classes of rows, and the scatter of few columns about them, in one pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.moments import Moments
from bottega.core.rows import first_rows
from bottega.core.typing import FloatArray, IntArray
from bottega.data._kernels.products import centred_products

__all__ = ["Scatter", "class_scatter", "narrow_moments", "narrow_scatter", "row_moments"]

_WIDEST = 48  # columns and classes beyond which linear algebra is as fast
_LEAST = 2**17  # numbers below which a pass of the kernel is not worth compiling it
_LARGEST = 2**23  # numbers beyond which linear algebra has threads to use
_FAR = 16.0  # squared distance of a mean from it, against the variance, that costs a digit
_NO_CODES: IntArray = np.empty(0, dtype=np.intp)


@dataclass(frozen=True)
class Scatter:
    """Moments of the columns of ``[X, Y]`` by class.

    Attributes
    ----------
    count : ndarray of int, shape (K,)
    centre : ndarray of shape (K, d)
        Numbers near the means.
    offset : ndarray of shape (K, d)
        Means less the centres: the digits of a mean that is large beside the spread.
    scatter : ndarray of shape (d, d)
        Sums of squares and products about the means of the classes.
    """

    count: IntArray
    centre: FloatArray
    offset: FloatArray
    scatter: FloatArray


def narrow_scatter(
    X: FloatArray, Y: FloatArray | None = None, codes: IntArray | None = None, K: int = 1
) -> Scatter | None:
    """Return `class_scatter` of many rows of few columns; None where linear algebra is as good."""
    n, p = X.shape
    d = p + (0 if Y is None else Y.shape[1])
    if not X.flags.f_contiguous or X.dtype != np.float64:
        return None
    if d + K > _WIDEST or not _LEAST <= n * d <= _LARGEST:
        return None
    return class_scatter(X, Y, codes, K)


def class_scatter(
    X: FloatArray, Y: FloatArray | None = None, codes: IntArray | None = None, K: int = 1
) -> Scatter:
    """Return the moments of rows by class.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Rows, stored by columns.
    Y : ndarray of shape (n, q), optional
        Further columns.
    codes : ndarray of int, shape (n,), optional
        Classes of the rows, below K.
    K : int
        Number of classes.

    Examples
    --------
    >>> X = np.asfortranarray(np.arange(400.0)[:, None] % 5)
    >>> found = class_scatter(X)
    >>> (found.centre + found.offset).tolist(), found.scatter.tolist()
    ([[2.0]], [[800.0]])
    """
    n = len(X)
    further = np.empty((0, n)) if Y is None else np.ascontiguousarray(Y.T, dtype=np.float64)
    codes = _NO_CODES if codes is None or K == 1 else codes.astype(np.intp, copy=False)
    # A constant is exactly zero about its value, and another class may be far away.
    first = first_rows(codes, K) if K > 1 else [0]
    centre = np.hstack([X[first], further.T[first]])
    with np.errstate(all="ignore"):  # what overflows is for others to refuse
        found = _about(X.T, further, codes, centre)
        variance = found.scatter.diagonal() / n
        if np.any(found.offset**2 > _FAR * variance):  # the first rows misled
            found = _about(X.T, further, codes, found.centre + found.offset)
    return found


def narrow_moments(X: FloatArray, y: FloatArray | None = None) -> Moments | None:
    """Return the moments of ``[X, y]`` of many rows without weights, few columns; None as above."""
    found = narrow_scatter(X, y)
    if found is None:
        return None
    return Moments.about(X.shape[1], len(X), found.centre[0], found.offset[0], found.scatter)


def row_moments(X: FloatArray, w: FloatArray | None = None) -> Moments:
    """Return the moments of a block of rows, the faster way."""
    found = narrow_moments(X) if w is None else None
    return Moments().update(X, w=w) if found is None else found


def _about(XT: FloatArray, YT: FloatArray, codes: IntArray, centre: FloatArray) -> Scatter:
    K, d = centre.shape
    D = -(-(d + K) // 4) * 4
    G: Any = np.zeros((D, D))
    centred_products(XT, YT, codes, centre, G)
    weight, sums = G.diagonal()[d : d + K], G[d : d + K, :d]
    offset = sums / np.maximum(weight, 1.0)[:, None]
    scatter = G[:d, :d] - sums.T @ offset
    np.fill_diagonal(scatter, np.maximum(scatter.diagonal(), 0.0))
    return Scatter(weight.astype(np.int64), centre, offset, scatter)
