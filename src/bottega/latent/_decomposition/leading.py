"""Leading eigenvectors of a symmetric matrix, and leading singular vectors of any matrix.

Every method of this topic finds them here. Values come largest first; signs are those of the
solver, before the convention of `core/signs.py`. A matrix is given as itself, or where it must not
be formed (rows that are centred block by block) as `Products`.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.linalg import eigh, lu
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from bottega.core.errors import InputError
from bottega.core.sparse import is_large_sparse, is_sparse, small_as_dense
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray

__all__ = [
    "LOST",
    "SMALL",
    "MatrixProducts",
    "Products",
    "by_lanczos",
    "by_randomized_range",
    "from_dual",
    "leading_eigenvectors",
    "power_steps",
    "rough_singular_vectors",
    "singular_vectors",
    "small_threads",
]

# Multiplications up to which the full decomposition of a matrix, the most exact one, is quick.
SMALL = 3e7
# Eigenvalues of a product A'A below this share of the largest have lost all of their digits.
LOST = 1e-13
_GRAM = 512  # rows or columns up to which a product A'A or AA' is decomposed
_OVERSAMPLES = 10
_EPS = np.finfo(np.float64).eps

Eigen = tuple[FloatArray, FloatArray]
Singular = tuple[FloatArray, FloatArray, FloatArray]


class Products(Protocol):
    """A matrix A of n rows and p columns, as what its products with few vectors are."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def times(self, V: FloatArray) -> FloatArray:
        """Return A V."""

    def scatter_times(self, V: FloatArray) -> FloatArray:
        """Return A'A V."""


@dataclass(frozen=True)
class MatrixProducts:
    """Products of a matrix in memory, dense or sparse."""

    A: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.A.shape[0], self.A.shape[1]

    def times(self, V: FloatArray) -> FloatArray:
        """Return A V."""
        return np.asarray(self.A @ V)

    def scatter_times(self, V: FloatArray) -> FloatArray:
        """Return A'A V."""
        return np.asarray(self.A.T @ self.times(V))


def small_threads(size: int) -> AbstractContextManager[None]:
    """Return a block in which decompositions of a small matrix take one thread."""
    return one_thread() if float(size) ** 3 <= 5e7 else nullcontext()


def leading_eigenvectors(S: FloatArray, k: int | None = None) -> Eigen:
    """Return the k (None: all) largest eigenvalues of a symmetric matrix, and their vectors.

    Examples
    --------
    >>> values, vectors = leading_eigenvectors(np.diag([1.0, 3.0, 2.0]))
    >>> values.tolist(), np.abs(vectors[:, 0]).tolist()
    ([3.0, 2.0, 1.0], [0.0, 1.0, 0.0])
    """
    p = len(S)
    with small_threads(p):
        if k is None or k > p / 4:
            values, vectors = np.linalg.eigh(S)
        else:
            values, vectors = eigh(S, subset_by_index=(p - k, p - 1), driver="evr")
    return values[::-1][:k], np.ascontiguousarray(vectors[:, ::-1][:, :k])


def from_dual(gram: FloatArray, A: Any, k: int | None = None) -> Eigen:
    """Return eigenvalues of AA' that are more than rounding, and right singular vectors of A.

    `A` is anything with `transposed_times`, or a matrix.
    """
    values, U = leading_eigenvectors(gram, k)
    kept = values > LOST * max(float(values[0]), 0.0)
    values, left = values[kept], np.ascontiguousarray(U[:, kept] / np.sqrt(values[kept]))
    V = A.transposed_times(left) if hasattr(A, "transposed_times") else np.asarray(A.T @ left)
    # Squares lose digits; what is lost shows as angles between the vectors, largest first right.
    Q, R = np.linalg.qr(V)
    return values, Q * np.where(np.diag(R) < 0, -1.0, 1.0)


