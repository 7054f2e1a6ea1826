"""Distances for which every row is compared with every stored row."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics import DistanceMetric, pairwise_distances
from sklearn.utils.validation import check_array

from bottega.core.errors import InputError
from bottega.core.parallel import available_cores, in_threads
from bottega.core.rows import split_rows
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.neighbors._kernels.distances import CHEBYSHEV, EUCLIDEAN, MANHATTAN
from bottega.neighbors._kernels.sparse_distances import sparse_distances
from bottega.neighbors._search.distance import Distance, NumericDistance, scaled
from bottega.neighbors._search.metrics import BOOLEAN, SPARSE
from bottega.neighbors._search.scale import power_of_two

_CODES = {"manhattan": MANHATTAN, "chebyshev": CHEBYSHEV}
# Distances between sparse rows from which the work is spread over the cores.
_WORTH_THREADS = 100_000


def check_sparse(X: Any, metric: Any) -> None:
    """Refuse a sparse X for a distance that needs a dense one, or in a form that loses zeros."""
    if not is_sparse(X) or callable(metric):
        return
    if metric == "precomputed":
        if X.format in ("dok", "bsr"):
            raise TypeError(
                f"Sparse matrix in {X.format!r} format is not supported due to its handling of "
                "explicit zeros"
            )
    elif metric not in SPARSE:
        raise InputError(
            f"Metric {metric!r} not valid for sparse input. Use one of "
            f"{', '.join(map(repr, SPARSE))} or 'precomputed', or make X dense."
        )


@stored
class LibraryDistance(NumericDistance):
    """A distance of scikit-learn's or SciPy's, by its name or as an object."""

    def __init__(self, metric: Any, params: Mapping[str, Any]) -> None:
        self.metric, self.params = metric, dict(params)
        self.plain = metric not in BOOLEAN

    def encode(self, X: Any) -> Any:
        """Return the rows, those of presence and absence as truth values."""
        table = self.check_dense(X)
        return table != 0 if self.metric in BOOLEAN else table

    def table(self, points: Any, stored: Any) -> FloatArray:
        """Return all distances."""
        metric = self.metric
        if metric == "braycurtis" and not self.params:
            # SciPy's divides by |a + b|, scikit-learn's neighbours by |a| + |b|.
            metric = DistanceMetric.get_metric(metric)
        if not isinstance(metric, str):
            return np.asarray(metric.pairwise(points, stored))
        found = np.asarray(pairwise_distances(points, stored, metric=metric, **self.params))
        if not np.all(np.isfinite(found)):
            raise InputError(
                f"Some {self.metric} distances between these rows are not finite: rescale the "
                "columns of X, or use another metric."
            )
        return found


@stored
class MissingDistance(NumericDistance):
    """The Euclidean distance over the columns that two rows both have, scaled up to all columns."""

    def encode(self, X: Any) -> FloatArray:
        """Return the rows."""
        found: FloatArray = self.check(X, ensure_all_finite="allow-nan")
        return found

    def table(self, points: FloatArray, stored: FloatArray) -> FloatArray:
        """Return all distances; rows without a common column are infinitely far apart."""
        unit = power_of_two(max(_largest(points), _largest(stored)))
        total, shared = np.zeros((2, len(points), len(stored)))
        for a, b in zip(points.T * unit, stored.T * unit, strict=True):
            gap = a[:, None] - b
            present = ~np.isnan(gap)
            total += np.where(present, gap, 0.0) ** 2
            shared += present
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.sqrt(total * (points.shape[1] / shared)) / unit
        return np.where(shared > 0, found, np.inf)


def _largest(table: FloatArray) -> float:
    return float(np.nanmax(np.abs(table), initial=0.0))


@stored
class SparseDistance(NumericDistance):
    """A distance between sparse rows, which stay sparse."""

    def __init__(self, metric: str) -> None:
        self.metric = metric
        self.plain = metric != "cosine"

    def encode(self, X: Any) -> Any:
        """Return the rows in compressed form, each with its columns in order."""
        rows = sparse.csr_array(self.check(X, accept_sparse="csr"))
        if self.metric == "cosine":
            length = np.sqrt(rows.multiply(rows).sum(axis=1))
            unit = sparse.diags_array(1 / np.where(length > 0, length, 1.0)) @ rows
            # A coordinate of their own makes rows of zeros a direction at right angles to all.
            rows = sparse.hstack([unit, (length == 0)[:, None].astype(np.float64)], format="csr")
        rows.sum_duplicates()  # sorts the columns too
        return rows

    def table(self, points: Any, stored: Any) -> FloatArray:
        """Return all distances."""
        m, n, code = points.shape[0], stored.shape[0], _CODES.get(self.metric, EUCLIDEAN)

        def some(part: slice) -> FloatArray:
            return sparse_distances(*_arrays(points[part]), *_arrays(stored), code)

        if m * n < _WORTH_THREADS or m == 1:
            return scaled(some(slice(0, m)), self.metric)
        parts = split_rows(m, -(-m // available_cores()))
        return scaled(np.concatenate(in_threads(some, parts)), self.metric)


def _arrays(rows: Any) -> tuple[Any, Any, Any]:
    return rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)


@stored
class GivenDistance(Distance):
    """Distances that were computed beforehand: each row is the distances to the stored rows.

    What a sparse table does not hold is infinitely far.
    """

    plain = False

    def __init__(self, X: Any) -> None:
        self.n = int(X.shape[0])
        if X.shape[1] != self.n:
            raise InputError(
                "metric='precomputed' takes the distances between all training rows: a square "
                f"table; got {X.shape}. (Folds cut such a table by scikit-learn's splitters only.)"
            )

    def encode(self, X: Any) -> Any:
        """Return the distances, checked."""
        table = check_array(X, dtype=np.float64, accept_sparse=("csr", "csc", "coo", "lil"))
        if table.shape[1] != self.n:
            raise InputError(
                f"With metric='precomputed' X has one column per training row: {self.n}, not "
                f"{table.shape[1]}."
            )
        values = table
        if is_sparse(table):
            table = sparse.csr_array(table)
            values = table.data
        if np.any(values < 0):
            raise InputError("Negative values in data passed to precomputed distance matrix.")
        return table

    def with_diagonal(self, table: Any) -> Any:
        """Return the distances between the training rows, each there with its own."""
        if not is_sparse(table):
            return table
        own, found = np.arange(self.n), table.tocoo()
        where = np.append(found.row, own), np.append(found.col, own)
        values = np.append(found.data, np.zeros(self.n))
        return sparse.csr_array((values, where), shape=table.shape)

    def table(self, points: Any, stored: Any) -> FloatArray:
        """Return the distances that each row is."""
        if not is_sparse(points):
            return np.asarray(points)
        found = np.full(points.shape, np.inf)
        rows = np.repeat(np.arange(points.shape[0]), np.diff(points.indptr))
        found[rows, points.indices] = points.data
        return found
