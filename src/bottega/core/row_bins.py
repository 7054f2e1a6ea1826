"""Bins of rows by what is predicted for them."""

import numpy as np

from bottega.core.typing import FloatArray, IntArray

__all__ = ["equal_bins", "even_bins"]


def equal_bins(predicted: FloatArray, count: int) -> list[IntArray]:
    """Return the rows of bins of about equal size; rows of equal predictions stay together.

    Examples
    --------
    >>> [rows.tolist() for rows in equal_bins(np.array([0.3, 0.1, 0.1, 0.1, 0.9, 0.5]), 3)]
    [[1, 2, 3], [0], [5, 4]]
    """
    order = np.argsort(predicted, kind="stable")
    cuts = np.round(np.linspace(0, len(order), count + 1)[1:-1]).astype(np.intp)
    cuts = np.minimum(cuts, len(order) - 1)
    # A cut inside a run of equal predictions moves to the nearer end of the run.
    rising = predicted[order]
    first = np.searchsorted(rising, rising[cuts], side="left")
    last = np.searchsorted(rising, rising[cuts], side="right")
    cuts = np.unique(np.where(cuts - first <= last - cuts, first, last))
    return [part for part in np.split(order, cuts) if len(part)]


def even_bins(predicted: FloatArray, count: int) -> list[IntArray]:
    """Return the rows of bins of equal width between 0 and 1; empty ones are left out."""
    place = np.minimum((predicted * count).astype(np.intp), count - 1)
    return [np.flatnonzero(place == k) for k in np.unique(place)]
