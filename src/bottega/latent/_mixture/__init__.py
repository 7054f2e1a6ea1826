"""Mixtures of probabilistic principal components: start, EM, one fit."""
