"""Distributed descent on a simulated clock: the same numbers on every machine."""

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, InputError, ParameterError, warn_caller
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.optimize._distributed.losses import MeanLoss, task_of
from bottega.optimize._distributed.schemes import DescentRun, split, step_at
from bottega.optimize.distributed import result_of
from bottega.optimize.distributed_minimum import DistributedMinimum

__all__ = ["Delays", "simulated_cluster"]

SCHEMES = ("full", "synchronous", "asynchronous")


@dataclass(frozen=True)
class Delays:
    """How long the parts of a step take on the simulated cluster.

    Attributes
    ----------
    per_row : float
        Seconds for the gradient of one row.
    latency : float
        Seconds for a message one way.
    spread : float
        Standard deviation of the logarithm of the factor by which a piece of work takes longer
        or shorter; 0 is a cluster without chance.
    slowest : float
        The last worker is this many times slower than the others.
    """

    per_row: float = 1e-6
    latency: float = 1e-4
    spread: float = 0.3
    slowest: float = 1.0

    def __post_init__(self) -> None:
        for name in ("per_row", "latency", "spread", "slowest"):
            number = getattr(self, name)
            if not 0 <= number < np.inf:
                raise ParameterError(f"{name}={number!r} is not allowed; give a number from 0 on.")
        if self.per_row + self.latency == 0 or self.slowest == 0:
            raise ParameterError(
                "per_row and latency are not both zero, nor is slowest: time has to pass."
            )

    def work(self, rows: int, worker: int, n_workers: int, rng: np.random.Generator) -> float:
        """Return the seconds that a worker needs for the gradient of some rows."""
        factor = self.slowest if worker == n_workers - 1 else 1.0
        return self.per_row * rows * factor * float(np.exp(self.spread * rng.normal()))


def simulated_cluster(
    X: Any,
    y: Any,
    *,
    loss: Any = "logistic",
    alpha: float = 0.0,
    scheme: str = "asynchronous",
    n_workers: int = 4,
    duration: float = 1.0,
    delays: Delays | None = None,
    x0: Any = None,
    learning_rate: float | None = None,
    batch_size: int = 64,
    n_points: int = 100,
    random_state: Any = None,
) -> DistributedMinimum:
    """Minimise a mean loss as a cluster would, on a clock that only counts what it is told.

    ==================  ========================================================================
    scheme              what happens
    ==================  ========================================================================
    ``"full"``          all workers compute the gradient of their rows; the slowest is waited
                        for; one step.
    ``"synchronous"``   the workers take turns: one computes the gradient of a mini-batch, the
                        step is made, and only then the next one begins.
    ``"asynchronous"``  all workers compute gradients of mini-batches all the time, each applied
                        as it comes, to parameters that others have changed meanwhile.
    ==================  ========================================================================

    Parameters
    ----------
    X, y, loss, alpha, x0
        As in `distributed_descent`.
    scheme : {"full", "synchronous", "asynchronous"}, default="asynchronous"
        How the work is shared.
    n_workers : int, default=4
        Workers.
    duration : float, default=1.0
        Simulated seconds.
    delays : Delays, optional
        How long things take.
    learning_rate : float, optional
        Step size, 1 / L by default. Those of mini-batches fall with the root of the passes.
    batch_size : int, default=64
        Rows of a mini-batch.
    n_points : int, default=100
        Points of the trace, evenly spread over the time; the function is computed there only.
    random_state : int, Generator or None, default=None
        Of mini-batches and delays.

    Returns
    -------
    DistributedMinimum
        The run, with the simulated time at each point, and the staleness of every update.

    Warns
    -----
    ConvergenceWarning
        If the steps diverged.

    Notes
    -----
    Costs the gradients that it simulates, in this process. Real processes: `distributed_descent`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = X @ [1.0, 0.0, -1.0] > 0
    >>> found = simulated_cluster(X, y, alpha=0.1, duration=0.05, random_state=0)
    >>> found.simulated, bool(found.value < 0.5), int(np.median(found.staleness))
    (True, True, 3)
    """
    if scheme not in SCHEMES:
        raise ParameterError(f"scheme={scheme!r} is not known; give one of {', '.join(SCHEMES)}.")
    for name, number in (
        ("n_workers", n_workers), ("batch_size", batch_size), ("n_points", n_points),
    ):  # fmt: skip
        if not (isinstance(number, int | np.integer) and number >= 1):
            raise ParameterError(f"{name}={number!r} is not allowed; give a whole number above 0.")
    if not 0 < duration < np.inf:
        raise ParameterError(f"duration={duration!r} is not allowed; give seconds above 0.")
    task, start = task_of(X, y, loss, alpha, x0)
    if n_workers > len(task.X):
        raise ParameterError(f"n_workers={n_workers} are more than the {len(task.X)} rows.")
    clock = _Clock(
        task,
        start,
        task.step(learning_rate),
        int(n_workers),
        min(int(batch_size), len(task.X)),
        float(duration),
        delays or Delays(),
        np.linspace(0, duration, int(n_points) + 1),
        np.random.default_rng(seed_of(random_state, "simulated_cluster")),
    )
    run = getattr(clock, scheme)()
    run.judged(0.0)
    if run.verdict == "not finite":
        raise InputError("The loss or its gradient is not finite at x0; start elsewhere.")
    method = f"simulated cluster ({scheme})"
    found = result_of(run, task, method, scheme, int(n_workers), simulated=True)
    if run.verdict == "diverged":
        warn_caller(found.message, ConvergenceWarning)
    return found


