"""Fits of a Parquet file that is larger than memory should hold, against DuckDB's own scan.

``python -m benchmarks.scale`` makes 20,000,000 x 20 numbers (about 3 GB) in ``build/scale`` and
runs all cases; ``--rows 200000`` is a try. Every case runs in a process of its own, whose peak
memory is counted; the scan is DuckDB's sum of the same columns in the same process, before and
after the case. ``--cluster`` runs the large cases on a Dask cluster of two worker processes, too;
``--constants`` measures what ``docs/guide/scale.rst`` computes its table from.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import Result

FOLDER = Path(__file__).parents[1] / "build/scale"
ROWS, COLUMNS, PART = 20_000_000, 20, 1_000_000
SCAN_SHARE = 0.6  # of the speed of DuckDB's scan that one pass must reach
MEMORY = 1024  # MB
CASES = {
    "least squares": ("bottega.linear", "LeastSquares()", "y"),
    "ridge path": ("bottega.linear", "Ridge()", "y"),
    "lasso path of 100": ("bottega.linear", "Lasso(alphas=100)", "y"),
    "principal components": ("bottega.latent", "PCA(5)", None),
    "linear discriminant": ("bottega.classify", "LinearDiscriminant()", "label"),
    "naive Bayes": ("bottega.classify", "NaiveBayes()", "label"),
    "k-means, k = 10": (
        "bottega.cluster",
        "KMeans(10, n_init=1, max_iter=10, random_state=0)",
        None,
    ),
    "additive model of 10 terms": ("bottega.additive", "AdditiveModel()", "y"),
}
TEN_TERMS = "additive model of 10 terms"
PEERS = {
    "linear discriminant": "SGDClassifier(loss='log_loss')",
    "naive Bayes": "GaussianNB()",
    "least squares": "SGDRegressor()",
    "principal components": "IncrementalPCA(5)",
    "k-means, k = 10": "MiniBatchKMeans(10, n_init=1, random_state=0)",
}
IN_PROCESS = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import duckdb
from importlib import import_module
from bottega import scale
files, module, make, target, columns, on = json.loads(sys.argv[1])
def scan():
    start = time.perf_counter()
    sums = ", ".join(f"sum({name})" for name in columns)
    duckdb.sql(f"SELECT {sums} FROM read_parquet({files!r})").fetchall()
    return time.perf_counter() - start
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
others = [f"x{j}" for j in range(20) if f"x{j}" not in columns]
ignore = [name for name in ("y", "label") if name != target] + others
start = time.perf_counter()
rows = scale.source(files, target, ignore=ignore)
learning = time.perf_counter() - start
model = eval(make, vars(import_module(module)))
scan()
before = scan()
start = time.perf_counter()
with scale.on(on):
    model.fit(rows)
fit = time.perf_counter() - start
print(json.dumps({"scan": min(before, scan()), "learning": learning, "fit": fit, "peak": peak(),
                  "iterations": int(getattr(model, "n_iter_", 1) or 1)}))
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
    for batch in pq.ParquetFile(file).iter_batches(batch_size=50_000):
        frame = batch.to_pandas()
        X = frame[names].to_numpy()
        if target is None:
            model.partial_fit(X)
        elif target == "label":
            model.partial_fit(X, frame[target].to_numpy(), classes=["a", "b"])
        else:
            model.partial_fit(X, frame[target].to_numpy())
print(json.dumps({"fit": time.perf_counter() - start}))
"""


def make_files(rows: int) -> str:
    """Write the rows, a million to a file, unless they are there; return the pattern."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = FOLDER / str(rows)
    folder.mkdir(parents=True, exist_ok=True)
    for number, start in enumerate(range(0, rows, PART)):
        path = folder / f"part{number:03d}.parquet"
        if path.exists():
            continue
        rng = np.random.default_rng(number)
        n = min(PART, rows - start)
        X = rng.normal(size=(n, COLUMNS)) + rng.normal(size=(n, 1))
        y = X[:, 0] - 2 * X[:, 1] + np.sin(X[:, 2]) + rng.normal(size=n)
        table = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        table |= {"y": y, "label": np.where(X[:, 3] + rng.normal(size=n) > 0, "a", "b")}
        pq.write_table(pa.table(table), path, compression="none", row_group_size=122_880)
    return str(folder / "*.parquet")


def measured(code: str, given: object) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", code, json.dumps(given)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr[-2_000:])
    return json.loads(done.stdout.strip().splitlines()[-1])


def run_case(name: str, files: str, on: str = "memory") -> dict:
    module, make, target = CASES[name]
    count = 10 if name == TEN_TERMS else COLUMNS
    columns = [f"x{j}" for j in range(count)]
    return measured(IN_PROCESS, [files, module, make, target, columns, on])


def results(files: str, rows: int) -> list[Result]:
    found = []
    plain = None
    for name in CASES:
        got = run_case(name, files)
        title = f"{name}, {rows:,} x {COLUMNS} Parquet"
        note = f"learning the encoder {got['learning']:.2f} s"
        if name == "least squares":
            plain = got["fit"]
        bar = SCAN_SHARE
        theirs = got["scan"]
        peer = "DuckDB's sum of the same columns"
        if name.startswith("k-means"):
            theirs, bar = got["scan"] * got["iterations"], 1 / 1.5
            peer = f"a scan for each of {got['iterations']} iterations"
        elif name == TEN_TERMS:
            theirs, bar, peer = 10 * got["scan"], 1.0, "ten scans of the columns"
        elif name.startswith("lasso") and plain is not None:
            theirs, bar, peer = plain * 1.1, 1.0, "least squares and 10 %"
        found.append(Result(title, peer, got["fit"], theirs, bar, note))
        limit = 2 * MEMORY if name == TEN_TERMS else MEMORY
        found.append(Result(f"{title}, memory", "limit", got["peak"], limit, 1, "peak memory",
                            unit="MB", limit=True))  # fmt: skip
        if name in PEERS:
            other = measured(PEER, [files, PEERS[name], CASES[name][2]])
            found.append(Result(title, f"scikit-learn {PEERS[name]}.partial_fit", got["fit"],
                                other["fit"], 1, "one pass of theirs"))  # fmt: skip
    return found


def on_cluster(files: str, rows: int) -> list[Result]:
    from distributed import LocalCluster

    found = []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        for name in ("least squares", "linear discriminant"):
            alone = run_case(name, files)
            shared = run_case(name, files, cluster.scheduler_address)
            found.append(Result(f"{name}, {rows:,} rows, two workers of Dask", "one process",
                                shared["fit"], alone["fit"], 1, "the same numbers"))  # fmt: skip
    return found


def constants(rows: int = 400_000) -> dict:
    """Return what the table of costs is computed from: seconds per row, per merge, per task."""
    from bottega.core.chunks import Moments

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
    got = run_case("least squares", make_files(rows))
    found["scan, s per number"] = got["scan"] / (rows * COLUMNS)
    found["fit of least squares, s per row"] = got["fit"] / rows
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
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--cluster", action="store_true")
    parser.add_argument("--constants", action="store_true")
    given = parser.parse_args()
    if given.constants:
        print(json.dumps(constants(min(given.rows, 2_000_000)), indent=1))
        return
    files = make_files(given.rows)
    found = results(files, given.rows)
    if given.cluster:
        found += on_cluster(files, given.rows)
    for each in found:
        print(each.row())


if __name__ == "__main__":
    main()
