"""Leading eigenvectors of a scatter matrix, by six algorithms.

All give eigenvalues of A'A, largest first, and the right singular vectors V (p by k) of A, before
the convention for signs.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from scipy.linalg import eigh, lu
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from bottega.core.errors import ConvergenceWarning, InputError, warn_caller
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray
from bottega.latent._pca.centred import CentredRows

__all__ = [
    "by_dual",
    "by_full_svd",
    "by_lanczos",
    "by_power_iteration",
    "by_randomized_range",
    "by_scatter",
    "choose_solver",
    "completed",
    "warn_slow_power",
]

Solved = tuple[FloatArray, FloatArray]

# Multiplications up to which the full decomposition of the rows, the most exact one, is quick.
_SMALL = 3e7
# Eigenvalues of a product A'A below this share of the largest have lost all of their digits.
_LOST = 1e-13
_EPS = np.finfo(np.float64).eps
_POWER_STEPS = 10_000
_POWER_TOL = 1e-10


def choose_solver(n: int, p: int, k: int | None, nonzeros: int | None = None) -> str:
    """Return the cheapest solver for the first `k` (None: all) components of an n by p table.

    `nonzeros` is the number of entries of a sparse table.

    Examples
    --------
    >>> choose_solver(150, 4, None), choose_solver(200_000, 500, 20), choose_solver(5000, 5000, 10)
    ('full', 'covariance_eigh', 'randomized')
    """
    small = min(n, p)
    if nonzeros is None and n * p * small <= _SMALL:
        return "full"
    entries = n * p if nonzeros is None else nonzeros
    product = n * p * small if nonzeros is None else nonzeros * max(nonzeros / max(n, p), 1)
    # Measured: a step of an eigensolver, and a product with few columns, run at a fraction of the
    # speed of a product of large matrices.
    direct = product + 18.0 * small**3
    if k is not None and k + 10 < small / 5:
        passes = 2 * (_iterations("auto", k, small) + 1) * (1 if nonzeros is None else 4)
        if 2.0 * passes * entries * (k + 10) < direct:
            return "randomized" if nonzeros is None else "arpack"
    return "covariance_eigh"


def _iterations(given: Any, k: int, small: int) -> int:
    """Return how many passes the randomised solver makes: scikit-learn's numbers."""
    return (7 if k < 0.1 * small else 4) if given == "auto" else int(given)


def _threads(size: int) -> AbstractContextManager[None]:
    return one_thread() if float(size) ** 3 <= 5e7 else nullcontext()


def completed(V: FloatArray, k: int) -> FloatArray:
    """Return k orthonormal columns of which the first are V: directions without variance follow."""
    p, r = V.shape
    if r >= k:
        return V[:, :k]
    start = np.random.default_rng(0).normal(size=(p, k - r))
    for _ in range(2):  # twice is enough, as for Gram and Schmidt
        start -= V @ (V.T @ start)
        start = np.linalg.qr(start)[0]
    return np.hstack([V, start])


def by_full_svd(rows: CentredRows) -> Solved:
    """Decompose the rows themselves."""
    A = rows.dense()
    with _threads(min(A.shape)):
        _, d, Vt = np.linalg.svd(A, full_matrices=False)
    d[d <= d[0] * max(A.shape) * _EPS] = 0.0  # rounding, of rows that vary in fewer directions
    return d**2, np.ascontiguousarray(Vt.T)


def by_scatter(scatter: FloatArray, k: int | None = None) -> Solved:
    """Decompose A'A (p by p), the cheapest way with many rows."""
    p = len(scatter)
    with _threads(p):
        if k is None or k > p / 4:
            lam, V = np.linalg.eigh(scatter)
        else:
            lam, V = eigh(scatter, subset_by_index=(p - k, p - 1), driver="evr")
    lam = lam[::-1]
    return np.where(lam > lam[0] * p * _EPS, lam, 0.0), np.ascontiguousarray(V[:, ::-1])


def by_dual(rows: CentredRows) -> Solved:
    """Decompose AA' (n by n), the cheapest way with more columns than rows."""
    gram = rows.dual()
    with _threads(len(gram)):
        lam, U = np.linalg.eigh(gram)
    lam, U = np.maximum(lam[::-1], 0.0), U[:, ::-1]
    kept = lam > _LOST * lam[0]
    V = rows.transposed_times(np.ascontiguousarray(U[:, kept] / np.sqrt(lam[kept])))
    # Squares lose digits; what is lost shows as angles between the vectors, largest first right.
    return np.where(kept, lam, 0.0), completed(np.linalg.qr(V)[0], len(lam))


