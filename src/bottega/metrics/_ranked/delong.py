"""The area under a ROC curve and its variance, from the places of rows among the other class."""

import numpy as np

from bottega.core.typing import FloatArray
from bottega.metrics._ranked.ranked import Ranked

__all__ = ["mean_and_variance", "placements"]


def placements(ranked: Ranked) -> FloatArray:
    """Return for each row the share of the other class that it is on the right side of.

    For a positive row the share of the other rows with a lower score, for another row the share of
    the positive rows with a higher one; equal scores count half.
    """
    before = np.cumsum(ranked.hits) - ranked.hits  # of higher scores
    higher = (before + ranked.hits / 2) / ranked.hits.sum()
    after = ranked.others.sum() - np.cumsum(ranked.others)  # of lower scores
    lower = (after + ranked.others / 2) / ranked.others.sum()
    return np.where(ranked.positive, lower[ranked.of_row], higher[ranked.of_row])


def mean_and_variance(ranked: Ranked, other: Ranked | None = None) -> tuple[float, float]:
    """Return the area and its variance; with another score of the same rows, of the difference.

    Examples
    --------
    >>> ranked = Ranked.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> mean_and_variance(ranked)
    (0.75, 0.125)
    """
    place = placements(ranked)
    if other is not None:
        place = place - placements(other)
    variance, mean = 0.0, 0.0
    for side in (True, False):
        rows = ranked.positive == side
        share = ranked.weights[rows] / ranked.weights[rows].sum()
        mean = float(share @ place[rows])
        square = float(share @ share)
        spread = float(share**2 @ (place[rows] - mean) ** 2)
        variance += spread / (1 - square) if square < 1 else np.nan
    return mean, variance
