"""Compiled loops of the ensembles."""
