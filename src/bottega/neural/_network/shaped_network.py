"""Networks for rows that have a shape, images and sequences: their parameters of training."""

from collections.abc import Mapping
from typing import Any, ClassVar

from bottega.core.params import ClassWeight, Parameter, Real
from bottega.neural._network.estimator import Network
from bottega.neural._network.parameters import TRAINING

__all__ = ["CLASSES", "FEW", "ShapedNetwork"]

_NAMES = (
    *("solver", "alpha", "clip", "batch_size", "learning_rate", "learning_rate_init"),
    *("max_iter", "max_epochs", "tol", "n_iter_no_change", "early_stopping"),
    *("validation_fraction", "device", "dtype", "cv", "select", "random_state", "verbose"),
)
FEW: Mapping[str, Parameter] = {name: TRAINING[name] for name in _NAMES} | {
    "alpha": Real(0, log=True, help="weight decay"),
}
CLASSES: Mapping[str, Parameter] = {
    **FEW,
    "class_weight": ClassWeight(help="weight of each class: a dict, or 'balanced'"),
}


class ShapedNetwork(Network):
    """A network whose rows are images or sequences.

    What follows is described here for all of them (`core.documents.documented_like`).

    Parameters
    ----------
    solver : {"adam", "sgd", "adagrad"}
        How steps follow from gradients.
    alpha : float
        Weight decay; larger values make smaller weights.
    clip : float or None
        Entries of gradients are kept within [-clip, clip], which long sequences need.
    batch_size : int or "auto"
        Rows of X (images, sequences) of a step; ``"auto"`` is 32.
    learning_rate : {"constant", "inverse", "invscaling", "adaptive", "step", "cosine"}
        How the length of steps changes, as in `NetworkRegressor`.
    learning_rate_init : float
        First length of steps.
    max_iter : int or "auto"
        Epochs: how often each row is seen; more fit closer. ``"auto"`` takes them from the path.
    max_epochs : int
        Most epochs of the path, and of a training that early stopping ends.
    tol : float
        A fall of the loss that counts: of the training loss, or with ``early_stopping=True`` of the
        held-out one.
    n_iter_no_change : int or inf
        Epochs without such a fall after which the training ends.
    early_stopping : bool
        Hold out `validation_fraction` of the rows, and keep the epoch that is best on them.
    validation_fraction : float
        Share held out by `early_stopping`.
    device : str
        Where to compute: ``"cpu"``, ``"cuda"``, ...; ``"auto"`` takes a GPU if there is one.
    dtype : {"auto", "float32", "float64"}
        Precision; ``"auto"`` is double up to 2,000 rows on a processor.
    cv : "auto", int, float, "loo", splitter or list of (train, test)
        Folds that judge the path, or the share of rows that is held out once.
    select : {"min", "one_se"}
        Rule that picks from the path.
    random_state : int, RandomState, Generator or None
        Seed of first weights, order of rows, dropout and changes of images.
    verbose : bool
        Write the progress.
    class_weight : dict, "balanced" or None
        Weight of each class; ``"balanced"`` makes the classes weigh alike.

    Attributes
    ----------
    arrays_ : dict of str to ndarray
        All weights and running means, by their names in the module.
    description_ : dict
        The architecture.
    loss_curve_ : list of float
        Mean loss of each epoch.
    n_iter_, max_iter_ : int
        Epochs that were run, and that were asked for.
    path_ : Path
        The curve over epochs, when `max_iter` is ``"auto"``.
    """

    walks: ClassVar[Mapping[str, Any]] = {"max_iter": "auto"}

    _most_at_once = 32
