"""Factors of a million counts, against alternating least squares of the package implicit."""

from collections.abc import Iterator
from importlib.util import find_spec

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.measure import Result, cold_seconds, in_turns
from bottega.core.parallel import available_cores
from bottega.core.threads import linear_algebra_in
from bottega.latent import MatrixFactorization

USERS, ITEMS, RATINGS, RANK, SWEEPS = 20_000, 5_000, 10**6, 32, 10
PENALTY, CONFIDENCE = 10.0, 40.0


def run() -> Iterator[Result]:
    if not find_spec("implicit"):
        print("matrix_factorization: not measured, as the package implicit is not installed")
        return
    counts = generated()
    for solver in ("cg", "als"):
        yield case(counts, solver)


def generated() -> csr_matrix:
    """Return counts of users and items with a few tastes, popular items first."""
    rng = np.random.default_rng(0)
    user = rng.integers(0, USERS, 2 * RATINGS)
    item = np.minimum((ITEMS * rng.random(2 * RATINGS) ** 2).astype(int), ITEMS - 1)
    taste, kind = rng.integers(0, 8, USERS), rng.integers(0, 8, ITEMS)
    likely = np.where(taste[user] == kind[item], 1.0, 0.3)
    pairs = np.unique((user * ITEMS + item)[rng.random(2 * RATINGS) < likely])
    pairs = np.sort(rng.permutation(pairs)[:RATINGS])
    value = 1.0 + rng.poisson(0.5, len(pairs))
    return csr_matrix((value, (pairs // ITEMS, pairs % ITEMS)), shape=(USERS, ITEMS))


def case(counts: csr_matrix, solver: str) -> Result:
    from implicit.als import AlternatingLeastSquares

    confidence = counts.copy()
    confidence.data = 1 + CONFIDENCE * counts.data

    def ours():
        return MatrixFactorization(
            RANK, alpha=PENALTY, implicit=True, confidence=CONFIDENCE, solver=solver,
            init="random", max_iter=SWEEPS, tol=0,
        ).fit(counts)  # fmt: skip

    def theirs(dtype):
        given = confidence.astype(dtype)

        def call():
            model = AlternatingLeastSquares(
                factors=RANK, regularization=PENALTY, iterations=SWEEPS, dtype=dtype,
                use_cg=solver == "cg", use_gpu=False, calculate_training_loss=False,
                num_threads=available_cores(), random_state=0,
            )  # fmt: skip
            with linear_algebra_in(1):  # as the package asks for: it has threads of its own
                model.fit(given, show_progress=False)
            return model

        return call

    peers = {"float32": theirs(np.float32), "float64": theirs(np.float64)}
    model, other = ours(), {name: call() for name, call in peers.items()}
    medians = in_turns({"ours": ours, **peers}, 3)
    fastest = min(peers, key=lambda name: medians[name])
    found = other[fastest]
    losses = (
        loss(counts, model.user_factors_, model.item_factors_),
        loss(counts, np.asarray(found.user_factors), np.asarray(found.item_factors)),
    )
    cold = cold_seconds(
        "import numpy as np\nfrom scipy.sparse import random\n"
        "from bottega.latent import MatrixFactorization\n"
        f"X = random({USERS}, {ITEMS}, {RATINGS / USERS / ITEMS}, random_state=0)",
        f"MatrixFactorization({RANK}, alpha=10.0, implicit=True, solver={solver!r}, "
        f"init='random', max_iter={SWEEPS}, tol=0).fit(X)",
    )
    steps = "conjugate gradients" if solver == "cg" else "exact solutions"
    return Result(
        f"implicit feedback, {RATINGS:,} counts of {USERS:,} x {ITEMS:,}, rank {RANK}, {SWEEPS} "
        f"sweeps, {steps}",
        f"implicit AlternatingLeastSquares({fastest}, the faster of two)",
        medians["ours"],
        medians[fastest],
        bar=1,
        accuracy=f"loss {losses[0]:.8g} (float64) against {losses[1]:.8g}",
        cold=cold,
    )


def loss(counts: csr_matrix, users: np.ndarray, items: np.ndarray) -> float:
    """Return the objective that both minimise."""
    P, Q = users.astype(np.float64), items.astype(np.float64)
    x = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    fitted = np.einsum("ij,ij->i", P[x], Q[counts.indices])
    known = (1 + CONFIDENCE * counts.data) @ (1 - fitted) ** 2 - fitted @ fitted
    all_pairs = float(np.sum((P.T @ P) * (Q.T @ Q)))
    return float(known + all_pairs + PENALTY * (np.sum(P**2) + np.sum(Q**2)))
