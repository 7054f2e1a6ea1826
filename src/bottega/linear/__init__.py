"""Linear models: from least squares to the whole lasso path.

`LeastSquares` and its stream form `RecursiveLeastSquares`; the shrinking family `Ridge`, `Lasso`,
`ElasticNet`, `AdaptiveLasso` and, for classes, `LogisticLasso`; the exact path `LeastAngle`; the
choosing `SubsetSelection`; `PrincipalComponentsRegression`; and `BayesianRegression`. They share
`centering` (one origin and scale), `spectrum` (singular coordinates), `problem` (rows or chunks of
rows, decomposed once) and `leave_one_out`.
"""

from bottega.linear.bayesian import BayesianRegression
from bottega.linear.elastic_net import ElasticNet
from bottega.linear.gram_schmidt import gram_schmidt
from bottega.linear.lasso import AdaptiveLasso, Lasso
from bottega.linear.least_angle import LeastAngle
from bottega.linear.least_squares import LeastSquares
from bottega.linear.logistic_lasso import LogisticLasso
from bottega.linear.principal_components import PrincipalComponentsRegression
from bottega.linear.recursive import RecursiveLeastSquares
from bottega.linear.ridge import Ridge
from bottega.linear.subset_selection import SubsetSelection
from bottega.linear.theory import irrepresentable, orthogonal_shrinkage, penalty_region

__all__ = [
    "AdaptiveLasso",
    "BayesianRegression",
    "ElasticNet",
    "Lasso",
    "LeastAngle",
    "LeastSquares",
    "LogisticLasso",
    "PrincipalComponentsRegression",
    "RecursiveLeastSquares",
    "Ridge",
    "SubsetSelection",
    "gram_schmidt",
    "irrepresentable",
    "orthogonal_shrinkage",
    "penalty_region",
]
