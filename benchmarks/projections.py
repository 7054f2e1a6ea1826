"""The nearest point of the simplex and of the l1 ball, against sorting the vector."""

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.optimize import onto_l1_ball, onto_simplex

N = 1_000_000


def run() -> Iterator[Result]:
    rng = np.random.default_rng(0)
    # Entries that nearly all leave the answer, and entries of which a thousand and more stay.
    for name, w, radius in (
        ("normal entries", rng.normal(size=N), 1.0),
        ("uniform entries", rng.uniform(size=N), 100.0),
    ):
        yield case("simplex", onto_simplex, name, w, radius)
        yield case("l1 ball", onto_l1_ball, name, w, radius)


def by_sorting(w, radius):
    descending = np.sort(w)[::-1]
    sums = (np.cumsum(descending) - radius) / np.arange(1, len(w) + 1)
    theta = sums[np.flatnonzero(descending > sums)[-1]]
    return np.maximum(w - theta, 0)


def case(which, project, name, w, radius) -> Result:
    def ours():
        return project(w, radius)

    size = w if which == "simplex" else np.abs(w)
    expected = by_sorting(size, radius)
    found = np.abs(ours())
    medians = in_turns({"ours": ours, "np.sort of the vector": lambda: np.sort(size)}, 9)
    peer, seconds = best_peer(medians, "ours")
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.optimize import onto_simplex, onto_l1_ball\n"
        f"w = np.random.default_rng(0).normal(size={N})",
        f"{project.__name__}(w, {radius})",
    )
    return Result(
        f"projection on the {which} of radius {radius:g}, {N:,} {name}",
        peer,
        medians["ours"],
        seconds,
        bar=1,
        accuracy=f"largest difference from the sorted way {np.max(np.abs(found - expected)):.1g}",
        cold=cold,
    )
