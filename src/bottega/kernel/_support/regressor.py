"""Support vector regression on its machines."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray
from bottega.kernel._support.base import MachineProblem, MachineRows, SupportVectors
from bottega.kernel._support.machines import Machine
from bottega.kernel._support.slacks import slacks_of

__all__ = ["TubeMachine"]

_TUBE = 0.1  # half width, in standard deviations of the response


class TubeMachine(RegressorMixin, SupportVectors):
    """A machine for numbers; inside, the response is in units of its standard deviation."""

    epsilon: Any

    def _machines_for(self, rows: Rows) -> tuple[list[MachineProblem], float, float]:
        mean = np.average(rows.y, weights=rows.weight)
        unit = float(np.sqrt(np.average((rows.y - mean) ** 2, weights=rows.weight))) or 1.0
        eps = _TUBE if isinstance(self.epsilon, str) else float(self.epsilon) / unit
        z = (rows.y - mean) / unit
        return [MachineProblem(np.arange(len(rows)), z, eps)], float(mean), unit

    def _keep(self, work: MachineRows, machines: list[Machine]) -> None:
        (machine,) = machines
        support = np.flatnonzero(machine.beta)
        self._keep_points(work.rows, work.X, support)
        self.dual_coef_ = machine.beta[None, support] * work.unit
        self.n_support_ = np.array([len(support)])
        self.intercept_ = np.array([machine.bias * work.unit + work.center])
        self.epsilon_ = float(work.problems[0].eps) * work.unit  # type: ignore[arg-type]
        rows = [np.arange(len(work.rows))]
        self._slacks = slacks_of(machines, rows, work.rows.y, work.center, work.unit, classes=False)

    def _columns(self) -> FloatArray:
        return self.dual_coef_.T

    def _own_numbers(self) -> dict[str, float]:
        return {"C": self.C_, "epsilon": self.epsilon_}

    def _predictions(
        self, work: MachineRows, settings: Sequence[Mapping[str, Any]], X_new: Any, method: str
    ) -> Array:
        return self._decisions(work, settings, X_new)[:, :, 0]

    def predict(self, X: Any) -> FloatArray:
        """Return the value of the function for each row of X."""
        return self._decide(X)[:, 0] + self.intercept_[0]
