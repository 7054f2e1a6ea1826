"""Classification: linear, generative and by codes, with calibration and hyperplanes."""

import bottega.classify.hyperplane as hyperplane
from bottega.classify.calibration import CalibratedClassifierCV
from bottega.classify.discriminant import LinearDiscriminant
from bottega.classify.indicator import IndicatorRegression
from bottega.classify.likelihood_ratio import LikelihoodTest, likelihood_ratio_test
from bottega.classify.logistic import LogisticRegression
from bottega.classify.multiclass import (
    OneVsOneClassifier,
    OneVsRestClassifier,
    OutputCodeClassifier,
)
from bottega.classify.naive_bayes import NaiveBayes
from bottega.classify.quadratic import QuadraticDiscriminant

__all__ = [  # made by docs/generate.py
    "CalibratedClassifierCV",
    "IndicatorRegression",
    "LikelihoodTest",
    "LinearDiscriminant",
    "LogisticRegression",
    "NaiveBayes",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "OutputCodeClassifier",
    "QuadraticDiscriminant",
    "hyperplane",
    "likelihood_ratio_test",
]
