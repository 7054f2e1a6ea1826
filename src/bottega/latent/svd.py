"""The singular value decomposition, low-rank approximations, and concepts in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import check_array

from bottega.core.errors import InputError
from bottega.core.frames import backend_of, default_names, is_frame, make_frame
from bottega.core.signs import signs
from bottega.core.sparse import is_large_sparse, small_as_dense
from bottega.core.stored import stored
from bottega.core.tables import Section, Shown, Summary
from bottega.core.typing import FloatArray
from bottega.core.validate import refuse_doubled_names, refuse_masked
from bottega.latent._decomposition.leading import singular_vectors
from bottega.latent._pca.words import in_words

__all__ = ["LowRank", "SingularDecomposition", "low_rank", "svd"]

_ITERATED = 0.1  # of the directions: fewer are found by Lanczos iterations in a large matrix
_LARGE = 2e8  # multiplications of a full decomposition
_ROUNDING = 1e-12


@stored
@dataclass(frozen=True, repr=False)
class SingularDecomposition(Shown):
    r"""A matrix as a sum of concepts: :math:`A = \sum_i \sigma_i u_i v_i^\top`.

    Attributes
    ----------
    U : ndarray of shape (n, k)
        Left singular vectors: how much each row has of each concept.
    singular_values : ndarray of shape (k,)
        Strengths of the concepts, largest first, all positive.
    Vt : ndarray of shape (k, p)
        Right singular vectors: how much each column has of each concept. The entry of largest size
        is positive; the signs of u and v are fixed together.
    norm : float
        Root of the sum of squares of the matrix (Frobenius norm), and of all squared singular
        values.
    names : tuple of str
        Names of the columns.

    Examples
    --------
    >>> ratings = [[1, 1, 0], [3, 3, 0], [0, 0, 2]]
    >>> found = svd(ratings)
    >>> found.rank, found.singular_values.round(3)
    (2, array([4.472, 2.   ]))
    """

    U: FloatArray
    singular_values: FloatArray
    Vt: FloatArray
    norm: float
    names: tuple[str, ...]
    frame: str | None = None

    @property
    def rank(self) -> int:
        """Number of concepts found."""
        return len(self.singular_values)

    @property
    def share(self) -> FloatArray:
        """Shares of the concepts in the sum of squares of the matrix."""
        return np.asarray((self.singular_values / (self.norm if self.norm > 0 else 1.0)) ** 2)

    @property
    def scores(self) -> FloatArray:
        """The rows on the axes of the concepts, U times the singular values (= A V)."""
        return np.asarray(self.U * self.singular_values)

    def first(self, k: int) -> "SingularDecomposition":
        """Return the part that belongs to the first `k` concepts."""
        _check_rank(k, self.rank)
        return replace(
            self, U=self.U[:, :k], singular_values=self.singular_values[:k], Vt=self.Vt[:k]
        )

    def rank_for(self, share: float = 0.9) -> int:
        """Return the least number of concepts with at least a share of the sum of squares."""
        if not 0 < share <= 1:
            raise InputError(f"share={share!r} is not allowed; give a number in (0, 1].")
        reached = np.flatnonzero(np.cumsum(self.share) >= share - _ROUNDING)
        if not len(reached) and self.rank:
            raise InputError(
                f"The {self.rank} concepts that were computed hold {np.sum(self.share):.1%} of the "
                f"squares; call svd without k to reach {share:.1%}."
            )
        return int(reached[0]) + 1 if len(reached) else 0

    def matrix(self) -> FloatArray:
        """Return the sum of the concepts: the matrix, or with fewer than all its approximation."""
        return np.asarray(self.scores @ self.Vt)

    def project(self, rows: Any) -> FloatArray:
        """Return rows with the same columns on the axes of the concepts."""
        return np.asarray(np.asarray(rows, dtype=np.float64) @ self.Vt.T)

    def concepts(self, most: int | None = 6) -> Any:
        """Return the concepts in words: the columns that carry each of them.

        Parameters
        ----------
        most : int, optional
            The most columns that are named.

        Returns
        -------
        data frame
            One row per concept: ``concept, strength, share, columns``. The columns are the fewest
            with 90 % of the squares of v, those of one sign "against" those of the other.
        """
        return make_frame(self._columns(most), like=self.frame)

    def _columns(self, most: int | None = 6) -> dict[str, Any]:
        return {
            "concept": list(range(1, self.rank + 1)),
            "strength": self.singular_values.tolist(),
            "share": self.share.tolist(),
            "columns": [in_words(v, self.names, most) for v in self.Vt],
        }

    def summary(self) -> Summary:
        """Return the concepts as a table that shows itself as text, HTML and Markdown."""
        n, p = len(self.U), self.Vt.shape[1]
        note = f"{self.rank} concepts with {float(np.sum(self.share)):.1%} of the squares."
        title = f"Singular value decomposition of a {n:,} by {p:,} matrix"
        return Summary(title, (Section("", self._columns()),), (note,))


@stored
@dataclass(frozen=True, repr=False)
class LowRank(Shown):
    """The best approximation of a matrix by one of rank k, in the sum of squared differences.

    Attributes
    ----------
    matrix : ndarray of shape (n, p)
        The approximation.
    k : int
        Its rank.
    error : float
        Root of the sum of squared differences (Frobenius norm): the root of the sum of the squared
        singular values left out.
    share : float
        Share of the sum of squares that it keeps.
    parts : SingularDecomposition
        Its concepts.
    """

    matrix: FloatArray
    k: int
    error: float
    share: float
    parts: SingularDecomposition

    def summary(self) -> Summary:
        """Return the approximation in numbers."""
        columns: dict[str, list[Any]] = {
            "rank": [self.k],
            "error": [self.error],
            "share of squares": [self.share],
        }
        n, p = self.matrix.shape
        title = f"Low-rank approximation of a {n:,} by {p:,} matrix"
        return Summary(title, (Section("", columns),))


def svd(
    A: Any, k: int | None = None, *, names: Sequence[str] | None = None
) -> SingularDecomposition:
    r"""Decompose a matrix, not centred, into concepts: :math:`A = U \Sigma V^\top`.

    Parameters
    ----------
    A : array-like, sparse matrix or data frame of shape (n, p)
        Any matrix of numbers.
    k : int, optional
        Number of concepts; all with a positive singular value (the rank) by default.
    names : sequence of str, optional
        Names of the columns, for `concepts`; those of a data frame by default.

    Returns
    -------
    SingularDecomposition
        U, singular values and V, with `concepts`, `scores` and `first`.

    Notes
    -----
    All concepts cost :math:`O(n p \min(n, p))`. A few of a large matrix are found by Lanczos
    iterations, at :math:`O(n p)` (sparse: the number of entries) per iteration. On centred columns
    V holds the principal components, with variances :math:`\sigma_i^2 / n`.

    Examples
    --------
    >>> movies = ["Matrix", "Alien", "Serenity", "Casablanca", "Amelie"]
    >>> A = [[1, 1, 1, 0, 0], [3, 3, 3, 0, 0], [4, 4, 4, 0, 0], [5, 5, 5, 0, 0],
    ...      [0, 0, 0, 4, 4], [0, 0, 0, 5, 5], [0, 0, 0, 2, 2]]
    >>> svd(A, names=movies).concepts()["columns"].tolist()
    ['Matrix, Alien, Serenity', 'Casablanca, Amelie']
    """
    table, words, frame = _read(A, names)
    n, p = table.shape
    small = min(n, p)
    if k is not None:
        _check_rank(k, small)
    sparse = is_large_sparse(table)
    if sparse and (k is None or k >= small):
        raise InputError(
            f"All {small} concepts of this large sparse matrix would make it dense; give k below "
            f"{small}."
        )
    # Squares must neither overflow nor vanish, whatever the units.
    unit = float(np.max(np.abs(table.data if sparse else table), initial=0.0)) or 1.0
    table = table / unit
    few = k is not None and 0 < k <= _ITERATED * small and float(n) * p * small > _LARGE
    if k is not None and (sparse or few):
        U, s, Vt = singular_vectors(table, k, iterated=True)
    else:
        U, s, Vt = singular_vectors(table)
    rank = int(np.count_nonzero(s > s[0] * max(n, p) * np.finfo(np.float64).eps)) if len(s) else 0
    kept = rank if k is None else min(k, rank)
    U, s, Vt = U[:, :kept], s[:kept], Vt[:kept]
    flip = signs(np.ascontiguousarray(Vt.T))
    norm = unit * float(np.linalg.norm(table.data if sparse else table))
    strength = np.asarray(s * unit, dtype=np.float64)
    return SingularDecomposition(U * flip, strength, Vt * flip[:, None], norm, words, frame)


def low_rank(A: Any, k: int) -> LowRank:
    r"""Return the matrix of rank k that is nearest to A (Eckart and Young).

    Parameters
    ----------
    A : array-like or data frame of shape (n, p)
        Any matrix of numbers.
    k : int
        Rank; a larger one is nearer.

    Returns
    -------
    LowRank
        :math:`B = U_k \Sigma_k V_k^\top` with :math:`\lVert A - B \rVert_F^2 = \sum_{i > k}
        \sigma_i^2`. Where A has a lower rank, B is A.

    Examples
    --------
    >>> A = [[1.01, 2.05, 0.9], [-2.1, -3.05, 1.1], [2.99, 5.01, 0.3]]
    >>> round(low_rank(A, 2).error ** 2, 6)
    0.000687
    """
    whole = svd(A)
    _check_rank(k, min(len(whole.U), whole.Vt.shape[1]))
    parts = whole.first(min(k, whole.rank))
    left = whole.singular_values[parts.rank :]
    unit = float(left[0]) if len(left) else 1.0
    error = unit * float(np.linalg.norm(left / unit)) if len(left) else 0.0
    return LowRank(parts.matrix(), k, error, float(np.sum(parts.share)), parts)


def _read(A: Any, names: Sequence[str] | None) -> tuple[Any, tuple[str, ...], str | None]:
    """Return the matrix, the names of its columns, and the library of its frame."""
    refuse_masked(A=A)
    refuse_doubled_names(A)
    frame = backend_of(A) if is_frame(A) else None
    own = [str(name) for name in A.columns] if frame is not None else None
    try:
        table = check_array(A, dtype=np.float64, accept_sparse="csr", input_name="A")
    except ValueError as error:
        raise InputError(f"The matrix cannot be decomposed: {error}") from error
    p = table.shape[1]
    words = tuple(map(str, names)) if names is not None else tuple(own or default_names(p))
    if len(words) != p:
        raise InputError(f"names has {len(words)} names; the matrix has {p} columns.")
    return small_as_dense(table), words, frame


def _check_rank(k: Any, most: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 0 <= k <= most:
        raise InputError(f"k={k!r} is not allowed; give a whole number from 0 to {most}.")
