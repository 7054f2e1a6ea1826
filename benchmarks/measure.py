"""Timing that survives a noisy machine: runs taken in turns, medians, ratios."""

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Result", "best_peer", "in_new_process", "in_turns"]


@dataclass(frozen=True)
class Result:
    """One line of the results: ours against a peer, and the bar that was set.

    `ratio` is how many times faster ours is (for a limit: how much of it is used).
    """

    case: str
    peer: str
    ours: float
    theirs: float
    bar: float
    accuracy: str
    unit: str = "s"
    limit: bool = False
    cold: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.limit else self.theirs / self.ours

    @property
    def met(self) -> bool:
        return self.ratio <= self.bar if self.limit else self.ratio >= self.bar

    def row(self) -> str:
        wanted = "at most the limit" if self.limit else f"at least {self.bar:g}x"
        ratio = f"{100 * self.ratio:.0f}% of it" if self.limit else f"{self.ratio:.1f}x"
        cold = "-" if self.cold is None else f"{self.cold:.3g}"
        return (
            f"| {self.case} | {self.peer} | {self.ours:.3g} {self.unit} | {cold} | "
            f"{self.theirs:.3g} {self.unit} | {ratio} | {wanted} | "
            f"{'yes' if self.met else '**no**'} | {self.accuracy} |"
        )


def in_turns(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median seconds of each call; the calls take turns, so noise hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(repeats):
        for name, call in calls.items():
            gc.collect()
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def best_peer(medians: dict[str, float], ours: str) -> tuple[str, float]:
    """Return the fastest of the others: a peer is measured at its best."""
    others = {name: taken for name, taken in medians.items() if name != ours}
    fastest = min(others, key=lambda name: others[name])
    return fastest, others[fastest]


def in_new_process(code: str) -> str:
    """Run Python code in a process of its own and return the last line it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


def cold_seconds(setup: str, call: str) -> float:
    """Return the seconds of a first call in a new process (kernels read from the disk cache)."""
    code = f"import time\n{setup}\nstart = time.perf_counter()\n{call}\n"
    return float(in_new_process(code + "print(time.perf_counter() - start)"))
