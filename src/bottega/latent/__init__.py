"""Latent structure: few numbers behind many columns, and factors of matrices."""

from bottega.latent.matrix_factorization import MatrixFactorization

__all__ = [  # made by docs/generate.py
    "MatrixFactorization",
]
