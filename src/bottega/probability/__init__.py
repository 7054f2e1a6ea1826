"""Probability models on their own: `BayesianNetwork`."""

from bottega.probability.network import BayesianNetwork

__all__ = [  # made by docs/generate.py
    "BayesianNetwork",
]
