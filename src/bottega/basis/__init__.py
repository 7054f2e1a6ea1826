"""Basis functions: what makes a linear model bend.

A model that is linear in its coefficients may be anything but linear in its inputs:
``f(x) = w0 + w1 phi1(x) + ... + wM phiM(x)``. The transformers of this topic turn each input
column into the columns ``phi1(x), ..., phiM(x)``; ``phi0(x) = 1`` is the intercept, which the
linear models bring themselves.
"""

import bottega.basis.spline_functions as spline_functions
from bottega.basis.bspline import BSpline
from bottega.basis.gaussian import GaussianBasis
from bottega.basis.natural_spline import NaturalSpline
from bottega.basis.polynomial import Polynomial
from bottega.basis.sigmoid import SigmoidBasis
from bottega.basis.truncated_power import TruncatedPower

__all__ = [  # made by docs/generate.py
    "BSpline",
    "GaussianBasis",
    "NaturalSpline",
    "Polynomial",
    "SigmoidBasis",
    "TruncatedPower",
    "spline_functions",
]
