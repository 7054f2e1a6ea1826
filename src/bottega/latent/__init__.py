"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.boolean_factorization import BooleanFactorization
from bottega.latent.mds import MDS
from bottega.latent.nonnegative_factorization import NonnegativeFactorization
from bottega.latent.tsne import TSNE

__all__ = [  # made by docs/generate.py
    "MDS",
    "TSNE",
    "BooleanFactorization",
    "NonnegativeFactorization",
]
