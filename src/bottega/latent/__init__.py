"""Latent structure: few numbers behind many columns, and factors of matrices."""

__all__ = [  # made by docs/generate.py
]
