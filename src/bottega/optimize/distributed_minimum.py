"""What a distributed minimiser did: the way, the clock, and the speed-up beside its bound."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.tables import Section, Summary
from bottega.core.typing import FloatArray
from bottega.optimize.minimum import Minimum

__all__ = ["DistributedMinimum", "bound_of_serial_share"]


def bound_of_serial_share(serial_share: float, n_workers: int) -> float:
    r"""Return Amdahl's bound on the speed-up, :math:`1 / (s + (1 - s) / p)`.

    Parameters
    ----------
    serial_share : float
        Share s of the work that is not split, between 0 and 1.
    n_workers : int
        Workers p.

    Examples
    --------
    >>> bound_of_serial_share(0.0, 4), round(bound_of_serial_share(0.1, 4), 4)
    (4.0, 3.0769)
    """
    return 1 / (serial_share + (1 - serial_share) / n_workers)


@dataclass(frozen=True, eq=False, repr=False)
class DistributedMinimum(Minimum):
    """A `Minimum` found by several workers, with the time that each step took.

    Attributes
    ----------
    scheme : str
        How the work was shared.
    n_workers : int
        Workers.
    times : ndarray of shape (t + 1,)
        Seconds since the start at each point of the trace: of this machine, or of the simulated
        clock.
    work : ndarray of shape (t, n_workers)
        Seconds that each worker computed in each step.
    busy : float
        Seconds in which work was done that the next step had to wait for: the slowest worker of
        each step.
    staleness : ndarray of int or None
        How many updates came between the parameters that a worker read and its answer, for each
        update of the asynchronous scheme.
    simulated : bool
        True if the clock is a simulated one.
    """

    scheme: str = ""
    n_workers: int = 1
    times: FloatArray = field(default_factory=lambda: np.zeros(1))
    work: FloatArray = field(default_factory=lambda: np.zeros((0, 1)))
    busy: float = 0.0
    staleness: Any = None
    simulated: bool = False

    @property
    def seconds(self) -> float:
        """Seconds from the first step to the last, without starting the workers."""
        return float(self.times[-1])

    @property
    def serial_share(self) -> float:
        """Share of the work that no second worker shortens: what is not in `work`, of all.

        Time in a step beyond that of its slowest worker went into sums, messages and updates.
        """
        work, rest = float(self.work.sum()), max(self.seconds - self.busy, 0.0)
        return rest / (rest + work) if rest + work > 0 else 0.0

    @property
    def speed_up(self) -> float:
        """How many times longer one worker would take for the same work and the same rest.

        Asynchronous workers have no common rest: their work over the time.
        """
        work = float(self.work.sum())
        if self.staleness is not None:
            return work / self.seconds if self.seconds > 0 else 1.0
        rest = max(self.seconds - self.busy, 0.0)
        return (rest + work) / (rest + self.busy) if rest + self.busy > 0 else 1.0

    @property
    def bound(self) -> float:
        """Amdahl's bound on the speed-up with this serial share."""
        if self.staleness is not None:
            return float(self.n_workers)
        return bound_of_serial_share(self.serial_share, self.n_workers)

    def to_frame(self, like: Any = None) -> Any:
        """Return the trace as a data frame, one row per point.

        Columns: ``iteration``, ``time``, ``value``, ``residual``, ``step`` and, for each worker,
        ``work_0``, ``work_1``, ...: the seconds it computed in the step that led to the point.
        """
        trace = self.trace
        columns: dict[str, Any] = {
            "iteration": np.arange(len(trace.values)),
            "time": self.times,
            "value": trace.values,
            "residual": trace.residuals,
            "step": np.append(np.nan, trace.steps),
        }
        for i in range(self.work.shape[1]):
            columns[f"work_{i}"] = np.append(np.nan, self.work[:, i])
        return make_frame(columns, like)

    def summary(self) -> Summary:
        """Return what was found as a table that shows itself."""
        above = super().summary()
        facts: dict[str, Any] = {
            "scheme": self.scheme,
            "workers": self.n_workers,
            "seconds" if not self.simulated else "seconds (simulated)": self.seconds,
            "serial share": self.serial_share,
            "speed-up": self.speed_up,
            "Amdahl's bound": self.bound,
        }
        if self.staleness is not None and len(self.staleness):
            facts["updates"] = len(self.staleness)
            facts["mean staleness"] = float(np.mean(self.staleness))
        section = Section("Workers", {"": list(facts), "found": list(facts.values())})
        return Summary(above.title, (above.sections[0], section, *above.sections[1:]), above.notes)

    def plot(self) -> Any:
        """Draw the value over time, and the seconds of each worker beside the rest.

        Returns
        -------
        altair.VConcatChart
            The chart.
        """
        from bottega.plot import distributed_chart

        return distributed_chart(self)
