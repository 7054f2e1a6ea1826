"""The space that the terms so far span, as orthonormal columns, and what it leaves of responses."""

import numpy as np

from bottega.additive._kernels.adaptive_knots import NEW
from bottega.core.typing import FloatArray


class Span:
    """Orthonormal columns, added one by one, and residuals orthogonal to them.

    Attributes
    ----------
    Q : ndarray of shape (room, n)
        The first `size` columns, one after the other in memory.
    R : ndarray of shape (q, n)
        What is left of the responses.
    """

    def __init__(self, R: FloatArray, room: int) -> None:
        self.Q: FloatArray = np.empty((room, R.shape[1]))
        self.R = np.ascontiguousarray(R)
        self.size = 0

    def add(self, column: FloatArray) -> bool:
        """Take a column in, and return True; or return False if it lies in the span."""
        length = float(np.linalg.norm(column))
        if length == 0.0 or self.size == len(self.Q):
            return False
        v = column / length
        Q = self.Q[: self.size]
        for _ in range(2):  # twice is enough
            v -= (Q @ v) @ Q
        left = float(np.linalg.norm(v))
        if left * left <= NEW:
            return False
        v /= left
        self.Q[self.size] = v
        self.size += 1
        self.R -= np.outer(self.R @ v, v)
        return True

    def leave(self, R: FloatArray) -> None:
        """Set other residuals, made orthogonal to the columns."""
        Q = self.Q[: self.size]
        self.R = np.ascontiguousarray(R - (R @ Q.T) @ Q)

    @property
    def rss(self) -> float:
        """Return the squares left, summed over all responses."""
        return float(np.vdot(self.R, self.R))
