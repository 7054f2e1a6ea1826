"""Training a network: the one loop.

An epoch shows every row once, in shuffled batches. For each batch: the outputs (forward), the loss
and its derivative by every parameter (backward), and a step of the optimiser.
"""

from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import torch

from bottega.core import progress
from bottega.core.errors import BottegaError
from bottega.neural._training.backpropagation import Backpropagation
from bottega.neural._training.batches import Batch, ResidentRows, several_rows
from bottega.neural._training.criteria import NetworkCriterion
from bottega.neural._training.memory import memory_for
from bottega.neural._training.optimizers import Optimizer
from bottega.neural._training.penalties import WeightPenalty, smoothness
from bottega.neural._training.recorded import RecordedGradient
from bottega.neural._training.schedules import Schedule
from bottega.neural._training.stopping import EpochPatience
from bottega.neural._training.weights import Weights

__all__ = ["History", "NetworkTraining", "TrainingDiverged", "TrainingRules"]


# Predicted at once, at most: of larger blocks the layers would not fit into a processor's memory.
_ROWS = 8192
_NUMBERS = 2**20


class TrainingDiverged(BottegaError, ArithmeticError):
    """The loss left the range of numbers, and the training was stopped."""


@dataclass(frozen=True)
class TrainingRules:
    """How an epoch is run.

    Attributes
    ----------
    batch_size : int
        Rows of a step.
    shuffle : bool
        Whether the rows come in another order in each epoch.
    penalty : WeightPenalty
        What the weights cost.
    smoothness : float
        Factor of the smoothness penalty.
    clip : float or None
        Each entry of the gradient is kept within [-clip, clip].
    autocast : bool
        Whether products of matrices are taken in bfloat16.
    """

    batch_size: int
    shuffle: bool = True
    penalty: WeightPenalty = field(default_factory=WeightPenalty)
    smoothness: float = 0.0
    clip: float | None = None
    autocast: bool = False


@dataclass
class History:
    """What was measured after each epoch: mean losses of the training and the validation rows."""

    loss: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)


