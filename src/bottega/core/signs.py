"""The sign of a direction, which is free: one convention for eigenvectors, axes and loadings."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["signed", "signs"]

# Entries whose sizes differ by this share are equal: rounding, which differs between processors,
# does not decide.
_TIE = 1e-8


def signs(V: FloatArray) -> FloatArray:
    """Return 1 or -1 for each column: multiplied by it, the entry of largest size is positive.

    Among entries of one size the first decides; a column of zeros keeps its sign.

    Examples
    --------
    >>> signs(np.array([[0.6, -0.5], [-0.8, 0.5]]))
    array([-1., -1.])
    """
    if not V.size:
        return np.ones(V.shape[1])
    size = np.abs(V)
    first = np.argmax(size >= (1 - _TIE) * size.max(axis=0), axis=0)
    return np.where(V[first, np.arange(V.shape[1])] < 0, -1.0, 1.0)


def signed(V: FloatArray) -> FloatArray:
    """Return vectors (in columns) whose entry of largest size is positive.

    Examples
    --------
    >>> signed(np.array([[0.6, -0.5], [-0.8, 0.5]]))
    array([[-0.6,  0.5],
           [ 0.8, -0.5]])
    """
    return np.asarray(V * signs(V))
