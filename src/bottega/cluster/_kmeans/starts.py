"""First centres: greedy k-means++, random rows, or what the user gives."""

from typing import Any

import numpy as np

from bottega.cluster._kernels.rows import nearer, potentials
from bottega.cluster._kmeans.source import ArraySource, RowPart
from bottega.core.deal import MOST_ORDERED
from bottega.core.errors import InputError
from bottega.core.row_order import own_order
from bottega.core.typing import FloatArray, IntArray

__all__ = ["RowDraws", "given_start", "plus_plus", "random_rows"]


class RowDraws:
    """Draws rows with given chances, along an order that depends on what is in the rows alone.

    So neither the order of the rows nor the difference between a row of weight two and two rows
    changes what is drawn. Tables of more than a million rows are drawn from in their own order.
    """

    def __init__(self, source: ArraySource) -> None:
        self.source = source
        self._order: IntArray | None = None
        self._ordered = source.n > MOST_ORDERED

    @property
    def order(self) -> IntArray | None:
        """The rows in their order; None for that in which they are."""
        if not self._ordered:
            self._order, self._ordered = own_order(self.source.X, None), True
        return self._order

    def draw(self, chance: FloatArray | None, count: int, rng: np.random.Generator) -> IntArray:
        """Return the rows drawn, with replacement; each row has its weight times its `chance`."""
        n, w = self.source.n, self.source.w
        mass = w if len(w) else None
        if chance is not None:
            mass = chance if mass is None else chance * mass
        if mass is None:
            mass = np.ones(n)
        order = self.order
        along = np.cumsum(mass if order is None else mass[order])
        if not along[-1] > 0:  # all rows are at some centre: any will do
            return self.draw(None, count, rng)
        places = np.searchsorted(along, rng.random(count) * along[-1], side="right")
        places = np.minimum(places, n - 1)
        return np.asarray(places if order is None else order[places])


def plus_plus(
    draws: RowDraws, K: int, rng: np.random.Generator, first: FloatArray | None = None
) -> FloatArray:
    """Return K centres by greedy k-means++, the `first` ones given.

    Each further centre is a row drawn with chances in proportion to the squared distance to the
    nearest centre so far; of several candidates (2 + log K) the one is kept that leaves the least
    sum of squared distances.
    """
    source = draws.source
    trials = 2 + int(np.log(K))
    centers = np.empty((K, source.p))
    closest = np.full(source.n, np.inf)
    known = 0 if first is None else len(first)
    if first is None:
        centers[0] = source.X[draws.draw(None, 1, rng)[0]]
        known = 1
    else:
        centers[:known] = first
    for k in range(known):
        _add(source, centers[k], closest)
    for k in range(known, K):
        rows = draws.draw(closest, trials, rng)
        left = _potentials(source, source.X[rows], closest)
        centers[k] = source.X[rows[int(np.argmin(left))]]
        if k + 1 < K:
            _add(source, centers[k], closest)
    return centers


def _add(source: ArraySource, center: FloatArray, closest: FloatArray) -> None:
    shift = source.scaling.shift
    c = center - shift

    def of(part: RowPart) -> None:
        nearer(part.X, shift, c, closest[part.start : part.start + len(part)])

    list(source.passed(of))


def _potentials(source: ArraySource, rows: FloatArray, closest: FloatArray) -> FloatArray:
    shift = source.scaling.shift
    CT = np.ascontiguousarray((rows - shift).T)

    def of(part: RowPart) -> FloatArray:
        out = np.zeros(CT.shape[1])
        near = closest[part.start : part.start + len(part)]
        potentials(part.X, part.w, shift, CT, near, out)
        return out

    return np.asarray(sum(source.passed(of)))


def random_rows(draws: RowDraws, K: int, rng: np.random.Generator) -> FloatArray:
    """Return K rows drawn at random, distinct as far as there are distinct rows."""
    X = draws.source.X
    found: list[FloatArray] = []
    for attempt in range(20):
        for row in draws.draw(None, K, rng):
            distinct = attempt == 19 or not any(np.array_equal(X[row], each) for each in found)
            if distinct and len(found) < K:
                found.append(X[row])
        if len(found) == K:
            break
    return np.array(found)


def given_start(init: Any, X: FloatArray, K: int, random_state: Any) -> FloatArray:
    """Return the centres that a user gave, as an array or by a function, checked."""
    given = init(X, K, random_state) if callable(init) else init
    try:
        start = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"init must be numbers of shape ({K}, {X.shape[1]}): {error}") from error
    if start.shape != (K, X.shape[1]):
        raise InputError(
            f"init has shape {start.shape}; it needs one centre per cluster and one number per "
            f"column: ({K}, {X.shape[1]})."
        )
    if not np.all(np.isfinite(start)):
        raise InputError("init has missing or infinite values; give finite centres.")
    return start
