"""Four ways to share the work, each from a crew to the record of its run."""

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.special import logsumexp

from bottega.core import interruption
from bottega.core.parallel import available_cores
from bottega.core.typing import Array, FloatArray
from bottega.optimize._distributed.crew import WorkerCrew
from bottega.optimize._distributed.losses import MeanLoss
from bottega.optimize._distributed.worker import WorkerPart

__all__ = ["SCHEMES", "DescentRun", "SharingSettings", "run_scheme"]

SCHEMES = ("gradients", "parameters", "model", "asynchronous")


@dataclass(frozen=True)
class SharingSettings:
    """What a run was asked for."""

    scheme: str
    n_workers: int
    learning_rate: float
    max_iter: int
    tol: float
    local_steps: int
    batch_size: int
    seed: int


@dataclass
class DescentRun:
    """What a run wrote down: one entry per point, and one per step."""

    points: list[FloatArray] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    gradients: list[FloatArray] = field(default_factory=list)
    residuals: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    work: list[list[float]] = field(default_factory=list)
    busy: float = 0.0
    staleness: list[int] | None = None
    verdict: str = "max_iter"

    def add(self, theta: FloatArray, value: float, gradient: FloatArray, at: float) -> None:
        """Write down a point."""
        self.points.append(theta.copy())
        self.values.append(value)
        self.gradients.append(gradient)
        self.residuals.append(float(np.max(np.abs(gradient))))
        self.times.append(at)

    def worked(self, seconds: list[float]) -> None:
        """Write down a step in which every worker computed, and the slowest was waited for."""
        self.work.append(seconds)
        self.busy += max(seconds)

    def judged(self, tol: float) -> bool:
        """Return True if the run should stop, with its verdict."""
        value = self.values[-1]
        if not (np.isfinite(value) and np.isfinite(self.residuals[-1])):
            self.verdict = "diverged" if len(self.values) > 1 else "not finite"
        elif self.residuals[-1] <= tol:
            self.verdict = "converged"
        elif len(self.values) > 10 and value > 1e6 * (1 + abs(self.values[0])):
            self.verdict = "diverged"
        return self.verdict != "max_iter"


