"""Joins of clusters, and the trees that they make."""
