"""What ``import bottega`` costs over ``import numpy``."""

import statistics
from collections.abc import Iterator

from benchmarks.measure import Result, in_new_process


def run() -> Iterator[Result]:
    code = (
        "import numpy, time; start = time.perf_counter(); import bottega; "
        "print(time.perf_counter() - start)"
    )
    seconds = statistics.median(float(in_new_process(code)) for _ in range(9))
    yield Result(
        "import bottega, numpy already imported",
        "limit of 0.25 s",
        seconds,
        0.25,
        bar=1,
        accuracy="-",
        limit=True,
    )
