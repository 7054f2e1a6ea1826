"""Texts: corpora, clean stems, stem matrices, tags, scores and the words that decide."""

__all__ = [  # made by docs/generate.py
]
