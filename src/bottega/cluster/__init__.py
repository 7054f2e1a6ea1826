"""Groups of rows: k-means, mixtures, trees of clusters."""

from bottega.cluster.gaussian_mixture import GaussianMixture
from bottega.cluster.profile import ClusterProfiles, what_sets_apart

__all__ = [  # made by docs/generate.py
    "ClusterProfiles",
    "GaussianMixture",
    "what_sets_apart",
]
