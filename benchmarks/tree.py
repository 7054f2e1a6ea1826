"""Single trees: grown in full, on bins, and pruned by cross-validation, against their peers.

``run(scale=0.01)`` goes through all of it on a hundredth of the rows, to see that it works.
"""

import json
import sys
import time
from collections.abc import Iterator

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from benchmarks.measure import (
    Result,
    bounded,
    cold_seconds,
    compared_errors,
    extra_memory,
    in_turns,
)
from benchmarks.processes import exchange, has_r, run_peer_within
from bottega.data import make
from bottega.tree import TreeClassifier, TreeRegressor

COLUMNS = 20
PATIENCE = 60  # seconds for a peer; then its row says "more than"
GRID = 50  # penalties that the peer's cross-validation tries


def run(scale: float = 1.0) -> Iterator[Result]:
    """Yield every row; `scale` shrinks all numbers of rows alike."""

    def rows(n):
        return max(int(n * scale), 200)

    for task in ("regression", "classification"):
        yield exact(task, rows(100_000))
    for task in ("regression", "classification"):
        yield binned(task, rows(1_000_000))
    for task in ("regression", "classification"):
        for n in (2_000, 10_000):
            yield pruned_against_grid_search(task, rows(n))
    if has_r("rpart"):
        for task in ("regression", "classification"):
            for n in (10_000, 100_000):
                yield pruned_against_rpart(task, rows(n))
    sizes = [rows(n) for n in (10_000, 30_000, 100_000, 300_000, 1_000_000)]
    yield growth("exact tree, grown in full", sizes, lambda: TreeRegressor(0.0))
    yield growth(
        "binned tree, grown in full", sizes, lambda: TreeRegressor(0.0, thresholds="binned")
    )
    yield growth("exact tree, ten folds and one-SE pruning", sizes, TreeRegressor)
    yield memory(rows(1_000_000))


def sample(task: str, n: int, seed: int = 0):
    """Friedman's first function of five of twenty inputs, with noise; or whether it is above 14.4.

    The threshold is about the median, so that the classes are equally frequent.
    """
    drawn = make.friedman1(n, n_features=COLUMNS, noise=2.0, random_state=seed)
    return drawn.X, drawn.y if task == "regression" else (drawn.y > 14.4).astype(np.int64)


def losses(task: str, y, predicted):
    """Return the loss of each row."""
    return (y - predicted) ** 2 if task == "regression" else (y != predicted).astype(np.float64)


def ours(task: str, *arguments, **options):
    return (TreeRegressor if task == "regression" else TreeClassifier)(*arguments, **options)


def theirs(task: str, **options):
    kind = DecisionTreeRegressor if task == "regression" else DecisionTreeClassifier
    return kind(random_state=0, **options)


def exact(task: str, n: int) -> Result:
    X, y = sample(task, n)
    X_test, y_test = sample(task, n, seed=1)
    mine, peer = ours(task, 0.0).fit(X, y), theirs(task).fit(X, y)
    medians = in_turns(
        {"ours": lambda: ours(task, 0.0).fit(X, y), "peer": lambda: theirs(task).fit(X, y)},
        repeats=5,
    )
    kind = "Regressor" if task == "regression" else "Classifier"
    cold = cold_seconds(
        "from benchmarks.tree import sample\n"
        f"from bottega.tree import Tree{kind}\nX, y = sample({task!r}, {n})",
        f"Tree{kind}(0.0).fit(X, y)",
    )
    leaves = f"leaves {mine.nodes_.n_leaves:,} and {peer.get_n_leaves():,}"
    return Result(
        f"exact tree, {task}, grown in full, {n:,} x {COLUMNS}",
        f"scikit-learn DecisionTree{kind}",
        medians["ours"],
        medians["peer"],
        bar=1,
        accuracy=f"{leaves}; {_compared(task, mine, peer, X_test, y_test)}",
        cold=cold,
    )


def binned(task: str, n: int) -> Result:
    X, y = sample(task, n)
    X_test, y_test = sample(task, min(n, 200_000), seed=1)
    made = {}

    def keep(name, call):
        made[name] = call()

    def mine():
        return ours(task, 0.0, thresholds="binned").fit(X, y)

    mine()  # the first call reads the compiled kernels
    medians = in_turns(
        {
            "ours": lambda: keep("ours", mine),
            "peer": lambda: keep("peer", lambda: theirs(task).fit(X, y)),
        },
        repeats=1,
    )
    medians["ours"] = in_turns({"ours": mine}, repeats=3)["ours"]
    return Result(
        f"binned tree, {task}, grown in full, {n:,} x {COLUMNS}",
        f"scikit-learn DecisionTree{'Regressor' if task == 'regression' else 'Classifier'}",
        medians["ours"],
        medians["peer"],
        bar=5,
        accuracy=_compared(task, made["ours"], made["peer"], X_test, y_test),
    )


def _compared(task, mine, peer, X_test, y_test) -> str:
    return compared_errors(
        losses(task, y_test, mine.predict(X_test)), losses(task, y_test, peer.predict(X_test))
    )


# ---- pruning by cross-validation ----------------------------------------------------------------


