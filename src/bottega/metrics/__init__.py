"""How good predicted classes, scores and probabilities are; every measure has tidy() and plot()."""

from bottega.metrics.auc_difference import AUCDifference
from bottega.metrics.balance import Balance, balance
from bottega.metrics.calibration import Calibration, calibration
from bottega.metrics.confusion import Confusion, VersusMajority, confusion
from bottega.metrics.costs import CostCurve, ThresholdCosts, cost_curve, threshold_costs
from bottega.metrics.kappa import Kappa, kappa
from bottega.metrics.krippendorff import KrippendorffAlpha, krippendorff_alpha
from bottega.metrics.lift import Lift, lift
from bottega.metrics.per_class import ClassCurves, pairwise_auc, per_class
from bottega.metrics.precision_recall import PrecisionRecallPath, precision_recall_path
from bottega.metrics.precision_recall_curve import PrecisionRecallCurve, precision_recall
from bottega.metrics.probability_scores import ProbabilityScore, ScoreParts, brier, log_loss
from bottega.metrics.rates import Rates
from bottega.metrics.recommendations import RecommendationScores, recommendations, rmse
from bottega.metrics.roc import ROC, roc

__all__ = [  # made by docs/generate.py
    "ROC",
    "AUCDifference",
    "Balance",
    "Calibration",
    "ClassCurves",
    "Confusion",
    "CostCurve",
    "Kappa",
    "KrippendorffAlpha",
    "Lift",
    "PrecisionRecallCurve",
    "PrecisionRecallPath",
    "ProbabilityScore",
    "Rates",
    "RecommendationScores",
    "ScoreParts",
    "ThresholdCosts",
    "VersusMajority",
    "balance",
    "brier",
    "calibration",
    "confusion",
    "cost_curve",
    "kappa",
    "krippendorff_alpha",
    "lift",
    "log_loss",
    "pairwise_auc",
    "per_class",
    "precision_recall",
    "precision_recall_path",
    "recommendations",
    "rmse",
    "roc",
    "threshold_costs",
]
