r"""The likelihood of classes that are linear in the inputs: value, slope and curvature.

Rows come in blocks that fit a processor's cache, from memory or from chunks, and what they give is
added up: the same sums, and the same code, for a table and for a file.

Symbols
-------
K      classes
T      scores: one per class, but a single one (the log odds of the second) for two classes
B, b0  (T, m) coefficients and (T,) intercepts
P      (K, b) probabilities of a block of b rows, one row per class
h      v P_t P_u, the curvature of a row in the difference of two scores, for each pair t < u
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from bottega.core.lazy import cached_property
from bottega.core.parallel import spare_threads
from bottega.core.sparse import is_sparse
from bottega.core.threads import one_thread
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.coordinate_columns import InputColumns

__all__ = ["Block", "Curvature", "LikelihoodPoint", "LikelihoodRows", "MemoryRows"]

# Products of two probabilities below this would divide by nothing. They are taken to be so large
# for rows of ordinary weight: a row of large weight may be fitted much closer.
_LEAST = 1e-9
# Numbers of a block: what is done with them stays in the cache.
_BLOCK = 2**18
# Numbers of a table from which threads are worth their start.
_SHARED = 2**19


@dataclass(frozen=True)
class LikelihoodPoint:
    """The likelihood at some coefficients; means are over the sum of the weights."""

    nll: float  # mean negative log-likelihood
    slope: FloatArray  # (T, m) mean products of the columns with observed minus fitted
    pull: FloatArray  # (T,) the same for the intercepts
    entropy: float  # mean entropy of the fitted probabilities
    parts: Sequence[tuple[FloatArray, FloatArray, FloatArray]]  # what is per row, by blocks

    def _joined(self, k: int) -> FloatArray:
        return np.concatenate([part[k] for part in self.parts], axis=-1)

    @cached_property
    def own(self) -> FloatArray:
        """Logarithm of the probability of each row's own class, (n,); empty in chunks."""
        return self._joined(0)

    @cached_property
    def level(self) -> FloatArray:
        """Minus the entropy of each row's probabilities, (n,); empty in chunks."""
        return self._joined(1)

    @cached_property
    def residual(self) -> FloatArray:
        """Weighted observed minus fitted, (T, n); empty in chunks."""
        return self._joined(2)


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of the mean negative log-likelihood."""

    G: FloatArray  # (T, m, T, m) of coefficients
    cross: FloatArray  # (T, m, T) of coefficients and intercepts
    total: FloatArray  # (T, T) of intercepts

    def reduced(self, fit_intercept: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the curvature of coefficients whose intercepts follow, `cross`, its inverse.

        The intercepts are not penalised and follow from the coefficients: their block of the
        second derivatives, singular where there are several, is taken out.
        """
        T, m = self.G.shape[:2]
        cross, solved = self.cross.reshape(T * m, T), _inverse(self.total)
        H = self.G.reshape(T * m, T * m)
        return (H - cross @ solved @ cross.T if fit_intercept else H), cross, solved


Block = tuple[Any, IntArray, FloatArray]


