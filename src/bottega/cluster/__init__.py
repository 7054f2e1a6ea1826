"""Groups of rows: k-means, mixtures, trees of clusters."""

__all__ = [  # made by docs/generate.py
]
