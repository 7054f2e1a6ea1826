"""Activation functions: each with its derivative, its range, and where it saturates."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from scipy.special import expit

from bottega.core.frames import make_frame
from bottega.core.typing import FloatArray
from bottega.plot import activation_functions_chart

__all__ = ["ACTIVATIONS", "Activation", "activation_table", "plot_activations"]

_LEAK = 0.01  # slope of the leaky rectifier below zero


@dataclass(frozen=True)
class Activation:
    """One activation function.

    Attributes
    ----------
    formula, slope_formula : str
        The function and its derivative in symbols; f stands for its value.
    function, slope : callable
        From an array to an array, elementwise. The slope of a rectifier at 0 is that of the
        negative side.
    low, high : float
        Ends of its range.
    centred : bool
        Whether its values are spread evenly around zero where its inputs are.
    saturates : str
        Where its slope goes to zero: "both sides", "below zero" or "nowhere".
    use : str
        What it is used for.
    """

    formula: str
    slope_formula: str
    function: Callable[[Any], FloatArray]
    slope: Callable[[Any], FloatArray]
    low: float
    high: float
    centred: bool
    saturates: str
    use: str


def _sigmoid(x: Any) -> FloatArray:
    return np.asarray(expit(np.asarray(x, dtype=np.float64)))


def _leaky(x: Any) -> FloatArray:
    x = np.asarray(x, dtype=np.float64)
    return np.where(x > 0, x, _LEAK * x)


#: The activation functions by name.
ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "sigmoid": Activation(
            "1 / (1 + exp(-x))", "f (1 - f)", _sigmoid, lambda x: _sigmoid(x) * _sigmoid(-x),
            0.0, 1.0, False, "both sides", "outputs of two classes",
        ),
        "tanh": Activation(
            "tanh(x) = 2 sigmoid(2 x) - 1", "1 - f²", np.tanh, lambda x: 1 - np.tanh(x) ** 2,
            -1.0, 1.0, True, "both sides", "states of recurrent networks",
        ),
        "relu": Activation(
            "max(0, x)", "1 above zero, else 0", lambda x: np.maximum(x, 0.0),
            lambda x: np.where(np.asarray(x) > 0, 1.0, 0.0),
            0.0, np.inf, False, "below zero", "hidden layers",
        ),
        "leaky_relu": Activation(
            "x above zero, else 0.01 x", "1 above zero, else 0.01", _leaky,
            lambda x: np.where(np.asarray(x) > 0, 1.0, _LEAK),
            -np.inf, np.inf, False, "nowhere", "hidden layers whose rectifiers die",
        ),
        "identity": Activation(
            "x", "1", lambda x: np.asarray(x, dtype=np.float64),
            lambda x: np.ones_like(np.asarray(x, dtype=np.float64)),
            -np.inf, np.inf, True, "nowhere", "outputs of a regression",
        ),
    }
)  # fmt: skip


def activation_table(like: Any = None) -> Any:
    """Return the activation functions as a data frame.

    Parameters
    ----------
    like : "pandas", "polars" or a data frame, optional
        Library of the frame.

    Returns
    -------
    data frame
        ``name, formula, derivative, low, high, centred, saturates, steepest, use``; `steepest` is
        the largest derivative: below one, gradients shrink from layer to layer.

    Examples
    --------
    >>> activation_table()[["name", "steepest", "saturates"]]
             name  steepest   saturates
    0     sigmoid      0.25  both sides
    1        tanh      1.00  both sides
    2        relu      1.00  below zero
    3  leaky_relu      1.00     nowhere
    4    identity      1.00     nowhere
    """
    grid = np.linspace(-1, 1, 201)
    rows = ACTIVATIONS.items()
    return make_frame(
        {
            "name": [name for name, _ in rows],
            "formula": [each.formula for _, each in rows],
            "derivative": [each.slope_formula for _, each in rows],
            "low": [each.low for _, each in rows],
            "high": [each.high for _, each in rows],
            "centred": [each.centred for _, each in rows],
            "saturates": [each.saturates for _, each in rows],
            "steepest": [float(np.max(each.slope(grid))) for _, each in rows],
            "use": [each.use for _, each in rows],
        },
        like,
    )


def plot_activations(reach: float = 4.0) -> Any:
    """Draw every activation function with its derivative, from -reach to reach."""
    grid = np.linspace(-reach, reach, 161)
    return activation_functions_chart(
        grid, {name: (each.function(grid), each.slope(grid)) for name, each in ACTIVATIONS.items()}
    )