class LikelihoodRows(ABC):
    """Rows with positive weights, or zero for rows that only go along, of K classes."""

    _keeps: ClassVar[bool] = False  # whether there is room for what is per row

    def __init__(self, K: int, weight: float, ordinary: float) -> None:
        self.K, self.weight = K, weight
        self.scores = 1 if K == 2 else K
        self.pairs = K * (K - 1) // 2
        self.count = 0  # rows in memory
        self.ordinary = ordinary  # weight of an ordinary row

    def working(self) -> AbstractContextManager[None]:
        """Return the context in which several sums are made."""
        return nullcontext()

    def at(self, W: IntArray, B: FloatArray, b0: FloatArray) -> LikelihoodPoint:
        """Return the likelihood at coefficients of the columns W."""
        T, m = B.shape
        slope, pull = np.zeros((T, m)), np.zeros(T)
        found: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        nll = entropy = 0.0

        def sums(block: Block) -> Any:
            Z, codes, v = block
            rows = self._rows(Z, codes, v, B, b0)
            return rows, float(v @ rows[0]), float(v @ rows[1]), _combined(rows[2], Z)

        for rows, own, level, product in self._each(sums, W):
            nll -= own
            entropy -= level
            slope += product
            pull += rows[2].sum(axis=1)
            if self._keeps:
                found.append(rows)
        parts = found or [(np.zeros(0), np.zeros(0), np.zeros((T, 0)))]
        weight = self.weight
        return LikelihoodPoint(nll / weight, slope / weight, pull / weight, entropy / weight, parts)

    @abstractmethod
    def _each(self, sums: Callable[[Block], Any], W: IntArray) -> Iterable[Any]:
        """Yield sums over the rows block by block, of their columns W, codes and weights.

        Where rows are not kept, sums of several blocks may come as one.
        """

    def _rows(
        self, Z: Any, codes: IntArray, v: FloatArray, B: FloatArray, b0: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        eta = _scores(Z, B, b0)
        if self.scores == 1:
            z = eta[0]
            size = np.abs(z)
            odds = np.exp(-size)
            small = odds / (1 + odds)  # the lesser of the two probabilities
            log_total = np.log1p(odds)  # a row of large weight may be fitted very closely
            side = 2.0 * codes
            side -= 1.0
            z *= side  # how far each row is on its own side
            miss = np.where(z >= 0, small, 1 - small)
            own = np.minimum(z, 0.0, out=z)
            own -= log_total
            miss *= side
            miss *= v
            size *= small
            size += log_total
            return own, np.negative(size, out=size), miss[None]
        eta -= eta.max(axis=0)
        P = np.exp(eta)
        total = P.sum(axis=0)
        P /= total
        log_total = np.log(total)
        each = np.arange(len(codes))
        own = eta[codes, each] - log_total
        level = np.einsum("kb,kb->b", P, eta) - log_total
        P[codes, each] -= 1
        P *= -v
        return own, level, P

    def curvature(self, W: IntArray, B: FloatArray, b0: FloatArray) -> Curvature:
        """Return the second derivatives at coefficients of the columns W."""
        T, m = B.shape
        pairs = list(combinations(range(self.K), 2))
        C = np.zeros((len(pairs), m, m))
        toward, total = np.zeros((len(pairs), m)), np.zeros(len(pairs))

        def sums(block: Block) -> tuple[FloatArray, FloatArray, FloatArray]:
            Z, _, v = block
            h, own = self._pairs(Z, v, B, b0, pairs), np.zeros_like(C)
            if m and is_sparse(Z):
                for q in range(len(pairs)):
                    own[q] = (Z.multiply(h[q][:, None]).T @ Z).toarray()
            elif m:
                room = np.empty((m, len(v)))
                for q, root in enumerate(np.sqrt(h)):
                    np.multiply(Z.T, root, out=room)
                    np.matmul(room, room.T, out=own[q])
            return h.sum(axis=1), _combined(h, Z) if m else toward, own

        for ends_of, toward_of, own in self._each(sums, W):
            total += ends_of
            if m:
                toward += toward_of
                C += own
        C, toward, total = (each / self.weight for each in (C, toward, total))
        if T == 1:
            return Curvature(C[:, :, None, :], toward[:, :, None], total[:, None])
        G, cross, ends = np.zeros((T, m, T, m)), np.zeros((T, m, T)), np.zeros((T, T))
        for q, (t, u) in enumerate(pairs):
            for one, other in ((t, u), (u, t)):
                G[one, :, one] += C[q]
                G[one, :, other] -= C[q]
                cross[one, :, one] += toward[q]
                cross[one, :, other] -= toward[q]
                ends[one, one] += total[q]
                ends[one, other] -= total[q]
        return Curvature(G, cross, ends)

    def _pairs(
        self, Z: Any, v: FloatArray, B: FloatArray, b0: FloatArray, pairs: list[tuple[int, int]]
    ) -> FloatArray:
        """Return each row's curvature in the difference of each pair of scores."""
        eta = _scores(Z, B, b0)
        least = _LEAST * np.minimum(v, self.ordinary)
        if self.scores == 1:
            odds = np.exp(-np.abs(eta))
            return np.maximum(v * odds / (1 + odds) ** 2, least)
        P = np.exp(eta - eta.max(axis=0))
        P /= P.sum(axis=0)
        weighted = P * v
        h = np.empty((len(pairs), len(v)))
        for q, (t, u) in enumerate(pairs):
            np.multiply(weighted[t], P[u], out=h[q])
        return np.maximum(h, least, out=h)

    def dual(
        self, W: IntArray, B: FloatArray, b0: FloatArray, point: LikelihoodPoint, scale: float
    ) -> float:
        """Return the mean entropy of probabilities moved from the observed towards the fitted.

        `scale` is how far: at 1 they are the fitted ones. It is the value of the dual problem, but
        for the penalty.
        """
        if scale == 1:
            return point.entropy
        if len(point.own):
            return float(self._mixed(point.own, point.level, scale) @ self._all_weights())

        def sums(block: Block) -> tuple[float]:
            Z, codes, v = block
            own, level, _ = self._rows(Z, codes, v, B, b0)
            return (float(self._mixed(own, level, scale) @ v),)

        return float(sum(found for (found,) in self._each(sums, W))) / self.weight

    def _all_weights(self) -> FloatArray:
        return np.zeros(0)

    @staticmethod
    def _mixed(own: FloatArray, level: FloatArray, scale: float) -> FloatArray:
        p = np.exp(own)
        rest = scale * np.maximum(1 - p, 0.0)
        held = np.log1p(-rest) * (1 - rest)
        others = level - p * own  # sum of P log P over the classes that were not observed
        log_scale = np.log(scale) if scale > 0 else 0.0
        return -(held + rest * log_scale + scale * others)


class MemoryRows(LikelihoodRows):
    """Rows in memory, on columns that several problems may share.

    The classes `codes` are 0, ..., K - 1, each of them among the rows of positive weight `v`.
    """

    _keeps: ClassVar[bool] = True

    def __init__(self, columns: InputColumns, codes: IntArray, v: FloatArray, K: int) -> None:
        super().__init__(K, float(v.sum()), float(np.median(v[v > 0])))
        self.columns, self.codes, self.v = columns, codes, v
        self.count = len(v)
        self._kept: tuple[IntArray, Any] | None = None
        self._whole = np.arange(columns.A.shape[1])
        self._pool: ThreadPoolExecutor | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep threads at hand for the time of the block, where the table is worth it.

        Products of blocks are small: linear algebra would share each of them among threads. With
        two classes most sums are over all rows at once, which it shares better than we do.
        """
        if self.scores == 1:
            yield
            return
        size, threads = self.columns.A.shape[0] * self.columns.A.shape[1], spare_threads()
        with one_thread():
            if threads == 1 or size < _SHARED or is_sparse(self.columns.A):
                yield
                return
            with ThreadPoolExecutor(threads) as self._pool:
                try:
                    yield
                finally:
                    self._pool = None

    def _each(self, sums: Callable[[Block], Any], W: IntArray) -> Iterable[Any]:
        blocks = self.blocks(W)
        return map(sums, blocks) if self._pool is None else self._pool.map(sums, blocks)

    def blocks(self, W: IntArray) -> Iterator[Block]:
        """Yield the columns W, codes and weights of some rows after the other."""
        n, m, Z = len(self.v), len(W), self.of(W)
        if is_sparse(Z):
            yield Z, self.codes, self.v
            return
        size = max(256, _BLOCK // max(1, m + 2 * self.K))
        for start in range(0, n, size):
            rows = slice(start, min(start + size, n))
            yield Z[rows], self.codes[rows], self.v[rows]

    def of(self, W: IntArray) -> Any:
        """Return the columns W, kept from one step to the next."""
        if len(W) == len(self._whole):
            return self.columns.A
        if self._kept is None or not np.array_equal(self._kept[0], W):
            self._kept = (W, self.columns.block(W))
        return self._kept[1]

    def _all_weights(self) -> FloatArray:
        return self.v / self.weight

    def slope_at(self, W: IntArray, B: FloatArray, b0: FloatArray) -> LikelihoodPoint:
        """Return the slopes alone, in less than half the time of `at`; the rest is NaN."""
        T, m = B.shape
        slope, pull, residual = np.zeros((T, m)), np.zeros(T), np.empty((T, self.count))
        start = 0
        for Z, codes, v in self.blocks(W):
            here = slice(start, start + len(v))
            start = here.stop
            eta = _scores(Z, B, b0)
            if T == 1:
                P = np.exp(np.negative(eta, out=eta), out=eta)
                P += 1.0
                np.divide(1.0, P, out=P)
                np.subtract(codes, P, out=P)
                P *= v
            else:
                eta -= eta.max(axis=0)
                P = np.exp(eta, out=eta)
                P /= P.sum(axis=0)
                P[codes, np.arange(len(codes))] -= 1
                P *= -v
            residual[:, here] = P
            slope += _combined(P, Z)
            pull += P.sum(axis=1)
        nothing = np.zeros(0)
        weight = self.weight
        parts = [(nothing, nothing, residual)]
        return LikelihoodPoint(np.nan, slope / weight, pull / weight, np.nan, parts)

    def correlate(self, point: LikelihoodPoint) -> FloatArray:
        """Return the mean products of all columns with observed minus fitted, (T, p)."""
        return self.columns.correlate(point.residual.T).T / self.weight


def _scores(Z: Any, B: FloatArray, b0: FloatArray) -> FloatArray:
    """Return the scores of a block of rows, (T, b)."""
    found = np.ascontiguousarray((Z @ B.T).T) if is_sparse(Z) else B @ Z.T
    found += b0[:, None]
    return np.asarray(found)


def _combined(R: FloatArray, Z: Any) -> FloatArray:
    """Return R Z, (T, m)."""
    return np.asarray((Z.T @ R.T).T if is_sparse(Z) else R @ Z)


def _inverse(total: FloatArray) -> FloatArray:
    """Return the inverse on contrasts of the scores: the same number added to all does nothing."""
    T = len(total)
    if T == 1:
        return 1 / total
    size = np.trace(total) / T
    return np.linalg.inv(total + size / T) - 1 / (T * size)