def by_randomized_range(
    rows: CentredRows, k: int, *, iterations: Any, oversamples: int, normalizer: str, seed: int
) -> Solved:
    """Find a subspace by products with random vectors, and decompose the rows inside it."""
    n, p = rows.shape
    width = min(k + oversamples, p)
    V = np.random.default_rng(seed).normal(size=(p, width))
    for _ in range(_iterations(iterations, k, min(n, p))):
        V = _normalized(rows.scatter_times(V), normalizer)
    Q = np.linalg.qr(rows.scatter_times(V))[0]
    scores = rows.times(Q)
    _, d, Wt = np.linalg.svd(np.linalg.qr(scores, mode="r"))
    V = Q @ Wt.T
    lam = np.zeros(width)
    lam[: len(d)] = d**2
    return lam[:k], V[:, :k]


def _normalized(V: FloatArray, normalizer: str) -> FloatArray:
    if normalizer == "none":
        return V
    if normalizer == "LU":
        return np.asarray(lu(V, permute_l=True)[0])
    return np.linalg.qr(V)[0]


def by_lanczos(rows: CentredRows, k: int, *, tol: float, seed: int) -> Solved:
    """Find the first k by Lanczos iterations (ARPACK), which only multiply."""
    p = rows.shape[1]

    def multiply(v: FloatArray) -> FloatArray:
        return rows.scatter_times(v.reshape(p, -1)).reshape(v.shape)

    scatter = LinearOperator((p, p), matvec=multiply, matmat=multiply, dtype=np.float64)
    start = np.random.default_rng(seed).uniform(-1, 1, size=p)
    try:
        lam, V = eigsh(scatter, k, v0=start, tol=tol)
    except ArpackNoConvergence as error:
        raise InputError(
            f"Lanczos iterations found {len(error.eigenvalues)} of {k} components: give a larger "
            "tol, or another svd_solver."
        ) from error
    order = np.argsort(-lam, kind="stable")
    return np.maximum(lam[order], 0.0), np.ascontiguousarray(V[:, order])


def by_power_iteration(
    multiply: Callable[[FloatArray], FloatArray],
    size: int,
    k: int,
    *,
    steps: Any,
    tol: float,
    seed: int,
) -> tuple[FloatArray, FloatArray, list[int], bool]:
    r"""Find the first k eigenvectors one after the other, each by products with one vector.

    A vector is multiplied by the matrix and normalised until it no longer turns; it is then an
    eigenvector of the largest eigenvalue. Deflation, :math:`A - \lambda_1 v_1 v_1^\top`, makes the
    next eigenvalue the largest.

    Returns
    -------
    lam, V, taken, converged
        Eigenvalues, eigenvectors, the number of products for each, and whether all were enough.
    """
    rng = np.random.default_rng(seed)
    most = _POWER_STEPS if steps == "auto" else max(int(steps), 1)
    accuracy = tol if tol > 0 else _POWER_TOL
    lam, V, taken, converged = np.zeros(k), np.zeros((size, k)), [], True
    for j in range(k):
        found = V[:, :j]
        v = rng.normal(size=size)
        v -= found @ (found.T @ v)
        v /= np.linalg.norm(v)
        for step in range(1, most + 1):  # noqa: B007
            image = multiply(v)
            # The deflated matrix times v; what rounding brings back of the earlier ones goes too.
            image -= found @ (lam[:j] * (found.T @ v))
            image -= found @ (found.T @ image)
            value = float(v @ image)
            length = float(np.linalg.norm(image))
            if length <= _LOST * lam[0] or length == 0:
                value = 0.0
                break
            gap = float(np.linalg.norm(image - value * v))
            v = image / length
            if gap <= accuracy * value:
                break
        else:
            converged = False
        lam[j], V[:, j] = max(value, 0.0), v
        taken.append(step)
    order = np.argsort(-lam, kind="stable")
    return lam[order], V[:, order], [taken[i] for i in order], converged


def warn_slow_power(taken: list[int]) -> None:
    """Warn that power iteration stopped before the vectors stood still."""
    slow = int(np.argmax(taken)) + 1
    warn_caller(
        f"PCA: power iteration did not converge for component {slow} in {max(taken):,} products: "
        "its eigenvalue is near the next one. Give a larger iterated_power or tol, or use "
        "svd_solver='full'.",
        ConvergenceWarning,
    )
