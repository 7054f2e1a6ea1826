"""Local polynomials about points, at one bandwidth, and the curve or surface they make."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from bottega.core.parallel import available_cores, in_threads
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.smooth import _kernels_local as kernels
from bottega.smooth import _kernels_local_boxes as box_kernels
from bottega.smooth.hull import inside_hull
from bottega.smooth.kernel_weights import KERNELS
from bottega.smooth.loess_fits import TrainingFit, coefficient_count, writable
from bottega.smooth.loess_rows import Rows

__all__ = ["ExactRows", "ExactSurface", "Points", "Recipe", "Window", "exact_rows"]

_THREADS_FROM = 2_000_000  # pairs of a point and a row
_BLOCKS = 4  # a core
_BORDER = 1e-9  # of a radius
# Sums by boxes take a point about as long as this many rows do, and each row this many to prepare.
_WIDE, _BUILD = 1_500, 30


@dataclass(frozen=True)
class Recipe:
    """What kind of local fit is wanted.

    Attributes
    ----------
    kernel : str
        Name of the weight function.
    degree : int
        Degree of the polynomials.
    nearest : bool
        Whether the bandwidth is a fraction of the rows.
    product : bool
        Whether the weight of several inputs is a product, or that of the distance.
    """

    kernel: str
    degree: int
    nearest: bool
    product: bool


@dataclass(frozen=True)
class Points:
    """Local polynomials at points.

    Attributes
    ----------
    found, length : ndarray of shape (m, count)
        Functionals and the squared lengths of their rows of the smoother.
    C : ndarray of shape (m, count, k)
        From which those rows follow.
    used, widened : ndarray of shape (m,)
        Bandwidths, and which had to be widened.
    """

    found: FloatArray
    length: FloatArray
    C: FloatArray
    used: FloatArray
    widened: BoolArray


@dataclass(frozen=True)
class Window:
    """Distinct rows with a bandwidth: fits a polynomial about any point.

    Attributes
    ----------
    rows : Rows
        Distinct places, their mean responses and total weights.
    square : ndarray of shape (n,)
        Sum of the squared weights at each place.
    recipe : Recipe
        Kind of fit.
    bandwidth : float
        Bandwidth on the scale of `rows`, or fraction of the rows.
    """

    rows: Rows
    square: FloatArray
    recipe: Recipe
    bandwidth: float

    @property
    def terms(self) -> int:
        """Number of coefficients."""
        return coefficient_count(self.rows.X.shape[1], self.recipe.degree)

    @property
    def functionals(self) -> int:
        """Value and slopes; for one input all derivatives up to the degree."""
        p = self.rows.X.shape[1]
        return self.terms if p == 1 else min(self.terms, 1 + p)

    def spare(self, at: FloatArray) -> FloatArray:
        """Return the least bandwidth at each point with enough places in its window."""
        radius = self.rows.fits(1e-12, self.recipe.degree).radii(at)[0]
        # The next row stands on the border: no rounding may let it in.
        return np.asarray((1 - _BORDER) * radius / KERNELS[self.recipe.kernel].reach)

    def at(
        self,
        at: FloatArray,
        *,
        count: int = 1,
        spread: FloatArray | None = None,
        spare: FloatArray | None = None,
    ) -> Points:
        """Fit the polynomials about points.

        Parameters
        ----------
        at : ndarray of shape (m, p)
            Points on the scale of the rows.
        count : int
            How many functionals.
        spread : ndarray of shape (n,), optional
            Variances for the lengths of rows, which are nan without (for one input).
        spare : ndarray of shape (m,), optional
            What `spare` gives for these points, where it is known.
        """
        kernel, recipe, rows = KERNELS[self.recipe.kernel], self.recipe, self.rows
        if recipe.nearest:
            h, widened = rows.fits(self.bandwidth, recipe.degree).radii(at)
            spare = h
        else:
            h, widened = np.full(len(at), self.bandwidth), np.zeros(len(at), dtype=bool)
            spare = self.spare(at) if spare is None else spare
        line, with_norm = rows.X.shape[1] == 1, spread is not None
        X, y, w, v, at, h, spare = writable(
            np.ascontiguousarray(rows.X[:, 0]) if line else rows.X,
            rows.y,
            rows.weight,
            rows.weight if spread is None else spread,
            np.ascontiguousarray(at),
            h,
            spare,
        )

        boxed = line and self._boxes_pay(len(at))
        if boxed:
            level = float(np.average(y, weights=w))
            place = np.ascontiguousarray(at[:, 0])
            sums, known = self._sums(X, y - level, w, place)
            squares = sums
            if with_norm:
                squares, safe = self._sums(X, y, w**2 * v, place, squared=True)
                known &= safe
        elif line:
            level, known = 0.0, np.zeros(len(at), dtype=bool)
            sums = squares = np.empty((0, 8))

        def block(part: slice) -> Any:
            shape = (recipe.degree, kernel.code, kernel.reach)
            if line:
                points = np.ascontiguousarray(at[part, 0])
                done = (sums[part], squares[part], known[part], level)
                return kernels.fit_line(
                    X, y, w, v, points, h[part], spare[part], *shape, count, with_norm, *done
                )
            return kernels.fit_space(
                X, y, w, v, at[part], h[part], spare[part], *shape, recipe.product, count
            )

        parts = _in_blocks(len(at), 0 if boxed else len(at) * len(rows.y), block)
        found, C, length, used = (np.concatenate(each) for each in zip(*parts, strict=True))
        factor = np.ones((len(at), count))
        if count > 1:
            factor[:, 1:] /= used[:, None]
        if line and count > 2:
            factor[:, 2] *= 2 / used
        return Points(
            found * factor,
            length * factor**2,
            C * factor[:, :, None],
            used,
            widened | (used != h),
        )

    def _boxes_pay(self, points: int) -> bool:
        """Tell whether sums by boxes are quicker than row by row: many points, wide windows."""
        if self.recipe.nearest:
            return False  # every point has a bandwidth of its own
        x = self.rows.X[:, 0]
        reach = KERNELS[self.recipe.kernel].reach * self.bandwidth
        share = min(1.0, 2 * reach / max(float(x[-1] - x[0]), 1e-300))
        return points * (share * len(x) - _WIDE) > _BUILD * len(x)

    def _sums(
        self, x: FloatArray, y: FloatArray, w: FloatArray, at: FloatArray, *, squared: bool = False
    ) -> tuple[FloatArray, BoolArray]:
        """Return sums over the windows by boxes, of the weight function or of its square."""
        kernel, h = KERNELS[self.recipe.kernel], self.bandwidth
        powers = 4 if self.recipe.degree == 2 else 2
        if kernel.polynomial:
            poly = np.array(kernel.polynomial, dtype=np.float64)
            poly = np.convolve(poly, poly) if squared else poly
            return box_kernels.sums_polynomial(x, y, w, at, h, poly, powers)
        if not squared:
            return box_kernels.sums_normal(x, y, w, at, h, kernel.reach, powers)
        # The square of the normal function is itself with h over the root of two.
        root = float(np.sqrt(2.0))
        found, safe = box_kernels.sums_normal(x, y, w, at, h / root, kernel.reach, powers)
        found[:, :5] /= root ** np.arange(5)
        return found, safe

    def matrix(self, at: FloatArray) -> FloatArray:
        """Return the weight of each place's mean response in the value at points."""
        kernel, recipe = KERNELS[self.recipe.kernel], self.recipe
        points = self.at(at)
        X, w, Z = writable(self.rows.X, self.rows.weight, np.ascontiguousarray(at))
        shape = (recipe.degree, kernel.code, kernel.reach, recipe.product)
        return kernels.rows_of(X, w, Z, points.used, *shape, points.C)[:, 0]

    def variances(self) -> FloatArray:
        """Return the variance of the mean response of each place, over sigma^2."""
        return 1 / self.rows.weight

    def squares(self) -> FloatArray:
        """Return what makes lengths of rows sum to tr SS', every response counting alike."""
        return np.asarray(self.square / self.rows.weight**2)


