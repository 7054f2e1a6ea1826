"""The walk over the number of terms: forward to the most, then backward."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bottega.additive._pursuit.coordinates import WhiteCoordinates
from bottega.additive._pursuit.model import Pursuit, RidgeSum
from bottega.additive._pursuit.parts import RidgeTerms, Scale, ridge_terms
from bottega.additive._pursuit.starts import first_least
from bottega.core.errors import InputError
from bottega.core.rows import Rows, are_counts
from bottega.core.typing import FloatArray

_WIDEST_WEIGHTS = 1e15  # ratio of the largest to the smallest


def row_weights(rows: Rows) -> tuple[FloatArray, float]:
    """Return the weights, and the number of rows that they stand for.

    Whole numbers are counts, as of rows repeated so many times. Others are relative: their mean is
    made one.
    """
    n, weight = len(rows), rows.weight
    if weight is None:
        return np.ones(n), float(n)
    if weight.max() > _WIDEST_WEIGHTS * weight.min():
        raise InputError(
            f"sample_weight ranges from {weight.min():.3g} to {weight.max():.3g}: beside the "
            "largest the smallest are lost in floating point. Give those rows weight zero."
        )
    if not are_counts(weight):
        return weight * (n / weight.sum()), float(n)
    return weight, float(weight.sum())


@dataclass
class TermWalk:
    """The models of every number of terms from none on, each fitted when it is asked for.

    A model of k terms is the better of two, the one of the forward walk and the one that is left of
    the most terms when those that matter least are removed and the others readjusted; then the term
    that matters least is replaced as long as that pays.
    """

    rows: Rows
    coordinates: WhiteCoordinates
    pursuit: Pursuit
    most: int  # terms of the forward walk
    limit: int  # terms that the rows allow
    scale: Scale  # of the responses
    _forward: list[RidgeSum] = field(default_factory=list)
    _backward: dict[int, RidgeSum] = field(default_factory=dict)
    _models: dict[int, RidgeSum] = field(default_factory=dict)
    _kept: dict[int, RidgeTerms] = field(default_factory=dict)

    @property
    def longest(self) -> int:
        """The number of terms that the forward walk reaches."""
        return len(self._walked(self.most)[-1].terms)

    def model(self, count: int) -> RidgeSum:
        """Return the model with a number of terms, or as many as there can be."""
        if count == 0:
            return self.pursuit.null
        if count not in self._models:
            forward = self._walked(max(count, self.most))
            found = forward[min(count, len(forward)) - 1]
            if count < len(forward):
                both = found, self._shortened(forward[-1])[count]
                found = first_least(both, [each.deviance for each in both])
            self._models[count] = self.pursuit.swap(found)
        return self._models[count]

    def _shortened(self, model: RidgeSum) -> dict[int, RidgeSum]:
        """Return the models of fewer terms than the longest one, by their number."""
        if not self._backward:
            while len(model.terms) > 1:
                model = self.pursuit.refit(self.pursuit.remove(model))
                self._backward[len(model.terms)] = model
        return self._backward

    def _walked(self, count: int) -> list[RidgeSum]:
        """Return the forward models of 1, 2, ... terms."""
        count = max(min(count, self.limit), 1)
        while len(self._forward) < count:
            model = self._forward[-1] if self._forward else self.pursuit.null
            if self._forward and self.pursuit.is_explained(model):
                break
            self._forward.append(self.pursuit.refit(self.pursuit.add(model)))
        return self._forward[:count]

    def kept(self, count: int) -> RidgeTerms:
        """Return what predicts with a number of terms."""
        if count not in self._kept:
            self._kept[count] = ridge_terms(self.model(count), self.coordinates, self.scale)
        return self._kept[count]

    def df(self, model: RidgeSum, free: int) -> float:
        """Return the degrees of freedom of a model of `free` free predictors.

        Each term has those of its function but two (its mean and its size), its direction's, and a
        share in every predictor.
        """
        turning = self.coordinates.axes.shape[1] - 1
        return free + sum(max(term.df - 2, 0.0) + turning + free for term in model.terms)


def sizes(walk: TermWalk, values: Any) -> list[int]:
    """Return the numbers of terms of a path, each once, rising."""
    if values is None:
        return list(range(walk.longest + 1))
    return sorted({int(value) for value in values})
