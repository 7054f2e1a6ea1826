"""The contract that every method of bottega keeps.

`params` declares parameters, `path` the complexity path, `smoother` the algebra of linear
smoothers, `certificate` a claim of risk, `cards` the card of a method, `estimator` the one fit,
`chunks` mergeable statistics, `tables` results to read, `progress` long work, `errors` what can go
wrong, and `baseline` what every comparison starts from.
"""

from bottega.core.baseline import BaselineClassifier, BaselineRegressor
from bottega.core.cards import Card
from bottega.core.certificate import Certificate
from bottega.core.chunks import Moments
from bottega.core.path import Path
from bottega.core.smoother import FTest, Smoother, f_test
from bottega.core.tables import Section, Summary

__all__ = [
    "BaselineClassifier",
    "BaselineRegressor",
    "Card",
    "Certificate",
    "FTest",
    "Moments",
    "Path",
    "Section",
    "Smoother",
    "Summary",
    "f_test",
]
