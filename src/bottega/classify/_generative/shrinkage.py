"""How far a covariance is drawn towards its diagonal: formulas, instead of a path."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.classify._generative.moments import ClassMoments, row_blocks
from bottega.core.added_sums import AddedSums
from bottega.core.typing import FloatArray

__all__ = ["ledoit_wolf", "oracle_approximating"]


def oracle_approximating(values: FloatArray, p: int, n: float) -> float:
    """Return the intensity that is best for normal rows, from their correlations alone.

    The estimate of Chen, Wiesel, Eldar and Hero (2010) for the target of uncorrelated columns, on
    p columns of unit variance; `values` are the eigenvalues of their correlations but for zeros.

    Examples
    --------
    >>> oracle_approximating(np.array([0.5, 1.5]), 2, 20)  # a correlation of 0.5
    0.6190476190476191
    """
    p = max(p, 1)
    mean_square = float(np.sum(values**2)) / p**2
    spread = (n + 1) * (mean_square - 1 / p)
    return float(min((mean_square + 1) / spread, 1.0)) if spread > 1e-12 else 1.0


def ledoit_wolf(
    moments: ClassMoments, kept: Any, reduce: Callable[[Callable[..., Any]], Any]
) -> float:
    """Return the intensity of Ledoit and Wolf (2004), from one more pass over the rows.

    Columns are centred within their class and have unit variance (divisor n) within classes; `kept`
    are those that vary. `reduce` gives what a function makes of inputs, codes of classes and
    weights, merged over all rows.
    """
    weight = float(moments.weight.sum())
    within = moments.within()[np.ix_(kept, kept)] / weight
    scale = np.sqrt(np.diag(within))
    correlation = within / np.outer(scale, scale)
    means = moments.mean[:, kept] / scale

    def fourth_moments(X: FloatArray, y: Any, w: Any) -> AddedSums:
        total = 0.0
        for part in row_blocks(len(X), len(scale)):
            Z = X[part][:, kept] / scale - means[y[part]]
            square = np.einsum("ij,ij->i", Z, Z) ** 2
            total += float(square.sum() if w is None else w[part] @ square)
        return AddedSums((total,))

    (fourth,) = reduce(fourth_moments).values
    size = float(np.sum(correlation**2))
    distance = size - len(scale)  # from the identity
    noise = (fourth / weight - size) / weight
    if distance <= 1e-12 * size:
        return 1.0
    return float(np.clip(noise / distance, 0.0, 1.0))
