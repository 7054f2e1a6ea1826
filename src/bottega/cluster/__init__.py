"""Groups of rows: k-means, mixtures, trees of clusters."""

from bottega.cluster.gaussian_mixture import GaussianMixture

__all__ = [  # made by docs/generate.py
    "GaussianMixture",
]
