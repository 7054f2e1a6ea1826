"""Factors without negative entries: the table, its starts and its solvers."""
