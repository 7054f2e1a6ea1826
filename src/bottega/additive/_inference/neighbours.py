r"""Whether residuals that are neighbours along the inputs of a term are alike: Geary's ratio.

Symbols
-------
r      residuals, centred
w_ij   how far rows i and j are neighbours: symmetric, not negative
S0     sum of the w_ij over ordered pairs
S1     half the sum of (w_ij + w_ji)^2; S2 the sum of (w_i. + w_.i)^2
C      (n - 1) sum_ij w_ij (r_i - r_j)^2 / (2 S0 sum_i r_i^2): 1 on average over all orders
b2     kurtosis of the residuals
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.spatial import cKDTree

from bottega.core.typing import FloatArray

__all__ = ["NeighbourRatio", "neighbour_ratio"]

_NEAREST = 4
_MOST_POINTS = 20_000  # of a surface


@dataclass(frozen=True)
class NeighbourRatio:
    """Geary's ratio of residuals and its test.

    Attributes
    ----------
    index : float
        Mean squared difference of neighbours over that of any two rows: below one where
        neighbours are alike.
    p_value : float
        Probability of an index as low if the residuals stood in any order.
    """

    index: float
    p_value: float


NO_RATIO = NeighbourRatio(np.nan, np.nan)


def neighbour_ratio(values: FloatArray, residual: FloatArray) -> NeighbourRatio:
    """Return the ratio of residuals along the inputs `values` of shape (n, d).

    Along one input, neighbours follow each other; where values are tied, all orders of the tied
    rows count alike. In several inputs, each on the scale of its standard deviation, they are the
    four nearest rows. The p-value takes the ratio as normal with its exact mean and variance over
    all orders of the residuals.
    """
    there = np.isfinite(residual) & np.all(np.isfinite(values), axis=1)
    values, r = values[there], residual[there]
    if values.shape[1] > 1 and len(r) > _MOST_POINTS:
        kept = np.linspace(0, len(r) - 1, _MOST_POINTS).round().astype(np.intp)
        values, r = values[kept], r[kept]
    n = len(r)
    if n < 5 or np.all(np.ptp(values, axis=0) == 0) or np.ptp(r) == 0:
        return NO_RATIO
    r = (r - r.mean()) / r.std()
    square = float(r @ r)
    parts = _along(values[:, 0], r) if values.shape[1] == 1 else _around(values, r)
    total, s0, s1, s2 = parts
    index = (n - 1) * total / (2 * s0 * square)
    b2 = n * float((r**4).sum()) / square**2
    variance = (
        (n - 1) * s1 * (n**2 - 3 * n + 3 - (n - 1) * b2)
        - (n - 1) * s2 / 4 * (n**2 + 3 * n - 6 - (n**2 - n + 2) * b2)
        + s0**2 * (n**2 - 3 - (n - 1) ** 2 * b2)
    ) / (n * (n - 2) * (n - 3) * s0**2)
    if not variance > 0:
        return NO_RATIO
    return NeighbourRatio(index, float(stats.norm.cdf((index - 1) / np.sqrt(variance))))


def _along(x: FloatArray, r: FloatArray) -> tuple[float, float, float, float]:
    """Return sum w (r_i - r_j)^2, S0, S1 and S2 of rows that follow each other along x.

    A random order of m tied rows makes neighbours of each pair of them with probability 2 / m, and
    of each pair of two groups that follow each other with probability 1 / (m m').
    """
    _, group, m = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.bincount(group, r)
    squares = np.bincount(group, r**2)
    mean, mean_square = sums / m, squares / m
    within = 2 * (squares - sums * mean)  # over unordered pairs, each 2 / m
    between = mean_square[:-1] + mean_square[1:] - 2 * mean[:-1] * mean[1:]
    total = 2 * float(within.sum() + between.sum())
    inside, across = 2 / m, 1 / (m[:-1] * m[1:])
    s0 = 2.0 * (len(r) - 1)
    s1 = 2 * float((m * (m - 1) * inside**2).sum() + 2 * (m[:-1] * m[1:] * across**2).sum())
    row = inside * (m - 1)
    row[:-1] += 1 / m[:-1]
    row[1:] += 1 / m[1:]
    return total, s0, s1, 4 * float((m * row**2).sum())


def _around(values: FloatArray, r: FloatArray) -> tuple[float, float, float, float]:
    """Return the same sums with the nearest rows as neighbours."""
    spread = values.std(axis=0)
    at = (values - values.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    count = min(_NEAREST, len(r) - 1)
    near = cKDTree(at).query(at, k=count + 1)[1]
    i, j = np.repeat(np.arange(len(r)), count + 1), near.ravel()
    i, j = i[i != j], j[i != j]
    pairs, times = np.unique(np.sort(np.column_stack([i, j]), axis=1), axis=0, return_counts=True)
    w = times / 2  # of each ordered pair: neighbours one way, or both
    total = 2 * float((w * (r[pairs[:, 0]] - r[pairs[:, 1]]) ** 2).sum())
    row = np.bincount(pairs[:, 0], w, minlength=len(r)) + np.bincount(
        pairs[:, 1], w, minlength=len(r)
    )
    return total, 2 * float(w.sum()), 4 * float((w**2).sum()), 4 * float((row**2).sum())
