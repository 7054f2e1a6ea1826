"""The parameters of networks on tables, in the order of their constructors, and their cards."""

from collections.abc import Mapping
from typing import Any

from bottega.core import params
from bottega.neural._network.parameters import DENSE, TRAINING

__all__ = ["CARD", "LOSS", "SHARED"]

_TABLE: Mapping[str, params.Parameter] = {
    **DENSE,
    **TRAINING,
    "solver": params.Choice(
        "adam", "sgd", "adagrad", "lbfgs", help="how steps follow from gradients"
    ),
    "max_fun": params.Integer(1, help="most evaluations of solver='lbfgs'"),
    "missing": params.Choice("mask", "refuse", help="what to do with missing numbers"),
    "categorical_features": params.Anything(help="columns that are categories, besides texts"),
    "standardize": params.Boolean(help="bring inputs and responses into standard units"),
    "module": params.Anything(help="a torch.nn.Module, or a function that makes one"),
}

_ORDER = (
    "hidden_layer_sizes",
    "activation",
    "solver",
    "alpha",
    "l1",
    "smoothness",
    "drop",
    "keep",
    "batch_norm",
    "input_noise",
    "hidden_noise",
    "clip",
    "tie",
    "tie_to",
    "init",
    "init_scale",
    "n_starts",
    "batch_size",
    "learning_rate",
    "learning_rate_init",
    "power_t",
    "momentum",
    "nesterovs_momentum",
    "beta_1",
    "beta_2",
    "epsilon",
    "max_iter",
    "max_epochs",
    "max_fun",
    "shuffle",
    "tol",
    "n_iter_no_change",
    "early_stopping",
    "validation_fraction",
    "warm_start",
    "missing",
    "categorical_features",
    "standardize",
    "module",
    "device",
    "dtype",
    "autocast",
    "compile",
    "checkpoint",
    "cv",
    "select",
    "n_jobs",
    "random_state",
    "verbose",
)
SHARED: Mapping[str, params.Parameter] = {name: _TABLE[name] for name in _ORDER}
LOSS = params.Choice("squared_error", "absolute_error", "huber", "poisson", help="loss of a row")

CARD: dict[str, Any] = {
    "method": "network",
    "title": "Neural network",
    "strengths": (
        "Learns smooth functions of many inputs and their interactions.",
        "Goes on learning from new rows, and takes categories and missing values.",
    ),
    "weaknesses": (
        "Many parameters of the training matter, and its minimum depends on the start.",
        "On small tables, and where inputs act by thresholds, trees are often better.",
        "Cannot be read.",
    ),
    "assumptions": ("The response changes smoothly with the inputs.",),
    "cost": "the rows times the weights, times the epochs",
    "source": "D150-D158, D177, D178, D226-D239, N1-N110",
    "takes": frozenset({"number", "category", "missing"}),
    "wide": True,
    "most_rows": 200_000,
    "needs": ("torch", "neural"),
}
