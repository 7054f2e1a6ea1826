"""Many models as one: voting, bagging, forests, bumping, boosting and stacking."""

from bottega.ensemble.adaboost import AdaBoostClassifier
from bottega.ensemble.bagging import BaggingClassifier, BaggingRegressor
from bottega.ensemble.bumping import BumpingClassifier, BumpingRegressor
from bottega.ensemble.forest import RandomForestClassifier, RandomForestRegressor
from bottega.ensemble.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from bottega.ensemble.stacking import StackingClassifier, StackingRegressor
from bottega.ensemble.voting import VotingClassifier, VotingRegressor

__all__ = [  # made by docs/generate.py
    "AdaBoostClassifier",
    "BaggingClassifier",
    "BaggingRegressor",
    "BumpingClassifier",
    "BumpingRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "StackingClassifier",
    "StackingRegressor",
    "VotingClassifier",
    "VotingRegressor",
]
