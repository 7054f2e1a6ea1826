"""From prepared rows to a trained module: starts, epochs, early stopping, checkpoints."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import torch

from bottega.core.folds import make_folds
from bottega.neural._network.modules import first_module, seed_of_start
from bottega.neural._network.work import NetworkWork, arrays_of, load_arrays
from bottega.neural._training.loop import Rules, Training
from bottega.neural._training.optimizers import make_optimizer
from bottega.neural._training.penalties import WeightPenalty
from bottega.neural._training.schedules import Schedule
from bottega.neural._training.stopping import Patience
from bottega.neural._training.weights import Weights

if TYPE_CHECKING:
    from bottega.neural._network.estimator import Network

__all__ = ["Trained", "new_training", "trained"]

_OPTIMIZER = ("momentum", "nesterovs_momentum", "beta_1", "beta_2", "epsilon")


def new_training(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], start: int = 0
) -> Training:
    """Return a training that has not begun."""

    def option(name: str) -> Any:
        return setting.get(name, model._option(name))

    module = first_module(model, work, setting, start)
    weights = Weights(module)
    anchor = None
    if option("tie_to") is not None and option("tie") > 0:
        anchor = _anchor(module, option("tie_to"))
    rules = Rules(
        batch_size=model._batch_size(len(work.rows)),
        shuffle=bool(option("shuffle")),
        penalty=WeightPenalty(
            float(option("alpha")),
            float(option("l1")),
            float(option("tie")) * (anchor is not None),
            anchor,
        ),
        smoothness=float(option("smoothness")),
        clip=option("clip"),
        autocast=bool(option("autocast")),
    )
    return Training(
        module,
        work.resident,
        work.criterion,
        make_optimizer(option("solver"), weights.values, **{k: option(k) for k in _OPTIMIZER}),
        Schedule(
            option("learning_rate"), option("learning_rate_init"), option("power_t"), work.horizon
        ),
        rules,
        weights,
        torch.Generator().manual_seed(seed_of_start(work.seed, start) + 1),
        Patience(float(option("tol")), int(option("n_iter_no_change"))),
    )


def _anchor(module: torch.nn.Module, other: Any) -> torch.Tensor:
    """Return the weights of another model in the order of this one's vector."""
    parts = [
        torch.as_tensor(other.arrays_[name], dtype=p.dtype, device=p.device).reshape(-1)
        for name, p in module.named_parameters()
    ]
    return torch.cat(parts)


@dataclass
class Trained:
    """A training that is over, and what its validation rows said of it, if any were held out."""

    training: Training
    validation: list[float] = field(default_factory=list)
    best: float = inf


def trained(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], epochs: int
) -> Trained:
    """Return the module trained for `epochs`, or for as many as rows held out like best."""
    starts = int(model._option("n_starts"))
    stops = bool(model._option("early_stopping"))
    if starts == 1 and not stops:
        training = model._training(work, setting)
        training.advance(epochs)
        return Trained(training)
    (pair,) = make_folds(float(model._option("validation_fraction")), len(work.rows), strata=None)
    train, held = work.part(pair[0]), work.part(pair[1])
    found = [_watched(model, train, held, setting, epochs, start, stops) for start in range(starts)]
    return min(found, key=lambda each: each.best)


def _watched(
    model: "Network",
    train: NetworkWork,
    held: NetworkWork,
    setting: Mapping[str, Any],
    epochs: int,
    start: int,
    stops: bool,
) -> Trained:
    """Return a training that was judged on held-out rows after every epoch."""
    training = model._training(train, setting, start)
    patience = Patience(0.0, int(model._option("n_iter_no_change")))
    if stops:
        training.patience = None
    found = Trained(training)
    kept = arrays_of(training.module)
    for epoch in range(1, epochs + 1):
        training.advance(epoch, total=epochs)
        batch = held.resident.all()
        outputs = training.outputs(batch.inputs)
        loss = float(held.criterion.mean(outputs, batch.targets, batch.weight))
        found.validation.append(loss)
        if not stops:
            found.best = loss
        elif loss < found.best:
            found.best, kept = loss, arrays_of(training.module)
        if training.finished or (stops and patience.used_up(loss)):
            break
    if stops:
        with torch.no_grad():
            load_arrays(training.module, kept)
    training.history.validation = found.validation
    return found
