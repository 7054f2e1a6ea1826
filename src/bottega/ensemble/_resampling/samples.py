"""Models fitted to samples of the rows, drawn by what is in the rows and a seed alone."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.frames import take_rows
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._combination.estimator import Combination
from bottega.ensemble._combination.models import fit_drawn
from bottega.ensemble._resampling.draws import draw_rows, own_order


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows in an order that depends on their content alone: to draw samples and folds from.

    Attributes
    ----------
    X, y, weight
        Inputs, responses and weights (None: all one) in that order.
    codes : ndarray
        The responses, classes as codes.
    order : ndarray of int
        Where each row stands among the rows that were given.
    """

    X: Any
    y: Array
    codes: Array
    weight: FloatArray | None
    order: IntArray

    @classmethod
    def of(cls, rows: Rows, y: Array) -> Self:
        """Return rows, with responses `y` as their models take them, in that order."""
        order = own_order(rows.X, y)
        weight = None if rows.weight is None else rows.weight[order]
        return cls(take_rows(rows.X, order), y[order], np.asarray(rows.y)[order], weight, order)

    @property
    def copies(self) -> int:
        """As many draws as the weights have copies of rows, and never fewer than rows."""
        n = len(self.y)
        return n if self.weight is None else max(n, round(self.weight.sum()))

    def draw(self, seed: int, size: int, *, replace: bool = True) -> IntArray:
        """Return how often each row is drawn."""
        return draw_rows(len(self.y), size, seed, replace=replace, weight=self.weight)

    def fit(self, base: Any, counts: Any, seed: int | None = None) -> Any:
        """Return a copy of the base fitted to the rows drawn `counts` times (None: once)."""
        return fit_drawn(base, self.X, self.y, counts, seed)


class Resampled(Combination):
    """Fits one base to many samples of the rows."""

    base: Any

    @abstractmethod
    def _own_base(self) -> Any:
        """Return the base in use when none is given."""

    def _bases(self) -> list[Any]:
        return [self._own_base() if self.base is None else self.base]

    def _prepare(self, rows: Rows) -> OrderedRows:
        return OrderedRows.of(rows, self._responses(rows))
