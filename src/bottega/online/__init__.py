"""Learning from a stream: predict, suffer the loss, then update; and know the regret."""

from bottega.online.comparator import Comparator, best_comparator
from bottega.online.experts import ExponentialWeights
from bottega.online.features import hashed_rows
from bottega.online.gradient_descent import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from bottega.online.mistakes import MistakeBound, best_mistake_bound, mistake_bound
from bottega.online.perceptron import Perceptron
from bottega.online.projections import onto_ball, onto_box, onto_l1_ball, onto_simplex
from bottega.online.regret import RegretTracker
from bottega.online.ridge import OnlineRidge
from bottega.online.run import Run, run
from bottega.online.streams import StreamError

__all__ = [
    "Comparator",
    "ExponentialWeights",
    "MistakeBound",
    "OnlineGradientDescentClassifier",
    "OnlineGradientDescentRegressor",
    "OnlineRidge",
    "Perceptron",
    "RegretTracker",
    "Run",
    "StreamError",
    "best_comparator",
    "best_mistake_bound",
    "hashed_rows",
    "mistake_bound",
    "onto_ball",
    "onto_box",
    "onto_l1_ball",
    "onto_simplex",
    "run",
]
