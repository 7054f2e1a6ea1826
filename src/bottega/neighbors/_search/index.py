"""Lists of the nearest of some points, exact whatever finds the candidates."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import NearestNeighbors

from bottega.core.errors import InputError
from bottega.core.parallel import spare_threads
from bottega.core.rows import split_rows
from bottega.core.threads import openmp_in
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.neighbors._kernels.distances import EUCLIDEAN
from bottega.neighbors._kernels.votes import TIE
from bottega.neighbors._search.coordinates import Coordinates
from bottega.neighbors._search.distance import SAME_DIRECTION, Distance, scaled
from bottega.neighbors._search.scale import largest, power_of_two

Lists = Iterator[tuple[IntArray, FloatArray, IntArray]]

# Entries of a table of distances that is held at once (64 MB with its indices).
ENTRIES = 4_000_000
# Pairs of rows from which brute force is spread over the cores (measured).
_PAIRS_TO_SPREAD = 50_000_000
# scikit-learn's names of the kernel's distances.
_BRUTE_NAMES = ("euclidean", "manhattan", "chebyshev", "hamming")
_HIGHEST_POWER = 64  # of a Minkowski distance that a tree can sum up
# Sums of powers beyond these have overflowed or lost digits.
_LEAST_SUM, _MOST_SUM = 1e-280, 1e280


class PointIndex:
    """Finds the nearest of some encoded points.

    A k-d tree or brute force names candidates, in coordinates multiplied by a power of two so that
    no square overflows. Their distances are computed again from the points themselves, and a list
    is final only when nothing outside it can belong to it, ties and rounding considered; a list
    that cannot be made so is taken from all distances.
    """

    def __init__(self, distance: Distance, points: Any) -> None:
        self.distance, self.points = distance, points
        self._tree: Any = None
        self._brute: Any = None
        self._factor = 1.0
        if not isinstance(distance, Coordinates):
            return
        self._code, power = distance.code, distance.power
        n, p = points.shape
        if power is not None and 1 < power < np.inf:
            self._factor = power_of_two(largest(points), min(2 / power, 1.0))
        inner = points if self._factor == 1.0 else points * self._factor
        # A tree pays when it has many more leaves than a ball has directions (measured).
        few = p <= 6 or n >= 128 * 2.0**p
        if few and power is not None and (1 <= power <= _HIGHEST_POWER or power == np.inf):
            self._tree = cKDTree(inner, leafsize=32)
        elif self._code is not None:
            # Products of centred rows cancel less; distances do not change.
            self._center = inner.mean(axis=0) if self._code == EUCLIDEAN else np.zeros(p)
            self._brute = NearestNeighbors(algorithm="brute", metric=_BRUTE_NAMES[self._code])
            self._brute.fit(inner - self._center)

    def __len__(self) -> int:
        return int(self.points.shape[0])

    def lists(self, points: Any, k: int) -> Lists:
        """Yield which points, and their lists: everything no farther than the k-th, by distance.

        The lists of one table are of one length, and may go on beyond the k-th.
        """
        rows = np.arange(points.shape[0])
        if self._tree is None and self._brute is None:
            yield from self._all(points, rows, k)
        else:
            yield from self._lists(points, rows, k, k + 1)

    def _all(self, points: Any, rows: IntArray, k: int) -> Lists:
        """Yield lists out of tables of all distances."""
        for part in split_rows(len(rows), max(1, ENTRIES // len(self))):
            block = rows[part]
            yield (block, *_nearest(self.distance.table(points[block], self.points), k))

    def _lists(self, points: FloatArray, rows: IntArray, k: int, width: int) -> Lists:
        width = min(width, len(self))
        for part in split_rows(len(rows), max(1, ENTRIES // width)):
            block = rows[part]
            distances, indices, final = self._candidates(points[block], k, width)
            if final.all():
                yield block, distances, indices
                continue
            if final.any():
                yield block[final], distances[final], indices[final]
            # Long lists are sooner made from all distances.
            if 8 * width >= len(self):
                yield from self._all(points, block[~final], k)
            else:
                yield from self._lists(points, block[~final], k, 2 * width)

    def _candidates(
        self, points: FloatArray, k: int, width: int
    ) -> tuple[FloatArray, IntArray, BoolArray]:
        """Return lists of `width` neighbours, and which of them are final for k."""
        assert isinstance(self.distance, Coordinates)
        power, metric = self.distance.power, self.distance.metric
        with np.errstate(over="ignore"):  # of what is far from all rows
            inner = points if self._factor == 1.0 else points * self._factor
        least = 0.0
        if power is not None and 1 < power < np.inf:
            least, most = _LEAST_SUM ** (1 / power), _MOST_SUM ** (1 / power)
            if not largest(inner) <= most:  # so far from all rows that all distances are equal
                inner = np.clip(inner, -most, most)
        if self._tree is not None:
            bound, indices = self._tree.query(inner, width, p=power)
            bound, indices = bound.reshape(-1, width), indices.reshape(-1, width)
        else:
            # Work too small is slower on several threads than on one, and a search inside a worker
            # thread has others beside it that want the cores.
            spread = len(points) * len(self) >= _PAIRS_TO_SPREAD
            with openmp_in(spare_threads() if spread else 1):
                bound, indices = self._brute.kneighbors(inner - self._center, width)
        farthest = bound[:, -1]
        known = np.isfinite(farthest)
        if not known.all():  # the tree names rows that are not there
            indices[~known] = 0
        distances = self.distance.listed(points, self.points, indices)
        order = np.argsort(distances, axis=1, kind="stable")
        distances = np.take_along_axis(distances, order, axis=1)
        indices = np.take_along_axis(indices, order, axis=1)
        radius = distances[:, k - 1] * (1 + 2 * TIE)
        if metric in ("cosine", "correlation"):
            radius = np.maximum(radius, np.sqrt(2 * SAME_DIRECTION))
        if width == len(self):
            return scaled(distances, metric), indices, known
        with np.errstate(over="ignore"):
            final = self._is_final(inner, farthest, radius * self._factor)
        return scaled(distances, metric), indices, final & known & (farthest > least)

    def _is_final(self, inner: FloatArray, farthest: FloatArray, radius: FloatArray) -> BoolArray:
        """Return True where nothing farther than a list goes can be inside its radius."""
        if self._tree is not None or self._code != EUCLIDEAN:
            return np.asarray(radius < farthest)
        # Brute force expands the square, so what it left out may be nearer than it thought, by
        # rounding. Only rows no longer than |x| + radius can be inside the radius.
        length = np.sqrt(np.sum((inner - self._center) ** 2, axis=1))
        slack = 4 * (inner.shape[1] + 4) * np.finfo(np.float64).eps
        return np.asarray(radius**2 < farthest**2 - slack * (2 * length + radius) ** 2)


def _nearest(table: FloatArray, k: int) -> tuple[FloatArray, IntArray]:
    """Return lists out of a table of all distances, long enough for all ties at the k-th."""
    limit = np.partition(table, k - 1, axis=1)[:, k - 1] * (1 + 2 * TIE)
    inside = table <= limit[:, None]
    if np.isinf(limit).any():
        fewest = int(np.isfinite(table).sum(axis=1).min())
        raise InputError(
            f"{k} neighbors per samples are required, but some samples have only {fewest} at a "
            "known distance. Ask for fewer, or give distances to more rows."
        )
    width = int(np.max(np.sum(inside, axis=1)))
    indices = np.sort(np.argpartition(table, width - 1, axis=1)[:, :width], axis=1)
    distances = np.take_along_axis(table, indices, axis=1)
    order = np.argsort(distances, axis=1, kind="stable")
    return np.take_along_axis(distances, order, axis=1), np.take_along_axis(indices, order, axis=1)