class _Clock:
    """One simulated run."""

    def __init__(
        self,
        task: MeanLoss,
        theta: FloatArray,
        rate: float,
        p: int,
        batch: int,
        duration: float,
        delays: Delays,
        marks: FloatArray,
        rng: np.random.Generator,
    ) -> None:
        self.task, self.theta, self.rate, self.p, self.batch = task, theta, rate, p, batch
        self.duration, self.delays, self.marks, self.rng = duration, delays, marks, rng
        self.run = DescentRun()
        self.updates = 0
        self._next = 0
        self._spent = np.zeros(p)

    def _show(self, now: float) -> None:
        """Write down the points that are due before the next update."""
        while self._next < len(self.marks) and self.marks[self._next] <= now:
            value, gradient = self.task.both(self.theta)
            self.run.add(self.theta, value, gradient, float(self.marks[self._next]))
            if self._next:
                self.run.work.append(self._spent.tolist())
                self.run.steps.append(self._rate())
            self._spent[:] = 0
            self._next += 1

    def _rate(self) -> float:
        return step_at(self.rate, self.updates * self.batch / len(self.task.X))

    def _gradient(self, theta: FloatArray) -> FloatArray:
        chosen = self.rng.integers(len(self.task.X), size=self.batch)
        with np.errstate(all="ignore"):  # what overflows is said by the verdict
            _, gradient = self.task.loss(theta, self.task.X[chosen], self.task.y[chosen])
        return np.asarray(gradient) / self.batch + self.task.alpha * theta

    def _seconds(self, rows: int, worker: int) -> float:
        return self.delays.work(rows, worker, self.p, self.rng)

    def full(self) -> DescentRun:
        """Wait for all workers in every step."""
        sizes = [high - low for low, high in split(len(self.task.X), self.p)]
        now = 0.0
        while now < self.duration:
            seconds = [self._seconds(rows, i) for i, rows in enumerate(sizes)]
            now += 2 * self.delays.latency + max(seconds)
            self._show(min(now, self.duration))
            self._spent += seconds
            self.run.busy += max(seconds)
            _, gradient = self.task.both(self.theta)
            self.theta = self.theta - self.rate * gradient
            if not np.all(np.isfinite(self.theta)):
                break
        self._show(self.duration)
        return self.run

    def synchronous(self) -> DescentRun:
        """Let the workers take turns with a mini-batch each."""
        now = 0.0
        while now < self.duration:
            worker = self.updates % self.p
            seconds = self._seconds(self.batch, worker)
            now += 2 * self.delays.latency + seconds
            self._show(min(now, self.duration))
            self._spent[worker] += seconds
            self.run.busy += seconds
            self.theta = self.theta - self._rate() * self._gradient(self.theta)
            self.updates += 1
            if not np.all(np.isfinite(self.theta)):
                break
        self._show(self.duration)
        return self.run

    def asynchronous(self) -> DescentRun:
        """Apply every gradient as it comes."""
        stale = self.run.staleness = []
        read = [self.theta] * self.p
        version = [0] * self.p
        cost = [self._seconds(self.batch, i) for i in range(self.p)]
        # When each worker's gradient comes in; of equal times the lower number is first.
        queue = [(2 * self.delays.latency + cost[i], i) for i in range(self.p)]
        heapq.heapify(queue)
        while queue[0][0] < self.duration:
            now, i = heapq.heappop(queue)
            self._show(now)
            self._spent[i] += cost[i]
            self.theta = self.theta - self._rate() * self._gradient(read[i])
            stale.append(self.updates - version[i])
            self.updates += 1
            if not np.all(np.isfinite(self.theta)):
                break
            read[i], version[i] = self.theta, self.updates
            cost[i] = self._seconds(self.batch, i)
            heapq.heappush(queue, (now + 2 * self.delays.latency + cost[i], i))
        self._show(self.duration)
        return self.run
