"""Fits of a Parquet table that is larger than memory should hold, against DuckDB's own scan.

``python -m benchmarks scale`` makes 20,000,000 x 20 numbers in ``build/scale`` (about 3 GB, stored
plainly, which DuckDB reads fastest) and runs all cases, those of one pass also on files as Arrow
and pandas write them; ``SCALE_ROWS=200000`` is a try. Every fit runs in a process of its own, whose
peak memory is counted, between scans: DuckDB's sum of the same columns (the largest of labels),
also in processes of their own. What was read is counted, too: a pass is all columns of the fit
once, what an encoder reads included. The peers are scikit-learn's ``partial_fit`` over the same
files, one pass each, and dask-ml, where ``BENCHMARK_DASK_ML`` names an interpreter that has it (it
is stopped after half a minute). At the end the large cases run on a Dask cluster of two worker
processes.

``python -m benchmarks.scale --constants`` measures what ``docs/guide/scale.rst`` computes its table
from, ``--messages`` a fit at 2, 4, 8 and 16 workers with real messages.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Result

FOLDER = Path(__file__).parents[1] / "build/scale"
ROWS, COLUMNS, PART = int(os.environ.get("SCALE_ROWS", "20_000_000")), 20, 1_000_000
SCAN_SHARE = 0.6  # of the speed of DuckDB's scan that one pass must reach
MEMORY = 1024  # MB
SMALL, SMALL_PART = 80_000, 10_000  # rows of a fit beforehand, in files for every worker
LIMIT = 30  # seconds that dask-ml has for a case
CASES = {
    "least squares": ("bottega.linear", "LeastSquares()", "y"),
    "ridge path of 100 by GCV": ("bottega.linear", "Ridge(select='gcv')", "y"),
    "lasso path of 100 by GCV": ("bottega.linear", "Lasso(alphas=100, cv=None)", "y"),
    "principal components": ("bottega.latent", "PCA(5)", None),
    "linear discriminant": ("bottega.classify", "LinearDiscriminant(shrinkage=0)", "label"),
    "naive Bayes": ("bottega.classify", "NaiveBayes()", "label"),
    "k-means, k = 10": ("bottega.cluster", "KMeans(10, max_iter=10, tol=0, random_state=0)", None),
    "k-means, k = 10, to its end": ("bottega.cluster", "KMeans(10, random_state=0)", None),
    "additive model of 10 terms": ("bottega.additive", "AdditiveModel()", "y"),
}
TEN_TERMS = "additive model of 10 terms"
TEN_PASSES, TO_ITS_END = "k-means, k = 10", "k-means, k = 10, to its end"
ONE_PASS = (
    "least squares",
    "ridge path of 100 by GCV",
    "principal components",
    "linear discriminant",
    "naive Bayes",
)
NEWTON = "logistic regression"
# Cases for a cluster, of one pass and of many, and how often each is timed.
SHARED = {"least squares": 5, "linear discriminant": 5, TEN_TERMS: 5, TEN_PASSES: 5, NEWTON: 2}
FOR_CLUSTERS = {NEWTON: ("bottega.classify", "LogisticRegression(alpha=1.0)", "label")}
PEERS = {
    "linear discriminant": "SGDClassifier(loss='log_loss')",
    "naive Bayes": "GaussianNB()",
    "least squares": "SGDRegressor()",
    "principal components": "IncrementalPCA(5)",
    TO_ITS_END: "MiniBatchKMeans(10, n_init=1, random_state=0)",
}
DASK_ML = {
    "naive Bayes": "naive_bayes.GaussianNB()",
    "least squares": "linear_model.LinearRegression()",
    "principal components": "decomposition.PCA(5)",
    TEN_PASSES: "cluster.KMeans(10, max_iter=10, random_state=0)",
}
# The mean squared distance of the rows of the first file to the centres, where there are any.
LOSS = """
def loss_of(model, pattern):
    import glob
    import numpy as np, pyarrow.parquet as pq
    from sklearn.metrics import pairwise_distances_argmin_min
    if not hasattr(model, "cluster_centers_"):
        return None
    names = [f"x{j}" for j in range(20)]
    X = pq.read_table(min(glob.glob(pattern)), columns=names).to_pandas().to_numpy()
    return float(np.mean(pairwise_distances_argmin_min(X, model.cluster_centers_)[1] ** 2))
"""
SCAN = """
import json, sys, time
import duckdb
files, sums = json.loads(sys.argv[1])
seconds = []
for _ in range(2):
    start = time.perf_counter()
    duckdb.sql(f"SELECT {', '.join(sums)} FROM read_parquet({files!r})").fetchall()
    seconds.append(time.perf_counter() - start)
