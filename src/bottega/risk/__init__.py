"""How far a claim about error can be trusted: bounds, and the certificates made from them."""

from bottega.risk.bounds import (
    NoFreeLunch,
    bernstein_deviation,
    clopper_pearson,
    code_length,
    cover_hart,
    empirical_bernstein,
    erm_boolean_trees,
    erm_finite,
    erm_trees,
    hoeffding,
    hoeffding_deviation,
    hoeffding_probability,
    kernel_perceptron,
    nn_asymptotic,
    nn_lipschitz,
    no_free_lunch,
    ogd_regret,
    ogd_strongly_convex_regret,
    perceptron_compression,
    perceptron_convergence,
    perceptron_mistakes,
    rate,
    srm,
    srm_code,
    srm_tree,
    student,
    union,
    union_probability,
)
from bottega.risk.bounds.sample_size import sample_size
from bottega.risk.certify import certify
from bottega.risk.certify_losses import certify_losses
from bottega.risk.estimate.compare_errors import ErrorComparison, compare_errors
from bottega.risk.estimate.cross_validate import CrossValidation, cross_validate
from bottega.risk.estimate.diagnose import Diagnosis, diagnose
from bottega.risk.estimate.holdout import Holdout, holdout
from bottega.risk.estimate.leave_one_out import LeaveOneOut, leave_one_out
from bottega.risk.estimate.mcnemar import McNemar, mcnemar
from bottega.risk.estimate.nested import nested_cv
from bottega.risk.estimate.nested_comparison import NestedComparison
from bottega.risk.estimate.nested_result import NestedCV
from bottega.risk.theory.bias_variance import Decomposition, bias_variance
from bottega.risk.theory.class_size import ClassSize, class_size
from bottega.risk.theory.consistency import Consistency, consistency
from bottega.risk.theory.erm import Minimisers, empirical_risk, erm
from bottega.risk.theory.finite_distribution import FiniteDistribution
from bottega.risk.theory.half_space import HalfSpace, half_space_erm
from bottega.risk.theory.hypotheses import labellings
from bottega.risk.theory.label_noise import annotators, hidden_features, noisy_features
from bottega.risk.theory.learning_curve import LearningCurve, learning_curve
from bottega.risk.theory.margin import hard_margin, margin, separable
from bottega.risk.theory.risk_terms import RiskTerms, risk_terms

__all__ = [
    "ClassSize",
    "Consistency",
    "CrossValidation",
    "Decomposition",
    "Diagnosis",
    "ErrorComparison",
    "FiniteDistribution",
    "HalfSpace",
    "Holdout",
    "LearningCurve",
    "LeaveOneOut",
    "McNemar",
    "Minimisers",
    "NestedCV",
    "NestedComparison",
    "NoFreeLunch",
    "RiskTerms",
    "annotators",
    "bernstein_deviation",
    "bias_variance",
    "certify",
    "certify_losses",
    "class_size",
    "clopper_pearson",
    "code_length",
    "compare_errors",
    "consistency",
    "cover_hart",
    "cross_validate",
    "diagnose",
    "empirical_bernstein",
    "empirical_risk",
    "erm",
    "erm_boolean_trees",
    "erm_finite",
    "erm_trees",
    "half_space_erm",
    "hard_margin",
    "hidden_features",
    "hoeffding",
    "hoeffding_deviation",
    "hoeffding_probability",
    "holdout",
    "kernel_perceptron",
    "labellings",
    "learning_curve",
    "leave_one_out",
    "margin",
    "mcnemar",
    "nested_cv",
    "nn_asymptotic",
    "nn_lipschitz",
    "no_free_lunch",
    "noisy_features",
    "ogd_regret",
    "ogd_strongly_convex_regret",
    "perceptron_compression",
    "perceptron_convergence",
    "perceptron_mistakes",
    "rate",
    "risk_terms",
    "sample_size",
    "separable",
    "srm",
    "srm_code",
    "srm_tree",
    "student",
    "union",
    "union_probability",
]
