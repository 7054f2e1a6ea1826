"""Leading eigenvectors of a scatter matrix: which algorithm, and what only components need.

All give eigenvalues of A'A, largest first, and the right singular vectors V (p by k) of A, before
the convention for signs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray
from bottega.latent._decomposition.graded import are_graded, axes_of_factor
from bottega.latent._decomposition.leading import (
    LOST,
    SMALL,
    from_dual,
    power_steps,
    singular_vectors,
)
from bottega.latent._pca.centred import CentredRows, constant_columns

__all__ = [
    "by_dual",
    "by_full_svd",
    "by_power_iteration",
    "choose_solver",
    "completed",
    "warn_slow_power",
]

Solved = tuple[FloatArray, FloatArray]

_EPS = np.finfo(np.float64).eps
_SURE = 1e-6  # of the largest singular value: a smaller one has fewer than nine digits
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
    if nonzeros is None and n * p * small <= SMALL:
        return "full"
    entries = n * p if nonzeros is None else nonzeros
    product = n * p * small if nonzeros is None else nonzeros * max(nonzeros / max(n, p), 1)
    # Measured: a step of an eigensolver, and a product with few columns, run at a fraction of the
    # speed of a product of large matrices.
    direct = product + 18.0 * small**3
    if k is not None and k + 10 < small / 5:
        passes = 2 * (power_steps("auto", k, small) + 1) * (1 if nonzeros is None else 4)
        if 2.0 * passes * entries * (k + 10) < direct:
            return "randomized" if nonzeros is None else "arpack"
    return "covariance_eigh"


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
    A, weight = rows.dense(), float(rows.shape[0])
    if rows.w is None:  # what rounding left in the mean
        A -= A.mean(axis=0)
    else:
        root, weight = np.sqrt(rows.w), float(rows.w.sum())
        A -= np.outer(root, root @ A / weight)
    _, d, Vt = singular_vectors(A)
    if d[-1] <= _SURE * d[0] and A.shape[0] >= A.shape[1]:
        squares = np.einsum("ij,ij->j", A, A)
        if are_graded(squares):
            variance = squares * rows.scale**2 / weight
            A[:, constant_columns(rows.mean, variance)] = 0.0
            found = axes_of_factor(A, len(A))
            return found.values, found.V
    d[d <= d[0] * max(rows.shape) * _EPS] = 0.0  # rounding, of rows that vary in fewer directions
    return d**2, np.ascontiguousarray(Vt.T)


def by_dual(rows: CentredRows) -> Solved:
    """Decompose AA' (n by n), the cheapest way with more columns than rows."""
    found, V = from_dual(rows.dual(), rows)
    lam = np.zeros(rows.shape[0])
    lam[: len(found)] = found
    return lam, completed(V, len(lam))


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
            if length <= LOST * lam[0] or length == 0:
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
