"""Where the rows come from: an array, or chunks that are read again for each pass."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import accumulate
from typing import Any, Self

import numpy as np

from bottega.cluster._mixture.density import density_of
from bottega.cluster._mixture.missing import sums_of_observed
from bottega.cluster._mixture.parameters import MixtureParameters, MixtureUnits
from bottega.cluster._mixture.sums import MixtureSums
from bottega.core.chunks import CheckedChunks
from bottega.core.dealt_parts import rows_of_part
from bottega.core.errors import InputError
from bottega.core.parallel import in_threads
from bottega.core.typing import FloatArray, IntArray

__all__ = ["ColumnMoments", "MixtureChunks", "MixtureRows", "sample_places"]

_GROUP = 16_384  # rows that a thread works on
SAMPLE = 20_000  # rows that a start is made from
_LARGEST = 1e150  # squares beyond it cannot be summed


def sample_places(n: int) -> Any:
    """Return the rows that a start is made from: all, or some spread evenly."""
    return np.arange(n) if n <= SAMPLE else np.linspace(0, n - 1, SAMPLE).round().astype(np.intp)


class ColumnMoments:
    """Weight, mean and variance of each column, over the values that are not missing.

    Attributes
    ----------
    count : int
        Rows.
    weight : float
        Sum of the row weights.
    mass, mean, square : ndarray of shape (p,)
        Sum of the weights of the values of each column, their mean, and the weighted sum of their
        squares about it.
    missing : bool
        Whether a value is missing.
    """

    def __init__(self) -> None:
        self.count = 0
        self.weight = 0.0
        self.mass = self.mean = self.square = np.zeros(0)
        self.missing = False

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""
        gone = np.isnan(X)
        empty = np.flatnonzero(gone.all(axis=1))
        if len(empty):
            raise InputError(
                f"Row {self.count + int(empty[0])} has no value at all ({len(empty)} such "
                f"row{'s' * (len(empty) > 1)}): leave out rows that are missing altogether."
            )
        if np.nanmax(np.abs(X)) > _LARGEST:
            raise InputError(
                f"X has values beyond {_LARGEST:g}, whose squares cannot be summed; rescale it."
            )
        each = np.ones(len(X)) if w is None else np.asarray(w, dtype=np.float64)
        if gone.any():
            weights = np.where(gone, 0.0, each[:, None])
            table = np.where(gone, 0.0, X)
            mass = weights.sum(axis=0)
            mean = (weights * table).sum(axis=0) / np.maximum(mass, np.finfo(float).tiny)
            square = (weights * (table - mean) ** 2).sum(axis=0)
        else:
            total = float(each.sum())
            mass = np.full(X.shape[1], total)
            mean = each @ X / total
            mean = mean + each @ (X - mean) / total  # what rounding left in the first mean
            square = each @ (X - mean) ** 2
        part = type(self)()
        part.count, part.weight, part.missing = len(X), float(each.sum()), bool(gone.any())
        part.mass, part.mean, part.square = mass, mean, square
        return self.merge(part)

    def merge(self, other: "ColumnMoments") -> Self:
        """Take in the moments of other rows."""
        if not self.count:
            self.mass, self.mean, self.square = other.mass, other.mean, other.square
        elif other.count:
            total = np.maximum(self.mass + other.mass, np.finfo(float).tiny)
            gap = other.mean - self.mean
            self.square = self.square + other.square + gap**2 * self.mass * other.mass / total
            self.mean = self.mean + gap * (other.mass / total)
            self.mass = self.mass + other.mass
        self.count += other.count
        self.weight += other.weight
        self.missing = self.missing or other.missing
        return self

    def times(self, factor: float) -> "ColumnMoments":
        """Return the moments with all weights multiplied."""
        found = type(self)()
        found.count, found.missing, found.mean = self.count, self.missing, self.mean
        found.weight, found.mass = self.weight * factor, self.mass * factor
        found.square = self.square * factor
        return found

    def units(self, own_scales: bool) -> MixtureUnits:
        """Return units of one deviation of each column, or one for all columns.

        A column without variation gets the unit of the others.
        """
        varies, variance = self.varies, self.square / self.mass
        common = float(np.sqrt(np.mean(variance[varies]))) if varies.any() else 1.0
        if not own_scales:
            return MixtureUnits(self.mean, np.full(len(variance), common))
        return MixtureUnits(
            self.mean, np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), common)
        )

    def refuse_empty(self, names: Sequence[str]) -> None:
        """Refuse columns without any value, by their names."""
        for j in np.flatnonzero(self.mass == 0)[:1]:
            raise InputError(f"Column {names[j]!r} has no value at all; leave it out.")

    @property
    def varies(self) -> Any:
        """Which columns are not constant."""
        # What rounding leaves of a constant column is not a variance.
        rounding = (1e-13 * np.abs(self.mean)) ** 2
        return self.square / self.mass > np.maximum(rounding, np.finfo(float).tiny)


class MixtureRows:
    """Rows in memory, in the units of the work: complete rows first, then those with gaps."""

    def __init__(self, X: FloatArray, weight: Any, units: MixtureUnits) -> None:
        self.units = units
        gaps = np.isnan(X).any(axis=1)
        self.n, self.p = X.shape
        if gaps.any():
            whole, holed = np.flatnonzero(~gaps), np.flatnonzero(gaps)
            self.parts = [
                (units.into(X[rows]), None if weight is None else weight[rows], holes)
                for rows, holes in ((whole, False), (holed, True))
                if len(rows)
            ]
        else:
            self.parts = [(units.into(X), weight, False)]

    def _groups(self) -> Iterator[tuple[FloatArray, Any, bool]]:
        for Z, weight, holes in self.parts:
            for start in range(0, Z.shape[1], _GROUP):
                part = slice(start, start + _GROUP)
                yield Z[:, part], None if weight is None else weight[part], holes

    def expect(self, parameters: MixtureParameters) -> MixtureSums:
        """Return the expected sums of all rows: one E step."""
        density = density_of(parameters)

        def sums(group: tuple[FloatArray, Any, bool]) -> MixtureSums:
            Z, weight, holes = group
            if holes:
                return sums_of_observed(Z, weight, density, parameters)
            return density.sums(Z, weight)

        groups = list(self._groups())
        found = [sums(groups[0])] if len(groups) == 1 else in_threads(sums, groups)
        return reduce(MixtureSums.merge, found)


class MixtureChunks:
    """Rows that are read from chunks in each pass."""

    def __init__(
        self,
        chunks: CheckedChunks,
        moments: ColumnMoments,
        units: MixtureUnits,
        counted: float = 1.0,
    ) -> None:
        self.chunks = chunks
        self.counted = counted
        self.n, self.p = moments.count, len(moments.mean)
        self.units = units

    def expect(self, parameters: MixtureParameters) -> MixtureSums:
        """Return the expected sums of all rows: one E step, one pass over the chunks."""
        found = self.chunks.reduce(partial(_expected, self.units, self.counted, parameters))
        return replace(found, parameters=parameters)  # these, and not a worker's copy of them

    def sample(self) -> tuple[FloatArray, Any]:
        """Return the rows that a start is made from, with their weights."""
        pick = partial(_picked, sample_places(self.n), self.counted)
        chunks = self.chunks
        if chunks.are_held:
            *starts, _ = accumulate(chunks.map_parts(rows_of_part), initial=0)
            found = [picked for part in chunks.map_parts(pick, starts) for picked in part]
        else:
            found = pick(chunks, 0)
        weighted = any(weighted for _, _, weighted in found)
        rows, weights, _ = zip(*found, strict=True)
        return np.concatenate(rows), np.concatenate(weights) if weighted else None


def _picked(
    places: IntArray, counted: float, part: Iterable[Any], start: int
) -> list[tuple[FloatArray, FloatArray, bool]]:
    """Return the rows at some places, their weights, and whether they had any, by chunk.

    `start` is the place of the first row of the part.
    """
    found = []
    for X, _, w in part:
        here = places[(places >= start) & (places < start + len(X))] - start
        found.append((X[here], _counts(X, w, counted)[here], w is not None))
        start += len(X)
    return found


def _expected(
    units: MixtureUnits, counted: float, parameters: MixtureParameters, *block: Any
) -> MixtureSums:
    """Return the expected sums of a block ``(X, y, w, fold)`` of rows."""
    X, _, w, _ = block
    weight = None if w is None and counted == 1.0 else _counts(X, w, counted)
    return MixtureRows(X, weight, units).expect(parameters)


def _counts(X: FloatArray, w: Any, counted: float) -> FloatArray:
    return np.full(len(X), counted) if w is None else w * counted
