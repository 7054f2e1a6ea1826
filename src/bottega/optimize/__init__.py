"""Solvers that several methods share, and minimisers that show every step.

`gradient_descent`, `momentum`, `nesterov`, `adagrad`, `adam`, `newton`, `lbfgs`,
`coordinate_descent`, `bisection`, `sgd`, `projected_gradient`, `proximal_gradient`, `frank_wolfe`
and `minimize` (SciPy's solvers) take a function and a starting point and return a `Minimum`: the
point, a verdict, the trace, a picture. `Problem`, `linear_program` and `quadratic_program` are for
constraints, `convexity` for proofs, `distributed_descent` for several processes.

The solvers of the estimators take plain arrays: coordinate descent and proximal Newton steps for
penalised models; interior points, projections and exact least squares for losses in a convex
region; the exact search for half spaces; expectation-maximisation.
"""

from bottega.optimize import pieces
from bottega.optimize._problem.dual import DualValue
from bottega.optimize._problem.feasible import SlaterCheck
from bottega.optimize._problem.kkt import KKTCheck
from bottega.optimize.adagrad import adagrad
from bottega.optimize.adam import adam
from bottega.optimize.bisection import Bracket, bisection
from bottega.optimize.convex_sets import SetConvexity, convex_set
from bottega.optimize.convexity import Convexity, ConvexityCheck, Piece, Reason, Witness, convexity
from bottega.optimize.coordinate_descent import coordinate_descent
from bottega.optimize.curvature_bounds import CurvatureBounds, curvature_bounds
from bottega.optimize.distributed import WorkerError, distributed_descent
from bottega.optimize.distributed_minimum import DistributedMinimum
from bottega.optimize.em import Ascent, em
from bottega.optimize.extrapolation import Extrapolation
from bottega.optimize.frank_wolfe import frank_wolfe
from bottega.optimize.gradient_descent import gradient_descent
from bottega.optimize.hull import Hull, VertexMaximum, convex_hull, polytope
from bottega.optimize.lbfgs import lbfgs
from bottega.optimize.linear_program import linear_program
from bottega.optimize.minimize import minimize
from bottega.optimize.minimum import Minimum, Trace
from bottega.optimize.momentum import momentum
from bottega.optimize.nesterov import nesterov
from bottega.optimize.newton import newton
from bottega.optimize.nonnegative import nonnegative_least_squares
from bottega.optimize.objective import GradientCheck, check_gradient
from bottega.optimize.problem import DualOptimum, Problem
from bottega.optimize.projected_gradient import projected_gradient
from bottega.optimize.projections import (
    onto_affine,
    onto_ball,
    onto_box,
    onto_half_space,
    onto_l1_ball,
    onto_orthant,
    onto_polyhedron,
    onto_simplex,
)
from bottega.optimize.proximal import (
    Proximal,
    box_penalty,
    l1_penalty,
    l2_penalty,
    nuclear_penalty,
    shrink_norm,
    shrink_singular_values,
    soft_threshold,
    squared_penalty,
)
from bottega.optimize.proximal_gradient import proximal_gradient
from bottega.optimize.quadratic_function import QuadraticFunction
from bottega.optimize.quadratic_program import quadratic_program
from bottega.optimize.sgd import StochasticMinimum, sgd
from bottega.optimize.simulated_cluster import Delays, simulated_cluster
from bottega.optimize.solution import Solution
from bottega.optimize.worker_scaling import WorkerScaling, worker_scaling

__all__ = [
    "Ascent",
    "Bracket",
    "Convexity",
    "ConvexityCheck",
    "CurvatureBounds",
    "Delays",
    "DistributedMinimum",
    "DualOptimum",
    "DualValue",
    "Extrapolation",
    "GradientCheck",
    "Hull",
    "KKTCheck",
    "Minimum",
    "Piece",
    "Problem",
    "Proximal",
    "QuadraticFunction",
    "Reason",
    "SetConvexity",
    "SlaterCheck",
    "Solution",
    "StochasticMinimum",
    "Trace",
    "VertexMaximum",
    "Witness",
    "WorkerError",
    "WorkerScaling",
    "adagrad",
    "adam",
    "bisection",
    "box_penalty",
    "check_gradient",
    "convex_hull",
    "convex_set",
    "convexity",
    "coordinate_descent",
    "curvature_bounds",
    "distributed_descent",
    "em",
    "frank_wolfe",
    "gradient_descent",
    "l1_penalty",
    "l2_penalty",
    "lbfgs",
    "linear_program",
    "minimize",
    "momentum",
    "nesterov",
    "newton",
    "nonnegative_least_squares",
    "nuclear_penalty",
    "onto_affine",
    "onto_ball",
    "onto_box",
    "onto_half_space",
    "onto_l1_ball",
    "onto_orthant",
    "onto_polyhedron",
    "onto_simplex",
    "pieces",
    "polytope",
    "projected_gradient",
    "proximal_gradient",
    "quadratic_program",
    "sgd",
    "shrink_norm",
    "shrink_singular_values",
    "simulated_cluster",
    "soft_threshold",
    "squared_penalty",
    "worker_scaling",
]
