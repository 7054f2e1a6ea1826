"""Probabilistic principal components: rows with missing values, expectation and ascent."""
