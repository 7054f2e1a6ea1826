"""What support vector machines for classes and for numbers share."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bottega.core.folds import Folds
from bottega.core.lists import Listed
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.params import AnyOf, Boolean, Choice, Integer, Parameter, Real
from bottega.core.path import Path
from bottega.core.rows import Rows
from bottega.core.sparse import small_as_dense
from bottega.core.tuned import Tuned
from bottega.core.typing import FloatArray, IntArray
from bottega.kernel._inputs.points import KERNEL, GramRows
from bottega.kernel._objects.numbers import gamma_grid
from bottega.kernel._support.fitted import KernelMachine
from bottega.kernel._support.machines import Machine, machines_along
from bottega.kernel._support.slacks import Slacks
from bottega.kernel.kernels import Kernel

__all__ = [
    "COST",
    "GAMMA",
    "KERNEL_PARAMS",
    "SHARED_PARAMS",
    "SOLVER_PARAMS",
    "MachineProblem",
    "MachineRows",
    "SupportVectors",
]

_WIDEST, _NARROWEST = 1e-2, 1e2  # of the values of C on a path
_FEW = 1_000  # rows up to which threads are not worth their start
_GAMMAS = 5  # values of gamma="path"

COST = Real(0, None, open_low=True, log=True, endless=True)
GAMMA = AnyOf(
    Choice("scale", "auto"),
    Real(0, None, open_low=True, log=True),
    help="factor in the kernels, 'scale' or 'auto'",
)
KERNEL_PARAMS: dict[str, Parameter] = {
    "kernel": KERNEL,
    "degree": Integer(1, help="degree of the polynomial kernel"),
    "gamma": AnyOf(
        Choice("scale", "auto", "path"),
        GAMMA.parts[1],
        Listed(GAMMA.parts[1]),
        help="factor in the kernels; 'path' or a list for the path to choose from",
    ),
    "coef0": Real(help="constant of the polynomial and the sigmoid kernel"),
}
SOLVER_PARAMS: dict[str, Parameter] = {
    "shrinking": Boolean(help="leave out rows that stay at a bound for a while"),
    "tol": Real(0, 1, open_low=True, log=True, help="largest violation of the conditions"),
    "cache_size": Real(0, open_low=True, help="megabytes for rows of the kernel matrix"),
    "verbose": AnyOf(Integer(0), Boolean(), help="whether progress is written"),
    "max_iter": AnyOf(Integer(-1, -1), Integer(1), help="most rounds; -1 for no limit"),
}
SHARED_PARAMS: dict[str, Parameter] = {
    "select": Choice("min", "one_se", help="rule that picks from the path"),
    "Cs": AnyOf(Integer(2), Listed(COST), help="values of C on the path: how many, or which"),
    "cv": Folds(help="number of folds that judge the path, or folds"),
}


@dataclass(frozen=True)
class MachineProblem:
    """One machine to be found: which rows it is for, and their labels or responses."""

    rows: IntArray
    z: FloatArray
    eps: float | None = None


@dataclass
class MachineRows:
    """Rows prepared for every setting, with the machines found so far."""

    rows: Rows
    X: Any
    problems: list[MachineProblem]
    center: float = 0.0  # of the responses, and
    unit: float = 1.0  # theirs, of coefficients and of C
    kernels: dict[Any, Kernel] = field(default_factory=dict)
    machines: dict[Any, dict[float, list[Machine]]] = field(default_factory=dict)


class SupportVectors(KernelMachine, Tuned):
    """A support vector machine along values of C, and of gamma."""

    knob: ClassVar[str] = "C"
    knobs: ClassVar[tuple[str, ...]] = ("C", "gamma")

    C: Any
    Cs: Any
    cv: Any
    _slacks: Slacks

    @abstractmethod
    def _machines_for(self, rows: Rows) -> tuple[list[MachineProblem], float, float]:
        """Return the problems of some rows, and the centre and the unit of their responses."""

    def _prepare(self, rows: Rows) -> MachineRows:
        X = rows.X if isinstance(rows.X, GramRows) else small_as_dense(rows.X)
        return MachineRows(rows, X, *self._machines_for(rows))

    def _input_weight(self, rows: Rows) -> FloatArray | None:
        """Return the weights with which the inputs count in ``gamma="scale"``."""
        return rows.weight

    def _given(self, work: MachineRows) -> dict[str, Any] | None:
        cost = self._cost(work)
        return None if cost is None or self._chooses_gamma else {"C": cost}

    def _cost(self, work: MachineRows) -> float | None:
        """Return C where it is given; "scale" is the unit of the responses."""
        if isinstance(self.C, str):
            return None if self.C == "auto" else work.unit
        return self.C

    def _kernel_at(self, work: MachineRows, gamma: Any) -> Kernel:
        """Return the kernel of a setting."""
        if gamma not in work.kernels:
            weight = self._input_weight(work.rows)
            work.kernels[gamma] = self._kernel_for(work.X, weight, gamma)
        return work.kernels[gamma]

    def _gamma_of(self, setting: Mapping[str, Any]) -> Any:
        return setting.get("gamma", self.gamma)

    def _solve(self, work: MachineRows, settings: Sequence[Mapping[str, Any]]) -> None:
        """Find the machines of these settings, those of one kernel along ascending C."""
        for gamma in {self._gamma_of(setting): None for setting in settings}:
            known = work.machines.setdefault(gamma, {})
            wanted = {float(each["C"]) for each in settings if self._gamma_of(each) == gamma}
            costs = sorted(wanted - set(known))
            if not costs:
                continue
            kernel, weights = self._kernel_at(work, gamma), work.rows.weights
            how = self._how()

            def along(problem: MachineProblem, kernel: Kernel = kernel) -> list[Machine]:
                all_rows = len(problem.rows) == len(work.rows)
                return machines_along(
                    work.X if all_rows else work.X[problem.rows],
                    kernel,
                    problem.z,
                    weights[problem.rows],  # noqa: B023
                    [cost / work.unit for cost in costs],  # noqa: B023
                    how,  # noqa: B023
                    eps=problem.eps,
                )

            if len(work.problems) == 1 or len(work.rows) <= _FEW:
                found = [along(problem) for problem in work.problems]
            else:
                found = in_threads(along, work.problems)
            for place, cost in enumerate(costs):
                known[cost] = [machines[place] for machines in found]

    def _at(self, work: MachineRows, setting: Mapping[str, Any]) -> list[Machine]:
        self._solve(work, [setting])
        return work.machines[self._gamma_of(setting)][float(setting["C"])]

    def _path_settings(self, work: MachineRows, values: Any) -> list[dict[str, Any]]:
        given = self._cost(work)
        if values is None and given is not None and self._chooses_gamma:
            values = [given]
        elif values is None and np.ndim(self.Cs) == 1:
            values = self.Cs
        if values is None:
            kernel = self._kernel_at(work, self._gamma_of(self._gammas(work)[0]))
            size = float(np.mean(np.abs(self._diagonal(kernel, work.X)))) or 1.0
            values = np.geomspace(_WIDEST, _NARROWEST, int(self.Cs)) * work.unit / size
        costs = sorted({float(value) for value in values})
        return [gamma | {"C": cost} for gamma in self._gammas(work) for cost in costs]

    def _gammas(self, work: MachineRows) -> list[dict[str, Any]]:
        """Return the settings of gamma on the path; none of its own where it is given."""
        if not self._chooses_gamma:
            return [{}]
        values = self.gamma
        if np.ndim(values) == 0:
            values = gamma_grid(work.X, self._input_weight(work.rows), _GAMMAS)
        return [{"gamma": float(gamma)} for gamma in sorted(values)]

    def _diagonal(self, kernel: Kernel, X: Any) -> FloatArray:
        if isinstance(X, GramRows):
            return np.asarray(X.matrix[X.at, X.at])
        return kernel.diagonal(X)

    def _path(self, work: MachineRows, values: Any, loss: Loss | None) -> Path:
        settings = self._path_settings(work, values)
        self._solve(work, settings)
        several = self._chooses_gamma
        place = [float(k) if several else each["C"] for k, each in enumerate(settings)]
        own = self._own_loss(work)
        assert own is not None
        return Path(
            settings,
            complexity=np.array(place),
            train_error=self._train_error(work, work.rows, settings, own),
            loss=own.title,
        )

    def _decisions(
        self, work: MachineRows, settings: Sequence[Mapping[str, Any]], X_new: Any
    ) -> FloatArray:
        """Return the decision values of checked inputs: (rows, settings, machines)."""
        self._solve(work, settings)
        m, P = X_new.shape[0], len(work.problems)
        found = np.empty((m, len(settings), P))
        for gamma in {self._gamma_of(setting): None for setting in settings}:
            places = [k for k, each in enumerate(settings) if self._gamma_of(each) == gamma]
            chosen = [work.machines[gamma][float(settings[k]["C"])] for k in places]
            coef = np.zeros((len(work.rows), len(places) * P))
            for k, machines in enumerate(chosen):
                for problem, machine, column in zip(
                    work.problems, machines, range(k * P, (k + 1) * P), strict=True
                ):
                    coef[problem.rows, column] = machine.beta
            bias = np.array([[machine.bias for machine in machines] for machines in chosen])
            if X_new is work.rows.X and P == 1 and len(work.problems[0].rows) == m:
                sums = np.column_stack([one[0].fitted for one in chosen])[:, :, None]
                found[:, places] = sums * work.unit + work.center
                continue
            used = np.flatnonzero(np.any(coef != 0, axis=1))
            sums = self._sums(self._kernel_at(work, gamma), X_new, work.X[used], coef[used])
            sums = sums.reshape(m, len(places), P) + bias
            found[:, places] = sums * work.unit + work.center
        return found

    def _settle(self, work: MachineRows, setting: Mapping[str, Any]) -> None:
        machines = self._at(work, setting)
        self.kernel_ = self._kernel_at(work, self._gamma_of(setting))
        self.gamma_ = self.kernel_.row_kernel.gamma
        self.C_ = float(setting["C"])
        self._warn_indefinite(work.X, len(work.rows))
        self._keep(work, machines)
        self._report(machines, work.unit)

    def slack_table(self) -> Any:
        """Return what the fit says about each of its rows, as a data frame.

        Returns
        -------
        data frame
            With more than two classes the `pair` of classes; the `row` of the fit; its class or
            response `y`; the `decision` value; `slack`, by how much it misses its margin (or its
            tube); `alpha`, its dual variable, and the bound `C` of it; and the `case`:
            ``"outside"`` (no slack, alpha 0), ``"on the margin"`` (alpha below its bound),
            ``"inside the margin"`` or ``"misclassified"`` (slack above one); for a regression
            ``"inside"`` the tube, ``"on the edge"`` or ``"outside"``.
        """
        check_is_fitted(self)
        return self._make_frame(self._slacks.columns())

    @abstractmethod
    def _keep(self, work: MachineRows, machines: list[Machine]) -> None:
        """Keep the support vectors and their coefficients."""