class NetworkTraining:
    """A module in training: it can be advanced by epochs, stopped, stored and resumed.

    Parameters
    ----------
    module : torch.nn.Module
        It is trained in place.
    rows : ResidentRows
        The training rows.
    criterion : NetworkCriterion
        Loss of a row.
    optimizer : Optimizer
        Made on the vector of `weights`.
    schedule : Schedule
        Length of the steps.
    rules : TrainingRules
        Batches and penalties.
    weights : Weights
        The module's parameters as one vector.
    generator : torch.Generator
        Source of the order of the rows (on the processor).
    patience : EpochPatience or None
        Ends the training once the training loss no longer falls.
    forward : callable, optional
        A faster form of the module, which shares its parameters.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        rows: ResidentRows,
        criterion: NetworkCriterion,
        optimizer: Optimizer,
        schedule: Schedule,
        rules: TrainingRules,
        weights: Weights,
        generator: torch.Generator,
        patience: EpochPatience | None = None,
        forward: Any = None,
    ) -> None:
        self.forward = module if forward is None else forward
        self.module, self.rows, self.criterion = module, rows, criterion
        self.optimizer, self.schedule, self.rules = optimizer, schedule, rules
        self.weights, self.generator, self.patience = weights, generator, patience
        plain = rules.smoothness == 0 and forward is None
        dense = Backpropagation.of(module, criterion) if plain else None
        self.by_hand = None if rules.autocast else dense
        recorded = dense is not None and weights.values.is_cuda
        self.recorded = RecordedGradient(self._differentiate) if recorded else None
        self.history = History()
        self.epochs = 0
        self.steps = 0
        self.seen = 0  # rows, counted each time
        self.finished = False

    @property
    def falls_short(self) -> str | None:
        """What to say where a training ended before it found the minimum it looks for."""
        return None

    def run_epoch(self) -> float:
        """Show every row once; return the mean of the objective over the epoch."""
        w, rules, optimizer = self.weights, self.rules, self.optimizer
        rate = self.schedule.rate(self.epochs, self.seen, self.steps)
        generator = self.generator if rules.shuffle else None
        self.module.train()
        losses, sizes = [], []
        for batch in self.rows.epoch(rules.batch_size, generator):
            loss = self.differentiate(batch)
            m = self.rows.total(batch)
            if rules.penalty.counts:
                rules.penalty.add_gradient(w, m)
            if rules.clip is not None:
                w.gradient.clamp_(-rules.clip, rules.clip)
            optimizer.step(w.values, w.gradient, rate)
            losses.append(loss)
            sizes.append(m)
        return self._mean_of(losses, sizes)

    def differentiate(self, batch: Batch) -> torch.Tensor:
        """Return the objective of a batch, and leave its derivatives in the gradient."""
        return (self.recorded or self._differentiate)(batch)

    def _differentiate(self, batch: Batch) -> torch.Tensor:
        if self.by_hand is not None:
            return self.by_hand(batch)
        self.weights.gradient.zero_()  # where `backward` adds to
        loss = self.objective(batch)
        loss.backward()
        return loss.detach()

    def objective(self, batch: Batch) -> torch.Tensor:
        """Return the mean loss of a batch, and the smoothness penalty where there is one."""
        if self.rules.autocast:
            kind, fresh = self.weights.values.device.type, self.recorded is not None
            # What is recorded must make its own copies of the weights, every time.
            with torch.autocast(kind, torch.bfloat16, cache_enabled=not fresh):
                outputs = self.forward(*batch.inputs).to(self.weights.values.dtype)
        else:
            outputs = self.forward(*batch.inputs)
        loss = self.criterion.mean(outputs, batch.targets, batch.weight)
        if self.rules.smoothness > 0:
            loss = loss + self.rules.smoothness * smoothness(self.module, batch.inputs)
        return loss

    def _mean_of(self, losses: list[torch.Tensor], sizes: list[float]) -> float:
        """Return the mean over the epoch's rows, with the penalty; refuse one that is no number."""
        found = torch.stack(losses)
        total = float(found.double().cpu() @ torch.tensor(sizes, dtype=torch.float64)) / sum(sizes)
        if not isfinite(total) or not bool(torch.isfinite(self.weights.values).all()):
            steps = torch.nonzero(~torch.isfinite(found))
            bad = int(steps[0]) if len(steps) else len(losses) - 1
            raise TrainingDiverged(
                f"The loss is no longer a finite number at step {self.steps + bad + 1} (epoch "
                f"{self.epochs + 1}, batch {bad + 1}): the steps are too long. Lower "
                f"learning_rate_init (now {self.schedule.start:g}), give clip=1.0, or standardise "
                "the inputs."
            )
        self.steps += len(losses)
        if self.rules.penalty.counts:
            mean_size = sum(sizes) / len(sizes)
            total += float(self.rules.penalty.value(self.weights, mean_size))
        return total

    def advance(self, to: int, *, stage: str = "epochs", total: int | None = None) -> None:
        """Run epochs until there are `to` of them, or the training loss has stopped falling."""
        while self.epochs < to and not self.finished:
            with several_rows(), memory_for(*self._needs()):
                loss = self.run_epoch()
            self.epochs += 1
            self.seen += len(self.rows)
            self.history.loss.append(loss)
            progress.report(stage, self.epochs, total or to, f"loss {loss:.4g}", self.history)
            if self.patience is not None and self.patience.used_up(loss):
                self.patience.start_again()
                self.finished = not self.schedule.goes_on()

    def _needs(self) -> tuple[str, str]:
        """Return what takes memory, and how it would take less."""
        size = self.rules.batch_size
        smaller = f"a smaller batch_size, such as {max(size // 4, 1)}"
        return f"batches of {size} rows", smaller if size > 1 else "fewer or smaller layers"

    @torch.no_grad()
    def outputs(self, inputs: Any) -> torch.Tensor:
        """Return the outputs of the module for all rows of `inputs`, as it predicts."""
        return evaluate(self.module, inputs, self.rules.autocast)


@torch.no_grad()
def evaluate(
    module: torch.nn.Module, inputs: tuple[torch.Tensor, ...], autocast: bool = False
) -> torch.Tensor:
    """Return the outputs of a module for all rows, some at once, as it predicts.

    Dropout and noise are off, and batch normalisation uses its running means.
    """
    module.eval()
    numbers = max(inputs[0][:1].numel(), 1)  # of a row
    at_once = min(max(_NUMBERS // numbers, 1), _ROWS)
    parts = zip(*(each.split(at_once) for each in inputs), strict=True)
    with torch.autocast(inputs[0].device.type, torch.bfloat16, autocast):
        found = [module(*part) for part in parts]
    outputs = torch.cat(found) if len(found) != 1 else found[0]
    return outputs.to(next(module.parameters()).dtype) if autocast else outputs
