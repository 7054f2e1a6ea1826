"""What ``import bottega`` costs over ``import numpy``, and ``bottega --help``."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from benchmarks.measure import Result, in_new_process


def run() -> Iterator[Result]:
    yield importing()
    yield asking_for_help()


def importing() -> Result:
    code = (
        "import numpy, time; start = time.perf_counter(); import bottega; "
        "print(time.perf_counter() - start)"
    )
    seconds = statistics.median(float(in_new_process(code)) for _ in range(9))
    return Result(
        "import bottega, numpy already imported",
        "limit of 0.25 s",
        seconds,
        0.25,
        bar=1,
        accuracy="-",
        limit=True,
    )


def asking_for_help() -> Result:
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        command = [sys.executable, "-m", "bottega", "--help"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        taken.append(time.perf_counter() - start)
    return Result(
        "bottega --help, Python's own start included",
        "limit of 0.3 s",
        statistics.median(taken),
        0.3,
        bar=1,
        accuracy="-",
        limit=True,
    )
