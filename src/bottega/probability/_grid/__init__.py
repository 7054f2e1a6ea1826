"""Priors of any form, and the grids on which they are integrated."""
