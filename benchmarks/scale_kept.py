"""Fits of a Parquet file that keep a little of each row, against the same fits in memory.

``python -m benchmarks.scale_kept`` runs trees, a forest, boosting, a network and a learner of
streams on the files of ``benchmarks.scale`` (5,000,000 rows; ``--rows 200000`` is a try): in chunks
and on the same rows read into memory first, each in a process of its own whose peak memory is
counted. Peers that learn from batches (``partial_fit``) are timed on the same batches.
"""

import argparse

from benchmarks.measure import Result
from benchmarks.scale import COLUMNS, make_files, measured

ROWS = 5_000_000
SLOWDOWN = 0.5  # of the speed in memory that a fit in chunks must reach, reading included
CASES = {
    "tree of depth 8": ("bottega.tree", "TreeRegressor(max_depth=8, thresholds='binned')"),
    "forest of 10 trees": (
        "bottega.ensemble",
        "RandomForestRegressor(n_estimators=10, max_features=6, max_depth=10)",
    ),
    "boosting, 20 rounds": ("bottega.ensemble", "GradientBoostingRegressor(n_estimators=20)"),
    "network, one epoch": ("bottega.neural", "NetworkRegressor(max_iter=1)"),
    "online gradient descent": ("bottega.online", "OnlineGradientDescentRegressor()"),
}
PEERS = {
    "network, one epoch": "MLPRegressor(hidden_layer_sizes=(64, 32))",
    "online gradient descent": "SGDRegressor()",
}
FIT = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
from importlib import import_module
from bottega import scale
files, module, make, chunked = json.loads(sys.argv[1])
model = eval(make, vars(import_module(module)))
if not chunked:
    import pyarrow.parquet as pq, glob, pandas as pd
rows = scale.source(files, "y", ignore=["label"]) if chunked else None
start = time.perf_counter()
if chunked:
    model.fit(rows)
else:
    frame = pd.concat([pq.read_table(f).to_pandas() for f in sorted(glob.glob(files))])
    names = [f"x{j}" for j in range(20)]
    model.fit(frame[names].to_numpy(), frame["y"].to_numpy())
fit = time.perf_counter() - start
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
print(json.dumps({"fit": fit, "peak": peak}))
"""
BATCHES = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import glob, pyarrow.parquet as pq
from sklearn.linear_model import SGDRegressor
from sklearn.neural_network import MLPRegressor
files, make = json.loads(sys.argv[1])
model, names = eval(make), [f"x{j}" for j in range(20)]
start = time.perf_counter()
for file in sorted(glob.glob(files)):
    for batch in pq.ParquetFile(file).iter_batches(batch_size=50_000):
        frame = batch.to_pandas()
        model.partial_fit(frame[names].to_numpy(), frame["y"].to_numpy())
print(json.dumps({"fit": time.perf_counter() - start}))
"""


def results(files: str, rows: int) -> list[Result]:
    """Return the times and the peak memory of all cases."""
    found = []
    for name, (module, make) in CASES.items():
        title = f"{name}, {rows:,} x {COLUMNS} Parquet in chunks"
        ours, memory = (measured(FIT, [files, module, make, each]) for each in (True, False))
        found.append(Result(title, "read into memory and fitted", ours["fit"], memory["fit"],
                            SLOWDOWN, "passes over the file included"))  # fmt: skip
        found.append(Result(f"{title}, memory", "in memory", ours["peak"], memory["peak"], 1,
                            "peak memory", unit="MB"))  # fmt: skip
        if name in PEERS:
            other = measured(BATCHES, [files, PEERS[name]])
            found.append(Result(title, f"scikit-learn {PEERS[name]}.partial_fit", ours["fit"],
                                other["fit"], 1, "one pass of theirs"))  # fmt: skip
    return found


def main() -> None:
    """Run all cases and print them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    given = parser.parse_args()
    for each in results(make_files(given.rows), given.rows):
        print(each.row())


if __name__ == "__main__":
    main()
