"""How much faster several workers are than one: Amdahl's bound, and what is measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.core.frames import make_frame
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.distributed_minimum import bound_of_serial_share

__all__ = ["SpeedUp", "amdahl", "speedup_report"]


def amdahl(f: float, k: int) -> float:
    r"""Return Amdahl's bound on the speed-up of work of which a share can be done in parallel.

    .. math:: \frac{1}{f / k + 1 - f} \le \frac{1}{1 - f}

    Parameters
    ----------
    f : float
        Share of the work that can be done in parallel, between 0 and 1.
    k : int
        Workers.

    Examples
    --------
    >>> round(amdahl(0.8, 32), 3), round(amdahl(0.8, 96), 3), round(amdahl(0.95, 10**9), 3)
    (4.444, 4.8, 20.0)
    """
    if not 0 <= f <= 1 or k < 1:
        raise ParameterError(f"amdahl({f!r}, {k!r}): f is a share of the work, k a number from 1.")
    return bound_of_serial_share(1 - f, k)


@stored
@dataclass(frozen=True, eq=False, repr=False)
class SpeedUp(Shown):
    """Seconds of the same work with each number of workers.

    Attributes
    ----------
    workers : ndarray of shape (m,)
        Numbers of workers, one first.
    seconds : ndarray of shape (m,)
        Least seconds of several runs.
    parallel_share : float
        The share f whose Amdahl curve is closest to the times, in least squares.
    """

    workers: IntArray
    seconds: FloatArray
    parallel_share: float

    @property
    def speed_up(self) -> FloatArray:
        """Seconds of one worker over seconds of several."""
        return self.seconds[0] / self.seconds

    @property
    def bound(self) -> FloatArray:
        """Amdahl's bound at the measured share."""
        return np.array([amdahl(self.parallel_share, int(k)) for k in self.workers])

    @property
    def overhead(self) -> FloatArray:
        """Seconds beyond perfect sharing: serial work, messages, waiting for the slowest."""
        return self.seconds - self.seconds[0] / self.workers

    def _columns(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "seconds": self.seconds,
            "speed_up": self.speed_up,
            "bound": self.bound,
            "efficiency": self.speed_up / self.workers,
            "overhead": self.overhead,
        }

    def to_frame(self, like: Any = None) -> Any:
        """Return one row per number of workers.

        Columns: ``workers``, ``seconds``, ``speed_up``, ``bound`` (Amdahl's, at the measured
        share), ``efficiency`` (speed-up per worker), ``overhead`` in seconds.
        """
        return make_frame(self._columns(), like)

    def summary(self) -> Summary:
        """Return the numbers as a table that shows itself."""
        share = self.parallel_share
        most = "without limit" if share == 1 else f"at most {1 / (1 - share):.3g}"
        return Summary(
            "Speed-up",
            (Section("", {name: list(column) for name, column in self._columns().items()}),),
            notes=(
                f"Share of the work that was done in parallel, by least squares: {share:.3g}; with "
                f"any number of workers the speed-up is {most}.",
            ),
        )

    def plot(self) -> Any:
        """Draw the speed-up beside Amdahl's curve and the ideal.

        Returns
        -------
        altair.LayerChart
            The chart.
        """
        from bottega.plot import lines_chart

        return lines_chart(
            self.workers,
            {
                "measured": self.speed_up,
                "Amdahl's curve": self.bound,
                "one per worker": self.workers.astype(np.float64),
            },
            x_title="workers",
            y_title="speed-up over one worker",
            title="Speed-up",
            subtitle=f"Share done in parallel: {self.parallel_share:.1%}",
            dashed=("Amdahl's curve", "one per worker"),
        )


def speedup_report(
    work: Callable[[int], Any], workers: Sequence[int] = (1, 2), *, repeats: int = 3
) -> SpeedUp:
    """Time the same work with several numbers of workers, and measure its parallel share.

    Parameters
    ----------
    work : callable
        Does the work with the number of workers that it is given; a first call, which is not
        timed, lets it start processes and compile.
    workers : sequence of int, default=(1, 2)
        Numbers of workers; one is always among them.
    repeats : int, default=3
        Runs with each number; the fastest counts, which other work on the machine disturbs least.

    Returns
    -------
    SpeedUp
        Times, speed-ups, and the share f for which :math:`T_1 (f / k + 1 - f)` is closest to the
        times: what stays serial, overhead included.

    Examples
    --------
    >>> import numpy as np
    >>> from bottega.ensemble import RandomForestRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> def work(k):
    ...     RandomForestRegressor(n_estimators=10, n_jobs=k, random_state=0).fit(X, X[:, 0])
    >>> speedup_report(work, repeats=1).workers.tolist()
    [1, 2]
    """
    if not callable(work):
        raise ParameterError(
            f"speedup_report calls work with a number of workers, and {type(work).__name__} is no "
            "function: give one such as  lambda k: RandomForestRegressor(n_jobs=k).fit(X, y)."
        )
    try:
        given = list(workers)
    except TypeError:
        raise ParameterError(
            f"workers is a sequence of whole numbers such as (1, 2, 4), not of type "
            f"{type(workers).__name__}."
        ) from None
    counts = np.array(sorted({1, *(int(k) for k in given)}))
    if counts[0] < 1 or repeats < 1:
        raise ParameterError(
            f"workers={workers!r} and repeats={repeats!r} have to be whole numbers above 0."
        )
    seconds = []
    for k in counts:
        work(int(k))
        times = []
        for _ in range(repeats):
            start = perf_counter()
            work(int(k))
            times.append(perf_counter() - start)
        seconds.append(min(times))
    return SpeedUp(counts, np.array(seconds), parallel_share(counts, np.array(seconds)))


def parallel_share(workers: IntArray, seconds: FloatArray) -> float:
    """Return the share f, between 0 and 1, whose curve T (f / k + 1 - f) is closest to times.

    Examples
    --------
    >>> round(parallel_share(np.array([1, 2, 4]), np.array([10.0, 6.0, 4.0])), 6)
    0.8
    """
    saved = 1 - 1 / workers[1:]
    if not len(saved):
        return 0.0
    gained = 1 - seconds[1:] / seconds[0]
    return float(np.clip(saved @ gained / (saved @ saved), 0.0, 1.0))
