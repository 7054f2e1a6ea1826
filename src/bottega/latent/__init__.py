"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.factor_analysis import FactorAnalysis
from bottega.latent.mixture_of_ppca import MixtureOfPPCA
from bottega.latent.probabilistic_pca import ProbabilisticPCA

__all__ = [  # made by docs/generate.py
    "FactorAnalysis",
    "MixtureOfPPCA",
    "ProbabilisticPCA",
]
