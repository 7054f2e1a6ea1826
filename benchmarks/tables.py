"""`bottega.compare` with its defaults on public tables, against what scikit-learn's users fit.

``python -m benchmarks.tables`` runs every table that is not done yet and writes
``benchmarks/TABLES.md``; ``python -m benchmarks.tables co2 fgl --seeds 3`` runs some of them, with
three splits each; ``--fresh`` runs again what is done. What was measured is kept in
``build/tables``, one JSON file for each table and seed, so a run that is stopped goes on where it
was.

`compare` locks a quarter of the rows away and picks its winner on the others. Random forest,
histogram gradient boosting and ridge or logistic regression of scikit-learn are fitted to the same
training rows; all are judged on the same locked rows. The best of the three is known only
afterwards, so being as good as it is more than any one of them reaches.
"""

import argparse
import json
import math
import platform
import subprocess
import time
import warnings
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

import bottega
from benchmarks.public_tables import PublicTable, public_tables

KEPT = Path(__file__).parents[1] / "build/tables"
PAGE = Path(__file__).parent / "TABLES.md"
ALPHAS = np.logspace(-3, 3, 25)
HEAD = """# Tables

Printed by `python -m benchmarks.tables`. `bottega.compare` with its defaults locks a quarter of the
rows, picks its winner by nested cross-validation on the others, and is judged on the locked rows;
so are scikit-learn's RandomForest, HistGradientBoosting (defaults, categories as such) and RidgeCV
or LogisticRegressionCV (standardised), fitted to the same training rows after the usual
preprocessing (medians, one-hot columns). The best of the three is known only afterwards. Errors are
mean squared errors, or shares of rows that are misclassified. `SE` is the standard error of the
best of three's error over the locked rows; `within` says that the winner's error is at most one SE
above it. The ratio of errors is taken as it is for squares; for classes half an error and half a
correct row are added to both, (errors + 1/2) / (rows + 1), so that no errors have a ratio too.
Defaults are set by other tables (`benchmarks/defaults.py`). Seconds marked `(cut)` are those of a
comparison that its time budget shortened.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="tables; all of them by default")
    parser.add_argument("--seeds", type=int, default=1, help="number of splits of each table")
    parser.add_argument("--fresh", action="store_true", help="run again what is done")
    parser.add_argument("--budget", help="time that one comparison may take; no limit by default")
    parser.add_argument("--most-seconds", type=float, default=math.inf, help="start none after")
    asked = parser.parse_args()
    known = {each.name: each for each in public_tables("judge")}
    unknown = set(asked.names) - set(known)
    if unknown:
        parser.error(f"no table {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    start = time.perf_counter()
    for seed in range(asked.seeds):
        for name in asked.names or known:
            kept = KEPT / f"{name}-{seed}.json"
            late = time.perf_counter() - start > asked.most_seconds
            if late or (kept.exists() and not asked.fresh):
                continue
            found = measure(known[name], seed, asked.budget)
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(found, indent=1) + "\n")
            print(row(found), flush=True)
            PAGE.write_text(page(kept_results(known)))
    results = kept_results(known)
    PAGE.write_text(page(results))
    print("\n".join(conclusions(results)))


def kept_results(known) -> list[dict]:
    paths = sorted(KEPT.glob("*.json"), key=lambda path: (path.stem.rsplit("-", 1)[1], path.stem))
    found = [json.loads(path.read_text()) for path in paths]
    return [each for each in found if each["name"] in known]


def measure(public: PublicTable, seed: int, budget: str | None = None) -> dict:
    """Compare on one table and judge winner and peers on the locked rows."""
    start = time.perf_counter()
    found = bottega.compare(public.table(), random_state=seed, budget=budget)
    seconds = time.perf_counter() - start
    test = found.test.open(ledger=False)
    truth = np.asarray(test.y)
    ours = {}
    for method, result in found.results.items():
        if result.model is None:  # a budget cut it short
            continue
        losses = row_losses(truth, result.model.predict(test.X), public.task)
        ours[method] = {"nested": float(result.error), "locked": float(losses.mean())}
    winner = row_losses(truth, found.best.predict(test.X), public.task)
    theirs = {}
    for peer, model in peers(plain(found.train.X), public.task, seed).items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what a peer says about itself is not measured
            model.fit(plain(found.train.X), found.y_train)
            said = model.predict(plain(test.X))
        theirs[peer] = row_losses(truth, said, public.task)
    best = min(theirs, key=lambda peer: theirs[peer].mean())
    gap = winner - theirs[best]
    lead, lead_se = lead_over_stack(found)
    return {
        "name": public.name,
        "source": public.source,
        "task": public.task,
        "seed": seed,
        "rows": found.n_train + found.n_test,
        "columns": found.train.X.shape[1],
        "locked_rows": len(truth),
        "winner": found.best_method,
        "error": float(winner.mean()),
        "peer": best,
        "peer_error": float(theirs[best].mean()),
        "peer_se": standard_error(theirs[best]),
        "gap_se": standard_error(gap),
        "peers": {peer: float(losses.mean()) for peer, losses in theirs.items()},
        "methods": ours,
        "lead": lead,
        "lead_se": lead_se,
        "not_shown": found.skipped,
        "cut": list(found.cut),
        "seconds": seconds,
        "when": date.today().isoformat(),
        "revision": revision(),
    }


def lead_over_stack(found) -> tuple[float, float]:
    """Return the least error of one method minus the stack's over the outer folds, and its SE."""
    whole = {name: each for name, each in found.results.items() if not each.partial}
    stacked = whole.pop("stacking", None)
    if stacked is None:
        return math.nan, math.nan
    single = min(whole.values(), key=lambda each: each.error)
    both = np.flatnonzero((single.fold >= 0) & (stacked.fold >= 0))
    return single.nested.rows.mean_and_se(both, single.losses[both] - stacked.losses[both])


