"""Appendix B: how much faster several processors are than one."""

from functools import partial
from heapq import heapreplace
from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.course._parts import Proof, all_hold, columns_of
from bottega.course.experiment import Experiment, experiment
from bottega.plot import lines_chart
from bottega.scale import amdahl
from bottega.scale.speedup import parallel_share

__all__ = ["below_amdahl"]


@experiment(
    "D-E24",
    claim="Parallel speed-up stays below Amdahl's bound, by overhead and imbalance.",
    items="D240-D253",
    quick={"repeats": 20},
)
def below_amdahl(
    *,
    workers: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 96),
    folds: int = 96,
    share: float = 0.8,
    latency: float = 0.05,
    repeats: int = 200,
    random_state: int = 0,
) -> Experiment:
    r"""Share the folds of a cross-validation among workers, with and without what sharing costs.

    Of one unit of work a share f is done by the folds, the rest before and after them. Each fold
    goes to the worker that is free first. With folds of equal length and free messages the speed-up
    is :math:`1 / (f / k + 1 - f)`, Amdahl's bound; folds of unequal length leave workers waiting
    for the last one, and each message takes its time. Times are simulated, so that the answer is
    the same on every machine; `bottega.scale.speedup_report` measures real ones.

    Parameters
    ----------
    workers : tuple of int
        Numbers of workers.
    folds : int
        Tasks, a multiple of the numbers of workers.
    share : float
        Share f of the work that can be done in parallel.
    latency : float
        What the two messages of a task take on the side of the scheduler, as a share of the work.
    repeats : int
        Draws of unequal folds.
    random_state : int
        Of the draws.
    """
    rng = np.random.default_rng(random_state)
    counts = np.array(workers)
    bound = np.array([amdahl(share, int(k)) for k in counts])
    equal = np.full(folds, share / folds)
    ideal = 1 / np.array([1 - share + _finished(equal, k, 0.0) for k in counts])
    uneven, real = np.zeros((2, repeats, len(counts)))
    for r in range(repeats):
        lengths = rng.exponential(size=folds)
        lengths *= share / lengths.sum()
        for i, k in enumerate(counts):
            uneven[r, i] = 1 / (1 - share + _finished(lengths, k, 0.0))
            real[r, i] = 1 / (1 - share + _finished(lengths, k, latency / folds))
    several = counts > 1
    found = parallel_share(counts, 1 / real.mean(axis=0))
    parts = [
        Proof("bound at 32 and at 96 workers, f = 0.8", amdahl(0.8, 32), amdahl(0.8, 96),
              abs(amdahl(0.8, 32) - 4.444) < 5e-4 and abs(amdahl(0.8, 96) - 4.8) < 1e-12),
        Proof("bound of any number of workers, f = 0.95", amdahl(0.95, 10**12), 20.0,
              abs(amdahl(0.95, 10**12) - 20) < 1e-6),
        Proof("equal folds, free messages: speed-up over bound", float(np.max(ideal / bound)), 1.0,
              bool(np.allclose(ideal, bound, rtol=1e-12))),
        Proof("unequal folds: greatest speed-up over bound", float(np.max(uneven / bound)), 1.0,
              bool(np.all(uneven[:, several] <= bound[several] * (1 + 1e-12)))),
        Proof("with messages: greatest speed-up over that without",
              float(np.max((real / uneven)[:, several])), 1.0,
              bool(np.all(real[:, several] < uneven[:, several]))),
        Proof("parallel share that the times reveal, and the true one", found, share,
              found < share),
    ]  # fmt: skip
    curves = {
        "Amdahl's bound": bound,
        "unequal folds": uneven.mean(axis=0),
        "unequal folds and messages": real.mean(axis=0),
    }
    return Experiment(
        columns=columns_of(parts),
        holds=all_hold(parts),
        finding=f"with {counts[-1]} workers the bound is {bound[-1]:.2f}, unequal folds reach "
        f"{uneven[:, -1].mean():.2f} and messages leave {real[:, -1].mean():.2f}; the times look "
        f"like a parallel share of {found:.2f} instead of {share:g}",
        draw=partial(_draw, counts, curves, share),
    )


def _finished(lengths: FloatArray, k: Any, latency: float) -> float:
    """Return when the last task ends; the scheduler hands tasks out one after the other."""
    free = [0.0] * int(k)
    scheduler = 0.0
    for length in lengths:
        scheduler = max(scheduler, free[0]) + latency if latency else free[0]
        heapreplace(free, max(scheduler, free[0]) + float(length))
    return max(free)


def _draw(counts: Any, curves: dict[str, FloatArray], share: float) -> Any:
    return lines_chart(
        counts,
        curves,
        x_title="workers",
        y_title="speed-up over one worker",
        title="Sharing work gains less than Amdahl's bound",
        subtitle=f"Simulated cross-validation, {share:.0%} of the work in its folds",
        dashed=("Amdahl's bound",),
    )
