"""Rows ordered by a score: counts above each threshold, and bands of the curves made of them."""
