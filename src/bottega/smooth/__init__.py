"""Smoothers: curves and surfaces that follow the data as closely as their knob lets them.

All of them are linear in the responses for a fixed knob, ``y_hat = S y``, so all share degrees of
freedom, exact leave-one-out, criteria, bands and the F test with `bottega.core.smoother`.
"""

from bottega.smooth._local.binned_curve import binned_curve
from bottega.smooth._local.plugin import plugin_bandwidth
from bottega.smooth._local.weights import KERNELS, kernel_weight
from bottega.smooth._surface.hull import inside_hull
from bottega.smooth.asymptotics import (
    BiasVariance,
    RateExperiment,
    asymptotic_bias,
    asymptotic_variance,
    bias_and_variance,
    optimal_bandwidth,
    rate_experiment,
)
from bottega.smooth.bands import Band, bands
from bottega.smooth.curse import Curse, ball_volume, curse_numbers, edge_of_share, nearest_distance
from bottega.smooth.curvature import SignificantCurvature, significant_curvature
from bottega.smooth.interpolating_spline import InterpolatingSpline
from bottega.smooth.local_regression import LocalRegression
from bottega.smooth.loess import Loess
from bottega.smooth.pspline import PSpline
from bottega.smooth.regression_spline import RegressionSpline
from bottega.smooth.smoothing_spline import SmoothingSpline
from bottega.smooth.tensor_spline import TensorSpline
from bottega.smooth.thin_plate_spline import ThinPlateSpline

__all__ = [  # made by docs/generate.py
    "KERNELS",
    "Band",
    "BiasVariance",
    "Curse",
    "InterpolatingSpline",
    "LocalRegression",
    "Loess",
    "PSpline",
    "RateExperiment",
    "RegressionSpline",
    "SignificantCurvature",
    "SmoothingSpline",
    "TensorSpline",
    "ThinPlateSpline",
    "asymptotic_bias",
    "asymptotic_variance",
    "ball_volume",
    "bands",
    "bias_and_variance",
    "binned_curve",
    "curse_numbers",
    "edge_of_share",
    "inside_hull",
    "kernel_weight",
    "nearest_distance",
    "optimal_bandwidth",
    "plugin_bandwidth",
    "rate_experiment",
    "significant_curvature",
]
