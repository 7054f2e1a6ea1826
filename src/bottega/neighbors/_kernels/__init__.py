"""Compiled loops: distances, votes of neighbours, Parzen sums."""
