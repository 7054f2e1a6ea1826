"""Kernel ridge regression: decompositions, their paths, and approximations for many rows."""