def power_steps(given: Any, k: int, small: int) -> int:
    """Return how many passes the randomised solver makes: scikit-learn's numbers for "auto"."""
    return (7 if k < 0.1 * small else 4) if given == "auto" else int(given)


def by_randomized_range(
    rows: Products,
    k: int,
    *,
    iterations: Any = "auto",
    oversamples: int = _OVERSAMPLES,
    normalizer: str = "auto",
    seed: int = 0,
) -> Eigen:
    """Find a subspace by products with random vectors, and decompose the rows inside it."""
    n, p = rows.shape
    width = min(k + oversamples, p)
    V = np.random.default_rng(seed).normal(size=(p, width))
    for _ in range(power_steps(iterations, k, min(n, p))):
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


def by_lanczos(rows: Products, k: int, *, tol: float = 0.0, seed: int = 0, cure: str) -> Eigen:
    """Find the first k by Lanczos iterations (ARPACK), which only multiply.

    `cure` ends the message where they fail: what to do instead.
    """
    p = rows.shape[1]

    def multiply(v: FloatArray) -> FloatArray:
        return rows.scatter_times(v.reshape(p, -1)).reshape(v.shape)

    scatter = LinearOperator((p, p), matvec=multiply, matmat=multiply, dtype=np.float64)
    start = np.random.default_rng(seed).uniform(-1, 1, size=p)
    try:
        lam, V = eigsh(scatter, k, v0=start, tol=tol)
    except ArpackNoConvergence as error:
        raise InputError(
            f"Lanczos iterations found {len(error.eigenvalues)} of {k} components: {cure}."
        ) from error
    order = np.argsort(-lam, kind="stable")
    return np.maximum(lam[order], 0.0), np.ascontiguousarray(V[:, order])


def singular_vectors(A: Any, k: int | None = None, *, iterated: bool = False) -> Singular:
    """Return U, singular values and V' of a matrix to full accuracy.

    All of them from the matrix itself, or with `iterated` the first k, fewer than all, by Lanczos
    iterations.
    """
    if not iterated or k is None:
        with small_threads(min(A.shape)):
            U, d, Vt = np.linalg.svd(A, full_matrices=False)
        return U[:, :k], d[:k], Vt[:k]
    wide = A.shape[1] > A.shape[0]
    rows = MatrixProducts(A.T if wide else A)
    found = _both_sides(rows.A, by_lanczos(rows, k, cure="give a smaller k")[1])
    return _turned(found) if wide else found


def rough_singular_vectors(A: Any, k: int, *, iterations: Any = "auto", seed: int = 0) -> Singular:
    """Return U, singular values and V' of the first k, good enough for a start.

    Of a small matrix all are computed; of one with a short side the product A'A is decomposed,
    which is quicker and blind to values below 1e-7 of the largest; else the subspace is found by
    random products.

    Examples
    --------
    >>> U, d, Vt = rough_singular_vectors(np.diag([1.0, 3.0, 2.0]), 2)
    >>> d.round(6).tolist()
    [3.0, 2.0]
    """
    n, p = A.shape
    k, small = min(k, n, p), min(n, p)
    if not is_large_sparse(A) and float(n) * p * small <= SMALL:
        return singular_vectors(small_as_dense(A), k)
    wide = p > n
    B = A.T if wide else A
    if small <= _GRAM:
        gram = B.T @ B
        _, V = leading_eigenvectors(gram.toarray() if is_sparse(gram) else gram, k)
    else:
        _, V = by_randomized_range(MatrixProducts(B), k, iterations=iterations, seed=seed)
    found = _both_sides(B, V)
    return _turned(found) if wide else found


def _both_sides(B: Any, V: FloatArray) -> Singular:
    """Return U, singular values and V' inside the span of V, to the digits that squares lost."""
    U, d, Wt = np.linalg.svd(np.asarray(B @ V), full_matrices=False)
    return U, d, Wt @ V.T


def _turned(found: Singular) -> Singular:
    U, d, Vt = found
    return Vt.T, d, U.T
