"""Every method's defaults and their alternatives, on public tables: the evidence for the defaults.

``python -m benchmarks.defaults`` judges every method's defaults on every table, and writes
``benchmarks/DEFAULTS.md``; ``python -m benchmarks.defaults random_forest tree --use tune`` tries
the alternatives of some methods too, on the tables that defaults may be set by. What was measured
is kept in ``benchmarks/defaults``, one JSON file for each table, so a run that is stopped goes on
where it was, and several can share the tables; ``--most-seconds 300`` stops by itself.

Defaults are chosen on the tables of use "tune" alone and judged on those of use "judge"
(`tests/reference/tables/sources.csv` says which are which; it was settled before the first run). On
each table rows are split at random, three quarters for training, several times over; errors are
means over the splits, and are divided by the least error of scikit-learn's random forest, histogram
gradient boosting, and ridge or logistic regression on the same splits. The geometric mean over the
tables is what counts. For classes half an error and half a correct row are added to both.
"""

import argparse
import json
import math
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.public_tables import PublicTable, public_tables
from benchmarks.tables import geometric_mean, peers, plain, row_losses
from benchmarks.winner import section
from bottega.core.frames import take_rows
from bottega.data.encoder import Encoder
from bottega.data.prepare import prepare
from bottega.registry import methods

FOLDER = Path(__file__).parent
KEPT, PAGE = FOLDER / "defaults", FOLDER / "DEFAULTS.md"
SPLITS = 3
MOST_ROWS = 1200  # of a table; more are sampled
PEERS = ("forest", "boosting", "linear")

