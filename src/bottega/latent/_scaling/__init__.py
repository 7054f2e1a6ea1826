"""Multidimensional scaling: distances, the classical solution, stress."""
