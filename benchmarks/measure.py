"""Timing that survives a noisy machine: runs taken in turns, medians, ratios."""

import gc
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Result",
    "best_peer",
    "bounded",
    "compared_errors",
    "extra_memory",
    "in_new_process",
    "in_turns",
]


@dataclass(frozen=True)
class Result:
    """One line of the results: ours against a peer, and the bar that was set.

    `ratio` is how many times faster ours is (for a limit: how much of it is used). `stopped` says
    that the peer was stopped before it was done: its seconds, and the ratio, are at least these.
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
    stopped: bool = False

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs if self.limit else self.theirs / self.ours

    @property
    def met(self) -> bool:
        return self.ratio <= self.bar if self.limit else self.ratio >= self.bar

    def row(self) -> str:
        wanted = "at most the limit" if self.limit else f"at least {self.bar:g}x"
        digits = 2 if self.ratio < 1 else 1
        ratio = f"{100 * self.ratio:.0f}% of it" if self.limit else f"{self.ratio:.{digits}f}x"
        cold = "-" if self.cold is None else f"{self.cold:.3g}"
        more = "more than " if self.stopped else ""
        return (
            f"| {self.case} | {self.peer} | {self.ours:.3g} {self.unit} | {cold} | "
            f"{more}{self.theirs:.3g} {self.unit} | {more}{ratio} | {wanted} | "
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


def bounded(command: list[str], seconds: float) -> str | None:
    """Run a command and return what it prints, or None if it is not done in time.

    It gets a process group of its own, so that stopping it stops its workers too.
    """
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        printed, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)[:200]} failed: {errors[-2000:]}")
    return printed


def compared_errors(ours: Any, theirs: Any) -> str:
    """Compare the losses of two models on the same test rows.

    Both models are judged by the same rows, so what counts is the mean of the row by row
    differences and its standard error, which is far smaller than that of either mean. Ours is
    called no worse if that difference is at most two of its standard errors above zero: two models
    of equal risk fail this in one run out of forty.
    """
    difference = ours - theirs
    gap = float(difference.mean())
    gap_se = float(difference.std(ddof=1)) / len(difference) ** 0.5
    verdict = "yes" if gap <= 2 * gap_se else "**no**"
    return (
        f"test error {ours.mean():.4g} against {theirs.mean():.4g} (paired difference {gap:+.2g}, "
        f"SE {gap_se:.1g}); no worse by more than 2 SE of the difference: {verdict}"
    )


def extra_memory(setup: str, call: str, unit: str = "X.nbytes") -> float:
    """Return what a call takes at its peak, beside what was there before it, in copies of X.

    `setup` makes X and does the call on a few rows, so that compiled kernels are not counted.
    """
    code = (
        f"import re\n{setup}\n"
        "def now(what):\n"
        "    status = open('/proc/self/status').read()\n"
        "    return int(re.search(what + r':\\s+(\\d+)', status)[1]) * 1024\n"
        "open('/proc/self/clear_refs', 'w').write('5')\n"  # the peak starts anew
        f"before = now('VmRSS')\n{call}\n"
        f"print((now('VmHWM') - before) / ({unit}))"
    )
    return float(in_new_process(code))
