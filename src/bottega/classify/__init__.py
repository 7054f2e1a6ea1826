"""Classification: linear, generative and by codes, with calibration and hyperplanes."""

from bottega.classify.discriminant import LinearDiscriminant
from bottega.classify.naive_bayes import NaiveBayes
from bottega.classify.quadratic import QuadraticDiscriminant

__all__ = [  # made by docs/generate.py
    "LinearDiscriminant",
    "NaiveBayes",
    "QuadraticDiscriminant",
]
