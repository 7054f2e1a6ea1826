"""The inputs of adaptive splines: on one scale, in bins, missing values marked."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np

from bottega.core.parallel import in_threads
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray

MAX_BINS = 512  # knots that are looked at first; the best is then moved among the rows about it
_MIN_BINS = 32
_STATE = 2**28  # bytes that the sums of all parents may take
_THREADED = 200_000

_RARE = 5  # rows: a level of fewer has no effect of its own
_NO_POOL = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class BinnedInputs:
    """Inputs on a common scale, (p, n), the bins of their values and the knots between them.

    Attributes
    ----------
    x : ndarray of shape (p, n)
        ``(x - fill) / scale`` of numbers, 0 where missing; unused for categories.
    code : ndarray of shape (p, n)
        Bin or level of each value; the number after the last is for missing values.
    edge : ndarray of shape (p, bins + 1)
        Largest value of each bin, on the scale of `x`; 0 for missing values.
    knot : list of ndarray
        The same in the units of the input.
    n_bins, exact, missing, categorical : ndarray of shape (p,)
        Bins or levels; whether all values of a bin are equal; whether some are missing; which
        columns are categories.
    pool : list of ndarray
        The level that stands for each level of a category (see `_pooled`); empty for numbers.
    least, scale, fill : ndarray of shape (p,)
        Least value, a power of two near the range, and what stands for a missing value (see
        `Basis`).
    """

    x: FloatArray
    code: Array
    edge: FloatArray
    knot: list[FloatArray]
    n_bins: IntArray
    exact: BoolArray
    missing: BoolArray
    categorical: BoolArray
    pool: list[IntArray]
    least: FloatArray
    scale: FloatArray
    fill: FloatArray


@dataclass(frozen=True, eq=False)
class _OneInput:
    x: FloatArray
    code: Array
    knot: FloatArray
    exact: bool
    missing: bool
    least: float
    centre: float
    scale: float
    pool: IntArray


def binned(X: FloatArray, mass: FloatArray, n_levels: IntArray, n_parents: int) -> BinnedInputs:
    """Return the inputs in bins, so few that the sums of so many parents stay small."""
    n, p = X.shape
    most = _STATE // (32 * p * max(n_parents, 1))
    most = int(min(max(most, _MIN_BINS), MAX_BINS))
    read = partial(_column, X, mass, n_levels, most)
    found = in_threads(read, range(p)) if n * p >= _THREADED else [read(j) for j in range(p)]
    categorical = np.asarray(n_levels) > 0
    n_bins = np.where(categorical, n_levels, [len(each.knot) for each in found]).astype(np.int64)
    edge = np.zeros((p, int(n_bins[~categorical].max(initial=0)) + 1))
    x = np.zeros((p, n))
    code: Array = np.empty((p, n), dtype=_code_type(n_levels))
    for j, each in enumerate(found):
        code[j] = each.code
        if not categorical[j]:
            x[j] = each.x
            edge[j, : len(each.knot)] = each.knot / each.scale - each.centre / each.scale
    missing = np.array([each.missing for each in found])
    centre = np.array([each.centre for each in found])
    return BinnedInputs(
        x=x,
        code=code,
        edge=edge,
        knot=[each.knot for each in found],
        n_bins=n_bins,
        exact=np.array([each.exact for each in found]),
        missing=missing,
        categorical=categorical,
        pool=[each.pool for each in found],
        least=np.array([each.least for each in found]),
        scale=np.array([each.scale for each in found]),
        fill=np.where(missing, np.nan, centre),
    )


def _code_type(n_levels: IntArray) -> type:
    return np.uint16 if max(n_levels, default=0) < 2**16 else np.int32


def _column(X: FloatArray, mass: FloatArray, n_levels: IntArray, most: int, j: int) -> _OneInput:
    values = X[:, j]
    gone = np.isnan(values)
    missing = bool(gone.any())
    if n_levels[j] > 0:
        code = np.where(gone, n_levels[j], values).astype(np.int32)
        counts: FloatArray = np.bincount(code, mass, n_levels[j] + 1)[: n_levels[j]].astype(float)
        pool = _pooled(counts)
        code = np.append(pool, n_levels[j])[code].astype(np.int32)
        most_often = float(np.argmax(counts))
        return _OneInput(values, code, np.empty(0), True, missing, 0.0, most_often, 1.0, pool)
    n_present = len(values) - int(gone.sum())
    if not n_present:
        code = np.zeros(len(values), dtype=np.int32)
        x = np.zeros(len(values))
        return _OneInput(x, code, np.empty(0), True, missing, 0.0, 0.0, 1.0, _NO_POOL)
    if mass.min() == mass.max():
        ordered = np.sort(values)[:n_present]  # missing values come last
        below = mass[0] * np.arange(1, n_present + 1)
    else:
        order = np.argsort(values)[:n_present]
        ordered, below = values[order], np.cumsum(mass[order])
    centre = float(ordered[np.searchsorted(below, below[-1] / 2)])
    last = np.append(ordered[1:] > ordered[:-1], True)  # of equal values
    exact = int(last.sum()) <= most
    if exact:
        knot = ordered[last]
    else:
        share = below[-1] * np.arange(1, most + 1) / most
        place = np.minimum(np.searchsorted(below, share * (1 - 1e-12)), len(ordered) - 1)
        knot = np.unique(ordered[place])
    half = ordered[-1] / 2 - ordered[0] / 2
    scale = 2.0 ** min(max(math.frexp(half)[1], -1020), 1020) if half > 0 else 1.0
    code = np.searchsorted(knot, values).astype(np.int32)
    x = values / scale - centre / scale
    if missing:
        code[gone], x[gone] = len(knot), 0.0
    return _OneInput(x, code, knot, exact, missing, float(ordered[0]), centre, scale, _NO_POOL)


def _pooled(counts: FloatArray) -> IntArray:
    """Return the level that stands for each level; rare ones are one level together.

    Levels sorted by their means and cut at the best place would otherwise reproduce the responses
    of rows that have a level of their own, for what GCV charges for one term.
    """
    pool = np.arange(len(counts))
    rare = np.flatnonzero((counts > 0) & (counts < _RARE))
    if len(rare):
        by_size = np.lexsort((pool, counts))
        by_size = by_size[counts[by_size] > 0]
        enough = int(np.searchsorted(np.cumsum(counts[by_size]), _RARE)) + 1
        together = by_size[: max(len(rare), enough)]
        pool[together] = together.min()
    return pool
