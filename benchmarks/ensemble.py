"""Forests and boosting against their peers, with the errors on the same test rows.

``run(scale=0.01)`` goes through all of it on a hundredth of the rows, to see that it works.
"""

import json
import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.ensemble import AdaBoostClassifier as PeerAdaBoost
from sklearn.ensemble import RandomForestClassifier as PeerForestClassifier
from sklearn.ensemble import RandomForestRegressor as PeerForestRegressor
from sklearn.tree import DecisionTreeClassifier

from benchmarks.measure import (
    Result,
    bounded,
    cold_seconds,
    compared_errors,
    extra_memory,
    in_turns,
)
from benchmarks.processes import exchange, has_r, run_peer
from benchmarks.tree import COLUMNS, growth, losses, sample
from bottega.core.parallel import available_cores
from bottega.ensemble import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor

TREES = 200
PATIENCE = 120  # seconds for a peer without its limits; then its row says "more than"
TRIED = {"regression": 7, "classification": 4}  # columns at a split: a third, and the root, of 20


def run(scale: float = 1.0) -> Iterator[Result]:
    """Yield every row; `scale` shrinks all numbers of rows (and of trees, to 20) alike."""
    trees = TREES if scale == 1 else 20

    def rows(n):
        return max(int(n * scale), 200)

    for task in ("classification", "regression"):
        yield from forests(task, rows(100_000), trees, rows(1_000_000))
        yield from limited_forests(task, rows(100_000), trees)
    yield adaboost(rows(50_000), TREES if scale == 1 else 50)
    sizes = [rows(n) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    yield growth("forest of 10 trees", sizes, lambda: forest("regression", 10, max_features=7))
    yield growth(
        "AdaBoost of 20 stumps",
        sizes,
        lambda: AdaBoostClassifier(n_estimators=20),
        task="classification",
    )
    yield memory(rows(1_000_000))


def forest(task: str, trees: int, **options):
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    return kind(n_estimators=trees, min_samples_leaf=1, random_state=0, **options)


def forests(task: str, n: int, trees: int, n_predicted: int) -> Iterator[Result]:
    X, y = sample(task, n)
    X_test, y_test = sample(task, n, seed=1)
    tried = TRIED[task]

    def ours():
        return forest(task, trees, max_features=tried).fit(X, y)

    mine = ours()
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    loss = losses(task, y_test, mine.predict(X_test))
    cold = cold_seconds(
        "from benchmarks.ensemble import forest, sample\n"
        f"X, y = sample({task!r}, {n})\nmodel = forest({task!r}, {trees}, max_features={tried})",
        "model.fit(X, y)",
    )
    fitted = {}
    for peer, (call, bar) in _peers(task, X, y, trees, tried).items():
        start = time.perf_counter()
        fitted[peer] = call()
        taken = time.perf_counter() - start
        yield Result(
            f"forest of {trees} trees, {tried} columns a split, {task}, {n:,} x {COLUMNS}",
            peer,
            seconds,
            taken,
            bar=bar,
            accuracy=compared_errors(
                loss, losses(task, y_test, np.asarray(fitted[peer].predict(X_test)))
            ),
            cold=cold,
        )
    if has_r("ranger"):
        with exchange(X=X, y=y, test=X_test) as folder:
            method = "anova" if task == "regression" else "class"
            taken = run_peer("ranger_forest.R", folder, method, trees, tried, 1, available_cores())
            predicted = np.fromfile(folder / "pred.bin")
        yield Result(
            f"forest of {trees} trees, {tried} columns a split, {task}, {n:,} x {COLUMNS}",
            "R ranger, all cores",
            seconds,
            taken,
            bar=4,
            accuracy=compared_errors(loss, losses(task, y_test, predicted)),
            cold=cold,
        )
    yield _predicting(task, mine, fitted["scikit-learn RandomForest (n_jobs=-1)"], n_predicted)


def _peers(task, X, y, trees, tried):
    """Return for each peer a call that fits it, and the bar set for ours.

    LightGBM and XGBoost limit their trees, as they come, to 31 leaves and to depth 6.
    """
    kind = PeerForestRegressor if task == "regression" else PeerForestClassifier
    peers = {
        "scikit-learn RandomForest (n_jobs=-1)": (
            lambda: kind(trees, max_features=tried, n_jobs=-1, random_state=0).fit(X, y),
            4,
        )
    }
    for peer, make_peer in _boosters(task, trees).items():
        peers[f"{peer}, as it comes"] = (lambda each=make_peer: each().fit(X, y), 1)
    return peers


def _boosters(task, trees):
    """Return for each boosting library a call that makes its forest, with further options."""
    share = TRIED[task] / COLUMNS
    found = {}
    try:
        import lightgbm
    except ImportError:
        pass
    else:
        booster = lightgbm.LGBMRegressor if task == "regression" else lightgbm.LGBMClassifier
        found["LightGBM rf mode (31 leaves)"] = partial(
            booster,
            boosting_type="rf",
            n_estimators=trees,
            subsample=0.632,
            subsample_freq=1,
            feature_fraction_bynode=share,
            n_jobs=-1,
            verbose=-1,
        )
    try:
        import xgboost
    except ImportError:
        pass
    else:
        forest_of = xgboost.XGBRFRegressor if task == "regression" else xgboost.XGBRFClassifier
        found["XGBoost forest mode (depth 6)"] = partial(
            forest_of,
            n_estimators=trees,
            subsample=0.632,
            colsample_bynode=share,
            n_jobs=-1,
            tree_method="hist",
            reg_lambda=0.0,
        )
    return found


LIMITS = {
    "LightGBM rf mode (31 leaves)": {"max_leaf_nodes": 31, "min_samples_leaf": 20},
    "XGBoost forest mode (depth 6)": {"max_depth": 6},
}
UNLIMITED = {
    "LightGBM rf mode (31 leaves)": {"num_leaves": 131_072, "min_child_samples": 1},
    "XGBoost forest mode (depth 6)": {"max_depth": 0, "min_child_weight": 0},
}


def limited_forests(task: str, n: int, trees: int) -> Iterator[Result]:
    """Compare at equal limits: our trees as small as theirs, and theirs as large as ours."""
    X, y = sample(task, n)
    X_test, y_test = sample(task, n, seed=1)
    kind = RandomForestRegressor if task == "regression" else RandomForestClassifier
    for peer, make_peer in _boosters(task, trees).items():

        def ours(limits=LIMITS[peer]):
            options = {"max_features": TRIED[task], "random_state": 0, **limits}
            return kind(n_estimators=trees, **options).fit(X, y)

        mine, theirs = ours(), make_peer().fit(X, y)
        medians = in_turns(
            {"ours": ours, "peer": lambda each=make_peer: each().fit(X, y)}, repeats=3
        )
        limits = ", ".join(f"{name} {value}" for name, value in LIMITS[peer].items())
        yield Result(
            f"forest of {trees} trees at their limits ({limits}), {task}, {n:,} x {COLUMNS}",
            peer,
            medians["ours"],
            medians["peer"],
            bar=1,
            accuracy=compared_errors(
                losses(task, y_test, mine.predict(X_test)),
                losses(task, y_test, np.asarray(theirs.predict(X_test))),
            ),
        )
    full = forest(task, trees, max_features=TRIED[task])
    loss = losses(task, y_test, full.fit(X, y).predict(X_test))
    seconds = in_turns({"ours": lambda: full.fit(X, y)}, repeats=1)["ours"]
    for peer in _boosters(task, trees):
        arguments = f"{task!r}, {n}, {trees}, {peer!r}"
        code = f"from benchmarks.ensemble import unlimited; unlimited({arguments})"
        printed = bounded([sys.executable, "-c", code], PATIENCE)
        told = None if printed is None else json.loads(printed.strip().splitlines()[-1])
        yield Result(
            f"forest of {trees} trees grown in full, {task}, {n:,} x {COLUMNS}",
            peer.split(" (")[0] + ", no limit",
            seconds,
            PATIENCE if told is None else told["seconds"],
            bar=1,
            accuracy=f"test error {loss.mean():.4g}"
            if told is None
            else compared_errors(loss, np.asarray(told["loss"])),
            stopped=told is None,
        )


def unlimited(task: str, n: int, trees: int, peer: str) -> None:
    """Fit a peer without its limits in this process; print its seconds and test losses as JSON."""
    X, y = sample(task, n)
    X_test, y_test = sample(task, n, seed=1)
    model = _boosters(task, trees)[peer](**UNLIMITED[peer])
    start = time.perf_counter()
    model.fit(X, y)
    taken = time.perf_counter() - start
    loss = losses(task, y_test, np.asarray(model.predict(X_test)))
    print(json.dumps({"seconds": taken, "loss": loss.tolist()}))


def _predicting(task, mine, peer, n) -> Result:
    X, _ = sample(task, n, seed=2)
    mine.predict(X[:100])
    medians = in_turns(
        {"ours": lambda: mine.predict(X), "peer": lambda: peer.predict(X)}, repeats=2
    )
    return Result(
        f"predict {n:,} rows by the forest of {peer.n_estimators} trees, {task}",
        "scikit-learn RandomForest (n_jobs=-1)",
        medians["ours"],
        medians["peer"],
        bar=1,
        accuracy="the forests of the rows above",
    )


def adaboost(n: int, rounds: int) -> Result:
    X, y = sample("classification", n)
    X_test, y_test = sample("classification", n, seed=1)

    def ours():
        return AdaBoostClassifier(n_estimators=rounds).fit(X, y)

    def theirs():
        stump = DecisionTreeClassifier(max_depth=1)
        return PeerAdaBoost(stump, n_estimators=rounds, random_state=0).fit(X, y)

    mine = ours()
    start = time.perf_counter()
    peer = theirs()
    taken = time.perf_counter() - start
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    return Result(
        f"AdaBoost of {rounds} stumps, {n:,} x {COLUMNS}",
        "scikit-learn AdaBoostClassifier",
        seconds,
        taken,
        bar=10,
        accuracy=compared_errors(
            losses("classification", y_test, mine.predict(X_test)),
            losses("classification", y_test, peer.predict(X_test)),
        ),
        cold=cold_seconds(
            "from benchmarks.tree import sample\n"
            "from bottega.ensemble import AdaBoostClassifier\n"
            f"X, y = sample('classification', {n})",
            f"AdaBoostClassifier(n_estimators={rounds}).fit(X, y)",
        ),
    )


def memory(n: int) -> Result:
    copies = extra_memory(
        "from benchmarks.ensemble import forest, sample\n"
        f"X, y = sample('classification', {n})\n"
        "model = forest('classification', 8, max_features=4, max_leaf_nodes=1000)\n"
        "model.fit(X[:2000], y[:2000])",
        "model.fit(X, y)",
    )
    return Result(
        f"peak memory of fitting a forest of 8 trees of 1,000 leaves to {n:,} x {COLUMNS}, "
        "X not counted",
        "limit of 2 copies of X",
        copies,
        2.0,
        bar=1,
        accuracy="-",
        unit="copies",
        limit=True,
    )
