"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.boolean_factorization import BooleanFactorization
from bottega.latent.correlation_filter import CorrelationFilter
from bottega.latent.factor_analysis import FactorAnalysis
from bottega.latent.matrix_factorization import MatrixFactorization
from bottega.latent.mds import MDS
from bottega.latent.mixture_of_ppca import MixtureOfPPCA
from bottega.latent.nonnegative_factorization import NonnegativeFactorization
from bottega.latent.pca import PCA
from bottega.latent.probabilistic_pca import ProbabilisticPCA
from bottega.latent.svd import LowRank, SingularDecomposition, low_rank, svd
from bottega.latent.tsne import TSNE
from bottega.latent.variance_filter import VarianceFilter

__all__ = [  # made by docs/generate.py
    "MDS",
    "PCA",
    "TSNE",
    "BooleanFactorization",
    "CorrelationFilter",
    "FactorAnalysis",
    "LowRank",
    "MatrixFactorization",
    "MixtureOfPPCA",
    "NonnegativeFactorization",
    "ProbabilisticPCA",
    "SingularDecomposition",
    "VarianceFilter",
    "low_rank",
    "svd",
]
