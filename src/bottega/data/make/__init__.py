"""Generators with known truth: data whose best possible predictor and its risk are known.

Each takes the number of rows and a random state and returns a `Sample`. The risk of the Bayes
predictor is exact (a closed form), so that a method's excess risk can be computed and not only
estimated.

>>> from bottega.data import make
>>> sample = make.two_gaussians(100, distance=2.0)
>>> round(sample.bayes_risk, 4)
0.1587
"""

from bottega.data.make.classification import (
    lipschitz,
    nested_spheres,
    separable,
    two_gaussians,
    xor,
)
from bottega.data.make.regression import friedman1, friedman2, friedman3, sine, sparse_linear
from bottega.data.make.sample import Sample

__all__ = [
    "Sample",
    "friedman1",
    "friedman2",
    "friedman3",
    "lipschitz",
    "nested_spheres",
    "separable",
    "sine",
    "sparse_linear",
    "two_gaussians",
    "xor",
]
