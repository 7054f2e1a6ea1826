"""`bottega compare` on tables that are large for one machine, each side in a process of its own.

``python -m benchmarks.large 200000`` compares its time and memory with scikit-learn's 5-fold
cross-validation of RandomForestClassifier(200) on the same rows; ``python -m benchmarks.large
1000000`` runs a million rows of 30 columns with a budget of ten minutes. ``--rows`` makes either
smaller, to try it. The results are kept in ``build/large.json`` and written to
``benchmarks/LARGE.md``.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measure import Result
from bottega.core.parallel import available_cores

KEPT = Path(__file__).parents[1] / "build/large.json"
PAGE = Path(__file__).parent / "LARGE.md"
HEAD = """# Large tables

Printed by `python -m benchmarks.large`. The table has numbers, categories of 4 to 40 levels, whole
numbers and missing values, and two classes to predict. `bottega compare` is run as a command with
its defaults, report and model written; the peer is scikit-learn's `cross_val_score(
RandomForestClassifier(200), cv=5)` on the same file, its categories as codes, which is the cheapest
way to give them. Each runs in a process of its own, with all cores; memory is the peak of that
process.

| case | peer | ours | first call, s | peer's | ratio | bar | met | accuracy |
|---|---|---|---|---|---|---|---|---|
"""
LEVELS = (4, 12, 40)
COMPARE = """
import sys
from bottega.cli.app import app
try:
    app(sys.argv[1:])
finally:
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(f"peak {peak}", file=sys.stderr)
"""
FOREST = """
import sys, time
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
frame = pd.read_parquet(sys.argv[1])
y = frame.pop("bought")
for name in frame.columns:
    if not pd.api.types.is_numeric_dtype(frame[name]):
        frame[name] = frame[name].astype("category").cat.codes
forest = RandomForestClassifier(200, n_jobs=-1, random_state=0)
scores = cross_val_score(forest, frame.fillna(-1), y, cv=5)
status = open("/proc/self/status").read()
print(f"peak {int(status.split('VmHWM:')[1].split()[0]) / 1024}", file=sys.stderr)
print(f"error {1 - scores.mean()}", file=sys.stderr)
"""


def mixed(rows: int, columns: int, seed: int = 0) -> pd.DataFrame:
    """Return a table as a shop might have it: numbers, categories, counts, gaps, a label."""
    rng = np.random.default_rng(seed)
    frame: dict[str, np.ndarray] = {}
    score = np.zeros(rows)
    for place in range(columns):
        kind = place % 5
        if kind in (0, 1):
            value = rng.normal(size=rows)
            score += (np.sin(2 * value) if kind == 0 else 0.5 * value) / (1 + place / 5)
            value[rng.random(rows) < 0.03 * kind] = np.nan
            frame[f"number_{place}"] = value
        elif kind == 2:
            count = rng.poisson(3, rows)
            score += 0.2 * (count > 4)
            frame[f"count_{place}"] = count
        else:
            levels = LEVELS[place % len(LEVELS)]
            code = np.minimum(rng.geometric(2 / levels, rows) - 1, levels - 1)
            score += rng.normal(0, 0.5, levels)[code]
            words = np.array([f"level {level}" for level in range(levels)], dtype=object)[code]
            words[rng.random(rows) < 0.02] = None
            frame[f"category_{place}"] = words
    score += frame["number_0"] * np.nan_to_num(frame["number_1"])
    chance = 1 / (1 + np.exp(-(score - np.median(score))))
    frame["bought"] = np.where(rng.random(rows) < chance, "yes", "no")
    return pd.DataFrame(frame)


def timed(code: str, *arguments, seconds: float) -> dict:
    """Run Python code in a new process; return its seconds, its peak in MB and what it says."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BOTTEGA_LEDGER": "off"},
    )
    try:
        printed, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"seconds": seconds, "peak": float("nan"), "said": {}, "stopped": True}
    finally:
        process.kill()  # also when this program is ended: nothing is left running
        process.wait()
    taken = time.perf_counter() - start
    said = dict(line.split(" ", 1) for line in errors.splitlines() if line.count(" ") == 1)
    if process.returncode:
        raise RuntimeError(errors[-3000:])
    print(printed)
    return {
        "seconds": taken,
        "peak": float(said["peak"]),
        "said": said,
        "stopped": False,
        "text": printed,
    }


def two_hundred_thousand(rows: int = 200_000):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.parquet"
        mixed(rows, 10).to_parquet(path)
        ours = timed(COMPARE, *command(path, folder), seconds=3600)
        theirs = timed(FOREST, path, seconds=3600)
    case = f"{rows:,} x 10, bottega compare"
    peer = "5-fold cross-validation of RandomForestClassifier(200)"
    accuracy = f"theirs {float(theirs['said'].get('error', 'nan')):.4f}; {leaders(ours)}"
    stopped = theirs["stopped"]
    yield Result(case, peer, ours["seconds"], theirs["seconds"], 1, accuracy, stopped=stopped)
    yield Result(case, "limit of 3 GB", ours["peak"], 3072, 1, "-", unit="MB", limit=True)


def million(rows: int = 1_000_000):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "shop.parquet"
        mixed(rows, 30).to_parquet(path)
        ours = timed(COMPARE, *command(path, folder), "--budget", "10m", seconds=1200)
    case = f"{rows:,} x 30, bottega compare --budget 10m"
    yield Result(case, "limit of 10 min", ours["seconds"], 600, 1, leaders(ours), limit=True)
    yield Result(case, "limit of 8 GB", ours["peak"], 8192, 1, "-", unit="MB", limit=True)


def command(path: Path, folder: str) -> list[str]:
    out, model = f"{folder}/report.html", f"{folder}/model.skops"
    return ["compare", str(path), "--target", "bought", "--out", out, "--save", model]


def leaders(found: dict) -> str:
    """Return the first lines of the leaderboard: method and error."""
    lines = [line.split() for line in found.get("text", "").splitlines()]
    rows = [f"{line[0]} {line[1]}" for line in lines if len(line) > 4 and is_number(line[1])]
    return "ours " + ", ".join(rows[:5]) + f" ({len(rows)} methods)"


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


CASES = {"200000": two_hundred_thousand, "1000000": million}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", help=", ".join(CASES))
    parser.add_argument("--rows", type=int, help="fewer rows, to try it; nothing is kept")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    for name in asked.cases or CASES:
        rows = []
        for result in CASES[name](*([] if asked.rows is None else [asked.rows])):
            print(result.row(), flush=True)
            rows.append(result.row())
        where = f"{date.today()}, {available_cores()} cores, bottega {version('bottega')}"
        kept[name] = {"rows": rows, "where": where}
        if asked.rows is None:
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
            PAGE.write_text(page(kept))


def page(kept: dict) -> str:
    rows = [row for name in CASES if name in kept for row in kept[name]["rows"]]
    where = sorted({each["where"] for each in kept.values()})
    return HEAD + "\n".join(rows) + "\n\n" + "; ".join(where) + ".\n"


if __name__ == "__main__":
    main()
