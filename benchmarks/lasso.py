"""Lasso paths against every peer, at the same duality gap."""

import time
from collections.abc import Callable, Iterator

import numpy as np
from sklearn.linear_model import lasso_path

from benchmarks.measure import Result, in_turns
from benchmarks.processes import exchange, has_adelie, has_r, run_peer, seconds_inside
from bottega.linear import Lasso

GAP = 1e-6
_LONG = 10  # seconds: a longer peer is timed once, by its first run at the right tolerance


def run() -> Iterator[Result]:
    yield from lasso_paths("1,000 x 5,000, 50 true inputs", *sparse_truth(1_000, 5_000), eps=1e-2)
    yield from lasso_paths("100,000 x 100, 10 true inputs", *sparse_truth(100_000, 100), eps=1e-3)


def sparse_truth(n, p):
    """Standardised inputs with correlation 0.5 between neighbours, and a sparse response."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    for j in range(1, p):
        X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
    X = np.asfortranarray((X - X.mean(axis=0)) / X.std(axis=0))
    beta = np.zeros(p)
    true = rng.choice(p, size=50 if p > n else 10, replace=False)
    beta[true] = rng.choice([-1.0, 1.0], size=len(true)) * rng.uniform(0.5, 2, size=len(true))
    signal = X @ beta
    y = signal + signal.std() / 2 * rng.normal(size=n)
    return X, y - y.mean()


def worst_gap(X, y, alphas, coef):
    """Return the largest duality gap along a path, relative to half the mean square of y."""
    n = len(y)
    worst = 0.0
    for alpha, b in zip(alphas, coef, strict=True):
        r = y - X @ b
        primal = r @ r / (2 * n) + alpha * np.abs(b).sum()
        scale = min(1.0, n * alpha / np.max(np.abs(X.T @ r)))
        dual = y @ y / (2 * n) - np.sum((y - scale * r) ** 2) / (2 * n)
        worst = max(worst, (primal - dual) / (y @ y / (2 * n)))
    return worst


def loosest(call: Callable[[float], np.ndarray], tolerances, X, y, alphas):
    """Return the loosest tolerance at which a peer's path has the gap asked for.

    With it come that gap and the seconds of the run. A peer that does not reach the gap in two
    minutes is left at the tightest tolerance it got to.
    """
    begun = time.perf_counter()
    for tolerance in tolerances:
        start = time.perf_counter()
        coef = call(tolerance)
        seconds = time.perf_counter() - start
        gap = worst_gap(X, y, alphas, coef)
        if gap <= GAP or time.perf_counter() - begun > 120:
            break
    return tolerance, gap, seconds


def lasso_paths(name, X, y, eps) -> Iterator[Result]:
    n = len(y)
    alphas = np.max(np.abs(X.T @ y)) / n * np.logspace(0, np.log10(eps), 100)

    def ours():
        return Lasso(standardize=False, fit_intercept=False, cv=None).path(X, y, values=alphas)

    gap = worst_gap(X, y, alphas, ours().coef)
    peers = {"scikit-learn lasso_path": (_sklearn(X, y, alphas), [5e-7])}
    peers["skglm Lasso.path"] = (_skglm(X, y, alphas), [1e-5, 1e-7])
    peers["celer_path"] = (_celer(X, y, alphas), [5e-7, 1e-7])
    calls, gaps, once = {}, {}, {}
    for peer, (call, tolerances) in peers.items():
        tolerance, gaps[peer], once[peer] = loosest(call, tolerances, X, y, alphas)
        if once[peer] < _LONG:
            calls[peer] = lambda call=call, tolerance=tolerance: call(tolerance)
    medians = once | in_turns({"ours": ours, **calls}, repeats=3)
    with exchange(X=X, y=y, alphas=alphas) as folder:
        outside = {}
        if has_r():
            outside["R glmnet"] = ("glmnet_path.R", [1e-12, 1e-14, 1e-16])
        if has_adelie():
            outside["adelie grpnet"] = ("adelie_path.py", [1e-12, 1e-14, 1e-16])
        for peer, (script, tolerances) in outside.items():

            def call(tolerance, script=script):
                run_peer(script, folder, tolerance, 2)
                return np.fromfile(folder / "coef.bin").reshape(len(alphas), X.shape[1])

            _, gaps[peer], _ = loosest(call, tolerances, X, y, alphas)
            medians[peer] = seconds_inside(folder)
    for peer, seconds in medians.items():
        if peer != "ours":
            yield Result(
                f"lasso path, 100 penalties, {name}",
                peer,
                medians["ours"],
                seconds,
                bar=1,
                accuracy=f"largest relative duality gap {gap:.1e} against {gaps[peer]:.1e}",
            )


def _sklearn(X, y, alphas):
    def call(tolerance):
        return lasso_path(X, y, alphas=alphas, tol=tolerance, max_iter=100_000)[1].T

    return call


def _skglm(X, y, alphas):
    import skglm

    def call(tolerance):
        model = skglm.Lasso(tol=tolerance, max_iter=500, max_epochs=100_000, fit_intercept=False)
        return model.path(X, y, alphas)[1].T

    return call


def _celer(X, y, alphas):
    import celer

    def call(tolerance):
        return celer.celer_path(X, y, "lasso", alphas=alphas, tol=tolerance, max_iter=200)[1].T

    return call
