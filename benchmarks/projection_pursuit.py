"""Projection pursuit with five terms against R's ppr and skpp, on Friedman's function.

``run(scale=0.02)`` goes through all of it on a fiftieth of the rows, to see that it works.
"""

import sys
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Result, bounded, cold_seconds, compared_errors, in_turns
from benchmarks.processes import exchange, has_r, run_peer, seconds_inside
from bottega.additive import ProjectionPursuitRegressor

TERMS, INPUTS, NEW = 5, 10, 20_000
_LONG = 300  # seconds after which a peer is stopped

SKPP = """
import sys, time
import numpy as np
from skpp import ProjectionPursuitRegressor

folder, kind, repeats = sys.argv[1], sys.argv[2], int(sys.argv[3])
n, p = (int(word) for word in open(folder + "/size.txt").read().split()[:2])
X = np.fromfile(folder + "/X.bin").reshape(p, n).T.copy()
y = np.fromfile(folder + "/y.bin")
new = np.fromfile(folder + "/new.bin").reshape(p, -1).T.copy()
seconds = []
for _ in range(repeats):
    start = time.perf_counter()
    model = ProjectionPursuitRegressor(r={terms}, fit_type=kind, random_state=0).fit(X, y)
    seconds.append(time.perf_counter() - start)
model.predict(new).tofile(folder + "/pred.bin")
open(folder + "/seconds.txt", "w").write("\\n".join(map(str, seconds)))
"""


def run(scale: float = 1.0) -> Iterator[Result]:
    """Yield every row; `scale` shrinks the numbers of rows alike."""
    for n in (10_000, 100_000):
        yield from against_peers(max(int(n * scale), 300))


def sample(n, seed=0):
    """Return rows of Friedman's function: five inputs matter, two of them together."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, INPUTS))
    mean = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, mean + 10 * X[:, 3] + 5 * X[:, 4] + rng.normal(size=n)


def against_peers(n) -> Iterator[Result]:
    """Compare with the peers; like R's, our forward walk ends at the terms that are kept."""
    X, y = sample(n)
    new, truth = sample(NEW, seed=1)
    ours = ProjectionPursuitRegressor(TERMS, max_terms=TERMS)
    ours.fit(X[:300], y[:300])  # compiled kernels are read once
    seconds = in_turns({"ours": lambda: ours.fit(X, y)}, repeats=3)["ours"]
    losses = (ours.predict(new) - truth) ** 2
    cold = cold_seconds(
        "from benchmarks.projection_pursuit import TERMS, ProjectionPursuitRegressor, sample\n"
        f"X, y = sample({n})",
        "ProjectionPursuitRegressor(TERMS, max_terms=TERMS).fit(X, y)",
    )
    case = f"projection pursuit, {TERMS} terms, {n:,} x {INPUTS}"
    with exchange(X=X, y=y, new=new) as folder:

        def row(peer, theirs, bar, stopped=False):
            said = f"test error {losses.mean():.4g}; the peer has none"
            if not stopped:
                predicted = np.fromfile(folder / "pred.bin")
                said = compared_errors(losses, (predicted - truth) ** 2)
            return Result(
                case, peer, seconds, theirs, bar=bar, accuracy=said, cold=cold, stopped=stopped
            )

        if has_r():
            theirs = run_peer("ppr.R", folder, TERMS, 3 if n <= 20_000 else 1)
            yield row("R ppr (super smoother)", theirs, 1)
        for kind in ("spline", "polyfit"):
            command = [sys.executable, "-c", SKPP.format(terms=TERMS), str(folder), kind, "1"]
            done = bounded(command, _LONG)
            theirs = _LONG if done is None else seconds_inside(folder)
            yield row(f"skpp, {kind}", theirs, 10, stopped=done is None)