print(json.dumps({"scan": min(seconds)}))
"""
IN_PROCESS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from importlib import import_module
import numpy as np
from bottega import scale
from bottega.data.read import batches
from bottega.data.read.stored_numbers import StoredNumbers
files, small, module, make, target, columns, on = json.loads(sys.argv[1])
numbers_read, of_file, read = [], batches._of_file, StoredNumbers.read
def counted(path, types, *more):
    for batch in of_file(path, types, *more):
        numbers_read.append(batch.num_rows * len(types))  # by several threads
        yield batch
def counted_too(self, out):
    numbers_read.append(sum(map(len, out)))
    return read(self, out)
batches._of_file, StoredNumbers.read = counted, counted_too
others = [f"x{j}" for j in range(20) if f"x{j}" not in columns]
ignore = [name for name in ("y", "label") if name != target] + others
model = eval(make, vars(import_module(module)))
with scale.on(on):
    model.fit(scale.source(small, target, ignore=ignore))  # imports, and kernels from their cache
    numbers_read.clear()
    start = time.perf_counter()
    rows = scale.source(files, target, ignore=ignore)
    model.fit(rows)
    fit = time.perf_counter() - start
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
learnt = []
for name in ("coef_", "intercept_", "cluster_centers_", "deviance_"):
    learnt += np.ravel(getattr(model, name, ())).tolist()
print(json.dumps({"fit": fit, "peak": peak, "numbers": sum(numbers_read), "learnt": learnt,
                  "iterations": int(getattr(model, "n_iter_", 1) or 1),
                  "loss": loss_of(model, files)}))
"""
PEER = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import numpy as np, pyarrow.parquet as pq, glob
from sklearn.linear_model import SGDRegressor, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.decomposition import IncrementalPCA
from sklearn.cluster import MiniBatchKMeans
files, make, target = json.loads(sys.argv[1])
model = eval(make)
names = [f"x{j}" for j in range(20)]
start = time.perf_counter()
for file in sorted(glob.glob(files)):
    for batch in pq.ParquetFile(file).iter_batches(batch_size=100_000):
        frame = batch.to_pandas()
        X = frame[names].to_numpy()
        if target is None:
            model.partial_fit(X)
        elif target == "label":
            model.partial_fit(X, frame[target].to_numpy(), classes=["a", "b"])
        else:
            model.partial_fit(X, frame[target].to_numpy())
fit = time.perf_counter() - start
print(json.dumps({"fit": fit, "loss": loss_of(model, files)}))
"""
IN_DASK_ML = """
import glob, json, sys, time, warnings
warnings.simplefilter("ignore")
import dask, dask.array as da, pyarrow.parquet as pq
from dask_ml import naive_bayes, linear_model, decomposition, cluster
pattern, make, target = json.loads(sys.argv[1])
names, files = [f"x{j}" for j in range(20)], sorted(glob.glob(pattern))
def inputs(file):
    return pq.read_table(file, columns=names, use_threads=False).to_pandas().to_numpy()
def responses(file):
    found = pq.read_table(file, columns=[target], use_threads=False)[target].to_numpy()
    return (found == "a").astype(int) if target == "label" else found
def array(read, *width):
    # Its data frames can no longer be read by the newest Dask.
    sizes = [pq.read_metadata(file).num_rows for file in files]
    kind = int if target == "label" and not width else float
    return da.concatenate([da.from_delayed(dask.delayed(read)(file), (n, *width), kind)
                           for file, n in zip(files, sizes)])
start = time.perf_counter()
y = [] if target is None else [array(responses)]
model = eval(make).fit(array(inputs, 20), *y)
dask.compute([getattr(model, name, None) for name in ("theta_", "var_", "sigma_")])
print(json.dumps({"fit": time.perf_counter() - start}))
"""


def make_files(rows: int, *, plainly: bool = True, part: int = PART) -> str:
    """Write the rows, a million to a file, unless they are there; return the pattern.

    Numbers are stored plainly, or as Arrow and pandas do by default: distinct ones in a dictionary
    as far as it goes, compressed.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / (str(rows) if plainly else f"{rows}-by-default")
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, part)):
        path = folder / f"part{number:03d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        n = min(part, rows - start)
        X = rng.normal(size=(n, COLUMNS)) + rng.normal(size=(n, 1))
        y = X[:, 0] - 2 * X[:, 1] + np.sin(X[:, 2]) + rng.normal(size=n)
        table = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        table |= {"y": y, "label": np.where(X[:, 3] + rng.normal(size=n) > 0, "a", "b")}
        plain = {"compression": "none", "use_dictionary": ["label"], "row_group_size": 122_880}
        pq.write_table(pa.table(table), path, **(plain if plainly else {}))
    return str(folder / "*.parquet")


