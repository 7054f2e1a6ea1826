"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.boolean_factorization import BooleanFactorization
from bottega.latent.nonnegative_factorization import NonnegativeFactorization

__all__ = [  # made by docs/generate.py
    "BooleanFactorization",
    "NonnegativeFactorization",
]
