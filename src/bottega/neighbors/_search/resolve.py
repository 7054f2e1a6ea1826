"""The distance that a name, a function or an object stands for, fitted to the rows."""

from collections.abc import Mapping
from typing import Any

from bottega.core.errors import ParameterError
from bottega.core.sparse import is_sparse
from bottega.neighbors._search.coordinates import TAKES, Coordinates
from bottega.neighbors._search.distance import Distance
from bottega.neighbors._search.objects import CalledDistance, EditDistance
from bottega.neighbors._search.tables import (
    GivenDistance,
    LibraryDistance,
    MissingDistance,
    SparseDistance,
    check_sparse,
)


def make_distance(X: Any, metric: Any, params: Mapping[str, Any]) -> Distance:
    """Return the distance by which rows are compared with X."""
    check_sparse(X, metric)
    if callable(metric):
        return CalledDistance(metric, params)
    if metric in ("edit", "precomputed", "nan_euclidean") and params:
        raise ParameterError(
            f"metric_params={dict(params)!r} is not allowed: {metric!r} takes none."
        )
    if metric == "edit":
        return EditDistance()
    if metric == "precomputed":
        return GivenDistance(X)
    if is_sparse(X):
        return SparseDistance(metric)
    if metric == "nan_euclidean":
        return MissingDistance()
    if metric in TAKES and set(params) <= TAKES[metric]:
        return Coordinates(X, metric, params)
    return LibraryDistance(metric, params)
