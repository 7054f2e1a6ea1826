"""How far a claim about error can be trusted: bounds, and the certificates made from them."""

from bottega.core.losses import LOSSES, Cost, Huber, Loss, Quantile, get_loss
from bottega.risk import bounds
from bottega.risk.bounds import *  # noqa: F403 - the bounds are listed there
from bottega.risk.bounds.sample_size import sample_size
from bottega.risk.certify import certify, certify_losses
from bottega.risk.conformal import cross_conformal, jackknife_plus, split_conformal
from bottega.risk.cost_sensitive import CostSensitiveClassifier
from bottega.risk.estimate.coefficient_bands import CoefficientBands, coefficient_bands
from bottega.risk.estimate.compare_errors import ErrorComparison, compare_errors
from bottega.risk.estimate.cross_validate import (
    CrossValidation,
    LeaveOneOut,
    cross_validate,
    leave_one_out,
)
from bottega.risk.estimate.diagnose import Diagnosis, diagnose
from bottega.risk.estimate.holdout import Holdout, holdout
from bottega.risk.estimate.mcnemar import McNemar, mcnemar
from bottega.risk.estimate.nested import nested_cv
from bottega.risk.estimate.nested_result import NestedComparison, NestedCV
from bottega.risk.estimate.search import Search, search
from bottega.risk.prediction_intervals import PredictionIntervals, PredictionSets
from bottega.risk.theory.bias_variance import Decomposition, bias_variance
from bottega.risk.theory.consistency import Consistency, consistency
from bottega.risk.theory.erm import ClassSize, Minimisers, class_size, empirical_risk, erm
from bottega.risk.theory.finite_distribution import FiniteDistribution
from bottega.risk.theory.half_space import HalfSpace, half_space_erm
from bottega.risk.theory.hypotheses import labellings
from bottega.risk.theory.label_noise import annotators, hidden_features, noisy_features
from bottega.risk.theory.learning_curve import LearningCurve, learning_curve
from bottega.risk.theory.margin import hard_margin, margin, separable
from bottega.risk.theory.risk_terms import RiskTerms, risk_terms
from bottega.risk.threshold import ThresholdClassifier, best_threshold

__all__ = [
    "LOSSES",
    "ClassSize",
    "CoefficientBands",
    "Consistency",
    "Cost",
    "CostSensitiveClassifier",
    "CrossValidation",
    "Decomposition",
    "Diagnosis",
    "ErrorComparison",
    "FiniteDistribution",
    "HalfSpace",
    "Holdout",
    "Huber",
    "LearningCurve",
    "LeaveOneOut",
    "Loss",
    "McNemar",
    "Minimisers",
    "NestedCV",
    "NestedComparison",
    "PredictionIntervals",
    "PredictionSets",
    "Quantile",
    "RiskTerms",
    "Search",
    "ThresholdClassifier",
    "annotators",
    "best_threshold",
    "bias_variance",
    "certify",
    "certify_losses",
    "class_size",
    "coefficient_bands",
    "compare_errors",
    "consistency",
    "cross_conformal",
    "cross_validate",
    "diagnose",
    "empirical_risk",
    "erm",
    "get_loss",
    "half_space_erm",
    "hard_margin",
    "hidden_features",
    "holdout",
    "jackknife_plus",
    "labellings",
    "learning_curve",
    "leave_one_out",
    "margin",
    "mcnemar",
    "nested_cv",
    "noisy_features",
    "risk_terms",
    "sample_size",
    "search",
    "separable",
    "split_conformal",
]
__all__ += bounds.__all__
