"""The distances by name, and what a name with its parameters stands for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import DistanceMetric

from bottega.core.params import AnyOf, Choice, Function, OrNone, Parameter, Real

# Other names that scikit-learn has for a distance.
ALIASES = {
    "l2": "euclidean",
    "l1": "manhattan",
    "cityblock": "manhattan",
    "infinity": "chebyshev",
    "p": "minkowski",
    "sokalmichener": "rogerstanimoto",
}
# Of presence and absence: what is not zero is present.
BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
METRICS = (
    "minkowski",
    "euclidean",
    "manhattan",
    "chebyshev",
    "cosine",
    "correlation",
    "mahalanobis",
    "seuclidean",
    "sqeuclidean",
    "hamming",
    "braycurtis",
    "canberra",
    "haversine",
    "nan_euclidean",
    *BOOLEAN,
    "precomputed",
    "edit",
)
# Those that sparse rows can be compared by without making them dense.
SPARSE = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "cosine")


@dataclass(frozen=True)
class _Metric(Parameter):
    """A distance of scikit-learn's as an object."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, DistanceMetric)

    def describe(self) -> str:
        return "a sklearn.metrics.DistanceMetric"

    def schema(self) -> dict[str, Any]:
        return {"not": {}}

    def parse(self, text: str) -> Any:
        raise ValueError("an object can only be given from Python")


@dataclass(frozen=True)
class _Power(Real):
    """A positive number, or infinity."""

    def accepts(self, value: Any) -> bool:
        return (isinstance(value, float) and value == np.inf) or super().accepts(value)


@dataclass(frozen=True)
class _Keywords(Parameter):
    """Named values."""

    def accepts(self, value: Any) -> bool:
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)

    def describe(self) -> str:
        return "a dict of names and values"

    def schema(self) -> dict[str, Any]:
        return {"type": "object"}

    def parse(self, text: str) -> Any:
        raise ValueError("named values can only be given from Python")


METRIC = AnyOf(
    Choice(*METRICS, *ALIASES),
    Function(),
    _Metric(),
    help="distance: its name, or a callable(a, b)",
)
POWER = _Power(0, None, open_low=True, help="power of the Minkowski distance")
METRIC_PARAMS = OrNone(_Keywords(), help="further parameters of the distance")


def effective_metric(
    metric: Any, p: float, metric_params: Mapping[str, Any] | None
) -> tuple[Any, dict[str, Any]]:
    """Return the distance that is meant, by its plainest name, and the parameters it still has.

    Examples
    --------
    >>> effective_metric("minkowski", 1, None)
    ('manhattan', {})
    >>> effective_metric("minkowski", 2, {"p": 3})
    ('minkowski', {'p': 3})
    """
    params = dict(metric_params or {})
    if not isinstance(metric, str):
        return metric, params
    name = ALIASES.get(metric, metric)
    if name != "minkowski":
        return name, params
    power = params.pop("p", p)
    if params.get("w") is None:
        params.pop("w", None)
        plain = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
        if power in plain:
            return plain[power], params
    return "minkowski", {**params, "p": power}


def takes_objects(metric: Any) -> bool:
    """Return True if a distance compares strings or objects, not rows of numbers."""
    return callable(metric) or metric == "edit"
