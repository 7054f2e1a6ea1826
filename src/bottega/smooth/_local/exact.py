"""Local polynomials fitted to all rows, at every point itself."""

from dataclasses import dataclass, replace

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.smooth._local.rows import LocalRows, TrainingFit
from bottega.smooth._local.windows import Recipe, Window
from bottega.smooth._surface.hull import inside_hull


@stored
@dataclass(frozen=True)
class ExactSurface:
    """The local polynomial of every point itself."""

    window: Window

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points and, on request, their variances over sigma^2."""
        spread = self.window.variances() if lengths else None
        values = self.window.at(Z, count=count, spread=spread)
        return values.found, values.length


@stored
@dataclass(frozen=True)
class ExactRows:
    """Training rows for exact fits.

    Attributes
    ----------
    places : LocalRows
        The distinct places with their mean responses, total weights and masses.
    square : ndarray
        Sum of the squared weights at each place.
    place, weight : ndarray of shape (n,)
        Place and weight of each row, in the order of the data.
    """

    places: LocalRows
    square: FloatArray
    place: IntArray
    weight: FloatArray

    @property
    def columns(self) -> IntArray:
        """Inputs that vary."""
        return self.places.columns

    @property
    def divisor(self) -> FloatArray:
        """What they were divided by."""
        return self.places.divisor

    @property
    def widest(self) -> float:
        """The largest range among the inputs."""
        return float(np.ptp(self.places.X, axis=0).max())

    def highest_degree(self, degree: int) -> int:
        """Return the highest degree, up to the given, for which there are enough places."""
        return self.places.highest_degree(degree)

    def spare(self, recipe: Recipe) -> FloatArray | None:
        """Return what windows at the places may be widened to: the same for all bandwidths."""
        if recipe.nearest:
            return None
        return Window(self.places, self.square, recipe, 1.0).spare(self.places.X)

    def surface(self, recipe: Recipe, bandwidth: float) -> ExactSurface:
        """Return the surface alone: it is fitted where it is evaluated."""
        return ExactSurface(Window(self.places, self.square, recipe, bandwidth))

    def fit(
        self,
        recipe: Recipe,
        bandwidth: float,
        *,
        lengths: bool = True,
        spare: FloatArray | None = None,
    ) -> tuple[ExactSurface, TrainingFit]:
        """Return the surface and its fit to the training rows, on request with tr SS'."""
        surface = self.surface(recipe, bandwidth)
        window = surface.window
        spread = window.squares() if lengths else None
        values = window.at(self.places.X, spread=spread, spare=spare)
        return surface, TrainingFit(
            values.found[self.place, 0],
            # A row is at the centre of its own window, where the weight function is one.
            self.weight * values.C[self.place, 0, 0],
            float(values.length[self.place, 0].sum()) if lengths else np.nan,
            int(np.count_nonzero(values.widened)),
        )

    def matrix(self, surface: ExactSurface, Z: FloatArray) -> FloatArray:
        """Return the weight of each row's response in the value at points."""
        share = self.weight / self.places.weight[self.place]
        return np.asarray(surface.window.matrix(Z)[:, self.place] * share)

    def inside(self, Z: FloatArray) -> BoolArray:
        """Return which points lie in the convex hull of the rows."""
        return inside_hull(self.places.X, Z)


def exact_rows(rows: LocalRows) -> ExactRows:
    """Put rows at the same place together."""
    if rows.X.shape[1] == 1:
        x = rows.X[:, 0]
        new = np.concatenate([[True], np.diff(x) > 0])
        X, place = rows.X[new], np.cumsum(new) - 1
    else:
        X, place = np.unique(rows.X, axis=0, return_inverse=True)
    place = place.reshape(-1).astype(np.intp)
    total_weight, mass, total, square = (
        np.asarray(np.bincount(place, each, minlength=len(X)), dtype=np.float64)
        for each in (rows.weight, rows.mass, rows.weight * rows.y, rows.weight**2)
    )
    places = replace(
        rows,
        X=np.ascontiguousarray(X),
        y=total / total_weight,
        weight=total_weight,
        mass=mass,
        order=np.arange(len(X)),
    )
    given, weight = np.empty_like(place), np.empty_like(rows.weight)
    given[rows.order], weight[rows.order] = place, rows.weight
    return ExactRows(places, square, given, weight)
