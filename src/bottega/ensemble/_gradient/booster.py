"""One boosted model: scikit-learn's trees on the rows as they take them, grown round after round.

Responses are brought to one scale first (gradients are kept in single precision), rows come in an
order of their own, and whole weights are copies of the row: so the answer depends neither on the
units of the response nor on the order of the rows, and a row of weight k counts as k rows.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import repeat
from threading import Lock
from typing import Any

import numpy as np

from bottega.core.classes import spread
from bottega.core.parallel import spare_threads
from bottega.core.row_order import own_order
from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.threads import openmp_in
from bottega.core.typing import Array, FloatArray
from bottega.ensemble._gradient.inputs import LevelNumbers

_MOST_COPIES = 20  # whole weights are copies of the row while they are no more than this on average
# scikit-learn changes the filters of warnings while it bins, and they belong to the process.
_one_fit = Lock()
_FEW_ROWS = 10_000  # below this, sharing a tree among threads takes longer than growing it


@stored
@dataclass(frozen=True)
class ResponseScale:
    """Centre and unit of the responses: what is boosted is ``(y - center) / unit``."""

    center: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, y: FloatArray, weight: FloatArray | None, *, positive: bool) -> "ResponseScale":
        """Return mean and standard deviation; of `positive` responses the unit is the mean."""
        size = float(np.max(np.abs(y), initial=0.0))
        if size == 0:
            return cls()
        z = y / size  # whose squares neither vanish nor overflow
        center = float(np.average(z, weights=weight))
        if positive:
            return cls(0.0, size * center)
        unit = float(np.sqrt(np.average((z - center) ** 2, weights=weight)))
        # Responses that differ by rounding alone are equal.
        return cls(size * center, size * unit if unit > 1e-13 else 1.0)

    def scaled(self, y: FloatArray) -> FloatArray:
        """Return responses as they are boosted."""
        return (y - self.center) / self.unit

    def back(self, z: FloatArray) -> FloatArray:
        """Return predictions in the units of the responses."""
        return self.center + self.unit * z


@stored
@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """The trees, and what they need to predict from columns of numbers and codes.

    Attributes
    ----------
    model : HistGradientBoostingRegressor or HistGradientBoostingClassifier
        scikit-learn's trees.
    inputs : LevelNumbers
        What makes numbers of categories.
    scale : ResponseScale
        Units of the responses.
    n_classes : int
        Number of classes, in codes; 0 for numbers.
    only : int or None
        The class, where there was one only.
    """

    model: Any
    inputs: LevelNumbers
    scale: ResponseScale
    n_classes: int
    only: int | None

    def predict(self, X: FloatArray) -> Array:
        """Return numbers, or the shares of the classes."""
        if self.only is not None:
            return self._all_of_one(len(X))
        matrix = self.inputs.matrix(X)
        if not self.n_classes:
            return self.scale.back(self.model.predict(matrix))
        return self._spread(self.model.predict_proba(matrix))

    def staged(self, X: FloatArray) -> Iterator[Array]:
        """Yield what `predict` returns, after 1, 2, ... rounds."""
        if self.only is not None:
            yield from repeat(self._all_of_one(len(X)))
            return
        matrix = self.inputs.matrix(X)
        if not self.n_classes:
            yield from map(self.scale.back, self.model.staged_predict(matrix))
        else:
            yield from map(self._spread, self.model.staged_predict_proba(matrix))

    def margins(self, X: FloatArray) -> FloatArray:
        """Return the log-odds of two classes, or a score of each of more."""
        if self.only is not None:
            return np.zeros(len(X))
        return np.asarray(self.model.decision_function(self.inputs.matrix(X)))

    def staged_margins(self, X: FloatArray) -> Iterator[FloatArray]:
        """Yield what `margins` returns, after 1, 2, ... rounds."""
        if self.only is not None:
            return repeat(np.zeros(len(X)))
        return iter(self.model.staged_decision_function(self.inputs.matrix(X)))

    def _spread(self, shares: FloatArray) -> FloatArray:
        return spread(shares, self.model.classes_, np.arange(self.n_classes))

    def _all_of_one(self, n: int) -> FloatArray:
        found = np.zeros((n, self.n_classes))
        found[:, self.only] = 1.0
        return found


class Booster:
    """Trees that more can be added to, with the rows that they learn from.

    Parameters
    ----------
    rows : Rows
        What is learnt from; the inputs are `Columns`.
    make : callable
        Makes scikit-learn's estimator, given the input column that each column of numbers is from,
        and the number of rows.
    n_classes : int
        Number of classes; 0 for numbers.
    positive : bool
        Whether zero has a meaning for the responses: they are divided by their mean alone.
    """

    def __init__(
        self, rows: Rows, make: Callable[..., Any], n_classes: int = 0, *, positive: bool = False
    ) -> None:
        order = own_order(rows.X, rows.y)
        w = None if rows.weight is None else rows.weight[order]
        if w is not None and np.all(w == np.round(w)) and w.sum() <= _MOST_COPIES * len(w):
            order, w = np.repeat(order, w.astype(np.int64)), None
        y, scale = rows.y[order], ResponseScale()
        if not n_classes:
            scale = ResponseScale.of(y, w, positive=positive)
            y = scale.scaled(y)
        only = int(y[0]) if n_classes and np.all(y == y[0]) else None
        inputs, self.X = LevelNumbers.learn(rows.X[order], y, w, n_classes)
        # In single precision weights far from one would be lost.
        self.y, self.weight = y, None if w is None else w / w.mean()
        self.trees = BoostedTrees(make(inputs.source, len(y)), inputs, scale, n_classes, only)

    def grow(self, rounds: int) -> None:
        """Add trees until `rounds` rounds are done."""
        if self.trees.only is None:
            model = self.trees.model.set_params(max_iter=rounds)
            with _one_fit:
                model.fit(self.X, self.y, sample_weight=self.weight)


def threads_for(n: int, n_jobs: int | None) -> AbstractContextManager[Any]:
    """Keep the trees' threads to one where others work beside, or where there are few rows."""
    return openmp_in(spare_threads(n_jobs) if n > _FEW_ROWS else 1)