# Alternatives to a method's defaults, by the words of its constructor. "one_hot" stands for inputs
# in which categories are columns of 0 and 1.
ALTERNATIVES: dict[str, tuple[dict[str, Any], ...]] = {
    "random_forest": (
        {"min_samples_leaf": 1},
        {"min_samples_leaf": 3},
        {"one_hot": True},
        {"one_hot": True, "min_samples_leaf": 1},
    ),
    "gradient_boosting": (
        {"max_leaf_nodes": 31, "min_samples_leaf": 5},
        {"max_leaf_nodes": 31, "min_samples_leaf": 5, "learning_rate": 0.05},
        {"max_leaf_nodes": 31, "min_samples_leaf": 10},
        {"max_leaf_nodes": 31, "min_samples_leaf": 20},
        {"max_leaf_nodes": 8, "min_samples_leaf": 5},
        {"max_leaf_nodes": 4, "min_samples_leaf": 5},
        {"max_leaf_nodes": 4, "min_samples_leaf": 2},
        {"max_leaf_nodes": 4, "min_samples_leaf": 5, "learning_rate": 0.05},
        {"max_leaf_nodes": 4, "min_samples_leaf": 5, "max_features": 0.5},
    ),
    "tree": (
        {"select": "one_se"},
        {"select": "min"},
        {"select": "min", "min_samples_leaf": 5},
        {"select": "min", "cv": 5},
    ),
    "kernel_ridge": ({"gamma": "path"},),
    "support_vectors": ({"gamma": "auto"},),
    "logistic_regression": ({"l1_ratio": 0.0}, {"l1_ratio": 0.5}),
    "adaboost": ({"max_depth": 2}, {"learning_rate": 0.5}, {"max_depth": 2, "learning_rate": 0.5}),
}
SKIPPED = (
    *("baseline", "stacking", "voting", "bagging", "bumping"),
    *("calibrated", "one_vs_rest", "one_vs_one", "output_code"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("methods", nargs="*", help="methods whose alternatives are tried too")
    parser.add_argument("--use", choices=("tune", "judge"), help="tables of one use only")
    parser.add_argument("--tables", nargs="*", help="some of them only")
    parser.add_argument("--splits", type=int, default=SPLITS, help="splits of each table")
    parser.add_argument("--most-seconds", type=float, default=math.inf, help="start none after")
    asked = parser.parse_args()
    start = time.perf_counter()
    chosen = [each for each in public_tables() if each.use in ("tune", "judge")]
    chosen = [each for each in chosen if asked.use in (None, each.use)]
    for public in chosen:
        if asked.tables and public.name not in asked.tables:
            continue
        if time.perf_counter() - start > asked.most_seconds:
            break
        file = KEPT / f"{public.name}.json"
        found = json.loads(file.read_text()) if file.exists() else {}
        if measure(public, asked.methods, asked.splits, found):
            KEPT.mkdir(exist_ok=True)
            file.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
            print(public.name, flush=True)
    PAGE.write_text(page({file.stem: json.loads(file.read_text()) for file in KEPT.iterdir()}))
    print(PAGE.read_text())


def procedures(task: str, wanted: list[str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return what is to be judged, by name: a method and what differs from its defaults."""
    known = [name for name in methods(task) if name not in SKIPPED]
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in known:
        if wanted and name not in wanted:
            continue
        found[name] = (name, {})
        for options in ALTERNATIVES.get(name, ()) if wanted else ():
            words = ", ".join(f"{key}={_shown(value)}" for key, value in options.items())
            found[f"{name}: {words}"] = (name, options)
    return found


def _shown(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def measure(public: PublicTable, wanted: list[str], splits: int, found: dict) -> bool:
    """Add the errors that are lacking to what was found on a table; say whether there were any."""
    table = public.table()
    rows = np.arange(table.n_rows)
    if len(rows) > MOST_ROWS:
        rows = np.random.default_rng(0).permutation(rows)[:MOST_ROWS]
    y = np.asarray(table.y)[rows]
    X = take_rows(table.X, rows)
    errors = found.setdefault("errors", {})
    parts = [_split(y, public.task, seed) for seed in range(splits)]
    found |= {"task": public.task, "use": public.use, "rows": len(y), "test": len(parts[0][1])}
    todo: dict[str, Any] = {name: None for name in PEERS if len(errors.get(name, ())) < splits}
    for name, (method, options) in procedures(public.task, wanted).items():
        if len(errors.get(name, ())) < splits:
            todo[name] = (method, options)
    for name, what in todo.items():
        errors[name] = [
            _error(name, what, table, X, y, part, public.task, seed)
            for seed, part in enumerate(parts)
        ]
    return bool(todo)


def _split(y: Any, task: str, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    if task == "classification":  # a quarter of each class
        order = order[np.argsort(y[order], kind="stable")]
        test = order[rng.integers(4) :: 4]
    else:
        test = order[: max(len(y) // 4, 2)]
    return np.setdiff1d(np.arange(len(y)), test), test


def _error(name, what, table, X, y, part, task, seed) -> float:
    train, test = part
    X_train, X_test = take_rows(X, train), take_rows(X, test)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if what is None:
                model = peers(plain(X_train), task, seed)[name]
                said = model.fit(plain(X_train), y[train]).predict(plain(X_test))
            else:
                method, options = what
                options = dict(options)
                one_hot = options.pop("one_hot", False)
                made = methods(task)[method]
                estimator = made(**{**getattr(made, "walks", {}), **options})  # as `compare` does
                model = prepare(estimator, table)
                if one_hot:
                    coder = Encoder(standardize=False, kinds=table.kinds, handle_unknown="ignore")
                    model.steps.insert(0, ("one_hot", coder))
                said = model.fit(X_train, y[train]).predict(X_test)
        return float(row_losses(y[test], said, task).mean())
    except Exception as error:  # what fails is shown as such
        print(f"  {name}: {type(error).__name__}: {error}", flush=True)
        return math.nan


def relative(found: dict, name: str) -> float:
    """Return the error of a procedure over that of the best peer; NaN where it failed."""
    ours = float(np.mean(found["errors"].get(name, [math.nan])))
    best = min(float(np.mean(found["errors"][peer])) for peer in PEERS)
    if found["task"] == "classification":
        n = found["test"] * len(found["errors"]["forest"])
        return (ours * n + 0.5) / (best * n + 0.5)
    return ours / best if best > 0 else math.nan


def page(kept: dict) -> str:
    """Return the tables that `DEFAULTS.md` shows."""
    lines = [
        "# Defaults by evidence",
        "",
        "Printed by `python -m benchmarks.defaults`. Error on held-out rows relative to the best "
        "of scikit-learn's three (random forest, histogram gradient boosting, ridge or logistic "
        "regression; known only afterwards), geometric mean over the tables; in brackets how many "
        "tables. Defaults were chosen by the columns `tune`; the columns `judge` are of tables "
        "that no default was chosen by.",
        "",
        "| procedure | tune, numbers | tune, classes | judge, numbers | judge, classes |",
        "|---|---|---|---|---|",
    ]
    names = {name for found in kept.values() for name in found["errors"]}
    order = [*PEERS, *sorted(names - set(PEERS))]
    for name in order:
        cells = []
        for use in ("tune", "judge"):
            for task in ("regression", "classification"):
                some = [
                    each
                    for each in kept.values()
                    if each["use"] == use and each["task"] == task and name in each["errors"]
                ]
                ratios = [relative(each, name) for each in some]
                ratios = [max(each, 1e-9) for each in ratios if math.isfinite(each)]
                cells.append(f"{geometric_mean(ratios):.3f} ({len(ratios)})" if ratios else "")
        label = f"peer: {name}" if name in PEERS else name
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", section()])


if __name__ == "__main__":
    main()
