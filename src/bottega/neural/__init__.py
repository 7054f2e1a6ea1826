"""Neural networks on PyTorch, as scikit-learn estimators (extra ``neural``).

PyTorch is imported when a network is fitted, not before. A fitted network keeps arrays and a
description of its architecture, never code.
"""

from bottega.neural.activations import ACTIVATIONS, Activation, activation_table, plot_activations
from bottega.neural.attention import AttentionClassifier
from bottega.neural.autoencoder import Autoencoder
from bottega.neural.classifier import NetworkClassifier
from bottega.neural.conv_size import conv_size
from bottega.neural.convolutional import AUGMENTATIONS, ConvolutionalClassifier
from bottega.neural.count_parameters import conv_parameters, count_parameters, dense_parameters
from bottega.neural.filters import FILTERS, convolve, pool
from bottega.neural.gradients import GradientWays, finite_differences, gradient_ways
from bottega.neural.graph import Node
from bottega.neural.recurrent import RecurrentClassifier, RecurrentRegressor
from bottega.neural.regressor import NetworkRegressor

__all__ = [  # made by docs/generate.py
    "ACTIVATIONS",
    "AUGMENTATIONS",
    "FILTERS",
    "Activation",
    "AttentionClassifier",
    "Autoencoder",
    "ConvolutionalClassifier",
    "GradientWays",
    "NetworkClassifier",
    "NetworkRegressor",
    "Node",
    "RecurrentClassifier",
    "RecurrentRegressor",
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