def revision() -> str:
    """Return the commit that is measured, with a plus where files differ from it."""
    say = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    done = subprocess.run(say, cwd=PAGE.parent, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def row_losses(truth, said, task: str) -> np.ndarray:
    if task == "classification":
        return (truth.astype(str) != np.asarray(said).astype(str)).astype(float)
    return (truth - np.asarray(said, dtype=float)) ** 2


def standard_error(losses) -> float:
    return float(losses.std(ddof=1)) / math.sqrt(len(losses))


def plain(X) -> pd.DataFrame:
    """Return numbers as floats and everything else as words, a missing word as one of them."""
    found = {}
    for name in X.columns:
        number = pd.api.types.is_numeric_dtype(X[name]) and not pd.api.types.is_bool_dtype(X[name])
        missing = X[name].isna().to_numpy()
        words = X[name].astype(object).astype(str).to_numpy(dtype=object)
        found[name] = (
            X[name].to_numpy(dtype=float, na_value=np.nan)
            if number
            else np.where(missing, "missing", words)
        )
    return pd.DataFrame(found)


def peers(X, task: str, seed: int) -> dict[str, BaseEstimator]:
    """Return scikit-learn's three with the preprocessing that its users write."""
    numbers = [name for name in X.columns if pd.api.types.is_numeric_dtype(X[name])]
    words = [name for name in X.columns if name not in numbers]
    classes = task == "classification"
    forest = RandomForestClassifier if classes else RandomForestRegressor
    boosting = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)

    def coded(*steps) -> ColumnTransformer:
        imputed = make_pipeline(SimpleImputer(strategy="median"), *steps)
        return ColumnTransformer([("numbers", imputed, numbers), ("words", one_hot, words)])

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    as_codes = ColumnTransformer([("words", codes, words), ("numbers", "passthrough", numbers)])
    linear = (
        LogisticRegressionCV(cv=5, max_iter=5000, scoring="accuracy")
        if classes
        else RidgeCV(alphas=ALPHAS)
    )
    return {
        "forest": Pipeline([("code", coded()), ("fit", forest(random_state=seed, n_jobs=-1))]),
        "boosting": Pipeline(
            [
                ("code", as_codes),
                (
                    "fit",
                    boosting(random_state=seed, categorical_features=list(range(len(words)))),
                ),
            ]
        ),
        "linear": Pipeline([("code", coded(StandardScaler())), ("fit", linear)]),
    }


