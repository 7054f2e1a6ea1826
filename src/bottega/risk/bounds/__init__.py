"""Bounds on risk and regret, one pure function each, with its formula and assumptions.

Every function takes numbers or arrays (they broadcast) and returns a float for numbers, an array
for arrays. `bottega.risk.sample_size` asks the other way round: how many rows a bound needs.
"""

from bottega.risk.bounds.bounded import (
    bernstein_deviation,
    empirical_bernstein,
    hoeffding,
    hoeffding_deviation,
    hoeffding_probability,
)
from bottega.risk.bounds.candidates import union, union_probability
from bottega.risk.bounds.erm import erm_boolean_trees, erm_finite, erm_trees
from bottega.risk.bounds.free_lunch import NoFreeLunch, no_free_lunch
from bottega.risk.bounds.interval import clopper_pearson, student
from bottega.risk.bounds.neighbors import cover_hart, nn_asymptotic, nn_lipschitz, rate
from bottega.risk.bounds.perceptron import (
    kernel_perceptron,
    perceptron_compression,
    perceptron_convergence,
    perceptron_mistakes,
)
from bottega.risk.bounds.regret import ogd_regret, ogd_strongly_convex_regret
from bottega.risk.bounds.structural import code_length, srm, srm_code, srm_tree

__all__ = [
    "NoFreeLunch",
    "bernstein_deviation",
    "clopper_pearson",
    "code_length",
    "cover_hart",
    "empirical_bernstein",
    "erm_boolean_trees",
    "erm_finite",
    "erm_trees",
    "hoeffding",
    "hoeffding_deviation",
    "hoeffding_probability",
    "kernel_perceptron",
    "nn_asymptotic",
    "nn_lipschitz",
    "no_free_lunch",
    "ogd_regret",
    "ogd_strongly_convex_regret",
    "perceptron_compression",
    "perceptron_convergence",
    "perceptron_mistakes",
    "rate",
    "srm",
    "srm_code",
    "srm_tree",
    "student",
    "union",
    "union_probability",
]
