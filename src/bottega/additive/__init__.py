"""Additive and adaptive models: sums of functions of a few inputs each.

An additive model is the sum of smooth functions of single inputs (or pairs); projection pursuit
takes functions of directions; adaptive splines build their terms from the data.
"""

from bottega.additive.adaptive_splines import AdaptiveSplines, AdaptiveSplinesClassifier
from bottega.additive.additive_model import AdditiveClassifier, AdditiveModel
from bottega.additive.check import AdditiveCheck
from bottega.additive.deviance_test import DevianceTest, deviance_test
from bottega.additive.effects import AdditiveEffects, TermEffect
from bottega.additive.formula import parse_formula
from bottega.additive.projection_pursuit import (
    ProjectionPursuitClassifier,
    ProjectionPursuitRegressor,
)
from bottega.additive.terms import (
    AdditiveTerm,
    factor,
    linear,
    local,
    offset,
    random,
    smooth,
    tensor,
)

__all__ = [  # made by docs/generate.py
    "AdaptiveSplines",
    "AdaptiveSplinesClassifier",
    "AdditiveCheck",
    "AdditiveClassifier",
    "AdditiveEffects",
    "AdditiveModel",
    "AdditiveTerm",
    "DevianceTest",
    "ProjectionPursuitClassifier",
    "ProjectionPursuitRegressor",
    "TermEffect",
    "deviance_test",
    "factor",
    "linear",
    "local",
    "offset",
    "parse_formula",
    "random",
    "smooth",
    "tensor",
]
