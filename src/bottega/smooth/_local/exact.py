"""Local polynomials fitted to all rows, at every point itself."""

from dataclasses import dataclass

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray
from bottega.smooth._local.rows import LocalRows, TrainingFit
from bottega.smooth._local.windows import Recipe, Window


@stored
@dataclass(frozen=True)
class ExactRows(LocalRows):
    """The distinct places of training rows, with their mean responses and total weights."""

    place: IntArray  # of each row, in the order of the data
    row_weight: FloatArray

    @property
    def widest(self) -> float:
        """The largest range among the inputs."""
        return float(np.ptp(self.X, axis=0).max())

    def spare(self, recipe: Recipe) -> FloatArray | None:
        """Return what windows at the places may be widened to: the same for all bandwidths."""
        return None if recipe.nearest else Window(self, recipe, 1.0).spare(self.X)

    def surface(self, recipe: Recipe, bandwidth: float) -> Window:
        """Return the surface alone: it is fitted where it is evaluated."""
        return Window(self, recipe, bandwidth)

    def fit(
        self, recipe: Recipe, bandwidth: float, lengths: bool, spare: FloatArray | None
    ) -> tuple[Window, TrainingFit]:
        """Return the surface and its fit to the training rows, on request with tr SS'."""
        window = self.surface(recipe, bandwidth)
        values = window.at(self.X, spread=window.squares() if lengths else None, spare=spare)
        return window, TrainingFit(
            values.found[self.place, 0],
            # A row is at the centre of its own window, where the weight function is one.
            self.row_weight * values.C[self.place, 0, 0],
            float(values.length[self.place, 0].sum()) if lengths else np.nan,
            int(np.count_nonzero(values.widened)),
        )

    def matrix(self, window: Window, Z: FloatArray) -> FloatArray:
        """Return the weight of each row's response in the value at points."""
        share = self.row_weight / self.weight[self.place]
        return np.asarray(window.matrix(Z)[:, self.place] * share)


def exact_rows(rows: LocalRows) -> ExactRows:
    """Put rows at the same place together."""
    if rows.X.shape[1] == 1:
        new = np.concatenate([[True], np.diff(rows.X[:, 0]) > 0])
        X, place = rows.X[new], np.cumsum(new) - 1
    else:
        X, place = np.unique(rows.X, axis=0, return_inverse=True)
    place = place.reshape(-1).astype(np.intp)
    weight, square, mass, total = (
        np.asarray(np.bincount(place, each, minlength=len(X)), dtype=np.float64)
        for each in (rows.weight, rows.square, rows.mass, rows.weight * rows.y)
    )
    given, row_weight = np.empty_like(place), np.empty_like(rows.weight)
    given[rows.order], row_weight[rows.order] = place, rows.weight
    made = (np.ascontiguousarray(X), total / weight, weight, square, mass, np.arange(len(X)))
    return ExactRows(*made, rows.columns, rows.divisor, given, row_weight)