def measured(
    code: str,
    given: object,
    python: str = sys.executable,
    limit: int | None = None,
    env: dict[str, str] | None = None,
):
    """Return what a program prints, run in a process of its own; None past the limit."""
    command = [python, "-c", code, json.dumps(given)]
    options: dict = {"capture_output": True, "text": True, "timeout": limit, "env": env}
    try:
        done = subprocess.run(command, check=False, **options)
    except subprocess.TimeoutExpired:
        return None
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def columns_of(name: str) -> list[str]:
    return [f"x{j}" for j in range(10 if name == TEN_TERMS else COLUMNS)]


def fitted(name: str, files: str, on: str = "memory", env: dict[str, str] | None = None) -> dict:
    """Return what a fit in a process of its own took, read and learnt."""
    module, make, target = (CASES | FOR_CLUSTERS)[name]
    small = make_files(SMALL, part=SMALL_PART)
    given = [files, small, module, make, target, columns_of(name), on]
    return measured(LOSS + IN_PROCESS, given, env=env)


def run_case(name: str, files: str, times: int = 2) -> dict:
    """Return seconds of a fit (the best) and of the scan (of twice as many), memory and passes."""
    target, columns = CASES[name][2], columns_of(name)
    sums = [f"sum({each})" for each in columns]
    if target is not None:
        sums.append("sum(y)" if target == "y" else "max(label)")  # there is no sum of texts
    scans, fits = [], []
    for _ in range(times):
        scans.append(measured(SCAN, [files, sums])["scan"])
        fits.append(fitted(name, files))
    best = min(fits, key=lambda each: each["fit"])
    width = len(columns) + (target is not None)
    return best | {"scan": min(scans), "passes": best["numbers"] / (ROWS * width)}


def run() -> Iterator[Result]:
    files = make_files(ROWS)
    plain = None
    for name in CASES:
        got = run_case(name, files)
        title = f"{name}, {ROWS:,} x {COLUMNS} Parquet"
        note = f"{got['passes']:.2f} passes, the encoder's included"
        if name == "least squares":
            plain = got["fit"]
        theirs, bar, peer = got["scan"], SCAN_SHARE, "DuckDB's sum of the same columns"
        if name == TEN_PASSES:
            theirs, bar = got["scan"] * got["iterations"], 1 / 1.5
            peer = f"a scan for each of {got['iterations']} iterations"
            note += ", as are those for the start and the last labels"
        elif name == TEN_TERMS:
            theirs, bar, peer = 10 * got["scan"], 1.0, "ten scans of the columns"
        elif name.startswith("lasso") and plain is not None:
            theirs, bar, peer = plain * 1.1, 1.0, "least squares and 10 %"
        if name != TO_ITS_END:
            yield Result(title, peer, got["fit"], theirs, bar, note)
        limit = 2 * MEMORY if name == TEN_TERMS else MEMORY
        memory: dict = {"unit": "MB", "limit": True}
        yield Result(f"{title}, memory", "limit", got["peak"], limit, 1, "peak memory", **memory)
        target = CASES[name][2]
        if name in PEERS:
            other = measured(LOSS + PEER, [files, PEERS[name], target])
            peer = f"scikit-learn {PEERS[name]}.partial_fit"
            note = "one pass of theirs"
            if got["loss"] is not None:
                note += f"; mean squared distance {got['loss']:.2f} against {other['loss']:.2f}"
            yield Result(title, peer, got["fit"], other["fit"], 1, note)
        python = os.environ.get("BENCHMARK_DASK_ML")
        if name in DASK_ML and python:
            other = measured(IN_DASK_ML, [files, DASK_ML[name], target], python, LIMIT)
            seconds = LIMIT if other is None else other["fit"]
            peer = f"dask-ml {DASK_ML[name]}"
            yield Result(title, peer, got["fit"], seconds, 1, "", stopped=other is None)
    yield from as_stored_by_default()
    yield from on_cluster(files)


