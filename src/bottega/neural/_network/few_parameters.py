"""Parameters of the training of networks for images and sequences: those that matter there."""

from collections.abc import Mapping

from bottega.core.params import ClassWeight, Parameter
from bottega.neural._network.parameters import TRAINING

__all__ = ["CLASSES", "FEW"]

_NAMES = (
    *("solver", "alpha", "clip", "batch_size", "learning_rate", "learning_rate_init"),
    *("max_iter", "max_epochs", "tol", "n_iter_no_change", "early_stopping"),
    *("validation_fraction", "device", "dtype", "cv", "select", "random_state", "verbose"),
)
FEW: Mapping[str, Parameter] = {name: TRAINING[name] for name in _NAMES}
CLASSES: Mapping[str, Parameter] = {
    **FEW,
    "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
}
