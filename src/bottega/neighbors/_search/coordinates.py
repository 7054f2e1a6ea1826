"""Distances that are plain ones after a change of coordinates."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.loaded import insist, insist_on_length
from bottega.core.moments import Moments
from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.neighbors._kernels.distances import (
    CHEBYSHEV,
    EUCLIDEAN,
    HAMMING,
    MANHATTAN,
    all_distances,
    listed_distances,
    project,
)
from bottega.neighbors._search.distance import NumericDistance, scaled
from bottega.neighbors._search.scale import largest, power_of_two, rows_near_one

# The parameters that a distance takes here; with others it is scikit-learn's.
TAKES = {
    "euclidean": set(),
    "sqeuclidean": set(),
    "manhattan": set(),
    "chebyshev": set(),
    "hamming": set(),
    "cosine": set(),
    "correlation": set(),
    "minkowski": {"p", "w"},
    "mahalanobis": {"V", "VI"},
    "seuclidean": {"V"},
}
_CODES = {"manhattan": MANHATTAN, "chebyshev": CHEBYSHEV, "hamming": HAMMING}
_CODES_OF_POWERS = {1.0: MANHATTAN, 2.0: EUCLIDEAN, np.inf: CHEBYSHEV}
_POWERS = {EUCLIDEAN: 2.0, MANHATTAN: 1.0, CHEBYSHEV: np.inf, HAMMING: None}


@stored
class Coordinates(NumericDistance):
    """A Minkowski or Hamming distance, between rows that may be turned or stretched before.

    `code` names the kernel's distance, None for a power that it has not; `power` is that of the
    Minkowski distance, None for Hamming's.
    """

    def __init__(self, X: Any, metric: str, params: Mapping[str, Any]) -> None:
        self.metric = metric
        self.code: int | None = _CODES.get(metric, EUCLIDEAN)
        self.power: float | None = _POWERS[self.code]
        self.directions: FloatArray | None = None
        self.factor: FloatArray | None = None
        if metric == "minkowski":
            self.power = float(params["p"])
            self.code = _CODES_OF_POWERS.get(self.power)
        self.plain = metric not in ("cosine", "correlation", "mahalanobis", "seuclidean")
        table = self.check_dense(X)
        if params.get("w") is not None:
            self.plain = False
            self.factor = self._one_per_column(params["w"], "w") ** (1 / float(params["p"]))
        elif metric == "mahalanobis":
            self.directions = _whitening(table, params.get("V"), params.get("VI"))
        elif metric == "seuclidean":
            self.factor = self._inverse_deviations(table, params.get("V"))

    def _one_per_column(self, given: Any, name: str) -> FloatArray:
        found: FloatArray = np.asarray(given, dtype=np.float64)
        if found.shape != (self.n_columns,) or not np.all(found >= 0):
            raise InputError(
                f"metric_params: {name} must have one number at least 0 for each of the "
                f"{self.n_columns} columns."
            )
        return found

    def _inverse_deviations(self, table: FloatArray, given: Any) -> FloatArray:
        unit = np.ones(table.shape[1])
        if given is None:
            unit = np.array([power_of_two(top) for top in np.abs(table).max(axis=0)])
            spread = Moments().update(table * unit).covariance().diagonal()
        else:
            spread = self._one_per_column(given, "V")
        # What does not vary does not count.
        return np.where(spread > 0, unit / np.sqrt(np.where(spread > 0, spread, 1.0)), 0.0)

    @property
    def width(self) -> int:
        """Number of coordinates of an encoded row."""
        assert self.n_columns is not None
        if self.directions is not None:
            return int(self.directions.shape[1])
        return self.n_columns + (self.metric in ("cosine", "correlation"))

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist(isinstance(self.n_columns, int), "a distance between rows of no width")
        for name in ("directions", "factor"):
            if getattr(self, name) is not None:
                insist_on_length(self, self.n_columns or 0, name)

    def encode(self, X: Any) -> FloatArray:
        """Return rows in the coordinates in which their distance is plain."""
        table = self.check_dense(X)
        if self.metric in ("cosine", "correlation"):
            table = rows_near_one(table)
            if self.metric == "correlation":
                table = rows_near_one(table - table.mean(axis=1, keepdims=True))
            length = np.sqrt(np.sum(table**2, axis=1))
            # A coordinate of their own makes rows of zeros a direction at right angles to all.
            unit = table / np.where(length > 0, length, 1.0)[:, None]
            return np.column_stack([unit, length == 0])
        with np.errstate(over="ignore", invalid="ignore"):
            if self.directions is not None:
                table = project(table, self.directions)
            elif self.factor is not None:
                table = np.asarray(table * self.factor)
        if self.code != HAMMING and not largest(table) < np.finfo(float).max / (
            2 * table.shape[1] + 2
        ):
            raise InputError(
                "X has values so large that distances between rows cannot be represented "
                f"({largest(self.check_dense(X)):.3g} is the largest): rescale its columns."
            )
        return table

    def table(self, points: FloatArray, stored: FloatArray) -> FloatArray:
        """Return all distances."""
        if self.code is None:
            return self._minkowski(lambda d: points[:, d, None] - stored[:, d])
        return scaled(all_distances(points, stored, self.code), self.metric)

    def listed(self, points: FloatArray, stored: FloatArray, indices: IntArray) -> FloatArray:
        """Return the distance from each point to the stored rows its list names, unscaled."""
        if self.code is None:
            return self._minkowski(lambda d: points[:, d, None] - stored[:, d][indices])
        return listed_distances(points, stored, indices, self.code)

    def _minkowski(self, gap: Callable[[int], FloatArray]) -> FloatArray:
        """Return the Minkowski distance from the gaps of each column.

        Powers are of the gaps over the largest: those of large numbers would overflow.
        """
        assert self.n_columns is not None
        assert self.power is not None
        columns = range(self.n_columns)
        top = np.abs(gap(0))
        for d in columns[1:]:
            np.maximum(top, np.abs(gap(d)), out=top)
        unit = np.where(top > 0, top, 1.0)
        total = np.zeros(top.shape)
        for d in columns:
            total += (np.abs(gap(d)) / unit) ** self.power
        found = top * total ** (1 / self.power)
        if not np.all(np.isfinite(found)):
            raise InputError(
                f"Distances with p={self.power:g} between these rows cannot be represented: "
                "rescale the columns of X, or use another p."
            )
        return np.asarray(found)


def _whitening(X: FloatArray, V: Any, VI: Any) -> FloatArray:
    """Return W with ``W W'`` the (pseudo-)inverse of the covariance of X, or of V, or W W' = VI."""
    p = X.shape[1]
    given = V if VI is None else VI
    if given is None and len(X) < 2:
        return np.zeros((p, 1))
    unit = 1.0
    if given is None:
        unit = power_of_two(largest(X))
        matrix = Moments().update(X * unit).covariance()
    else:
        matrix = np.asarray(given, dtype=float)
    if matrix.shape != (p, p) or not np.allclose(matrix, matrix.T):
        raise InputError(f"metric_params: V and VI must be symmetric matrices of {p} rows.")
    spread, directions = np.linalg.eigh(matrix)
    kept = spread > spread[-1] * p * np.finfo(np.float64).eps
    if not kept.any():
        return np.zeros((p, 1))
    length = np.sqrt(spread[kept])
    return np.asarray(directions[:, kept] * (length if VI is not None else unit / length))
