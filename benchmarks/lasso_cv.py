"""Cross-validated lasso paths with the one-SE rule against LassoCV, at the same duality gap."""

import sys
import time
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LassoCV

from benchmarks.lasso import sparse_truth
from benchmarks.measure import Result, bounded, in_turns
from bottega.linear import Lasso

PATIENCE = 120  # seconds for the peer; then its row says "more than"


def run() -> Iterator[Result]:
    yield cross_validated(100_000, 100)
    yield cross_validated(1_000, 5_000)


def grid(X, y):
    n, p = X.shape
    return np.max(np.abs(X.T @ y)) / n * np.logspace(0, -2 if p > n else -3, 100)


def theirs(n, p) -> None:
    """Do the peer's work in this process and print its seconds."""
    X, y = sparse_truth(n, p)
    alphas = grid(X, y)
    start = time.perf_counter()
    # 5e-7 is the tolerance at which its paths have a relative gap of 1e-6.
    LassoCV(alphas=alphas, cv=10, tol=5e-7, max_iter=100_000, n_jobs=-1).fit(X, y)
    print(time.perf_counter() - start)


def cross_validated(n, p) -> Result:
    X, y = sparse_truth(n, p)
    alphas = grid(X, y)

    def ours():
        return Lasso(cv=10).path(X, y, values=alphas)

    curve = ours()
    seconds = in_turns({"ours": ours}, repeats=3 if p < n else 1)["ours"]
    code = f"from benchmarks.lasso_cv import theirs; theirs({n}, {p})"
    printed = bounded([sys.executable, "-c", code], PATIENCE)
    picked = {rule: f"{curve.values[curve.best(rule)]:.4g}" for rule in ("min", "one_se")}
    return Result(
        f"lasso, 10-fold path of 100 penalties with one-SE, {n:,} x {p:,}",
        "scikit-learn LassoCV(cv=10, n_jobs=-1), its gap 1e-6",
        seconds,
        PATIENCE if printed is None else float(printed.strip().splitlines()[-1]),
        bar=3,
        accuracy=f"least cross-validated error {curve.error.min():.4g}; alpha by rule: {picked}",
        stopped=printed is None,
    )