def as_stored_by_default() -> Iterator[Result]:
    """Compare fits of one pass with the scan of files that are stored as Arrow does by default."""
    files = make_files(ROWS, plainly=False)
    for name in ONE_PASS:
        got = run_case(name, files)
        title = f"{name}, {ROWS:,} x {COLUMNS} Parquet as Arrow and pandas write it"
        peer = "DuckDB's sum of the same columns"
        yield Result(
            title, peer, got["fit"], got["scan"], SCAN_SHARE, f"{got['passes']:.2f} passes"
        )


def on_cluster(files: str) -> Iterator[Result]:
    """Compare fits on two workers with fits in one process, which has both cores, in turns."""
    from distributed import LocalCluster

    # A cluster sets MALLOC_TRIM_THRESHOLD_ for all processes that are started after it, which has
    # a fit in one process take up to twice as long.
    usual = dict(os.environ)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        for name, times in SHARED.items():
            fits = [
                [fitted(name, files, on, usual) for on in ("memory", cluster.scheduler_address)]
                for _ in range(times)
            ]
            seconds = np.array([[each["fit"] for each in turn] for turn in fits])
            one, two = (np.array(each["learnt"]) for each in fits[0])
            off = float(np.max(np.abs(one - two) / np.max(np.abs(one))))
            alone, shared = np.median(seconds, axis=0)
            title = f"{name}, {ROWS:,} rows, two workers of Dask"
            ratios = seconds[:, 0] / seconds[:, 1]
            note = f"medians of {times} turns, {ratios.min():.2f} to {ratios.max():.2f}"
            yield Result(title, "one process", shared, alone, 1, note)
            yield Result(f"{title}, difference", "1e-9", off, 1e-9, 1, "", unit="", limit=True)


def messages(rows: int = 2_000_000, parts: int = 64) -> list[dict]:
    """Return seconds of one fit of the same rows in many parts at 2, 4, 8 and 16 workers.

    The workers are processes of this machine, which has fewer cores: what is measured is whether
    the messages, tasks and merges of so many workers cost what the table of costs says.
    """
    from distributed import Client, LocalCluster

    from bottega import scale
    from bottega.linear import LeastSquares

    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, COLUMNS))
    source = scale.source(X, X @ np.arange(COLUMNS) + rng.normal(size=rows), rows=rows // parts)
    expected = LeastSquares().fit(source).coef_
    found = []
    for workers in (2, 4, 8, 16):
        made = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        )
        with made as cluster, Client(cluster) as client:
            client.gather(client.map(abs, range(16 * workers)))
            start = time.perf_counter()
            client.gather(client.map(abs, range(10_000, 11_000)))
            task = (time.perf_counter() - start) / 1_000
            with scale.on(client):
                LeastSquares().fit(source)  # workers import, and hold the arrays
                start = time.perf_counter()
                coef = LeastSquares().fit(source).coef_
                seconds = time.perf_counter() - start
        off = float(np.max(np.abs(coef - expected) / np.max(np.abs(expected))))
        found.append({"workers": workers, "task, s": task, "fit, s": seconds, "off by": off})
    return found


def constants(rows: int = 400_000) -> dict:
    """Return what the table of costs is computed from: seconds per row, per merge, per task."""
    from bottega.core.moments import Moments

    rng = np.random.default_rng(0)
    found = {}
    for p in (10, 20, 40):
        X = rng.normal(size=(50_000, p))
        start = time.perf_counter()
        for _ in range(max(1, rows // 50_000)):
            Moments().update(X)
        found[f"moments, p = {p}, s per row"] = (time.perf_counter() - start) / rows
        one = Moments().update(X)
        start = time.perf_counter()
        for _ in range(100):
            Moments().merge(one).merge(one)
        found[f"merge, p = {p}, s"] = (time.perf_counter() - start) / 200
    got = run_case("least squares", make_files(ROWS))
    found["scan, s per number"] = got["scan"] / (ROWS * COLUMNS)
    found["fit of least squares, s per row"] = got["fit"] / ROWS
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError:
        return found
    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with made as cluster, Client(cluster) as client:
        client.gather(client.map(abs, range(100)))
        start = time.perf_counter()
        client.gather(client.map(abs, range(100, 1_100)))
        found["task of the scheduler, s"] = (time.perf_counter() - start) / 1_000
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--constants", action="store_true")
    parser.add_argument("--messages", action="store_true")
    given = parser.parse_args()
    if given.constants:
        print(json.dumps(constants(), indent=1))
    elif given.messages:
        print(json.dumps(messages(), indent=1))
    else:
        for each in run():
            print(each.row(), flush=True)


if __name__ == "__main__":
    main()
