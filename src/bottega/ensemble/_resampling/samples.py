"""Models fitted to samples of the rows, drawn by what is in the rows and a seed alone."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from bottega.core.errors import InputError
from bottega.core.frames import take_rows
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.ensemble._resampling.draws import draw_rows, own_order, seed_parts


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows in an order that depends on their content alone: to draw samples and folds from.

    `y` are the responses as models take them, `codes` those with classes as codes. `order` is
    where each row stands among the rows that were given. Weights are None where all are one.
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
        """Return a copy of the base fitted to the rows drawn `counts` times (None: once).

        A base that takes weights is given each drawn row once, with its count; another is given
        the rows as often as they were drawn.
        """
        model = clone(base)
        if seed is not None:
            seed_parts(model, seed)
        if counts is None:
            return model.fit(self.X, self.y)
        if has_fit_parameter(model, "sample_weight"):
            rows = np.flatnonzero(counts)
            weight = np.asarray(counts[rows], dtype=np.float64)
            return model.fit(take_rows(self.X, rows), self.y[rows], sample_weight=weight)
        if np.any(counts != np.rint(counts)):
            raise InputError(
                f"{type(base).__name__} takes no sample_weight, so weights must be whole numbers "
                "(copies of a row); round them, or use a base that takes weights."
            )
        rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
        return model.fit(take_rows(self.X, rows), self.y[rows])
