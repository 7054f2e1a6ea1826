"""Row weights where pairs of rows are counted: how many rows there are beside one of them."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["own_mass"]


def own_mass(weight: FloatArray) -> FloatArray:
    """Return what of each row's weight is itself: at most one, the rest being rows like it."""
    return np.minimum(weight, 1.0)
