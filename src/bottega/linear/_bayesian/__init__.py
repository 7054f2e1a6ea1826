"""Priors and the evidence of Bayesian linear regression."""
