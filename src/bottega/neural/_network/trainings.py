"""From prepared rows to a trained module: a new training, its starts, early stopping."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import Array
from bottega.neural._modules.random_layers import RandomLayer
from bottega.neural._network.modules import first_module, seed_of_start
from bottega.neural._network.work import NetworkWork, arrays_of, load_arrays
from bottega.neural._training.batches import without_single_rows
from bottega.neural._training.checkpoint import Checkpoint, fingerprint
from bottega.neural._training.compiled import CompiledForward
from bottega.neural._training.limited_memory import LimitedMemory
from bottega.neural._training.loop import NetworkTraining, TrainingRules
from bottega.neural._training.memory import memory_for
from bottega.neural._training.optimizers import make_optimizer
from bottega.neural._training.penalties import WeightPenalty
from bottega.neural._training.schedules import Schedule
from bottega.neural._training.state import load_state, state_of
from bottega.neural._training.stopping import EpochPatience
from bottega.neural._training.threads import threads_for
from bottega.neural._training.weights import Weights
from bottega.neural._training.whole_rows import WholeTraining

if TYPE_CHECKING:
    from bottega.neural._network.estimator import Network

__all__ = ["Trained", "new_training", "trained"]

_NORMALISED = (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d, torch.nn.BatchNorm3d)
_OPTIMIZER = ("momentum", "nesterovs_momentum", "beta_1", "beta_2", "epsilon")
# What a training depends on beside its rows and the architecture.
_OPTIONS = (
    *("solver", "alpha", "l1", "smoothness", "tie", "clip", "batch_size", "learning_rate"),
    *("learning_rate_init", "power_t", *_OPTIMIZER, "shuffle", "tol", "n_iter_no_change"),
    *("early_stopping", "validation_fraction", "n_starts", "autocast", "compile", "max_fun"),
)


def new_training(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], start: int = 0
) -> NetworkTraining:
    """Return a training that has not begun."""
    with memory_for("the weights of this network", "fewer or smaller layers"):
        return _new_training(model, work, setting, start)


def _new_training(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], start: int
) -> NetworkTraining:
    def option(name: str) -> Any:
        return setting.get(name, model._option(name))

    module = first_module(model, work, setting, start)
    weights = Weights(module)
    anchor = None
    if option("tie_to") is not None and option("tie") > 0:
        anchor = _anchor(type(model).__name__, module, option("tie_to"))
    penalty = WeightPenalty(
        alpha=float(option("alpha")),
        l1=float(option("l1")),
        tie=0.0 if anchor is None else float(option("tie")),
        anchor=anchor,
    )
    rules = TrainingRules(
        batch_size=_batch_size(model, module, len(work.rows)),
        shuffle=bool(option("shuffle")),
        penalty=penalty,
        smoothness=float(option("smoothness")),
        clip=option("clip"),
        autocast=bool(option("autocast")),
    )
    whole = option("solver") == "lbfgs"
    if whole:
        _refuse_chance(type(model).__name__, module, option("clip"))
    optimizer: Any = (
        LimitedMemory(weights.values, float(option("tol")), int(option("max_fun")))
        if whole
        else make_optimizer(
            option("solver"), weights.values, **{name: option(name) for name in _OPTIMIZER}
        )
    )
    how = option("learning_rate")
    if option("solver") != "sgd" and how in ("invscaling", "adaptive"):
        how = "constant"  # as in scikit-learn, whose words they are
    schedule = Schedule(how, option("learning_rate_init"), option("power_t"), work.horizon)
    return (WholeTraining if whole else NetworkTraining)(
        module,
        work.resident,
        work.criterion,
        optimizer,
        schedule,
        rules,
        weights,
        torch.Generator().manual_seed(seed_of_start(work.seed, start) + 1),
        EpochPatience(float(option("tol")), option("n_iter_no_change")),
        forward=CompiledForward(module) if option("compile") else None,
    )


def _refuse_chance(owner: str, module: torch.nn.Module, clip: Any) -> None:
    """Refuse what L-BFGS cannot follow.

    That is a function that changes by chance, a gradient that is cut, and means that run along with
    all points it tries.
    """
    kinds = (RandomLayer, *_NORMALISED)
    if clip is not None or any(isinstance(each, kinds) for each in module.modules()):
        raise ParameterError(
            f"{owner}: solver='lbfgs' follows one function exactly: it goes without dropout, "
            "noise, batch normalisation and clip. Leave them out, or give solver='adam'."
        )


def _batch_size(model: "Network", module: torch.nn.Module, n: int) -> int:
    """Return the rows of a step: with batch normalisation, such that none is left alone."""
    size = model._batch_size(n)
    normalised = any(isinstance(each, _NORMALISED) for each in module.modules())
    return without_single_rows(size, n) if normalised else size


def _anchor(owner: str, module: torch.nn.Module, other: Any) -> torch.Tensor:
    """Return the weights of another model in the order of this one's vector."""
    arrays = getattr(other, "arrays_", {})
    named = {name: p for name, p in module.named_parameters() if p.requires_grad}
    if any(np.shape(arrays.get(name, 0)) != tuple(p.shape) for name, p in named.items()):
        raise ParameterError(
            f"{owner}: tie_to is not a fitted network of the same layers; give one with "
            f"{', '.join(str(tuple(p.shape)) for p in named.values())} as its weights."
        )
    parts = [
        torch.as_tensor(arrays[name], dtype=p.dtype, device=p.device).reshape(-1)
        for name, p in named.items()
    ]
    return torch.cat(parts)


