"""Linear models: from least squares to the whole lasso path.

`LeastSquares` and its stream form `RecursiveLeastSquares`; the shrinking family `Ridge`, `Lasso`,
`ElasticNet` and `AdaptiveLasso`; the exact path `LeastAngle`; the choosing `SubsetSelection`;
`PrincipalComponentsRegression`; and `BayesianRegression`.
"""

from bottega.linear.adaptive_lasso import AdaptiveLasso
from bottega.linear.bayesian import BayesianRegression
from bottega.linear.elastic_net import ElasticNet
from bottega.linear.gram_schmidt import gram_schmidt
from bottega.linear.lasso import Lasso
from bottega.linear.least_angle import LeastAngle
from bottega.linear.least_squares import LeastSquares
from bottega.linear.penalty_theory import (
    Irrepresentable,
    PenaltyRegion,
    irrepresentable,
    orthogonal_shrinkage,
    penalty_region,
)
from bottega.linear.principal_components import PrincipalComponentsRegression
from bottega.linear.recursive import RecursiveLeastSquares
from bottega.linear.ridge import Ridge
from bottega.linear.subset import SubsetSelection

__all__ = [  # made by docs/generate.py
    "AdaptiveLasso",
    "BayesianRegression",
    "ElasticNet",
    "Irrepresentable",
    "Lasso",
    "LeastAngle",
    "LeastSquares",
    "PenaltyRegion",
    "PrincipalComponentsRegression",
    "RecursiveLeastSquares",
    "Ridge",
    "SubsetSelection",
    "gram_schmidt",
    "irrepresentable",
    "orthogonal_shrinkage",
    "penalty_region",
]
