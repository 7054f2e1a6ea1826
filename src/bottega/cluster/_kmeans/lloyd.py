"""Lloyd's algorithm over rows in memory or in chunks: the labels of the plain form, sooner."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import numpy as np

from bottega.cluster._kernels.lloyd import assign_rows
from bottega.cluster._kernels.rows import own_distances, sums_by_label
from bottega.cluster._kmeans.centers import MovedCenters
from bottega.cluster._kmeans.source import BlockSource, RowPart
from bottega.core.typing import FloatArray, IntArray

__all__ = ["AssignedRows", "Clustering", "assign", "lloyd"]

_KEPT = 2**25  # rows for which bounds are kept (12 bytes each); further ones have none
_AGAIN = 16  # passes after which sums are made anew, so that no rounding gathers in them
_SAME = 1e-22  # squared distance to a centre, beside that to the shift, that rounding may leave
_SPARE = 64  # further rows to choose from where clusters are empty and rows are equal


@dataclass(frozen=True)
class Clustering:
    """What Lloyd's algorithm found.

    Attributes
    ----------
    centers : ndarray of shape (K, p)
    labels : ndarray of shape (n,) or None
        None where rows came in more chunks than labels are kept for.
    inertia : float
    n_iter : int
    converged : bool
    reseeded : int
        How often an empty cluster was started again.
    empty : int
        Clusters that are empty in the end: there are fewer distinct rows.
    """

    centers: FloatArray
    labels: IntArray | None
    inertia: float
    n_iter: int
    converged: bool
    reseeded: int = 0
    empty: int = 0


@dataclass(frozen=True)
class AssignedRows:
    """What a pass over one part of the rows gave: changes of the sums, by centre."""

    changed: int
    S: FloatArray
    N: IntArray
    fresh: bool


@dataclass
class RememberedRows:
    """What a process that keeps some rows remembers of them from one pass to the next."""

    run: str
    number: int  # of the last pass
    label: Any
    upper: Any
    lower: Any
    S: FloatArray
    N: IntArray


@dataclass(frozen=True)
class FarRow:
    """A row far from its centre; `kept`: whether the labels of its part are."""

    distance: float
    row: int
    centre: int
    weight: float
    x: FloatArray
    kept: bool


class _Passes:
    """The state between passes: labels and bounds of the rows, for as many as are kept.

    Of rows that other processes pass over none are kept here: those that keep the rows remember
    them, and return whole sums, so that what is forgotten is only made anew.
    """

    def __init__(
        self, source: BlockSource, K: int, *, kept: int = _KEPT, bounds: bool = True
    ) -> None:
        self.source, self.K, self._bounds = source, K, bounds
        self._run, self._number = uuid4().hex, 0
        self.kept = 0 if source.elsewhere else min(source.n, kept)
        self._to_come = source.elsewhere and source.n <= kept  # labels, with the last pass
        # The first pass fills them, in its threads: new memory takes time.
        self.label: Any = np.empty(self.kept, dtype=np.int32)
        self.upper, self.lower = np.empty((2, self.kept), dtype=np.float32)
        self._filled = False

    def views(self, part: RowPart) -> tuple[Any, Any, Any, bool]:
        """Return labels and bounds of a part, and whether they are forgotten afterwards."""
        stop = part.start + len(part)
        fresh = stop > self.kept
        if fresh:
            label = np.empty(len(part), dtype=np.int32)
            upper, lower = np.empty((2, len(part)), dtype=np.float32)
        else:
            cut = slice(part.start, stop)
            label, upper, lower = self.label[cut], self.upper[cut], self.lower[cut]
        if fresh or not self._filled:
            label[:], upper[:], lower[:] = -1, np.inf, 0.0
        return label, upper, lower, fresh

    def assign(self, to: MovedCenters, *, anew: bool = False) -> list[AssignedRows]:
        """Give each row its nearest centre; `anew`: return whole sums instead of their changes."""
        self._number += 1
        found = list(self.source.passed(lambda part: self._assign(part, to, anew)[0]))
        self._filled = True
        return found

    def _assign(
        self, part: RowPart, to: MovedCenters, anew: bool = False
    ) -> tuple[AssignedRows, IntArray]:
        """Return what the pass over a part gave, and the labels of its rows."""
        K, p = to.C.shape
        X, w, at = part.X, part.w, self.source.scaling
        if part.memory is not None and self._bounds:
            return self._assign_remembered(part, part.memory, to, anew)
        label, upper, lower, fresh = self.views(part)
        S, N = np.zeros((K, p + 1)), np.zeros(K, dtype=np.int64)
        changed = assign_rows(
            X, w, at.shift, to.C, to.M, at.scale, to.steps, label, upper, lower, S, N
        )
        if anew and not fresh:
            S, N = np.zeros_like(S), np.zeros_like(N)
            sums_by_label(X, w, at.shift, label, S, N)
        return AssignedRows(changed, S, N, fresh), label

    def _assign_remembered(
        self, part: RowPart, memory: dict[Any, Any], to: MovedCenters, anew: bool
    ) -> tuple[AssignedRows, IntArray]:
        """Return the same of rows whose labels and bounds their process may remember."""
        X, w, at, n = part.X, part.w, self.source.scaling, len(part)
        held: RememberedRows | None = memory.get(part.start)
        if held is None or (held.run, held.number) != (self._run, self._number - 1):
            label, (upper, lower) = np.full(n, -1, dtype=np.int32), np.zeros((2, n), np.float32)
            upper[:] = np.inf
            S, N = np.zeros((self.K, X.shape[1] + 1)), np.zeros(self.K, dtype=np.int64)
            held = RememberedRows(self._run, 0, label, upper, lower, S, N)
            memory[part.start] = held
        held.number = self._number
        changed = assign_rows(
            X, w, at.shift, to.C, to.M, at.scale, to.steps,
            held.label, held.upper, held.lower, held.S, held.N,
        )  # fmt: skip
        if anew:
            held.S[:], held.N[:] = 0.0, 0
            sums_by_label(X, w, at.shift, held.label, held.S, held.N)
        return AssignedRows(changed, held.S.copy(), held.N.copy(), fresh=True), held.label

    def sums(self) -> tuple[FloatArray, IntArray]:
        """Return the sums of all rows whose labels are kept, made anew."""
        S, N = np.zeros((self.K, self.source.p + 1)), np.zeros(self.K, dtype=np.int64)

        def of(part: RowPart) -> Any:
            label, _, _, fresh = self.views(part)
            sums, count = np.zeros_like(S), np.zeros_like(N)
            if not fresh:
                shift = self.source.scaling.shift
                sums_by_label(part.X, part.w, shift, label, sums, count)
            return sums, count

        for sums, count in self.source.passed(of):
            S += sums
            N += count
        return S, N

    def farthest(self, C: FloatArray, most: int) -> list[FarRow]:
        """Return the rows farthest from their centres."""

        def of(part: RowPart) -> list[FarRow]:
            label, _, _, fresh = self.views(part)
            if fresh:
                alone = replace(part, memory=None)  # the centres have not moved yet
                label = self._assign(alone, MovedCenters.of(C, self.source.scaling.scale))[1]
            far = np.empty(len(part))
            own_distances(part.X, self.source.scaling.shift, C, label, far)
            rows = np.argsort(-far, kind="stable")[:most]
            return [
                FarRow(
                    float(far[i]),
                    part.start + int(i),
                    int(label[i]),
                    float(part.w[i]) if len(part.w) else 1.0,
                    part.X[i] - self.source.scaling.shift,
                    not fresh,
                )
                for i in rows
            ]

        found = [each for some in self.source.passed(of) for each in some]
        return sorted(found, key=lambda each: (-each.distance, each.row))[:most]

    def inertia(self, to: MovedCenters) -> tuple[float, IntArray]:
        """Return the weighted sum of squared distances to the nearest centres, and rows by centre.

        Labels are those of the nearest centres afterwards.
        """

        def of(part: RowPart) -> tuple[float, IntArray, Any]:
            label = self._assign(part, to)[1]
            far = np.empty(len(part))
            own_distances(part.X, self.source.scaling.shift, to.C, label, far)
            total = float(part.w @ far) if len(part.w) else float(far.sum())
            count = np.bincount(label, minlength=self.K)
            # They travel: a byte for each does as a rule.
            return total, count, label.astype(small) if self._to_come else None

        self._number += 1
        small = np.min_scalar_type(self.K)
        totals, counts, labels = zip(*self.source.passed(of), strict=True)
        if self._to_come:
            self.label = np.concatenate(labels, dtype=np.int32)
        return sum(totals), np.sum(counts, axis=0)


def lloyd(
    source: BlockSource,
    start: FloatArray,
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    bounds: bool = True,
    sphere: bool = False,
    kept: int = _KEPT,
    trace: list[FloatArray] | None = None,
) -> Clustering:
    """Run Lloyd's algorithm from given centres.

    Parameters
    ----------
    source : BlockSource
        The rows.
    start : ndarray of shape (K, p)
        The first centres.
    max_iter : int
        The most passes.
    tol : float
        The passes end when the squared moves of the centres sum to at most this; or when no row
        changes its label.
    bounds : bool
        Whether rows are left alone where bounds show that their centre stays the nearest; the
        answer is the same.
    sphere : bool
        Whether centres are put back to length one (for rows of length one).
    kept : int
        Rows whose labels and bounds are kept between the passes.
    trace : list, optional
        Takes the centres of each step, from the start on.
    """
    shift, p = source.scaling.shift, source.p
    C = start - shift
    K = len(C)
    passes = _Passes(source, K, kept=kept, bounds=bounds)
    S, N = np.zeros((K, p + 1)), np.zeros(K, dtype=np.int64)
    to = MovedCenters.of(C, source.scaling.scale)
    n_iter = reseeded = 0
    converged = False
    while n_iter < max_iter and not converged:
        n_iter += 1
        if trace is not None:
            trace.append(C + shift)
        anew = n_iter % _AGAIN == 0
        found = passes.assign(to, anew=anew)
        fresh_S, fresh_N = np.zeros_like(S), np.zeros_like(N)
        if anew:
            S, N = np.zeros_like(S), np.zeros_like(N)
        for each in found:
            if each.fresh:
                fresh_S += each.S
                fresh_N += each.N
            else:
                S += each.S
                N += each.N
        changed = sum(each.changed for each in found)
        if changed == 0 and not anew and passes.kept:
            S, N = passes.sums()
        if np.any(N + fresh_N == 0):
            filled = _reseed(passes, C, S, N, fresh_S, fresh_N)
            reseeded += filled
            changed += filled
        new = _means(S + fresh_S, N + fresh_N, C)
        if sphere:
            new = _to_sphere(new + shift) - shift
        moves = np.sqrt(np.sum((new - C) ** 2, axis=1))
        C = new
        # Without labels of all rows, all centres that stay where they are say the same.
        converged = changed == 0 or float(np.sum(moves**2)) <= tol
        to = MovedCenters.of(C, source.scaling.scale, moves)
        if not bounds:
            passes.upper[:] = np.inf
    inertia, count = passes.inertia(to)
    return Clustering(
        centers=C + shift,
        labels=passes.label if len(passes.label) == source.n else None,
        inertia=inertia,
        n_iter=n_iter,
        converged=converged,
        reseeded=reseeded,
        empty=int(np.sum(count == 0)),
    )


def _means(S: FloatArray, N: IntArray, C: FloatArray) -> FloatArray:
    """Return the means of the clusters; an empty one keeps its centre."""
    weight = np.where(N > 0, S[:, -1], 1.0)
    return np.asarray(np.where((N > 0)[:, None], S[:, :-1] / weight[:, None], C))


def _to_sphere(C: FloatArray) -> FloatArray:
    size = np.sqrt(np.sum(C**2, axis=1, keepdims=True))
    return np.asarray(C / np.where(size > 0, size, 1.0))


def _reseed(
    passes: _Passes,
    C: FloatArray,
    S: FloatArray,
    N: IntArray,
    fresh_S: FloatArray,
    fresh_N: IntArray,
) -> int:
    """Start empty clusters again at the rows farthest from their centres; return how many."""
    empty = np.flatnonzero(N + fresh_N == 0).tolist()
    taken: list[FloatArray] = []
    filled = 0
    for far in passes.farthest(C, len(empty) + _SPARE):
        if not empty:
            break
        x, old = far.x, far.centre
        if far.distance <= _SAME * (x @ x):
            continue
        if (N + fresh_N)[old] < 2 or any(np.array_equal(x, other) for other in taken):
            continue
        k = empty.pop(0)
        sums, count = (S, N) if far.kept else (fresh_S, fresh_N)
        change = far.weight * np.append(x, 1.0)
        sums[old] -= change
        sums[k] += change
        count[old] -= 1
        count[k] += 1
        taken.append(x)
        filled += 1
        if far.kept:
            passes.label[far.row] = k
            passes.upper[far.row], passes.lower[far.row] = np.inf, 0.0
    return filled


def assign(source: BlockSource, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the nearest centre of each row, and the squared distance to it."""
    C = centers - source.scaling.shift
    passes = _Passes(source, len(C), kept=source.n)
    passes.assign(MovedCenters.of(C, source.scaling.scale))
    far = np.empty(source.n)

    def of(part: RowPart) -> None:
        cut = slice(part.start, part.start + len(part))
        own_distances(part.X, source.scaling.shift, C, passes.label[cut], far[cut])

    list(source.passed(of))
    return passes.label, far
