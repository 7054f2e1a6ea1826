r"""What texts answer on average, as a mixture of what each class answers.

With :math:`\phi(s)` any numbers of a text (the answer of a classifier, indicators of cells),

.. math:: E[\phi] = \sum_k \pi_k\, E[\phi \mid D = k]

as long as texts of a class are alike among the tagged and the unread. The left side is a mean over
the unread texts, the means of the classes come from the tagged, and :math:`\pi` is solved for.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.nonnegative import nonnegative_least_squares

__all__ = [
    "CountedAnswers",
    "Draws",
    "Equations",
    "class_means",
    "mean_of",
    "solved",
    "summing_to_one",
]

# Texts beyond this number are resampled in so many random groups instead of one by one: the spread
# of means is the same, but for an error of its own of 1.6 %.
_MOST_GROUPS = 2000
_MOST_NUMBERS = 2**22  # of the means of bootstrap samples that are kept at once


def mean_of(features: Any, weight: FloatArray) -> FloatArray:
    """Return the weighted mean of the rows."""
    return np.asarray(features.T @ weight) / weight.sum()


def class_means(features: Any, codes: IntArray, weight: FloatArray, K: int) -> FloatArray:
    """Return the weighted means of the rows of each class, one column per class."""
    shares = np.zeros((len(codes), K))
    shares[np.arange(len(codes)), codes] = weight
    return np.asarray(features.T @ (shares / shares.sum(axis=0)))


def solved(M: FloatArray, c: FloatArray, *, constrained: bool) -> FloatArray:
    r"""Return the proportions that minimise :math:`\|c - M\pi\|^2`.

    They are not negative and sum to one, or, unless `constrained`, are
    :math:`(M^\top M)^{-1} M^\top c` whatever that is.

    Examples
    --------
    >>> M = np.array([[0.9, 0.2], [0.1, 0.8]])
    >>> solved(M, np.array([0.55, 0.45]), constrained=True).round(6).tolist()
    [0.5, 0.5]
    >>> solved(M, np.array([0.1, 0.8]), constrained=False).round(6).tolist()
    [-0.114286, 1.014286]
    """
    if constrained:
        return nonnegative_least_squares(M, c, sum_to_one=True)
    return np.asarray(np.linalg.lstsq(M, c, rcond=None)[0])


def summing_to_one(M: FloatArray, c: FloatArray) -> FloatArray:
    """Return the least squares proportions that sum to one and may be negative, stack by stack.

    Examples
    --------
    >>> M = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    >>> summing_to_one(M, np.array([[0.1, 0.9]])).round(6).tolist()
    [[-0.142857, 1.142857]]
    """
    last = M[..., -1]
    D = M[..., :-1] - last[..., None]
    gram = np.swapaxes(D, -1, -2) @ D
    right = np.einsum("...qk,...q->...k", D, c - last)
    first = np.einsum("...jk,...k->...j", np.linalg.pinv(gram, hermitian=True), right)
    return np.concatenate([first, 1.0 - first.sum(axis=-1, keepdims=True)], axis=-1)


@dataclass(frozen=True)
class Draws:
    """How often each row (or random group of rows) is in each bootstrap sample.

    Attributes
    ----------
    counts : ndarray of shape (B, G)
        By sample and group.
    group : ndarray of shape (n,) or None
        Group of each row; None where each is its own.
    """

    counts: FloatArray
    group: IntArray | None

    @classmethod
    def of(cls, n: int, samples: int, rng: np.random.Generator) -> "Draws":
        """Return `samples` samples of n rows, with replacement."""
        G = min(n, _MOST_GROUPS)
        group = None if n == G else rng.permutation(n) % G
        drawn = rng.integers(G, size=(samples, G)) + G * np.arange(samples)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=samples * G).reshape(samples, G)
        return cls(counts.astype(np.float64), group)

    def some(self, samples: slice) -> "Draws":
        """Return some of the samples."""
        return Draws(self.counts[samples], self.group)

    def means(self, features: Any, weight: FloatArray) -> FloatArray:
        """Return the weighted means of the rows in each sample, (B, q)."""
        rows = features * weight[:, None]
        rows = rows.tocsr() if is_sparse(rows) else rows
        if self.group is not None:
            n, G = len(self.group), self.counts.shape[1]
            sums = sparse.csr_array((np.ones(n), (self.group, np.arange(n))), shape=(G, n))
            rows, weight = sums @ rows, np.asarray(sums @ weight)
        totals = (rows.T @ self.counts.T).T if is_sparse(rows) else self.counts @ rows
        return totals / (self.counts @ weight)[:, None]


@dataclass(frozen=True)
class CountedAnswers:
    """Shares of labels among the unread texts, as they are.

    Attributes
    ----------
    labels : ndarray of shape (N, K)
        Ones for the label of each text.
    weight : ndarray of shape (N,)
        Weight of the texts.
    """

    labels: FloatArray
    weight: FloatArray

    def estimate(self, *, constrained: bool) -> FloatArray:
        """Return the shares."""
        return mean_of(self.labels, self.weight)

    def replicates(self, tagged: list[Draws], unread: Draws) -> FloatArray:
        """Return the shares in each bootstrap sample of the unread texts, (B, K)."""
        return unread.means(self.labels, self.weight)


@dataclass(frozen=True)
class Equations:
    """One system of equations: answers of tagged texts by class, and of unread texts.

    Attributes
    ----------
    tagged : array or sparse matrix of shape (n, q)
        What the tagged texts answer.
    unread : array or sparse matrix of shape (N, q)
        What the unread texts answer.
    codes, weight : ndarray of shape (n,)
        Class and weight of the tagged texts.
    unread_weight : ndarray of shape (N,)
        Weight of the unread texts.
    n_classes : int
        Number of classes, K.
    complete : callable or None
        Completes means along their last axis.
    given : ndarray of shape (K,) or None
        The estimate, where it is not the solution; the solution then gives its spread only.
    """

    tagged: Any
    unread: Any
    codes: IntArray
    weight: FloatArray
    unread_weight: FloatArray
    n_classes: int
    complete: Any = None
    given: FloatArray | None = None

    def _all(self, means: FloatArray) -> FloatArray:
        return means if self.complete is None else np.asarray(self.complete(means))

    @property
    def means(self) -> tuple[FloatArray, FloatArray]:
        """Means of the classes, (q, K), and of the unread texts, (q,)."""
        M = class_means(self.tagged, self.codes, self.weight, self.n_classes)
        return self._all(M.T).T, self._all(mean_of(self.unread, self.unread_weight))

    @property
    def free(self) -> FloatArray:
        """The solution that sums to one and may be negative."""
        M, c = self.means
        return np.asarray(summing_to_one(M[None], c[None])[0])

    def estimate(self, *, constrained: bool) -> FloatArray:
        """Return the proportions."""
        return (
            self.given if self.given is not None else solved(*self.means, constrained=constrained)
        )

    def by_class(self, features: Any, draws: list[Draws]) -> list[FloatArray]:
        """Return means of features of the tagged texts by class, in each bootstrap sample."""
        found = []
        for k, drawn in enumerate(draws):
            own = np.flatnonzero(self.codes == k)
            found.append(drawn.means(features[own], self.weight[own]))
        return found

    def replicates(self, tagged: list[Draws], unread: Draws) -> FloatArray:
        """Return the proportions that sum to one in each bootstrap sample, (B, K)."""
        samples, parts = len(unread.counts), []
        size = max(1, _MOST_NUMBERS // (self.tagged.shape[1] * self.n_classes))
        for start in range(0, samples, size):
            some = slice(start, start + size)
            means = self.by_class(self.tagged, [each.some(some) for each in tagged])
            M = np.stack([self._all(each) for each in means], axis=-1)
            c = unread.some(some).means(self.unread, self.unread_weight)
            parts.append(summing_to_one(M, self._all(c)))
        found = np.concatenate(parts)
        return found if self.given is None else found + (self.given - self.free)
