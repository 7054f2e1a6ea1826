"""The parameters of k-means, and the kinds that only it has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.params import (
    AnyOf,
    Auto,
    Boolean,
    Choice,
    Integer,
    OrNone,
    Parameter,
    Real,
    Seed,
    Text,
)

__all__ = ["KMEANS_PARAMS", "Norm", "StartCenters"]


@dataclass(frozen=True)
class StartCenters(Parameter):
    """First centres: an array of two axes, or a function that returns one."""

    def accepts(self, value: Any) -> bool:
        """Return True for a function and for a table of numbers."""
        if callable(value):
            return True
        if isinstance(value, str) or not hasattr(value, "__len__"):
            return False
        try:
            return np.ndim(value) == 2
        except ValueError:  # lists of several lengths
            return False

    def describe(self) -> str:
        """Return the words for first centres."""
        return "an array of one centre per cluster, or a callable"

    def schema(self) -> dict[str, Any]:
        """Return the JSON form: a list of lists of numbers."""
        return {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}

    def parse(self, text: str) -> Any:
        """Refuse: centres cannot be typed in."""
        raise ValueError("first centres can only be given from Python")


@dataclass(frozen=True)
class Norm(Parameter):
    """What distances are: 2, 1 or 'cosine'."""

    def accepts(self, value: Any) -> bool:
        """Return True for the norms there are."""
        return not isinstance(value, bool | np.bool_) and (
            (isinstance(value, str) and value == "cosine")
            or (isinstance(value, int | np.integer) and int(value) in (1, 2))
        )

    def describe(self) -> str:
        """Return the norms in words."""
        return "2, 1 or 'cosine'"

    def schema(self) -> dict[str, Any]:
        """Return the norms as JSON schema."""
        return {"enum": [2, 1, "cosine"]}

    def parse(self, text: str) -> Any:
        """Read a norm."""
        return text if text == "cosine" else int(text)


KMEANS_PARAMS: Mapping[str, Parameter] = {
    "n_clusters": Auto(Integer(1), help="number of clusters"),
    "init": AnyOf(Choice("k-means++", "random"), StartCenters(), help="the first centres"),
    "n_init": Auto(Integer(1), help="starts, of which the best is kept"),
    "max_iter": Integer(1, help="the most passes over the rows"),
    "tol": Real(0, help="moves of the centres at which the passes end"),
    "verbose": AnyOf(Boolean(), Integer(0), help="write the progress of the fit"),
    "random_state": Seed(help="seed of the starts"),
    "copy_x": Boolean(help="no effect: X is never changed"),
    "algorithm": Choice(
        "lloyd", "elkan", "plain", "minibatch", help="how the minimum is looked for"
    ),
    "norm": Norm(help="what distances are"),
    "standardize": Boolean(help="divide columns by their standard deviations first"),
    "select": Choice(
        *("silhouette", "gap", "stability"),
        help="rule that picks the number of clusters",
    ),
    "max_clusters": Integer(2, help="the largest number of clusters of the path"),
    "batch_size": Integer(1, help="rows per batch of 'minibatch'"),
    "device": OrNone(Text(), help="a device of torch"),
}
