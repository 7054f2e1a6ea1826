"""Adaptive splines: growth and removal of terms, against R's earth."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Result, cold_seconds, compared_errors, in_turns
from benchmarks.processes import exchange, has_r, run_peer
from bottega.additive import AdaptiveSplines
from bottega.core.parallel import at_most, available_cores

_TERMS = 41
_SETUP = (
    "from benchmarks.adaptive_splines import curved\n"
    "from bottega.additive import AdaptiveSplines\n"
    "X, y = curved(10_000, 50)\n"
)
_FIRST = f"AdaptiveSplines(degree=2, max_terms={_TERMS}).fit(X, y)"


def run() -> Iterator[Result]:
    if not has_r("earth"):
        return
    yield from fits(100_000, 10, threshold=0.001, bar=2.0, repeats=3)
    yield from fits(100_000, 10, threshold=0.0001, bar=2.0, repeats=1)
    yield from fits(10_000, 50, threshold=0.001, bar=1.5, repeats=3)


def curved(n: int, p: int, seed: int = 0):
    """Return rows of Friedman's first function: a product, a parabola and two lines of p inputs."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, p))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n)


def fits(n: int, p: int, *, threshold: float, bar: float, repeats: int) -> Iterator[Result]:
    X, y = curved(n, p)
    X_new, y_new = curved(20_000, p, seed=1)
    model = AdaptiveSplines(degree=2, max_terms=_TERMS, threshold=threshold)
    model.fit(X[:1_000], y[:1_000])  # compiles

    def on_one_core():
        with at_most(1):
            model.fit(X, y)

    seconds = in_turns({"one": on_one_core, "all": lambda: model.fit(X, y)}, repeats)
    with exchange(X=X, y=y, new=X_new) as folder:
        theirs = run_peer("earth_fit.R", folder, 2, _TERMS, threshold, repeats)
        predicted = np.fromfile(folder / "pred.bin")
        grown, kept, gcv = map(float, (folder / "fit.txt").read_text().split())
    errors = [(y_new - found) ** 2 for found in (model.predict(X_new), predicted)]
    accuracy = (
        f"{model.n_terms_} terms kept against {kept:.0f} of {grown:.0f}, GCV {model.gcv_:.5g} "
        f"against {gcv:.5g}; {compared_errors(*errors)}"
    )
    for name, cores in (("one", 1), ("all", available_cores())):
        yield Result(
            f"adaptive splines, degree 2, up to {_TERMS} terms, threshold {threshold:g}, "
            f"{n:,} x {p}, {cores} core{'s' * (cores > 1)}",
            f"R earth(degree = 2, nk = {_TERMS}, thresh = {threshold:g})",
            seconds[name],
            theirs,
            bar=bar,
            accuracy=accuracy,
            cold=cold_seconds(_SETUP, _FIRST) if p == 50 and name == "all" else None,
        )