def split(n: int, parts: int) -> list[tuple[int, int]]:
    """Return the limits of nearly equal parts.

    Examples
    --------
    >>> split(5, 2)
    [(0, 2), (2, 5)]
    """
    cuts = [n * i // parts for i in range(parts + 1)]
    return list(pairwise(cuts))


def run_scheme(task: MeanLoss, start: FloatArray, settings: SharingSettings) -> DescentRun:
    """Start the workers, run the scheme, and end them."""
    p = settings.n_workers
    model = settings.scheme == "model"
    rows = [(0, len(task.X))] * p if model else split(len(task.X), p)
    classes = split(task.classes, p) if model else [(0, task.classes)] * p
    threads = max(1, available_cores() // p)
    parts = [
        WorkerPart(i, rows[i], classes[i], task.alpha, settings.seed + i, threads) for i in range(p)
    ]
    arrays: dict[str, Array] = {"X": task.X, "y": task.y}
    if model:
        n, C, d = len(task.X), task.classes, task.X.shape[1]
        arrays |= {
            "W": start.reshape(C, d),
            "scores": np.zeros((n, C)),
            "levels": np.zeros((p, n)),
            "level": np.zeros(n),
            "slopes": np.zeros((C, d)),
        }
    else:
        arrays |= {"sent": np.tile(start, (p, 1)), "found": np.zeros((p, task.size))}
    call: Any = {
        "gradients": _gradients,
        "parameters": _parameters,
        "model": _model,
        "asynchronous": _asynchronous,
    }[settings.scheme]
    with WorkerCrew(task.loss, parts, arrays) as crew:
        run: DescentRun = call(crew, task, start.copy(), settings, rows)
    return run


def _gradients(
    crew: WorkerCrew, task: MeanLoss, theta: FloatArray, settings: SharingSettings, _: Any
) -> DescentRun:
    """Every worker: the gradient of its rows; here: their sum and one step."""
    run = DescentRun()
    begun = time.perf_counter()
    for t in range(settings.max_iter + 1):
        interruption.raise_if_pressed()
        crew.arrays["sent"][...] = theta
        crew.tell_all("gradient")
        answers = crew.answers()
        total = crew.arrays["found"].sum(axis=0)
        value = float(sum(answer for answer, _ in answers))
        value, gradient = task.penalised(value, total, theta)
        # The first round only says where the run begins: the clock starts after it.
        if t == 0:
            begun = time.perf_counter()
        else:
            run.worked([seconds for _, seconds in answers])
        run.add(theta, value, gradient, time.perf_counter() - begun if t else 0.0)
        if run.judged(settings.tol) or t == settings.max_iter:
            break
        theta = theta - settings.learning_rate * gradient
        run.steps.append(settings.learning_rate)
    return run


def _parameters(
    crew: WorkerCrew, task: MeanLoss, theta: FloatArray, settings: SharingSettings, rows: Any
) -> DescentRun:
    """Every worker: some steps on its rows alone; here: the mean of where they end."""
    run = DescentRun()
    share = np.array([high - low for low, high in rows]) / len(task.X)
    begun = time.perf_counter()
    for t in range(settings.max_iter + 1):
        interruption.raise_if_pressed()
        crew.arrays["sent"][...] = theta
        crew.tell_all("local", settings.local_steps, settings.learning_rate)
        answers = crew.answers()
        value = float(sum(answer for answer, _ in answers))
        mean = share @ crew.arrays["found"]
        # What the steps amount to, in the units of a gradient.
        move = (theta - mean) / (settings.learning_rate * settings.local_steps)
        value, _ = task.penalised(value, move, theta)
        if t == 0:
            begun = time.perf_counter()
        else:
            run.worked([seconds for _, seconds in answers])
        run.add(theta, value, move, time.perf_counter() - begun if t else 0.0)
        if run.judged(settings.tol) or t == settings.max_iter:
            break
        theta = mean
        run.steps.append(settings.learning_rate)
    return run


def _model(
    crew: WorkerCrew, task: MeanLoss, theta: FloatArray, settings: SharingSettings, _: Any
) -> DescentRun:
    """Every worker: scores and weights of its classes; here: only the sum over classes."""
    run = DescentRun()
    shape = crew.arrays["W"].shape
    begun = time.perf_counter()
    for t in range(settings.max_iter + 1):
        interruption.raise_if_pressed()
        crew.arrays["W"][...] = theta.reshape(shape)
        crew.tell_all("scores")
        first = crew.answers()
        crew.arrays["level"][...] = logsumexp(crew.arrays["levels"], axis=0)
        crew.tell_all("columns")
        second = crew.answers()
        value = float(sum(answer for answer, _ in second))
        value, gradient = task.penalised(value, np.ravel(crew.arrays["slopes"]).copy(), theta)
        if t == 0:
            begun = time.perf_counter()
        else:
            run.worked([a + b for (_, a), (_, b) in zip(first, second, strict=True)])
        run.add(theta, value, gradient, time.perf_counter() - begun if t else 0.0)
        if run.judged(settings.tol) or t == settings.max_iter:
            break
        theta = theta - settings.learning_rate * gradient
        run.steps.append(settings.learning_rate)
    return run


def _asynchronous(
    crew: WorkerCrew, task: MeanLoss, theta: FloatArray, settings: SharingSettings, _: Any
) -> DescentRun:
    """Every worker: gradients of mini-batches, each applied as soon as it comes."""
    p, per_pass = len(crew), max(1, round(len(task.X) / settings.batch_size))
    run = DescentRun(staleness=[])
    assert run.staleness is not None
    read = [0] * p  # the update that each worker's parameters are from
    version, snapshots = 0, [(theta.copy(), 0.0)]
    spent = np.zeros(p)
    updates = settings.max_iter * per_pass
    begun = time.perf_counter()
    for i in range(p):
        crew.tell(i, "batch", settings.batch_size)
    busy = set(range(p))
    while busy:
        interruption.raise_if_pressed()
        for i in crew.first(busy):
            _, seconds = crew.answer(i)
            spent[i] += seconds
            if version < updates:
                rate = step_at(settings.learning_rate, version / per_pass)
                theta = theta - rate * crew.arrays["found"][i]
                run.staleness.append(version - read[i])
                version += 1
                if version % per_pass == 0:
                    snapshots.append((theta.copy(), time.perf_counter() - begun))
                    run.work.append(spent.tolist())
                    run.steps.append(rate)
                    spent = np.zeros(p)
            if version < updates and np.all(np.isfinite(theta)):
                crew.arrays["sent"][i] = theta
                read[i] = version
                crew.tell(i, "batch", settings.batch_size)
            else:
                busy.discard(i)
    for point, at in snapshots:  # after the clock: what each pass was worth
        value, gradient = task.both(point)
        run.add(point, value, gradient, at)
    run.judged(settings.tol)
    return run


def step_at(learning_rate: float, passes: float) -> float:
    """Return the step size of mini-batches, which falls with the root of the passes."""
    return float(learning_rate / np.sqrt(1 + passes))