def _in_blocks(m: int, pairs: int, block: Callable[[slice], Any]) -> list[Any]:
    cores = available_cores() if pairs > _THREADS_FROM else 1
    edges = np.linspace(0, m, _BLOCKS * cores + 1 if cores > 1 else 2).astype(int)
    parts = [slice(a, b) for a, b in pairwise(edges)]
    return [block(part) for part in parts] if cores == 1 else in_threads(block, parts)


@dataclass(frozen=True)
class ExactSurface:
    """The local polynomial of every point itself."""

    window: Window

    def evaluate(self, Z: FloatArray, *, lengths: bool = False, count: int = 1) -> Points:
        """Return the functionals at points, on request with the variances over sigma^2."""
        return self.window.at(Z, count=count, spread=self.window.variances() if lengths else None)


@dataclass(frozen=True)
class ExactRows:
    """Training rows for exact fits.

    Attributes
    ----------
    rows, places : Rows
        All rows of positive weight; the distinct places with their mean responses, total weights
        and masses.
    square : ndarray
        Sum of the squared weights at each place.
    place : ndarray of shape (n,)
        Which place each row is at.
    """

    rows: Rows
    places: Rows
    square: FloatArray
    place: IntArray

    @property
    def kept(self) -> IntArray:
        """Positions of the rows in the data as given."""
        return self.rows.order

    @property
    def columns(self) -> IntArray:
        """Inputs that vary."""
        return self.rows.columns

    @property
    def divisor(self) -> FloatArray:
        """What they were divided by."""
        return self.rows.divisor

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

    def fit(
        self,
        recipe: Recipe,
        bandwidth: float,
        *,
        lengths: bool = True,
        spare: FloatArray | None = None,
    ) -> tuple[ExactSurface, TrainingFit]:
        """Return the surface and what it says of the training rows, on request with tr SS'."""
        window = Window(self.places, self.square, recipe, bandwidth)
        spread = window.squares() if lengths else None
        points = window.at(self.places.X, spread=spread, spare=spare)
        return ExactSurface(window), TrainingFit(
            points.found[self.place, 0],
            # A row is at the centre of its own window, where the weight function is one.
            self.rows.weight * points.C[self.place, 0, 0],
            float(points.length[self.place, 0].sum()) if lengths else np.nan,
            int(np.count_nonzero(points.widened)),
        )

    def matrix(self, surface: ExactSurface, Z: FloatArray) -> FloatArray:
        """Return the weight of each row's response in the value at points."""
        share = self.rows.weight / self.places.weight[self.place]
        return np.asarray(surface.window.matrix(Z)[:, self.place] * share)

    def inside(self, Z: FloatArray) -> BoolArray:
        """Tell which points lie in the convex hull of the rows."""
        return inside_hull(self.places.X, Z)


def exact_rows(rows: Rows) -> ExactRows:
    """Put rows at the same place together."""
    if rows.X.shape[1] == 1:
        x = rows.X[:, 0]
        new = np.concatenate([[True], np.diff(x) > 0])
        X, place = rows.X[new], np.cumsum(new) - 1
    else:
        X, place = np.unique(rows.X, axis=0, return_inverse=True)
    place = place.reshape(-1).astype(np.intp)
    weight, mass, total, square = (
        np.asarray(np.bincount(place, each, minlength=len(X)), dtype=np.float64)
        for each in (rows.weight, rows.mass, rows.weight * rows.y, rows.weight**2)
    )
    places = replace(
        rows,
        X=np.ascontiguousarray(X),
        y=total / weight,
        weight=weight,
        mass=mass,
        order=np.arange(len(X)),
    )
    return ExactRows(rows, places, square, place)
