"""Chapter 6: one learner on many machines."""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from bottega.core.typing import FloatArray
from bottega.course._numbers import errors_above
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.optimize import Delays, DistributedMinimum, newton, simulated_cluster
from bottega.plot import lines_chart

__all__ = ["without_waiting"]

_SCHEMES = ("full", "synchronous", "asynchronous")
_RATES = (2.0, 1.0, 0.5, 0.2)  # in units of 1/L
_SECONDS = {"full": 0.3, "synchronous": 0.1, "asynchronous": 0.1}
_PER_SECOND = 2000  # points of a trace
_ALPHA = 0.01
_DELAYS = Delays(per_row=1e-5, latency=2e-5, spread=0.5, slowest=4.0)


@experiment(
    "M-X44",
    claim="Asynchronous updates beat synchronous ones and full gradients on a cluster.",
    items="M634-M637",
    verdict="holds only if the steps are short enough for the staleness: with the longest steps "
    "that serve synchronous updates, old gradients overshoot",
    quick={"repeats": 3},
)
def without_waiting(
    *, rows: int = 4000, n_workers: int = 8, repeats: int = 10, random_state: int = 0
) -> Experiment:
    """Fit a logistic regression on a simulated cluster, one of whose workers is four times slower.

    Full gradients wait for that worker in every step; synchronous mini-batches keep all workers
    but one idle; asynchronous ones use all of them, with parameters that are some updates old.
    Each scheme is run with four step sizes, and counts with its best.

    Parameters
    ----------
    rows : int
        Rows.
    n_workers : int
        Workers.
    repeats : int
        Draws of rows, mini-batches and delays.
    random_state : int
        Of all of them.
    """
    waits = {(scheme, rate): np.zeros(repeats) for scheme in _SCHEMES for rate in _RATES}
    stale, gain = np.zeros(repeats), np.zeros(repeats)
    gaps: dict[tuple[str, float], FloatArray] = {}
    for k in range(repeats):
        rng = np.random.default_rng([random_state, k])
        X = rng.normal(size=(rows, 10)) * np.geomspace(1, 0.2, 10)
        y = X @ np.full(10, 3.0) + rng.logistic(size=rows) > 0
        longest = 1 / (0.25 * float(np.linalg.eigvalsh(X.T @ X)[-1]) / rows + _ALPHA)
        runs = {
            (scheme, rate): simulated_cluster(
                X, y, alpha=_ALPHA, scheme=scheme, n_workers=n_workers, delays=_DELAYS,
                duration=_SECONDS[scheme], n_points=round(_SECONDS[scheme] * _PER_SECOND),
                batch_size=32, learning_rate=rate * longest, random_state=k,
            )
            for scheme, rate in waits
        }  # fmt: skip
        least = _least(X, y, runs["full", 1.0])
        for key, run in runs.items():
            # From the value at zero, log 2, 99 % of the way to the minimum.
            waits[key][k] = _time_to(run, least + 0.01 * (float(np.log(2)) - least))
            gaps[key] = run.trace.values - least  # of the last draw
        stale[k] = np.mean(runs["asynchronous", 0.2].staleness)
        gain[k] = runs["asynchronous", 0.2].speed_up
    best = {s: min(_RATES, key=lambda rate: float(waits[s, rate].mean())) for s in _SCHEMES}
    full, turns, free = (waits[scheme, best[scheme]] for scheme in _SCHEMES)
    late = waits["asynchronous", 1.0]
    parts = [
        Proof("seconds to 99 % of the way, synchronous and asynchronous", turns.mean(),
              free.mean(), errors_above(turns, free) > 3),
        Proof("seconds to 99 % of the way, full and asynchronous", full.mean(), free.mean(),
              errors_above(full, free) > 3),
        Proof("the same with steps of 1/L, asynchronous and best", late.mean(), free.mean(),
              errors_above(late, free) > 2),
        Proof("best step in units of 1/L, synchronous and asynchronous", best["synchronous"],
              best["asynchronous"], best["synchronous"] >= best["asynchronous"]),
        Proof("mean staleness, in updates", stale.mean(), n_workers - 1,
              abs(stale.mean() - (n_workers - 1)) < 0.5),
        Proof("work per second of one worker's", gain.mean(), n_workers,
              n_workers / 2 < gain.mean() < n_workers),
    ]  # fmt: skip
    curves = {
        f"{scheme}, steps of {best[scheme]:g}/L": gaps[scheme, best[scheme]] for scheme in _SCHEMES
    }
    curves["asynchronous, steps of 1/L"] = gaps["asynchronous", 1.0]
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"to 99 % of the way asynchronous workers take {free.mean():.3f} s, synchronous "
        f"ones {turns.mean():.3f} s and full gradients {full.mean():.3f} s, each with its best "
        f"step; gradients that are {stale.mean():.1f} updates old take {late.mean():.3f} s with "
        "steps of 1/L",
        draw=partial(_draw, curves),
    )


def _least(X: FloatArray, y: Any, run: DistributedMinimum) -> float:
    """Return the least value, by Newton's method from the end of a run."""
    Z = np.where(y, 1.0, -1.0)[:, None] * X

    def gradient(theta: FloatArray) -> FloatArray:
        return np.asarray(-(Z.T @ expit(-Z @ theta)) / len(Z) + _ALPHA * theta)

    def hessian(theta: FloatArray) -> FloatArray:
        p = expit(Z @ theta)
        return (Z * (p * (1 - p))[:, None]).T @ Z / len(Z) + _ALPHA * np.eye(len(theta))

    return newton(run.f, run.x, gradient=gradient, hessian=hessian).value


def _time_to(run: DistributedMinimum, target: float) -> float:
    """Return when the value first came below the target; the end if never."""
    below = np.flatnonzero(run.trace.values <= target)
    return float(run.times[below[0]]) if len(below) else float(run.times[-1])


def _draw(curves: dict[str, FloatArray]) -> Any:
    shown = min(len(curve) for curve in curves.values())
    return lines_chart(
        1000 * np.arange(0, shown, 2) / _PER_SECOND,
        {name: curve[:shown:2] for name, curve in curves.items()},
        x_title="simulated milliseconds",
        y_title="value above the minimum",
        title="Workers that do not wait are ahead, with steps that are short enough",
        subtitle="Logistic regression on simulated workers, one of them four times slower",
        log_y=True,
        points=False,
    )
