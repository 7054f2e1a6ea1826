"""Support vector machines: fits with the Gaussian kernel, and the path over C."""

import time
from collections.abc import Iterator
from contextlib import nullcontext

import numpy as np
from sklearn.svm import SVC, SVR

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.core.parallel import at_most, available_cores
from bottega.kernel import SupportVectorClassifier, SupportVectorRegressor

_COSTS = np.geomspace(0.01, 100, 10)
_SETUP = (
    "from benchmarks.support_vectors import curved\n"
    "from bottega.kernel import SupportVectorClassifier\n"
    "X, y = curved(10_000)\n"
)
_FIRST = "SupportVectorClassifier(probability=False).fit(X, y)"


def run() -> Iterator[Result]:
    yield from fits(10_000, 3)
    yield from fits(40_000, 1)
    yield regression()
    yield path(10_000)


def curved(n: int, seed: int = 0):
    """Return rows of two classes with a curved boundary and noise, on one scale."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 20))
    signal = X[:, 0] * X[:, 1] + X[:, 2] ** 2 - 0.5 + X[:, 3] + 0.5 * rng.normal(size=n)
    return X, (signal > 0).astype(int)


def fits(n: int, repeats: int) -> Iterator[Result]:
    X, y = curved(n)
    X_new, y_new = curved(5_000, seed=1)
    model, peer = SupportVectorClassifier(probability=False), SVC()
    model.fit(X[:2_500], y[:2_500])  # compiles

    def ours(cores):
        with at_most(1) if cores == 1 else nullcontext():
            model.fit(X, y)

    # The peer uses one core, whatever there are; it is timed with its cache at its best.
    peer.set_params(cache_size=1_000)
    seconds = in_turns(
        {
            "one core": lambda: ours(1),
            "all cores": lambda: ours(None),
            "peer": lambda: peer.fit(X, y),
        },
        repeats,
    )
    gap = np.max(np.abs(model.decision_function(X_new) - peer.decision_function(X_new)))
    errors = [np.mean(each.predict(X_new) != y_new) for each in (model, peer)]
    accuracy = (
        f"{len(model.support_)} support vectors against {len(peer.support_)}, test error "
        f"{errors[0]:.4f} against {errors[1]:.4f}, decision values within {gap:.0e}, both with "
        f"tol = 1e-3 (ours reaches {model.kkt_residual_:.0e})"
    )
    for name, bar in (("one core", 1.0), ("all cores", 1.5)):
        cores = "1 core" if name == "one core" else f"{available_cores()} cores"
        yield Result(
            f"support vectors, Gaussian kernel, C = 1, {n:,} x 20, {cores}",
            "scikit-learn SVC(cache_size=1000)",
            seconds[name],
            seconds["peer"],
            bar=bar,
            accuracy=accuracy,
            cold=cold_seconds(_SETUP, _FIRST) if n == 10_000 and bar == 1.5 else None,
        )


def regression() -> Result:
    X, _ = curved(10_000)
    rng = np.random.default_rng(2)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=len(X))
    model, peer = SupportVectorRegressor(1.0, epsilon=0.1), SVR(cache_size=1_000)
    model.fit(X[:2_500], y[:2_500])
    calls = {"ours": lambda: model.fit(X, y), "peer": lambda: peer.fit(X, y)}
    seconds = in_turns(calls, repeats=1)
    gap = np.max(np.abs(model.predict(X[:2_000]) - peer.predict(X[:2_000])))
    return Result(
        f"support vector regression, C = 1, 10,000 x 20, {available_cores()} cores",
        "scikit-learn SVR(cache_size=1000)",
        seconds["ours"],
        seconds["peer"],
        bar=1.5,
        accuracy=f"{len(model.support_)} support vectors against {len(peer.support_)}, "
        f"predictions within {gap:.0e}",
    )


def path(n: int) -> Result:
    """Time the machines of 10 values of C, each started from the one before, against 3 fits."""
    X, y = curved(n)
    model = SupportVectorClassifier(probability=False, cache_size=1_000)
    model.fit(X[:2_500], y[:2_500])
    rows = model._read(X, y, None)

    def walked():
        work = model._prepare(rows)
        model._solve(work, [{"C": cost} for cost in _COSTS])
        return work

    def last():
        model.set_params(C=_COSTS[-1]).fit(X, y)

    # In turns: whatever comes first pays for memory that was never touched before.
    seconds = in_turns({"path": walked, "last": last}, repeats=3)
    work, alone, gaps = walked(), [], []
    for cost in _COSTS:
        start = time.perf_counter()
        model.set_params(C=cost).fit(X, y)
        alone.append(time.perf_counter() - start)
        (machine,) = work.machines["scale"][float(cost)]
        gaps.append(abs(machine.dual / model.dual_objective_ - 1))
    return Result(
        f"support vectors, path over 10 values of C from 0.01 to 100, {n:,} x 20",
        "3 fits at the last C",
        seconds["path"],
        3 * seconds["last"],
        bar=1,
        accuracy=f"dual objectives agree to {max(gaps):.0e}; "
        f"all 10 fits alone take {sum(alone):.3g} s",
        limit=True,
    )