def pruned_against_grid_search(task: str, n: int) -> Result:
    X, y = sample(task, n)
    X_test, y_test = sample(task, 50_000, seed=1)
    mine = ours(task, random_state=0).fit(X, y)
    seconds = in_turns({"ours": lambda: ours(task, random_state=0).fit(X, y)}, repeats=3)["ours"]
    code = f"from benchmarks.tree import grid_search; grid_search({task!r}, {n})"
    printed = bounded([sys.executable, "-c", code], PATIENCE)
    mean = losses(task, y_test, mine.predict(X_test)).mean()
    words = f"{mine.nodes_.n_leaves} leaves, test error {mean:.4g}"
    if printed is not None:
        told = json.loads(printed.strip().splitlines()[-1])
        peer_losses = np.asarray(told["loss"])
        words = f"leaves {mine.nodes_.n_leaves} and {told['leaves']}; " + compared_errors(
            losses(task, y_test, mine.predict(X_test)), peer_losses
        )
    return Result(
        f"tree, {task}, full growth, 10 folds, one-SE pruning over the whole sequence, "
        f"{n:,} x {COLUMNS}",
        f"scikit-learn cost_complexity_pruning_path, GridSearchCV(cv=10, n_jobs=-1) over {GRID} "
        "of its alphas",
        seconds,
        PATIENCE if printed is None else told["seconds"],
        bar=30,
        accuracy=words,
        stopped=printed is None,
    )


def grid_search(task: str, n: int) -> None:
    """Do the peer's work in this process; print its seconds, leaves and test losses as JSON."""
    X, y = sample(task, n)
    X_test, y_test = sample(task, 50_000, seed=1)
    model = theirs(task)

    def search_over(alphas, rows):
        return GridSearchCV(
            model,
            {"ccp_alpha": alphas},
            cv=10,
            n_jobs=-1,
            refit=False,
            scoring="accuracy" if is_classifier(model) else "neg_mean_squared_error",
        ).fit(X[:rows], y[:rows])

    search_over([0.0, 0.1], 200)  # starts the workers, which is not the peer's work
    start = time.perf_counter()
    alphas = model.cost_complexity_pruning_path(X, y).ccp_alphas
    grid = np.unique(np.quantile(np.maximum(alphas, 0), np.linspace(0, 1, GRID)))
    search = search_over(grid, n)
    error = -search.cv_results_["mean_test_score"]
    se = search.cv_results_["std_test_score"] / np.sqrt(10)
    chosen = np.flatnonzero(error <= error.min() + se[error.argmin()])[-1]  # alphas rise
    picked = theirs(task, ccp_alpha=grid[chosen]).fit(X, y)
    seconds = time.perf_counter() - start
    loss = losses(task, y_test, picked.predict(X_test)).tolist()
    print(json.dumps({"seconds": seconds, "leaves": int(picked.get_n_leaves()), "loss": loss}))


def pruned_against_rpart(task: str, n: int) -> Result:
    X, y = sample(task, n)
    X_test, y_test = sample(task, 50_000, seed=1)

    def mine():  # rpart's own limits, so that both grow the same tree
        return ours(task, min_samples_split=20, min_samples_leaf=7, random_state=0).fit(X, y)

    model = mine()
    seconds = in_turns({"ours": mine}, repeats=3)["ours"]
    in_full = in_turns({"ours": lambda: ours(task, random_state=0).fit(X, y)}, repeats=1)["ours"]
    words = f"{model.nodes_.n_leaves} leaves"
    with exchange(X=X, y=y, test=X_test) as folder:
        method = "anova" if task == "regression" else "class"
        taken = run_peer_within(PATIENCE, "rpart_pruned.R", folder, method, 1)
        if taken is not None:
            predicted = np.fromfile(folder / "pred.bin")
            leaves = (folder / "leaves.txt").read_text().strip()
            words = f"leaves {model.nodes_.n_leaves} and {leaves}; " + compared_errors(
                losses(task, y_test, model.predict(X_test)), losses(task, y_test, predicted)
            )
    return Result(
        f"tree, {task}, at least 20 rows split and 7 in a leaf, 10 folds, one-SE pruning, "
        f"{n:,} x {COLUMNS}",
        "R rpart(cp = 0, xval = 10) and prune",
        seconds,
        PATIENCE if taken is None else taken,
        bar=1,
        accuracy=f"{words}; ours grown to pure leaves takes {in_full:.3g} s",
        stopped=taken is None,
    )


# ---- cost ---------------------------------------------------------------------------------------


def growth(what: str, sizes, make_model, task: str = "regression") -> Result:
    """Fit the slope of log seconds against log n; n log n has 1.08 from 10,000 to a million."""
    seconds = []
    for n in sizes:
        X, y = sample(task, n)
        model = make_model()
        model.fit(X[:200], y[:200])
        seconds.append(
            in_turns({"ours": lambda m=model, X=X, y=y: m.fit(X, y)}, repeats=3 if n < 2e5 else 1)[
                "ours"
            ]
        )
    slope = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
    shown = ", ".join(f"{n:,}: {s:.3g} s" for n, s in zip(sizes, seconds, strict=True))
    return Result(
        f"growth of cost with n, {what}, {COLUMNS} columns",
        "limit of 1.15 for the slope of log time on log n",
        slope,
        1.15,
        bar=1,
        accuracy=shown,
        unit="",
        limit=True,
    )


def memory(n: int) -> Result:
    copies = extra_memory(
        "from benchmarks.tree import ours, sample\n"
        f"X, y = sample('regression', {n})\n"
        "model = ours('regression', 0.0, thresholds='binned', max_leaf_nodes=1000)\n"
        "model.fit(X[:2000], y[:2000])",
        "model.fit(X, y)",
    )
    return Result(
        f"peak memory of fitting a binned tree of 1,000 leaves to {n:,} x {COLUMNS}, X not counted",
        "limit of 2 copies of X",
        copies,
        2.0,
        bar=1,
        accuracy="-",
        unit="copies",
        limit=True,
    )