@dataclass
class Trained:
    """A training, and what its validation rows said of it, if any were held out."""

    training: NetworkTraining
    validation: list[float] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    best: float = inf
    kept: dict[str, Array] = field(default_factory=dict)  # of the best epoch

    def state(self) -> dict[str, Array]:
        """Return it as arrays."""
        return {
            **state_of(self.training),
            "validation": np.array(self.validation),
            "scores": np.array(self.scores),
            "best": np.array(self.best),
            **{f"kept.{name}": each for name, each in self.kept.items()},
        }

    def load(self, state: Mapping[str, Array]) -> None:
        """Bring it to where another one was."""
        load_state(self.training, state)
        self.validation = [float(each) for each in state["validation"]]
        self.scores = [float(each) for each in state["scores"]]
        self.best = float(state["best"])
        self.kept = {
            name.removeprefix("kept."): each
            for name, each in state.items()
            if name.startswith("kept.")
        }


def trained(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], epochs: int
) -> Trained:
    """Return the module trained for `epochs`, or for as many as rows held out like best.

    Of several starts it is the one that rows held out like best.
    """
    starts, stops = int(model._option("n_starts")), bool(model._option("early_stopping"))
    train, held = work, None
    if starts > 1 or stops:
        train, held = _held_out_part(model, work)
    file = _checkpoint(model, work, setting, epochs)
    before = file.begin()
    best: Trained | None = None
    for start in range(starts):
        found = Trained(model._training(train, setting, start))
        prefix = f"{start}."
        told = {k.removeprefix(prefix): v for k, v in before.items() if k.startswith(prefix)}
        if told:
            found.load(told)

        others = dict(before)

        def save(found: Trained = found, prefix: str = prefix, others: Any = others) -> None:
            others |= {prefix + name: each for name, each in found.state().items()}
            file.write(others)

        size = found.training.rules.batch_size
        try:
            with threads_for(size, len(found.training.weights), model._option("n_jobs")):
                _run(model, found, held, epochs, stops, lambda now=save: file.due() and now())
        finally:
            if file.path is not None:
                save()
        before |= others
        if best is None or found.best < best.best:
            best = found
    assert best is not None
    if best.kept:
        load_arrays(best.training.module, best.kept)
    best.training.history.validation = best.validation
    return best


def _held_out_part(model: "Network", work: NetworkWork) -> tuple[NetworkWork, NetworkWork]:
    """Return the rows to train on and those held out, of every class the same share."""
    pairs, _ = model._held_out(work.rows, float(model._option("validation_fraction")))
    none = np.empty(0, dtype=np.int64)
    train, held = pairs[0] if pairs else (none, none)
    if len(held) < 2:
        raise InputError(
            f"The validation set is too small: of {len(work.rows)} rows {len(held)} would be held "
            "out, and two are needed. Give more rows or a larger validation_fraction, or "
            "early_stopping=False and n_starts=1."
        )
    return work.part(train), work.part(held)


def _run(
    model: "Network",
    found: Trained,
    held: NetworkWork | None,
    epochs: int,
    stops: bool,
    after_epoch: Any,
) -> None:
    """Train, and judge on held-out rows after every epoch if there are any."""
    training = found.training
    if stops:
        training.patience = None  # the held-out rows end it
    patience = EpochPatience(float(model._option("tol")), model._option("n_iter_no_change"))
    for loss in found.validation:
        patience.used_up(loss)
    while training.epochs < epochs and not training.finished:
        training.advance(training.epochs + 1, total=epochs)
        if held is not None:
            batch = held.resident.all()
            outputs = training.outputs(batch.inputs)
            loss = float(held.criterion.mean(outputs, batch.targets, batch.weight))
            found.validation.append(loss)
            found.scores.append(model._validation_score(outputs, held))
            if not stops:
                found.best = loss
            elif loss < found.best:
                found.best, found.kept = loss, arrays_of(training.module)
            if stops and patience.used_up(loss):
                training.finished = True
        after_epoch()


def _checkpoint(
    model: "Network", work: NetworkWork, setting: Mapping[str, Any], epochs: int
) -> Checkpoint:
    path = model._option("checkpoint")
    if path is None:
        return Checkpoint(None, "")
    options = {name: model._option(name) for name in _OPTIONS}
    cost = (work.criterion.name, sorted(vars(work.criterion).items()))
    words = (model._describe(work, setting), dict(setting), epochs, options, cost, work.seed)
    resident, first = work.resident, model._training(work, setting)  # with its first weights
    arrays = [*resident.inputs, resident.targets, resident.weight]
    arrays += [first.weights.values, first.rules.penalty.anchor]
    known = [each.cpu().numpy() for each in arrays if each is not None]
    return Checkpoint(path, fingerprint(words, known))
