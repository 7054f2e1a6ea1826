"""Neural networks: from an exclusive-or to attention, on PyTorch."""

from bottega.neural.activations import ACTIVATIONS, Activation, activation_table, plot_activations
from bottega.neural.conv_size import conv_size
from bottega.neural.count_parameters import conv_parameters, count_parameters, dense_parameters
from bottega.neural.filters import FILTERS, convolve, pool
from bottega.neural.gradients import GradientWays, finite_differences, gradient_ways
from bottega.neural.graph import Node

__all__ = [  # made by docs/generate.py
    "ACTIVATIONS",
    "FILTERS",
    "Activation",
    "GradientWays",
    "Node",
    "activation_table",
    "conv_parameters",
    "conv_size",
    "convolve",
    "count_parameters",
    "dense_parameters",
    "finite_differences",
    "gradient_ways",
    "plot_activations",
    "pool",
]
