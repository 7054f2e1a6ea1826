"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.correlation_filter import CorrelationFilter
from bottega.latent.factor_analysis import FactorAnalysis
from bottega.latent.matrix_factorization import MatrixFactorization
from bottega.latent.mixture_of_ppca import MixtureOfPPCA
from bottega.latent.pca import PCA
from bottega.latent.probabilistic_pca import ProbabilisticPCA
from bottega.latent.svd import LowRank, SingularDecomposition, low_rank, svd
from bottega.latent.variance_filter import VarianceFilter

__all__ = [  # made by docs/generate.py
    "PCA",
    "CorrelationFilter",
    "FactorAnalysis",
    "LowRank",
    "MatrixFactorization",
    "MixtureOfPPCA",
    "ProbabilisticPCA",
    "SingularDecomposition",
    "VarianceFilter",
    "low_rank",
    "svd",
]
