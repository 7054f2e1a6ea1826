"""The greedy cover of a table of zeros and ones by components, and the flips that mend it.

References
----------
.. [1] Miettinen, P., Mielikainen, T., Gionis, A., Das, G. and Mannila, H. (2008). The discrete
   basis problem. IEEE Transactions on Knowledge and Data Engineering 20, 1348-1362.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.core import progress
from bottega.core.typing import FloatArray, IntArray
from bottega.latent._kernels.boolean_flips import flip_codes, flip_components

__all__ = ["Cover", "best_covers", "candidates", "codes_of"]

THRESHOLDS = (0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
PENALTIES = (1, 2, 5)  # of a wrong entry in greedy choices
_ROWS = 512  # different rows that are candidates, too
_MOST = 4_096  # candidates
_ROUNDS = 50


@dataclass
class Cover:
    """Two factors of a table, and how often each entry is covered.

    Attributes
    ----------
    value : ndarray of int8 of shape (n, p)
        1 where the table has a one, -1 where it has a zero, 0 where it is missing.
    codes, components : ndarray of int8
        The factors.
    covers : ndarray of int32 of shape (n, p)
        How many components cover each entry.
    errors : list of int
        Entries that differ, after each step; never rising.
    """

    value: Any
    codes: Any
    components: Any
    covers: Any
    errors: list[int] = field(default_factory=list)

    @classmethod
    def empty(cls, value: Any) -> "Cover":
        """Return the factors without a component: all is zero."""
        n, p = value.shape
        none = np.zeros((n, 0), dtype=np.int8), np.zeros((0, p), dtype=np.int8)
        found = cls(value, *none, np.zeros((n, p), dtype=np.int32))
        found.errors.append(found.error)
        return found

    @property
    def error(self) -> int:
        """Observed entries that differ from the table."""
        covered = self.covers > 0
        return int(np.count_nonzero(np.where(covered, self.value < 0, self.value > 0)))

    def left(self, penalty: int) -> FloatArray:
        """Return what covering each entry is worth: a wrong one costs the penalty."""
        worth = np.where(self.value < 0, -penalty, self.value)
        return np.where(self.covers > 0, 0, worth).astype(np.float32)

    def with_component(self, component: Any, penalty: int = 1) -> "Cover":
        """Return the factors with one more component, used in the rows in which it helps."""
        # Small whole numbers; yet OpenBLAS may raise a flag for lanes past the end of the row.
        with np.errstate(all="ignore"):
            used = (self.left(penalty) @ component.astype(np.float32) > 0).astype(np.int8)
        codes = np.ascontiguousarray(np.column_stack([self.codes, used]))
        components = np.ascontiguousarray(np.vstack([self.components, component[None]]))
        covers = self.covers + np.outer(used, component).astype(np.int32)
        return Cover(self.value, codes, components, covers, list(self.errors))

    def without(self, s: int) -> "Cover":
        """Return the factors without one of their components."""
        covers = self.covers - np.outer(self.codes[:, s], self.components[s]).astype(np.int32)
        codes = np.ascontiguousarray(np.delete(self.codes, s, axis=1))
        components = np.ascontiguousarray(np.delete(self.components, s, axis=0))
        return Cover(self.value, codes, components, covers, list(self.errors))

    def mend(self) -> "Cover":
        """Flip bits while that lowers the error; return the same object."""
        for _ in range(_ROUNDS):
            gain = flip_codes(self.value, self.covers, self.codes, self.components)
            gain += flip_components(self.value, self.covers, self.codes, self.components)
            if not gain:
                break
        return self


def candidates(value: Any) -> Any:
    """Return components that may be of use, one per row, each of them once.

    For each column the columns that go with it (those that are one in a share of its ones above
    some threshold), and the rows of the table themselves.
    """
    ones = (value > 0).astype(np.float32)
    seen = (value != 0).astype(np.float32)
    together = ones.T @ ones
    share = together / np.maximum(ones.T @ seen, 1)  # of the ones of j, where l is observed
    found = [(share >= threshold) & (together > 0) for threshold in THRESHOLDS]
    rows, counts = np.unique(value > 0, axis=0, return_counts=True)
    found.append(rows[np.argsort(-counts, kind="stable")[:_ROWS]])
    every = np.vstack(found)
    every = every[every.any(axis=1)]
    if not len(every):
        return np.zeros((1, value.shape[1]), dtype=np.int8)
    _, first = np.unique(every, axis=0, return_index=True)
    return every[np.sort(first)][:_MOST].astype(np.int8)


def _best(cover: Cover, pool: Any, penalty: int, tries: int) -> IntArray:
    """Return the candidates that would cover most, each used in the rows where it helps."""
    worth = cover.left(penalty) @ pool.T.astype(np.float32)
    gains = np.maximum(worth, 0.0).sum(axis=0, dtype=np.float64)
    return np.argsort(-gains, kind="stable")[:tries]


def best_covers(value: Any, most: int, tries: int = 3) -> list[Cover]:
    """Return factors of 1, 2, ... components, the errors of which never rise.

    For each number of components the better of two: one more component for the factors before, and
    greedy choices for which a wrong entry costs more. Then components are taken out and chosen
    afresh as long as that helps.
    """
    pool = candidates(value)
    found: list[Cover] = []
    cover = Cover.empty(value)
    greedy = [(penalty, cover) for penalty in PENALTIES]
    for k in range(1, most + 1):
        greedy = [
            (penalty, each.with_component(pool[_best(each, pool, penalty, 1)[0]], penalty))
            for penalty, each in greedy
        ]
        starts = [_extended(cover, pool, tries)]
        if starts[0].error:
            starts += [_renewed(_copied(each).mend(), pool, tries) for _, each in greedy]
            starts[0] = _renewed(starts[0], pool, tries)
        best = min(starts, key=lambda each: each.error)  # the first of equals
        best.errors[:] = [*cover.errors, best.error]
        cover = best
        found.append(cover)
        progress.report("components", k, most)
    return found


def _copied(cover: Cover) -> Cover:
    parts = (cover.codes.copy(), cover.components.copy(), cover.covers.copy())
    return Cover(cover.value, *parts, list(cover.errors))


def _extended(cover: Cover, pool: Any, tries: int) -> Cover:
    """Return the factors with one more component, the best of a few after flips."""
    tried = [
        cover.with_component(pool[c], penalty).mend()
        for penalty in (1, PENALTIES[-1])
        for c in _best(cover, pool, penalty, tries)
    ]
    return min(tried, key=lambda each: each.error)  # the first of equals


def _renewed(cover: Cover, pool: Any, tries: int) -> Cover:
    """Return the factors after choosing components afresh while that lowers the error."""
    for _ in range(_ROUNDS):
        better = None
        for s in range(len(cover.components)):
            if cover.error == 0:
                return cover
            other = _extended(cover.without(s), pool, tries)
            if other.error < cover.error:
                better = other
                break
        if better is None:
            return cover
        cover = better
    return cover


def codes_of(value: Any, components: Any) -> Any:
    """Return the codes of rows for given components: flips from no component at all."""
    n = len(value)
    codes = np.zeros((n, len(components)), dtype=np.int8)
    covers = np.zeros(value.shape, dtype=np.int32)
    flip_codes(value, covers, codes, components)
    return codes
