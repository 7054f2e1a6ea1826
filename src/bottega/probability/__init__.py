"""Probability as a tool: models of coins and counts, networks, information, any likelihood.

Conjugate models (`BetaBernoulli` and kin) and `grid_posterior` go from prior to posterior;
`maximum_likelihood` fits any distribution of SciPy; `BayesianNetwork` answers questions about
discrete variables on a graph, `MultivariateNormal` about normal ones; `entropy`, `kl`,
`mutual_information` and `huffman` measure information; `matrix_derivatives` is a table to check.
"""

from bottega.probability.beta_bernoulli import BetaBernoulli
from bottega.probability.derivatives import MatrixDerivative, MatrixDerivatives, matrix_derivatives
from bottega.probability.dirichlet_categorical import DirichletCategorical
from bottega.probability.gamma_poisson import GammaPoisson
from bottega.probability.grid_posterior import GridPosterior, grid_posterior
from bottega.probability.huffman import PrefixCode, huffman
from bottega.probability.information import entropy, kl, mutual_information
from bottega.probability.maximum_likelihood import (
    MaximumLikelihood,
    ProfileLikelihood,
    maximum_likelihood,
)
from bottega.probability.multivariate_normal import MultivariateNormal
from bottega.probability.network import BayesianNetwork
from bottega.probability.normal_gamma import NormalGamma
from bottega.probability.normal_normal import NormalNormal

__all__ = [  # made by docs/generate.py
    "BayesianNetwork",
    "BetaBernoulli",
    "DirichletCategorical",
    "GammaPoisson",
    "GridPosterior",
    "MatrixDerivative",
    "MatrixDerivatives",
    "MaximumLikelihood",
    "MultivariateNormal",
    "NormalGamma",
    "NormalNormal",
    "PrefixCode",
    "ProfileLikelihood",
    "entropy",
    "grid_posterior",
    "huffman",
    "kl",
    "matrix_derivatives",
    "maximum_likelihood",
    "mutual_information",
]
