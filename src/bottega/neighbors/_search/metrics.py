"""The distances by name, and what each search calls them."""

import numpy as np

from bottega.core.params import AnyOf, Choice, Function
from bottega.neighbors._kernels.distances import CHEBYSHEV, EUCLIDEAN, HAMMING, MANHATTAN

__all__ = ["BRUTE_NAMES", "CODES", "METRICS", "TREE_POWERS", "metric_parameter"]

METRICS = ("euclidean", "manhattan", "chebyshev", "cosine", "hamming", "mahalanobis", "edit")

# Cosine and Mahalanobis distances are Euclidean ones after a change of coordinates.
CODES = {
    "euclidean": EUCLIDEAN,
    "cosine": EUCLIDEAN,
    "mahalanobis": EUCLIDEAN,
    "manhattan": MANHATTAN,
    "chebyshev": CHEBYSHEV,
    "hamming": HAMMING,
}
BRUTE_NAMES = ("euclidean", "manhattan", "chebyshev", "hamming")
TREE_POWERS = (2.0, 1.0, np.inf)


def metric_parameter() -> AnyOf:
    """Declare a parameter that names a distance."""
    return AnyOf(Choice(*METRICS), Function(), help="distance: its name, or a callable(a, b)")
