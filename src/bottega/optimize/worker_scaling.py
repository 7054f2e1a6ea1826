"""How much faster several processes are than one, beside Amdahl's bound."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import make_frame
from bottega.core.seeds import seed_of
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize._distributed.losses import task_of
from bottega.optimize._distributed.schemes import SharingSettings, run_scheme
from bottega.optimize.distributed_minimum import bound_of_serial_share

__all__ = ["WorkerScaling", "worker_scaling"]


@stored
@dataclass(frozen=True, eq=False, repr=False)
class WorkerScaling(Shown):
    """Seconds per step with each number of workers.

    Attributes
    ----------
    n_workers : ndarray of shape (m,)
        Numbers of workers, one first.
    seconds : ndarray of shape (m,)
        Median seconds of a step.
    work : ndarray of shape (m,)
        Median seconds that the slowest worker computed in a step.
    serial_share : float
        Share of a step of one worker in which it did not compute: sums, messages, updates.
    """

    n_workers: IntArray
    seconds: FloatArray
    work: FloatArray
    serial_share: float

    @property
    def speed_up(self) -> FloatArray:
        """Seconds of one worker over seconds of several."""
        return self.seconds[0] / self.seconds

    @property
    def bound(self) -> FloatArray:
        """Amdahl's bound on the speed-up."""
        return np.array([bound_of_serial_share(self.serial_share, int(p)) for p in self.n_workers])

    def _columns(self) -> dict[str, Any]:
        return {
            "workers": self.n_workers,
            "seconds": self.seconds,
            "work": self.work,
            "speed_up": self.speed_up,
            "bound": self.bound,
            "efficiency": self.speed_up / self.n_workers,
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per number of workers.

        Columns: ``workers``, ``seconds`` per step, ``work`` of the slowest worker, ``speed_up``,
        ``bound`` (Amdahl's), ``efficiency`` (speed-up per worker).
        """
        return make_frame(self._columns(), like)

    def summary(self) -> Summary:
        """Return the numbers as a table that shows itself."""
        return Summary(
            "Speed-up of data-parallel gradient descent",
            (Section("", {name: list(column) for name, column in self._columns().items()}),),
            notes=(f"Serial share of a step, measured with one worker: {self.serial_share:.3g}.",),
        )

    def plot(self) -> Any:
        """Draw the speed-up beside Amdahl's bound and the ideal.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import lines_chart

        return lines_chart(
            self.n_workers,
            {
                "measured": self.speed_up,
                "Amdahl's bound": self.bound,
                "one per worker": self.n_workers.astype(np.float64),
            },
            x_title="workers",
            y_title="speed-up over one worker",
            title="Speed-up of data-parallel gradient descent",
            subtitle=f"Serial share of a step with one worker: {self.serial_share:.1%}",
            dashed=("Amdahl's bound", "one per worker"),
        )


def worker_scaling(
    X: Any,
    y: Any,
    *,
    loss: Any = "logistic",
    alpha: float = 0.0,
    n_workers: Sequence[int] = (1, 2),
    steps: int = 20,
    x0: Any = None,
    learning_rate: float | None = None,
) -> WorkerScaling:
    """Time the steps of data-parallel gradient descent with several numbers of workers.

    Parameters
    ----------
    X, y, loss, alpha, x0, learning_rate
        As in `distributed_descent`.
    n_workers : sequence of int, default=(1, 2)
        Numbers of processes; one is always among them.
    steps : int, default=20
        Steps of each run; their median counts.

    Returns
    -------
    WorkerScaling
        Measured speed-ups beside Amdahl's bound, whose serial share is measured with one worker.

    Notes
    -----
    Every number of workers starts its processes anew, about a second each; other work on the
    machine slows them. A measured speed-up may exceed the bound by chance, or where the parts fit
    a cache that the whole does not.

    Examples
    --------
    >>> worker_scaling(X, y, n_workers=(1, 2, 4)).to_frame()  # doctest: +SKIP
    """
    counts = sorted({1, *(int(p) for p in n_workers)})
    if counts[0] < 1 or not (isinstance(steps, int | np.integer) and steps >= 1):
        raise ParameterError(
            f"n_workers={n_workers!r} and steps={steps!r} have to be whole numbers above 0."
        )
    task, start = task_of(X, y, loss, alpha, x0)
    if counts[-1] > len(task.X):
        raise ParameterError(f"n_workers={counts[-1]} are more than the {len(task.X)} rows.")
    rate = task.step(learning_rate)
    seconds, work = [], []
    share = 0.0
    for p in counts:
        # A tolerance below zero is never met: every run takes all its steps.
        settings = SharingSettings("gradients", p, rate, int(steps), -1.0, 1, 1, seed_of(0))
        run = run_scheme(task, start, settings)
        each, slowest = np.diff(run.times), np.max(run.work, axis=1)
        seconds.append(float(np.median(each)))
        work.append(float(np.median(slowest)))
        if p == 1:
            share = float(np.clip(1 - slowest.sum() / each.sum(), 0.0, 1.0))
    return WorkerScaling(np.array(counts), np.array(seconds), np.array(work), share)
