"""Parameters that networks share: their declarations, and the defaults of those left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from numbers import Integral
from typing import Any

import numpy as np

from bottega.core import params
from bottega.core.folds import Folds
from bottega.neural._training.schedules import SCHEDULES

__all__ = ["DEFAULTS", "DENSE", "TRAINING", "EpochCount", "GivenWeights", "LayerSizes"]


@dataclass(frozen=True)
class GivenWeights(params.Anything):
    """First weights that are given: a pair (coefs, intercepts), or a fitted network."""

    def accepts(self, value: Any) -> bool:
        """Return True for all but words; whether weights fit is seen when the layers are made."""
        return not isinstance(value, str)

    def describe(self) -> str:
        """Return the words for weights."""
        return "a pair (coefs, intercepts), or a fitted network"


@dataclass(frozen=True)
class LayerSizes(params.Parameter):
    """Units of each hidden layer: a sequence of whole numbers above zero, or one of them."""

    def accepts(self, value: Any) -> bool:
        """Return True for whole numbers above zero; an empty sequence has no hidden layer."""
        if isinstance(value, Integral) and not isinstance(value, bool):
            return int(value) > 0
        if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) != 1:
            return False
        whole = params.Integer(1)
        return all(whole.accepts(each) for each in value)

    def describe(self) -> str:
        """Return the words for sizes."""
        return "a sequence of whole numbers above zero"

    def schema(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"type": "array", "items": {"type": "integer", "minimum": 1}}

    def parse(self, text: str) -> Any:
        """Read numbers with commas between them."""
        return tuple(int(part) for part in text.strip("()[] ").split(",") if part.strip())


ACTIVATIONS = ("relu", "tanh", "logistic", "sigmoid", "identity", "leaky_relu")

# Of the layers of a dense network.
DENSE: Mapping[str, params.Parameter] = {
    "hidden_layer_sizes": params.Auto(LayerSizes(), help="units of each hidden layer"),
    "activation": params.Choice(*ACTIVATIONS, help="what a hidden unit makes of its sum"),
    "init": params.AnyOf(
        params.Choice("auto", "near_zero", "gaussian", "xavier", "he"),
        GivenWeights(),
        help="where the weights start",
    ),
    "init_scale": params.Real(0, open_low=True, help="standard deviation of init='gaussian'"),
    "drop": params.OrNone(
        params.Real(0, 1, open_high=True), help="share of hidden units that dropout sets to zero"
    ),
    "keep": params.OrNone(
        params.Real(0, 1, open_low=True), help="share of hidden units that dropout keeps"
    ),
    "batch_norm": params.Boolean(help="normalise the sums of hidden units within a batch"),
    "input_noise": params.Real(0, help="standard deviation of noise added to the inputs"),
    "hidden_noise": params.Real(0, help="standard deviation of noise added to hidden units"),
}


@dataclass(frozen=True)
class EpochCount(params.Integer):
    """A number of epochs; infinity for as many as there are."""

    def accepts(self, value: Any) -> bool:
        """Return True for whole numbers in the interval, and for infinity."""
        return super().accepts(value) or (isinstance(value, float) and value == inf)


# Of the training of any network.
TRAINING: Mapping[str, params.Parameter] = {
    "solver": params.Choice("adam", "sgd", "adagrad", help="how steps follow from gradients"),
    "alpha": params.Auto(params.Real(0, log=True), help="weight decay"),
    "l1": params.Real(0, help="penalty on the sizes of weights"),
    "smoothness": params.Real(0, help="penalty on second derivatives by the inputs"),
    "tie": params.Real(0, help="penalty on distances from the weights of tie_to"),
    "tie_to": params.Anything(help="a fitted network whose weights these stay near"),
    "clip": params.OrNone(
        params.Real(0, open_low=True), help="gradients are kept within [-clip, clip]"
    ),
    "batch_size": params.Auto(params.Integer(1), help="rows of a step"),
    "learning_rate": params.Choice(*SCHEDULES, help="how the length of steps changes"),
    "learning_rate_init": params.Real(0, open_low=True, log=True, help="first length of steps"),
    "power_t": params.Real(0, help="power of learning_rate='invscaling'"),
    "momentum": params.Real(0, 1, open_high=True, help="momentum of solver='sgd'"),
    "nesterovs_momentum": params.Boolean(help="let momentum look ahead"),
    "beta_1": params.Real(0, 1, open_high=True, help="memory of Adam's mean"),
    "beta_2": params.Real(0, 1, open_high=True, help="memory of Adam's squares"),
    "epsilon": params.Real(0, open_low=True, help="what keeps Adam's and AdaGrad's roots from 0"),
    "max_iter": params.Auto(params.Integer(1), help="epochs; 'auto': from the path"),
    "max_epochs": params.Integer(1, help="most epochs of the path"),
    "shuffle": params.Boolean(help="show the rows in another order in each epoch"),
    "tol": params.Real(0, help="fall of the loss that counts"),
    "n_iter_no_change": EpochCount(1, help="epochs without such a fall that end the training"),
    "early_stopping": params.Boolean(help="keep the epoch that is best on rows held out"),
    "validation_fraction": params.Real(
        0, 1, open_low=True, open_high=True, help="share of the rows held out"
    ),
    "n_starts": params.Integer(1, help="starts, of which the best on rows held out is kept"),
    "warm_start": params.Boolean(help="go on from the weights of the last fit"),
    "device": params.Text(help="where to compute: 'auto', 'cpu', 'cuda', ..."),
    "dtype": params.Choice("auto", "float32", "float64", help="precision"),
    "autocast": params.Boolean(help="take products of matrices in bfloat16"),
    "compile": params.Boolean(help="let torch.compile make the module faster"),
    "checkpoint": params.OrNone(params.Text(), help="file in which a training is kept"),
    "cv": params.Auto(Folds(), help="folds that judge the path"),
    "select": params.Choice("min", "one_se", help="rule that picks from the path"),
    "n_jobs": params.Jobs(),
    "random_state": params.Seed(help="seed of first weights, order of rows, dropout and noise"),
    "verbose": params.AnyOf(params.Integer(0), params.Boolean(), help="write the progress"),
}

# What a class that has no such parameter trains by.
DEFAULTS: Mapping[str, Any] = {
    "solver": "adam",
    "activation": "relu",
    "init": "auto",
    "init_scale": 0.1,
    "alpha": 1e-4,
    "l1": 0.0,
    "smoothness": 0.0,
    "tie": 0.0,
    "tie_to": None,
    "clip": None,
    "batch_size": "auto",
    "learning_rate": "constant",
    "learning_rate_init": 0.005,
    "power_t": 0.5,
    "momentum": 0.9,
    "nesterovs_momentum": True,
    "beta_1": 0.9,
    "beta_2": 0.999,
    "epsilon": 1e-8,
    "max_epochs": 200,
    "max_fun": 15_000,
    "shuffle": True,
    "tol": 1e-4,
    "n_iter_no_change": 10,
    "early_stopping": False,
    "validation_fraction": 0.1,
    "n_starts": 1,
    "warm_start": False,
    "device": "auto",
    "dtype": "auto",
    "autocast": False,
    "compile": False,
    "checkpoint": None,
    "cv": "auto",
    "module": None,
}
