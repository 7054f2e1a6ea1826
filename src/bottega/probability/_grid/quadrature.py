"""Nodes and weights on an interval, finer towards ends where a density may be infinite."""

import numpy as np

from bottega.core.typing import FloatArray

__all__ = ["halving_edges", "rule_on"]

# Panels that halve towards an end. What lies beyond is the rest of a geometric series if the
# density is a power of the distance; with many more the distance itself would be rounded away.
_SHELLS = 30
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)


def rule_on(edges: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return nodes and weights of Gauss and Legendre's rule on each interval between edges.

    Examples
    --------
    >>> x, w = rule_on(np.array([0.0, 0.5, 1.0]))
    >>> len(x), round(float(w @ x**7), 12)
    (16, 0.125)
    """
    half = 0.5 * np.diff(edges)
    middle = edges[:-1] + half
    x = middle[:, None] + half[:, None] * _NODES
    return x.ravel(), (half[:, None] * _WEIGHTS).ravel()


def halving_edges(
    low: float, high: float, panels: int, *, to_low: bool, to_high: bool
) -> FloatArray:
    """Return edges of equal panels; the first and the last are halved again and again if asked."""
    edges = np.linspace(low, high, panels + 1)
    shrink = 0.5 ** np.arange(_SHELLS, 0, -1)
    parts = [edges]
    if to_low:
        parts.insert(0, low + (edges[1] - low) * shrink)
    if to_high:
        parts.append((high - (high - edges[-2]) * shrink)[::-1])
    return np.unique(np.concatenate(parts))
