"""What the clusterings show alike: two columns as a plane, and the sizes of the clusters."""

from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.results import term_names
from bottega.core.typing import Array

__all__ = ["places_of", "sizes_by_cluster"]


def places_of(model: Any, columns: Any) -> tuple[list[int], list[str]]:
    """Return the places and names of two columns of a fitted model, given by either.

    Parameters
    ----------
    model : estimator
        Anything with `n_features_in_`.
    columns : pair of int or str
        Two different columns.
    """
    titles = term_names(model, intercept=False)
    p = len(titles)
    places = []
    for column in columns:
        place = titles.index(column) if column in titles else column
        if isinstance(place, str) or not 0 <= int(place) < p:
            raise InputError(f"There is no column {column!r}; the model has {p} columns.")
        places.append(int(place))
    if len(places) != 2 or places[0] == places[1]:
        raise InputError(f"columns={columns!r} must be two different columns.")
    return places, [titles[j] for j in places]


def sizes_by_cluster(labels: Array) -> dict[str, list[Any]]:
    """Return the clusters and how many rows each has, noise last."""
    names, counts = np.unique(labels, return_counts=True)
    pairs = sorted(zip(names.tolist(), counts.tolist(), strict=True), key=lambda each: each[0] < 0)
    return {
        "cluster": ["noise" if name < 0 else str(name) for name, _ in pairs],
        "rows": [count for _, count in pairs],
    }
