"""Groups of rows: k-means, mixtures, trees of clusters."""

from bottega.cluster.density_clusters import DensityClusters
from bottega.cluster.gap import GapStatistic, gap_statistic
from bottega.cluster.gaussian_mixture import GaussianMixture
from bottega.cluster.hierarchical import Hierarchical
from bottega.cluster.kmeans import KMeans
from bottega.cluster.normal_densities import NormalDensities
from bottega.cluster.profile import ClusterProfiles, what_sets_apart
from bottega.cluster.silhouette import Silhouettes, silhouette

__all__ = [  # made by docs/generate.py
    "ClusterProfiles",
    "DensityClusters",
    "GapStatistic",
    "GaussianMixture",
    "Hierarchical",
    "KMeans",
    "NormalDensities",
    "Silhouettes",
    "gap_statistic",
    "silhouette",
    "what_sets_apart",
]
