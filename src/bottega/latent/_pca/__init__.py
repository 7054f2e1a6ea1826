"""Machinery of principal components: centred rows, solvers, criteria for their number."""
