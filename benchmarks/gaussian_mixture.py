"""Mixtures of normal distributions against scikit-learn's and R mclust's.

``run(scale=0.01)`` goes through all of it on a hundredth of the rows, to see that it works.
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.mixture import GaussianMixture as PeerMixture

from benchmarks.measure import Result, cold_seconds, in_turns
from benchmarks.processes import exchange, has_r, run_peer
from bottega.cluster import GaussianMixture
from bottega.core.tuned import tune

FAMILIES = ("EII", "VII", "EEE", "VVV")
MOST = 10


def run(scale: float = 1.0) -> Iterator[Result]:
    yield iterations(max(int(100_000 * scale), 500), 20, 10, 20)
    if has_r("mclust"):
        yield path(max(int(5_000 * scale), 200), 5)


def sample(n: int, p: int, k: int, apart: float = 2.0):
    rng = np.random.default_rng(0)
    centres = apart * rng.normal(size=(k, p))
    turns = rng.normal(size=(k, p, p)) / np.sqrt(p)
    label = rng.integers(k, size=n)
    noise = np.einsum("nij,nj->ni", turns[label], rng.normal(size=(n, p)))
    return centres[label] + noise + 0.3 * rng.normal(size=(n, p))


def iterations(n: int, p: int, k: int, count: int) -> Result:
    """The same start and as many iterations on both sides."""
    X = sample(n, p, k)
    rng = np.random.default_rng(1)
    options = {
        "weights_init": np.full(k, 1 / k),
        "means_init": X[rng.choice(n, k, replace=False)],
        "precisions_init": np.repeat(np.linalg.inv(np.cov(X.T))[None], k, axis=0),
        "max_iter": count,
        "tol": 0.0,
    }

    def quietly(model):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.fit(X)

    def ours():
        return quietly(GaussianMixture(k, **options))

    def theirs():
        return quietly(PeerMixture(k, **options))

    mine, peer = ours(), theirs()
    medians = in_turns({"ours": ours, "peer": theirs}, repeats=3)
    cold = cold_seconds(
        "import warnings\nwarnings.simplefilter('ignore')\n"
        "from benchmarks.gaussian_mixture import sample\nfrom bottega.cluster import "
        f"GaussianMixture\nX = sample({n}, {p}, {k})\n"
        f"model = GaussianMixture({k}, init_params='k-means++', tol=0.0, max_iter={count})",
        "model.fit(X)",
    )
    return Result(
        f"mixture, full, k = {k}, {count} iterations from one start, {n:,} x {p}",
        "scikit-learn GaussianMixture",
        medians["ours"],
        medians["peer"],
        bar=3,
        accuracy=f"mean log-likelihood {mine.score(X):.9g} against {peer.score(X):.9g}",
        cold=cold,
    )


def path(n: int, p: int) -> Result:
    """Every number of components up to ten, four families."""
    X = sample(n, p, 6, apart=3.0)
    # mclust stops where the log-likelihood rises by less than 1e-5 of itself.
    tol = 1e-5 * abs(GaussianMixture(6, random_state=0).fit(X).lower_bound_)

    def ours():
        model = GaussianMixture(
            "auto",
            covariance_type=FAMILIES,
            init_params="hierarchical",
            n_init=2,
            tol=tol,
            max_iter=1_000,
            random_state=0,
        )
        return tune(model, X, values=range(1, MOST + 1), select="bic").path_

    curve = ours()
    seconds = in_turns({"ours": ours}, repeats=3)["ours"]
    with exchange(X=X) as folder:
        taken = run_peer("mclust_path.R", folder, MOST, ",".join(FAMILIES))
        theirs = -np.fromfile(folder / "bic.bin").reshape(len(FAMILIES), MOST)
    mine = np.full(theirs.shape, np.nan)
    for setting, value in zip(curve.settings, curve.criteria["bic"], strict=True):
        mine[FAMILIES.index(setting["covariance_type"]), setting["n_components"] - 1] = value
    better = np.mean(mine <= theirs + 1e-4 * np.abs(theirs))
    verdict = "yes" if np.nanmin(mine) <= np.nanmin(theirs) * (1 + 1e-6) else "**no**"
    return Result(
        f"mixtures, K = 1..{MOST}, {', '.join(FAMILIES)}, {n:,} x {p}",
        "R mclust Mclust",
        seconds,
        taken,
        bar=5,
        accuracy=(
            f"least BIC {np.nanmin(mine):.2f} against {np.nanmin(theirs):.2f}, equal or better: "
            f"{verdict}; {better:.0%} of the {mine.size} models no worse by 1e-4 of it"
        ),
    )
