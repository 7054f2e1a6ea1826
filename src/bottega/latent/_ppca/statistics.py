"""Moments of rows in chunks, until a value is missing."""

from typing import Any, Self

import numpy as np

from bottega.core.moments import Moments
from bottega.latent._reading.sizes import check_sizes

__all__ = ["GappedMoments"]


class GappedMoments:
    """Moments of the rows, or None once a value is missing: the rows are then read again."""

    def __init__(self) -> None:
        self.moments: Moments | None = Moments()

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        check_sizes(X)
        if self.moments is not None:
            self.moments = None if np.isnan(X).any() else self.moments.update(X, w=w)
        return self

    def merge(self, other: Self) -> Self:
        """Take in the moments of other rows."""
        if self.moments is None or other.moments is None:
            self.moments = None
        else:
            self.moments.merge(other.moments)
        return self
