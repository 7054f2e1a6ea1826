"""Probabilistic PCA with 30 % of the values missing, against PCA of the complete table."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import subspace_angles
from sklearn.decomposition import PCA

from benchmarks.measure import Result, best_peer, cold_seconds, in_turns
from bottega.latent import ProbabilisticPCA


def run() -> Iterator[Result]:
    yield case(100_000, 50, 5, repeats=5)
    yield case(20_000, 200, 10, repeats=5)


def case(n, p, K, repeats) -> Result:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(K, p))
    complete = rng.normal(size=(n, K)) @ W + rng.normal(size=p) + rng.normal(size=(n, p))
    X = np.where(rng.random(complete.shape) < 0.3, np.nan, complete)

    def ours():
        return ProbabilisticPCA(K).fit(X)

    def theirs():
        return PCA(K).fit(complete)

    def covariance():
        return PCA(K, svd_solver="covariance_eigh").fit(complete)

    peers = {"PCA": theirs, "PCA(svd_solver='covariance_eigh')": covariance}
    model, full = ours(), theirs()
    best = ProbabilisticPCA(K, tol=1e-12).fit(X)
    medians = in_turns({"ours": ours, **peers}, repeats)
    name, seconds = best_peer(medians, "ours")
    cold = cold_seconds(
        "import numpy as np\nfrom bottega.latent import ProbabilisticPCA\n"
        f"X = np.random.default_rng(0).normal(size=({n}, {p}))\nX[X > 0.52] = np.nan",
        f"ProbabilisticPCA({K}).fit(X)",
    )

    short = (best.log_likelihood_ - model.log_likelihood_) / n

    def turned(axes):
        return float(np.degrees(np.max(subspace_angles(axes.T, W.T))))

    return Result(
        f"probabilistic PCA, 30 % missing, {K} components, {n:,} x {p}",
        f"10 times scikit-learn {name} of the complete table",
        medians["ours"],
        10 * seconds,
        bar=1,
        accuracy=(
            f"log-likelihood per row {short:.1g} below the maximum after {model.n_iter_} "
            f"iterations; true subspace missed by {turned(model.components_):.2f} degrees, "
            f"by PCA of all values {turned(full.components_):.2f}"
        ),
        limit=True,
        cold=cold,
    )
