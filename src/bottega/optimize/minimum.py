"""What a minimiser did: the point it found, and every step on the way."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.optimize.objective import Objective

__all__ = ["Minimum", "Recorder", "Trace"]


@dataclass(frozen=True, eq=False)
class Trace:
    """Every point that a minimiser accepted, the first one included: t steps, t + 1 points.

    Attributes
    ----------
    points : ndarray of shape (t + 1, d) or None
        The points; None if they were not kept.
    values : ndarray of shape (t + 1,)
        f at the points.
    gradients : ndarray of shape (t + 1, d) or None
        The gradients at the points, where the method takes them and they were kept.
    residuals : ndarray of shape (t + 1,)
        What the method wants at zero: the largest entry of the gradient, or of the step that a
        projection leaves of it.
    steps : ndarray of shape (t,)
        Step sizes.
    evaluations : ndarray of shape (t + 1,)
        Values of f computed so far.
    gradient_evaluations : ndarray of shape (t + 1,)
        Gradients computed so far.
    """

    points: FloatArray | None
    values: FloatArray
    gradients: FloatArray | None
    residuals: FloatArray
    steps: FloatArray
    evaluations: FloatArray
    gradient_evaluations: FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Minimum(Shown):
    """The point that a minimiser found, how it got there, and what to think of it.

    Attributes
    ----------
    method : str
        Name of the method.
    x : ndarray of shape (d,)
        The point: the last one, or the best one where the method went astray.
    value : float
        f(x).
    verdict : str
        ``"converged"``, ``"max_iter"``, ``"stalled"`` (no step lowers f), ``"diverged"``,
        ``"unbounded"`` or ``"not finite"``.
    message : str
        The verdict in a sentence, with what to do.
    n_iter : int
        Steps taken.
    trace : Trace
        Every step.
    f : callable or None
        The function, for the picture; it is not saved with the result.
    """

    method: str
    x: FloatArray
    value: float
    verdict: str
    message: str
    n_iter: int
    trace: Trace
    f: Any = field(repr=False)

    @property
    def converged(self) -> bool:
        """True if the method met its tolerance."""
        return self.verdict == "converged"

    @property
    def evaluations(self) -> int:
        """Values of f computed."""
        return int(self.trace.evaluations[-1])

    @property
    def gradient_evaluations(self) -> int:
        """Gradients computed."""
        return int(self.trace.gradient_evaluations[-1])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "f": None}  # often a function that cannot be stored

    def to_frame(self, like: Any = None) -> Any:
        """Return the trace as a data frame, one row per point.

        Columns: ``iteration``, ``value``, ``residual``, ``step`` (that led to the point),
        ``evaluations``, ``gradient_evaluations`` and, where points were kept, ``x0``, ``x1``, ...
        """
        return make_frame(self._columns(), like)

    def _columns(self) -> dict[str, Any]:
        trace = self.trace
        columns: dict[str, Any] = {
            "iteration": np.arange(len(trace.values)),
            "value": trace.values,
            "residual": trace.residuals,
            "step": np.append(np.nan, trace.steps),
            "evaluations": trace.evaluations,
            "gradient_evaluations": trace.gradient_evaluations,
        }
        if trace.points is not None:
            columns.update({f"x{j}": column for j, column in enumerate(trace.points.T)})
        return columns

    def summary(self) -> Summary:
        """Return what was found as a table that shows itself."""
        facts: dict[str, Any] = {
            "value": self.value,
            "residual": float(self.trace.residuals[-1]),
            "steps": self.n_iter,
            "values of f computed": self.evaluations,
            "gradients computed": self.gradient_evaluations,
        }
        entries = [f"x{j}" for j in range(len(self.x))]
        return Summary(
            title=f"{self.method}: {self.verdict}",
            sections=(
                Section("", {"": list(facts), "found": list(facts.values())}),
                Section("Point", {"entry": entries[:20], "x": [float(v) for v in self.x[:20]]}),
            ),
            notes=(self.message,),
        )

    def plot(self) -> Any:
        """Draw the way: contours and path for two inputs, and the value over iterations and cost.

        Returns
        -------
        altair.Chart
            The chart.
        """
        from bottega.plot import descent_chart

        return descent_chart(self)


class Recorder:
    """Collects the steps of one run and judges when it has gone astray.

    Parameters
    ----------
    objective : Objective
        The function, whose counts are read at every step.
    keep : bool
        Keep points and gradients; without them a run takes the memory of a few vectors.
    """

    # A run that rises for so many steps, above where it began, is on its way to infinity.
    _RISES = 30

    def __init__(self, objective: Objective, keep: bool) -> None:
        self.objective, self.keep = objective, keep
        self.points: list[FloatArray] = []
        self.gradients: list[FloatArray] = []
        self.values: list[float] = []
        self.residuals: list[float] = []
        self.steps: list[float] = []
        self.evaluations: list[int] = []
        self.gradient_evaluations: list[int] = []
        self.best: tuple[float, FloatArray] | None = None
        self._rises = 0

    def add(
        self,
        x: FloatArray,
        value: float,
        gradient: FloatArray | None,
        residual: float,
        step: float | None = None,
    ) -> None:
        """Write down one point, and the step size that led to it."""
        if step is not None:
            self.steps.append(step)
            self._rises = self._rises + 1 if value > self.values[-1] else 0
        self.values.append(value)
        self.residuals.append(residual)
        self.evaluations.append(self.objective.evaluations)
        self.gradient_evaluations.append(self.objective.gradient_evaluations)
        if self.keep:
            self.points.append(x.copy())
            if gradient is not None:
                self.gradients.append(gradient.copy())
        if np.isfinite(value) and (self.best is None or value < self.best[0]):
            self.best = value, x.copy()

    def astray(self, x: FloatArray, value: float, gradient: FloatArray | None) -> str | None:
        """Return "not finite", "unbounded" or "diverged" if the run should stop, else None."""
        if value == -np.inf:
            return "unbounded"
        if value == np.inf and self._rises:
            return "diverged"
        if not np.isfinite(value) or not np.all(np.isfinite(x)):
            return "not finite"
        if gradient is not None and not np.all(np.isfinite(gradient)):
            return "not finite"
        if self._rises >= self._RISES and value > self.values[0]:
            return "diverged"
        return None

    @property
    def falls_steadily(self) -> bool:
        """True if the second half of the steps lowered f as much as the first did."""
        half = len(self.values) // 2
        if half < 10:
            return False
        first = self.values[0] - self.values[half]
        second = self.values[half] - self.values[-1]
        return second > 0 and second >= 0.9 * first

    @property
    def last_fall(self) -> int:
        """The step that led to the least value."""
        return int(np.nanargmin(self.values))

    def result(self, method: str, x: FloatArray, verdict: str, message: str) -> Minimum:
        """Return the run as a `Minimum`; x is replaced by the best point of a run gone astray."""
        value = self.values[-1]
        astray = verdict in ("diverged", "not finite") or not np.isfinite(value)
        if astray and self.best is not None:
            value, x = self.best
        return Minimum(
            method=method,
            x=x.copy(),
            value=value,
            verdict=verdict,
            message=message,
            n_iter=len(self.steps),
            trace=Trace(
                points=np.array(self.points) if self.keep else None,
                values=np.array(self.values),
                gradients=np.array(self.gradients) if self.gradients else None,
                residuals=np.array(self.residuals),
                steps=np.array(self.steps),
                evaluations=np.array(self.evaluations),
                gradient_evaluations=np.array(self.gradient_evaluations),
            ),
            f=self.objective.value,
        )
