"""What a newcomer waits for: the seconds that each file of kernels takes to compile from nothing.

They are counted in the time that a kernel of fixed size takes on the same machine in the same run,
so a slow or a busy machine does not matter. A file that exceeds its budget should pass fewer
arrays, write loops instead of calls of numpy, or move what is rarely used into a kernel of its own.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import bottega

USUAL = 5  # of a file that is not in the table
BUDGET = {
    "tree._kernels.grow_exact": 52,
    "optimize._kernels.coordinate": 42,
    "tree._kernels.grow_binned": 42,
    "smooth._kernels.local_space": 24,
    "smooth._kernels.loess_fits": 24,
    "optimize._kernels.logistic": 14,
    "linear._kernels.least_angle": 20,
    "neighbors._kernels.votes": 18,
    "tree._kernels.grow_joint": 18,
    "linear._kernels.subset_walks": 13,
    "linear._kernels.subset_best": 11,
    "online._kernels.gradient_descent": 9,
    "cluster._kernels.lloyd": 6,
    "tree._kernels.prune": 9,
    "smooth._kernels.state_space": 10,
    "smooth._kernels.nearest": 9,
    "additive._kernels.adaptive_knots": 9,
    "additive._kernels.pursuit_cells": 9,
    "ensemble._kernels.words": 7,
    "basis._kernels.spline": 9,  # the first of a process, which makes the compiler ready
}
ALL = 330
GAUGES = ["one", "two", "three", "four", "five"]
MEASURE = """
from bottega._jit import kernel
import numpy as np

@kernel
def distance(X, i, j):
    total = 0.0
    for k in range(X.shape[1]):
        total += (X[i, k] - X[j, k]) ** 2
    return np.sqrt(total)

@kernel
def middle(values, order):
    for i in range(len(values)):
        order[i] = i
    for i in range(1, len(values)):
        j = i
        while j > 0 and values[order[j - 1]] > values[order[j]]:
            order[j - 1], order[j] = order[j], order[j - 1]
            j -= 1
    return values[order[len(values) // 2]]

@kernel
def measure(X, y, weight):
    n = len(y)
    found = np.empty(n)
    order = np.empty(n, dtype=np.int64)
    near = np.empty(n)
    for i in range(n):
        for j in range(n):
            near[j] = distance(X, i, j)
        width = middle(near, order)
        total = 0.0
        share = 0.0
        for j in range(n):
            if near[j] < width:
                total += weight[j] * y[j]
                share += weight[j]
        found[i] = total / share if share > 0.0 else y[i]
    return found
"""
WARMUP = """
import sys
import numpy as np
from bottega._jit import beside
from bottega.cli.commands import warmup
from bottega.core.parallel import in_threads
from gauge._kernels import five, four, one, three, two

X = np.ones((4, 2))
y = np.ones(4)
with beside():
    in_threads(lambda each: each.measure(X, y, y), [one, two, three, four, five])
warmup(quiet=False)
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Warm up from nothing; return the cache folder and what was said.

    An empty folder that NUMBA_CACHE_DIR names is filled, so that what runs next need not compile.
    """
    root = tmp_path_factory.mktemp("cold")
    named = os.environ.get("NUMBA_CACHE_DIR", "")
    cache = Path(named) if named and not [*Path(named).glob("*")] else root / "cache"
    kernels = root / "gauge" / "_kernels"
    kernels.mkdir(parents=True)
    for name in GAUGES:
        (kernels / f"{name}.py").write_text(MEASURE)
    sources = str(Path(bottega.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", WARMUP],
        check=False,
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join([str(root), sources]),
            "NUMBA_CACHE_DIR": str(cache),
        },
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stderr
    return cache, done.stderr


def seconds_of_files(cache):
    """Return the CPU seconds that the kernels of each file took."""
    found = {}
    for file in cache.glob("*/*.nbc"):
        module = file.parent.name.rpartition("-")[0]
        with file.open("rb") as stored:
            seconds = pickle.load(stored)
        found[module] = found.get(module, 0.0) + seconds
    return found


@pytest.mark.slow
@pytest.mark.timeout(1300)
def test_a_file_of_kernels_keeps_its_budget(compiled):
    seconds = seconds_of_files(compiled[0])
    unit = sorted(seconds.pop(f"gauge._kernels.{name}") for name in GAUGES)[2]
    over = {
        name.removeprefix("bottega."): round(spent / unit, 2)
        for name, spent in seconds.items()
        if spent / unit > BUDGET.get(name.removeprefix("bottega."), USUAL)
    }
    assert not over, f"more than their budgets, in units of {unit:.2f} s"
    assert sum(seconds.values()) / unit < ALL


@pytest.mark.slow
@pytest.mark.timeout(1300)
def test_warmup_compiles_into_a_fresh_cache_and_says_so(compiled):
    cache, said = compiled
    assert "preparing kernels, once on this machine" in said
    assert "all kernels compiled in" in said
    assert len([*cache.glob("bottega.*")]) > 20
    assert not [*cache.rglob("*.lock")]