def ratio(found: dict, theirs: float) -> float:
    """Return our error over another's, by the rule that the page states."""
    n, ours = found["locked_rows"], found["error"]
    if found["task"] == "classification":
        return (ours * n + 0.5) / (theirs * n + 0.5)
    return ours / theirs


def within(found: dict) -> bool:
    return found["error"] <= found["peer_error"] + found["peer_se"] * (1 + 1e-9)


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def row(found: dict) -> str:
    return (
        f"| {found['name']} | {found['rows']} x {found['columns']} | {found['task'][:5]} "
        f"| {found['seed']} | {found['winner']} | {found['error']:.4g} | {found['peer']} "
        f"| {found['peer_error']:.4g} | {found['peer_se']:.2g} "
        f"| {ratio(found, found['peer_error']):.3f} | {'yes' if within(found) else '**no**'} "
        f"| {found['seconds']:.1f}{' (cut)' if found.get('cut') else ''} |"
    )


def conclusions(results: list[dict]) -> list[str]:
    """Say how many are within one standard error, and the geometric mean, split by split."""
    lines = []
    for seed in sorted({each["seed"] for each in results}):
        some = [each for each in results if each["seed"] == seed]
        against = {
            peer: geometric_mean([max(ratio(each, each["peers"][peer]), 1e-9) for each in some])
            for peer in some[0]["peers"]
        }
        best = geometric_mean([max(ratio(each, each["peer_error"]), 1e-9) for each in some])
        by_rule = {
            words: geometric_mean([max(_ratio_of(each, pick), 1e-9) for each in some])
            for words, pick in _PICKS.items()
        }
        lines.append(
            f"- Seed {seed}: within one standard error of the best of three on "
            f"{sum(map(within, some))} of {len(some)} tables; geometric mean of the error relative "
            f"to the best of three {best:.3f} (to each alone: "
            + ", ".join(f"{peer} {value:.3f}" for peer, value in against.items())
            + "). Had another of our methods been taken: "
            + ", ".join(f"{words} {value:.3f}" for words, value in by_rule.items())
            + "."
        )
    tables = {each["name"] for each in results}
    if len(results) > len(tables):
        by_table = [
            geometric_mean(
                [
                    max(ratio(each, each["peer_error"]), 1e-9)
                    for each in results
                    if each["name"] == name
                ]
            )
            for name in sorted(tables)
        ]
        spread = np.std(np.log(by_table), ddof=1) / math.sqrt(len(by_table))
        lines.append(
            f"- All {len(results)} splits of {len(tables)} tables: within one standard error on "
            f"{sum(map(within, results))}; geometric mean {geometric_mean(by_table):.3f}, give or "
            f"take {100 * spread:.0f} % (one standard error over tables)."
        )
    return lines


def _least(found: dict) -> str:
    """Return the method of least error on the rows that are not locked."""
    return min(found["methods"], key=lambda name: found["methods"][name]["nested"])


def _afterwards(found: dict) -> str:
    return min(found["methods"], key=lambda name: found["methods"][name]["locked"])


_PICKS = {
    "that of least error": _least,
    "the leaders combined": lambda found: (
        "stacking" if "stacking" in found["methods"] else _least(found)
    ),
    "the best one, known only afterwards": _afterwards,
}


def _ratio_of(found: dict, pick) -> float:
    error = found["methods"][pick(found)]["locked"]
    return ratio({**found, "error": error}, found["peer_error"])


def page(results: list[dict]) -> str:
    libraries = ("bottega", "scikit-learn", "numpy", "numba")
    where = ", ".join(f"{name} {version(name)}" for name in libraries)
    columns = (
        "| table | size | task | seed | winner | its error | best of three | its error | SE "
        "| ratio | within | s |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join(
        [
            HEAD,
            f"Python {platform.python_version()}, {where}, {platform.machine()}; measured "
            f"{', '.join(sorted({each['when'] for each in results}))} at commit "
            f"{', '.join(sorted({each['revision'] for each in results}))}; "
            f"{len({each['name'] for each in results})} of {len(public_tables('judge'))} tables.",
            "",
            *conclusions(results),
            "",
            columns,
            *map(row, results),
            "",
        ]
    )


if __name__ == "__main__":
    main()
