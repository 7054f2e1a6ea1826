"""Principal components, k-means, mixtures and factors on a device, against this processor.

``python -m benchmarks.gpu.latent`` times 10^7 rows of 50 columns with K = 100 on ``--device cuda``
and on the processor without PyTorch, with the same start and the same number of iterations, and
prints the part of RESULTS.md, which ``--keep`` writes there; ``--rows 20000 --device cpu`` tries
it anywhere. Rows start in the memory of the processor: a fit on the device checks them there and
copies them over.
"""

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.__main__ import CASES
from benchmarks.measure import Result, in_turns
from benchmarks.results import COLUMNS, keep, where
from bottega.cluster import GaussianMixture, KMeans
from bottega.core.devices import torch_on
from bottega.latent import PCA, MatrixFactorization

WIDTH, CLUSTERS, BAR = 50, 100, 20


def run(rows: int, device: str) -> Iterator[Result]:
    rng = np.random.default_rng(0)
    centers = 3 * rng.normal(size=(CLUSTERS, WIDTH))
    group = rng.integers(0, CLUSTERS, rows)
    X = centers[group] + rng.normal(size=(rows, WIDTH))
    start = X[rng.choice(rows, CLUSTERS, replace=False)]
    yield case(
        f"k-means, K = {CLUSTERS}, 10 passes",
        lambda on: KMeans(CLUSTERS, init=start, n_init=1, max_iter=10, tol=0.0, device=on).fit(X),
        "inertia_",
        rows,
        device,
    )
    # Means, weights and precisions: a start row by row would be made on the processor both times.
    begin = {
        "means_init": centers,
        "weights_init": np.full(CLUSTERS, 1 / CLUSTERS),
        "precisions_init": np.tile(np.eye(WIDTH), (CLUSTERS, 1, 1)),
    }
    yield case(
        f"mixture, full covariances, K = {CLUSTERS}, 5 iterations",
        lambda on: GaussianMixture(CLUSTERS, max_iter=5, tol=0.0, device=on, **begin).fit(X),
        "lower_bound_",
        rows,
        device,
    )
    yield case(
        "principal components, first 20",
        lambda on: PCA(20, device=on).fit(X),
        "reconstruction_error_",
        rows,
        device,
    )
    ratings = sample_of_ratings(rows)
    yield case(
        f"factors of {ratings.nnz:,} ratings, rank 32, 10 sweeps",
        lambda on: MatrixFactorization(32, alpha=1.0, max_iter=10, tol=0.0, device=on).fit(ratings),
        "objective_",
        rows,
        device,
    )


def case(
    title: str, fit: Callable[[str | None], object], attribute: str, rows: int, device: str
) -> Result:
    kept: dict[str, object] = {"ours": fit(device)}  # the first call makes the device ready
    medians = in_turns(
        {
            "device": lambda: kept.update(ours=fit(device)),
            "processor": lambda: kept.update(theirs=fit(None)),
        },
        1,
    )
    there, here = (np.ravel(getattr(kept[name], attribute))[-1] for name in ("ours", "theirs"))
    return Result(
        f"{title}, {rows:,} x {WIDTH}, on {device}",
        "the same on this processor",
        medians["device"],
        medians["processor"],
        bar=BAR,
        accuracy=f"{attribute[:-1]} {there:.8g} against {here:.8g}",
    )


def sample_of_ratings(rows: int) -> csr_matrix:
    """Return a tenth as many ratings as there are numbers in the table."""
    rng = np.random.default_rng(1)
    users, items, count = max(rows // 50, 50), max(rows // 200, 40), rows * WIDTH // 10
    user, item = rng.integers(0, users, count), rng.integers(0, items, count)
    taste = rng.normal(size=(users, 4)), rng.normal(size=(items, 4))
    value = 3 + np.einsum("ij,ij->i", taste[0][user], taste[1][item]) + 0.3 * rng.normal(size=count)
    found = csr_matrix((np.ones(count), (user, item)), shape=(users, items))
    found.sum_duplicates()
    seen = csr_matrix((value, (user, item)), shape=(users, items))
    seen.sum_duplicates()
    found.data = seen.data / found.data
    return found


def machine(device: str) -> str:
    """Say when, on what and with which versions."""
    torch, place, _ = torch_on(device)
    name = torch.cuda.get_device_name(place) if place.type == "cuda" else device
    return f"{name}; {where('torch')}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--keep", action="store_true", help="write the rows to RESULTS.md, too")
    asked = parser.parse_args()
    words, rows = machine(asked.device), []
    print(f"## gpu\n\n{words}\n\n{COLUMNS}", flush=True)
    for result in run(asked.rows, asked.device):
        rows.append(result.row())
        print(result.row(), flush=True)
        if asked.keep:
            keep("gpu", words, rows, CASES)


if __name__ == "__main__":
    main()
