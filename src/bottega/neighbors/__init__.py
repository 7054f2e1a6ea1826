"""Prediction from the nearest training rows.

`NearestNeighborsClassifier` and `NearestNeighborsRegressor` predict from the k nearest rows and
choose k by exact leave-one-out, all k from one search. `ParzenClassifier` lets every row vote
with a normal density around it. `edit` and `condense` shrink the rows to be stored.
`NeighborSearch` is the exact search beneath, for any distance.
"""

from bottega.neighbors.editing import condense, edit
from bottega.neighbors.nearest import NearestNeighborsClassifier, NearestNeighborsRegressor
from bottega.neighbors.parzen import ParzenClassifier
from bottega.neighbors.search import NeighborSearch

__all__ = [  # made by docs/generate.py
    "NearestNeighborsClassifier",
    "NearestNeighborsRegressor",
    "NeighborSearch",
    "ParzenClassifier",
    "condense",
    "edit",
]
