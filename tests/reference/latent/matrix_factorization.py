"""Implicit feedback by the package implicit: factors after some sweeps from given ones.

Run in an environment with implicit:  python tests/reference/latent/matrix_factorization.py
"""

import json
from pathlib import Path

import implicit
import numpy as np
import scipy
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix

SEED, N, M, RANK, PENALTY, CONFIDENCE = 7, 25, 15, 3, 2.0, 4.0
rng = np.random.default_rng(SEED)
counts = rng.poisson(rng.gamma(0.3, 1.5, size=(N, M)))
users, items = rng.normal(size=(N, RANK)) / 3, rng.normal(size=(M, RANK)) / 3
# The package takes confidences: 1 + CONFIDENCE * count where there is a count.
confidence = csr_matrix(np.where(counts > 0, 1 + CONFIDENCE * counts, 0.0))


def loss(P, Q):
    fitted, weight = P @ Q.T, 1 + CONFIDENCE * counts
    squares = (P**2).sum() + (Q**2).sum()
    return float(np.sum(weight * ((counts > 0) - fitted) ** 2) + PENALTY * squares)


found = {}
for sweeps in (1, 2, 5, 400):
    model = AlternatingLeastSquares(
        factors=RANK, regularization=PENALTY, alpha=1.0, iterations=sweeps, use_cg=False,
        use_native=True, dtype=np.float64, use_gpu=False, num_threads=1,
    )  # fmt: skip
    model.user_factors, model.item_factors = users.copy(), items.copy()
    model.fit(confidence, show_progress=False)
    P, Q = np.asarray(model.user_factors), np.asarray(model.item_factors)
    found[str(sweeps)] = {"loss": loss(P, Q), "first_user": (P[0] @ Q.T).tolist()}

answer = {
    "call": f"AlternatingLeastSquares(factors={RANK}, regularization={PENALTY}, use_cg=False)",
    "versions": {m.__name__: m.__version__ for m in (implicit, np, scipy)},
    "seed": SEED,
    "penalty": PENALTY,
    "confidence": CONFIDENCE,
    "counts": counts.tolist(),
    "users": users.tolist(),
    "items": items.tolist(),
    "sweeps": found,
}
Path(__file__).with_suffix(".json").write_text(json.dumps(answer, indent=1) + "\n")
