"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.correlation_filter import CorrelationFilter
from bottega.latent.pca import PCA
from bottega.latent.svd import LowRank, SingularDecomposition, low_rank, svd
from bottega.latent.variance_filter import VarianceFilter

__all__ = [  # made by docs/generate.py
    "PCA",
    "CorrelationFilter",
    "LowRank",
    "SingularDecomposition",
    "VarianceFilter",
    "low_rank",
    "svd",
]
