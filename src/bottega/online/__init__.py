"""Learning from a stream: predict, suffer the loss, then update; and know the regret."""

from bottega.online._stream.sources import StreamError
from bottega.online.experts import ExponentialWeights
from bottega.online.features import hashed_rows
from bottega.online.gradient_descent import (
    OnlineGradientDescentClassifier,
    OnlineGradientDescentRegressor,
)
from bottega.online.perceptron import Perceptron
from bottega.online.regret.comparator import Comparator, best_comparator
from bottega.online.regret.mistake_bound import MistakeBound, best_mistake_bound, mistake_bound
from bottega.online.regret.tracker import RegretTracker
from bottega.online.ridge import OnlineRidge
from bottega.online.run import Run, run

__all__ = [  # made by docs/generate.py
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
    "run",
]
