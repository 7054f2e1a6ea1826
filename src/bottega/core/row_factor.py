"""The QR factor of rows, which blocks of them are merged into: squares lose no digits in it."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

__all__ = ["RowFactor", "triangle_of"]


def triangle_of(rows: FloatArray) -> FloatArray:
    """Return the triangle of the QR decomposition of some rows."""
    with one_thread():
        return np.asarray(np.linalg.qr(rows, mode="r"))


@dataclass
class RowFactor:
    """The QR factor of some rows; that of more is that of both factors, one above the other.

    Examples
    --------
    >>> ahead, behind = RowFactor.of(np.array([[3.0]])), RowFactor.of(np.array([[0.0], [4.0]]))
    >>> np.abs(ahead.merge(behind).R).round(9).tolist()
    [[5.0]]
    """

    R: FloatArray

    @classmethod
    def of(cls, rows: FloatArray) -> Self:
        """Return the factor of a block of rows."""
        return cls(triangle_of(rows))

    def merge(self, other: Self) -> Self:
        """Return the factor of these rows and of others."""
        return self.of(np.vstack([self.R, other.R]))
