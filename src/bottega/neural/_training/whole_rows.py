"""Training on all rows at once: each iteration is a step of L-BFGS."""

from math import isfinite
from typing import Any

from bottega.neural._training.limited_memory import LimitedMemory
from bottega.neural._training.loop import NetworkTraining, TrainingDiverged

__all__ = ["WholeTraining"]


class WholeTraining(NetworkTraining):
    """A training whose epochs are steps of L-BFGS on the whole objective."""

    optimizer: LimitedMemory  # type: ignore[assignment]  # which evaluates by itself

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.patience = None  # L-BFGS itself knows when it is done

    def run_epoch(self) -> float:
        """Take one step; return the objective after it."""
        self.module.train()
        w = self.weights
        found = self.optimizer.step(w.values, w.gradient, self._objective)
        if not isfinite(found):
            raise TrainingDiverged(
                "The loss of the first weights is not a finite number, from which L-BFGS cannot "
                "start. Standardise the inputs and responses (standardize=True)."
            )
        self.steps += 1
        self.finished = self.optimizer.converged or self.optimizer.used_up
        return found

    @property
    def falls_short(self) -> str | None:
        """What to say where L-BFGS ended before it found a minimum."""
        if self.optimizer.converged:
            return None
        limit = "max_fun" if self.optimizer.used_up else "max_iter"
        return (
            f"L-BFGS has not converged after {self.epochs} iterations; raise {limit}, or let rows "
            "held out choose the iterations (max_iter='auto')."
        )

    def _objective(self) -> float:
        """Return loss and penalties of all rows, and leave their derivatives in the gradient."""
        batch, penalty = self.rows.all(), self.rules.penalty
        value = float(self.differentiate(batch))
        if penalty.counts:
            m = self.rows.total(batch)
            penalty.add_gradient(self.weights, m)
            value += float(penalty.value(self.weights, m))
        return value
