"""Searches for the subset of columns of every size."""
