"""Rows with missing values, prepared for likelihoods of what was observed."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from bottega.core.deal import scramble
from bottega.core.moments import Moments
from bottega.core.parallel import in_threads
from bottega.core.rows import split_rows
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._kernels.observed import column_sums, fill
from bottega.latent._ppca.latent_normal import LatentNormal, block_rows, posterior_of_rows
from bottega.latent._ppca.packed import places
from bottega.latent._ppca.sums import LatentSums

__all__ = ["ObservedMeans", "ObservedRows", "PatternGroup"]

_PARTS = 8  # of the rows, which threads take one by one: sums do not depend on their number
_THREADED = 200_000  # entries of a table from which threads pay
_BINS = np.uint64(2**16 - 1)  # of codes, counted before they are sorted
_FEW = 64  # first rows that are searched before all
_COMMON = 256  # rows of one pattern from which their moments are faster than the rows


@dataclass(frozen=True)
class PatternGroup:
    """All rows that observe the same columns: their moments say all there is to say.

    `columns` are those observed; `first` and `second` the sums of x and xx' of the rows about the
    centre of the fit.
    """

    columns: IntArray
    weight: float
    first: FloatArray
    second: FloatArray

    @classmethod
    def of(cls, moments: Moments, columns: IntArray, center: FloatArray) -> "PatternGroup":
        """Return the group of rows with these moments."""
        gap = moments.mean - center[columns]
        second = moments.scatter + moments.weight * np.outer(gap, gap)
        return cls(columns, moments.weight, moments.weight * gap, second)

    def add_to(self, sums: LatentSums, model: LatentNormal) -> None:
        """Add the posteriors of these rows to the sums."""
        o, v = self.columns, self.weight
        W, mu = model.W[o], model.mean[o]
        K = W.shape[1]
        second = self.second - np.outer(self.first, mu) - np.outer(mu, self.first - v * mu)
        M = W.T @ W + model.noise * np.eye(K)
        factor = cho_factor(M, lower=True)
        towards = cho_solve(factor, W.T)  # E(z | x) = towards (x - mu)
        z = towards @ (self.first - v * mu)
        xz = second @ towards.T
        zz = v * model.noise * cho_solve(factor, np.eye(K)) + towards @ xz
        moments = np.concatenate([zz[places(K)], z, [v]])
        sums.by_column[o] += moments
        sums.total += moments
        sums.cross[o, :K] += xz + np.outer(mu, z)
        sums.cross[o, K] += self.first
        log_det = (len(o) - K) * np.log(model.noise) + 2 * np.sum(np.log(np.diag(factor[0])))
        size = (np.trace(second) - np.sum(W * xz)) / model.noise
        sums.log_likelihood -= 0.5 * (v * (len(o) * np.log(2 * np.pi) + log_det) + size)


class ObservedRows:
    """Rows about the column means, zero where missing; rows of common patterns as moments.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        NaN is missing.
    weight : ndarray of shape (n,) or None
        Row weights.
    center : ndarray of shape (p,)
        What is taken from the columns beforehand; `LatentNormal.mean` is about it in `expect`.

    Attributes
    ----------
    empty : int
        Rows without any observed value.
    """

    def __init__(self, X: FloatArray, weight: FloatArray | None, center: FloatArray) -> None:
        n, p = X.shape
        self.center = center
        self.filled, self.mask = np.empty((n, p)), np.empty((n, p))
        self.facts, code = np.empty((3, n)), np.empty(n, dtype=np.uint64)
        keys = scramble(np.arange(p, dtype=np.uint64))

        def read(part: slice) -> None:
            into = self.filled[part], self.mask[part], self.facts[:, part], code[part]
            fill(X[part], center, keys, *into)

        _in_parts(read, n, n * p)
        self.facts[2] = 1.0 if weight is None else weight
        self.groups: list[PatternGroup] = []
        kept = self.facts[1] > 0  # the others have nothing to say
        self.empty = n - int(np.count_nonzero(kept))
        for rows in _common_patterns(code, self.mask):
            columns = np.flatnonzero(self.mask[rows[0]])
            w = None if weight is None else weight[rows]
            moments = Moments().update(X[np.ix_(rows, columns)], w=w)
            if len(columns):
                self.groups.append(PatternGroup.of(moments, columns, center))
            kept[rows] = False
        if not kept.all():
            self.filled, self.mask = self.filled[kept], self.mask[kept]
            self.facts = self.facts[:, kept]
        f, self._weighted = self.filled, weight is not None
        self.squares = np.einsum("i,ij,ij->j", self.facts[2], f, f)
        for group in self.groups:
            self.squares[group.columns] += np.diag(group.second)

    @classmethod
    def of_moments(cls, moments: Moments) -> "ObservedRows":
        """Return complete rows about their mean as one group, which is their moments alone."""
        p = len(moments.mean)
        found = cls(np.empty((0, p)), None, moments.mean)
        found.groups = [PatternGroup.of(moments, np.arange(p), moments.mean)]
        found.squares = np.diag(found.groups[0].second).copy()
        return found

    def together(self) -> tuple[FloatArray, FloatArray, float]:
        """Return sums of products of entries observed together, about the centre, and weights.

        The weights are those of the observed entries of each column, and of all rows.
        """
        p = len(self.center)
        products, entries, weight = np.zeros((p, p)), np.zeros(p), float(self.facts[2].sum())

        def of_rows(part: slice) -> tuple[FloatArray, FloatArray]:
            f, w = self.filled[part], self.facts[2, part]
            return (f * w[:, None] if self._weighted else f).T @ f, w @ self.mask[part]

        for more, seen in _in_parts(of_rows, len(self.mask), self.mask.size):
            products += more
            entries += seen
        for group in self.groups:
            products[np.ix_(group.columns, group.columns)] += group.second
            entries[group.columns] += group.weight
            weight += group.weight
        return products, entries, weight

    def expect(self, model: LatentNormal) -> LatentSums:
        """Return the sums over the posteriors given a model, whose mean is about the centre."""
        sums = _nothing(*model.W.shape)
        n = len(self.mask)
        for found in _in_parts(lambda part: self._of_rows(model, part), n, self.mask.size):
            sums.merge(found)
        for group in self.groups:
            group.add_to(sums, model)
        sums.squares = self.squares
        return sums

    def _of_rows(self, model: LatentNormal, part: slice) -> LatentSums:
        K = model.W.shape[1]
        T = K * (K + 1) // 2
        sums = _nothing(*model.W.shape)
        size = block_rows(len(model.mean))
        for start in range(part.start, part.stop, size):
            rows = slice(start, min(start + size, part.stop))
            mask, filled = self.mask[rows], self.filled[rows]
            facts = self.facts[:, rows].copy()
            found = posterior_of_rows(model, mask, filled, facts, True)
            sums.by_column += (found @ mask).T
            sums.cross += (found[T:] @ filled).T
            sums.total += found.sum(axis=1)
            sums.log_likelihood += float(facts[0] @ facts[2])
        return sums


def _nothing(p: int, K: int) -> LatentSums:
    size = K * (K + 1) // 2 + K + 1
    return LatentSums(np.zeros((p, size)), np.zeros((p, K + 1)), np.zeros(size), 0.0, np.zeros(p))


def _in_parts(task: Any, n: int, size: int) -> list[Any]:
    """Return what a task gives for each of some slices of n rows, in threads where it pays."""
    parts = list(split_rows(n, -(-n // _PARTS))) if n else []
    return in_threads(task, parts) if size >= _THREADED else [task(part) for part in parts]


@dataclass
class ObservedMeans:
    """Means of what is observed of each column, and the weights of it; NaN where nothing is."""

    mean: FloatArray
    weight: FloatArray

    @classmethod
    def of(cls, X: FloatArray, w: FloatArray | None) -> Self:
        """Return the means of rows; the sums are about the first values observed."""
        shift = np.array([_first_observed(column) for column in X.T])
        weight = np.ones(0) if w is None else w

        def add(part: slice) -> FloatArray:
            return column_sums(X[part], weight[part] if len(weight) else weight, shift)

        sums, total = sum(_in_parts(add, len(X), X.size), np.zeros((2, len(shift))))
        with np.errstate(invalid="ignore"):
            return cls(shift + sums / total, total)

    def merge(self, other: Self) -> Self:
        """Take in other rows."""
        total = self.weight + other.weight
        with np.errstate(invalid="ignore"):
            both = self.mean + (other.mean - self.mean) * (other.weight / total)
        only = np.where(self.weight > 0, self.mean, other.mean)
        self.mean = np.where((self.weight > 0) & (other.weight > 0), both, only)
        self.weight = total
        return self


def _first_observed(column: FloatArray) -> float:
    """Return the first value that is not missing, NaN if there is none."""
    for start, stop in ((0, _FEW), (_FEW, len(column))):  # nearly always among a few
        seen = np.flatnonzero(~np.isnan(column[start:stop]))
        if len(seen):
            return float(column[start + seen[0]])
    return np.nan


def _common_patterns(code: Any, mask: FloatArray) -> list[IntArray]:
    """Return the rows of each pattern of missing values that many rows have."""
    n, p = mask.shape
    common = max(_COMMON, 2 * p)
    if n < common:
        return []
    if np.bincount((code & _BINS).astype(np.intp)).max() < common:
        return []  # as with values that are missing at random: no need to sort
    order = np.argsort(code, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(code[order]) != 0, True])
    found = []
    for first in np.flatnonzero(np.diff(starts) >= common):
        rows = order[starts[first] : starts[first + 1]]
        # Two patterns share a code with odds of 2^-64: such rows are left to themselves.
        found.append(rows[np.all(mask[rows] == mask[rows[0]], axis=1)])
    return found
