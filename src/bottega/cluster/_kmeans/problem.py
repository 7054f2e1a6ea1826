"""A table to be clustered: its scale, its starts, what was found for each number of clusters."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.cluster._kmeans.distances import shared_unit
from bottega.cluster._kmeans.lloyd import Clustering, assign, lloyd
from bottega.cluster._kmeans.medians import lloyd_medians, nearest_median
from bottega.cluster._kmeans.minibatch import minibatch
from bottega.cluster._kmeans.source import ArraySource, BlockSource
from bottega.cluster._kmeans.starts import RowDraws, given_start, plus_plus, random_rows
from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ClusterProblem", "KMeansHow", "RowMap", "nearest"]

_HUGE = 1e100  # beyond this, squares and their sums may overflow (or vanish)
_REFINING = 100  # passes over a sample at most, before those over all rows


@stored
@dataclass(frozen=True)
class RowMap:
    """How rows are scaled before distances are taken.

    Attributes
    ----------
    scale : ndarray of shape (p,) or None
        What each column is divided by; None: nothing.
    sphere : bool
        Whether rows are then brought to length one.
    unit : float
        What distances are to be multiplied by to be in the units of the data.
    """

    scale: FloatArray | None = None
    sphere: bool = False
    unit: float = 1.0

    @classmethod
    def of(
        cls, X: FloatArray, w: FloatArray | None, *, standardize: bool, sphere: bool
    ) -> "RowMap":
        """Return the scale of a table: that of its columns, or one that squares can hold."""
        reach = max(float(X.max()), -float(X.min()))
        unit = 1.0
        if reach > _HUGE or 0 < reach < 1 / _HUGE:
            unit = 2.0 ** np.floor(np.log2(reach))
        if standardize:
            spread = _spread(X / unit, w)
            return cls(np.where(spread > 0, spread, 1.0) * unit, sphere)
        scale = None if unit == 1.0 else np.full(X.shape[1], unit)
        return cls(scale, sphere, 1.0 if sphere else unit)

    def to(self, X: FloatArray) -> FloatArray:
        """Return rows on the scale of the distances."""
        found = X if self.scale is None else X / self.scale
        if not self.sphere:
            return found
        size = np.sqrt(np.sum(found**2, axis=1, keepdims=True))
        if not np.all(size > 0):
            raise InputError(
                f"Row {int(np.argmin(size))} is all zeros: no direction, which norm='cosine' "
                "compares: leave such rows out, or use norm=2."
            )
        return np.asarray(found / size)

    def back(self, centers: FloatArray) -> FloatArray:
        """Return centres in the units of the data."""
        return centers if self.scale is None else np.asarray(centers * self.scale)


def _spread(X: FloatArray, w: FloatArray | None) -> FloatArray:
    mean = np.average(X, axis=0, weights=w)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=w))
    return np.where(X.min(axis=0) == X.max(axis=0), 0.0, spread)


@dataclass(frozen=True)
class KMeansHow:
    """How clusters are looked for: the parameters of `KMeans` that matter, and the seed."""

    norm: Any
    init: Any
    n_init: int
    max_iter: int
    tol: float
    algorithm: str
    batch_size: int
    device: str | None
    seed: int

    @property
    def sphere(self) -> bool:
        """Whether rows are compared by their direction alone."""
        return bool(self.norm == "cosine")


@dataclass
class ClusterProblem:
    """Rows, the rows that starts are drawn from, and what was found.

    Attributes
    ----------
    source : BlockSource
        The rows, scaled.
    sample : ArraySource
        Rows to draw starts from, and to judge by: the same, or some of the chunks' rows.
    how : KMeansHow
        How clusters are looked for.
    row_map : RowMap
        How rows were scaled.
    found : dict
        The clustering of each number of clusters.
    wanted : tuple of str
        Criteria that the path is to have.
    """

    source: BlockSource
    sample: ArraySource
    how: KMeansHow
    row_map: RowMap
    found: dict[int, Clustering] = field(default_factory=dict)
    wanted: tuple[str, ...] = ("silhouette", "gap", "stability")

    def __post_init__(self) -> None:
        self.draws = RowDraws(self.sample)

    def solve(self, K: int, before: FloatArray | None = None) -> Clustering:
        """Return the best of several runs, one of them from the centres `before`, if given."""
        if K not in self.found or before is not None:
            runs = [self._run(self.start(K, i), K, i) for i in range(self.how.n_init)]
            if before is not None:
                rng = self._rng(K, self.how.n_init)
                # As it is: passes over a few of the rows could lose what these centres are for.
                start = plus_plus(self.draws, K, rng, before)
                runs.append(self._run(start, K, self.how.n_init))
            # Among equals the first: rounding must not decide.
            least = min(run.inertia for run in runs)
            close = least + 1e-12 * abs(least)
            self.found[K] = next(run for run in runs if run.inertia <= close)
        return self.found[K]

    def _rng(self, K: int, run: int) -> np.random.Generator:
        return np.random.default_rng([self.how.seed, K, run])

    def start(self, K: int, run: int = 0) -> FloatArray:
        """Return the first centres of a run."""
        if self.source.n < K:
            raise InputError(
                f"n_clusters={K} is more than the rows to cluster (n_samples = {self.source.n}): "
                f"give at most {self.source.n}."
            )
        init, rng = self.how.init, self._rng(K, run)
        if isinstance(init, str):
            drawn = plus_plus if init == "k-means++" else random_rows
            return self._refined(drawn(self.draws, K, rng))
        seed = int(rng.integers(2**31))  # a function gets another one for each start
        given = given_start(init, self.row_map.back(self.sample.X), K, seed)
        return self.row_map.to(given)

    def _refined(self, start: FloatArray) -> FloatArray:
        """Return where the rows that starts are drawn from lead; all rows would only come later.

        What many passes over all rows would do is done by as many over a few of them.
        """
        if self.sample.n >= self.source.n:
            return start
        how: dict[str, Any] = {"max_iter": _REFINING, "tol": self.tol}
        return lloyd(self.sample, start, sphere=self.how.sphere, **how).centers

    @property
    def tol(self) -> float:
        """Sum of squared moves of the centres at which passes end."""
        return self.how.tol * float(np.mean(self.source.scaling.variance))

    def _run(self, start: FloatArray, K: int, run: int) -> Clustering:
        how, source = self.how, self.source
        options: dict[str, Any] = {"max_iter": how.max_iter, "tol": self.tol}
        if how.norm == 1:
            assert isinstance(source, ArraySource)
            return lloyd_medians(source.X, source.w, start, **options)
        if how.algorithm == "minibatch":
            assert isinstance(source, ArraySource)
            rng = np.random.default_rng([how.seed, K, run, 1])
            options |= {"batch_size": how.batch_size, "rng": rng, "sphere": how.sphere}
            found = minibatch(source, start, **options)
        elif how.device is not None:
            from bottega.cluster._kmeans.torch import lloyd_on_device

            assert isinstance(source, ArraySource)
            shift = source.scaling.shift
            found = lloyd_on_device(source.X, source.w, shift, start, device=how.device, **options)
        else:
            bounds = how.algorithm != "plain"
            found = lloyd(source, start, bounds=bounds, sphere=how.sphere, **options)
        return replace(found, inertia=found.inertia / 2) if how.sphere else found

    def steps(self, K: int) -> list[FloatArray]:
        """Return the centres of each pass of the first run, in the units of the data."""
        trace: list[FloatArray] = []
        options: dict[str, Any] = {"max_iter": self.how.max_iter, "tol": self.tol}
        lloyd(self.source, self.start(K), sphere=self.how.sphere, trace=trace, **options)
        return [self.row_map.back(centers) for centers in trace]

    def walk(self, counts: IntArray) -> list[Clustering]:
        """Return the clusterings of ascending numbers of clusters, whose inertia never grows.

        Each number also starts from the centres of the one before it and further ones.
        """
        before: FloatArray | None = None
        for K in counts:
            if int(K) not in self.found:
                self.solve(int(K), before)
            before = self.found[int(K)].centers
        return [self.found[int(K)] for K in counts]

    def like(
        self, X: FloatArray, w: FloatArray | None = None, *, n_init: int = 1
    ) -> "ClusterProblem":
        """Return the same problem of other (scaled) rows, in memory and from random starts."""
        source = ArraySource(X, w)
        init = self.how.init if isinstance(self.how.init, str) else "k-means++"
        how = replace(self.how, init=init, n_init=n_init, algorithm="lloyd", device=None)
        return ClusterProblem(source, source, how, replace(self.row_map, scale=None))


def nearest(X: FloatArray, centers: FloatArray, norm: Any) -> tuple[IntArray, FloatArray]:
    """Return the nearest centre of each scaled row, and what the row loses by it.

    The loss is a squared distance, a sum of absolute differences, or one less the cosine.
    """
    if norm == 1:
        return nearest_median(np.ascontiguousarray(X), centers)
    unit = shared_unit(X, centers)
    label, far = assign(ArraySource(X if unit == 1.0 else X / unit), centers / unit)
    with np.errstate(over="ignore"):  # a loss beyond all numbers is infinite
        return label, far / 2 if norm == "cosine" else far * unit * unit
