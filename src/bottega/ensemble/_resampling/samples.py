"""Models fitted to samples of the rows, drawn by what is in the rows and a seed alone."""

from dataclasses import dataclass
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import clone

from bottega.core.folds import Fold, make_folds
from bottega.core.frames import is_frame, take_rows
from bottega.core.row_order import own_order
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.wrapping import fit_weighted
from bottega.ensemble._resampling.draws import draw_rows, fingerprint, seed_parts

# Weights are copies of rows up to so many of them, or this many of each row on average: a sample
# then has as many draws as there are copies.
_MOST_DRAWS = 2**20
_MOST_DRAWS_OF_ROW = 20


@dataclass(frozen=True, eq=False)
class OrderedRows:
    """Rows in an order that depends on their content alone: to draw samples and folds from.

    `y` are the responses as models take them, `codes` those with classes as codes. `order` is
    where each row stands among the rows that count. Weights are None where all are one.
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
        """As many draws as the weights have copies of rows, and never fewer than rows.

        Where these would be very many, weights are chances alone, and as many rows are drawn as
        there are.
        """
        n = len(self.y)
        total = n if self.weight is None else float(self.weight.sum())
        return max(n, round(total)) if total <= max(_MOST_DRAWS, _MOST_DRAWS_OF_ROW * n) else n

    @property
    def key(self) -> str:
        """Letters that tell these rows from others."""
        return fingerprint(self.X, self.y, *([] if self.weight is None else [self.weight]))

    def of_rows(self, value: Any, rows: Any = None) -> Any:
        """Return what was given per row in the order of (some of) these rows; else as it is."""
        if isinstance(value, str) or not hasattr(value, "__len__") or len(value) != len(self.y):
            return value
        return np.asarray(value)[self.order if rows is None else self.order[rows]]

    def deal(self, cv: Any, strata: Any = None) -> list[Fold]:
        """Return folds of these rows, dealt by what is in them."""
        n = len(self.y)
        return make_folds(cv, n, strata=strata, X=self.X, y=self.codes, weight=self.weight)

    def draw(self, seed: int, size: int, *, replace: bool = True) -> IntArray:
        """Return how often each row is drawn."""
        return draw_rows(len(self.y), size, seed, replace=replace, weight=self.weight)

    def fit(self, base: Any, counts: Any, seed: int | None = None, columns: Any = None) -> Any:
        """Return a copy of the base fitted to the rows drawn `counts` times (None: once)."""
        X = self.X if columns is None else take_columns(self.X, columns)
        model = clone(base)
        if seed is not None:
            seed_parts(model, seed)
        return fit_weighted(model, X, self.y, counts)


def take_columns(X: Any, columns: IntArray) -> Any:
    """Return the given columns of an array, a sparse matrix or a frame."""
    if not is_frame(X):
        return X[:, columns]
    frame = nw.from_native(X, eager_only=True)
    if len(set(columns.tolist())) == len(columns):
        return frame[:, columns.tolist()].to_native()
    # A name stands once in a frame: of a column that is drawn again the copies are renamed.
    names = [frame.columns[j] for j in columns]
    copies = [nw.col(name).alias(f"{name} {i}") for i, name in enumerate(names)]
    return frame.select(*copies).to_native()
