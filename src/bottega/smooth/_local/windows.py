"""Local polynomials about points, at one bandwidth."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.loaded import insist
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray
from bottega.smooth._kernels.boxes import sums_normal, sums_polynomial
from bottega.smooth._kernels.local_line import fit_line
from bottega.smooth._kernels.local_space import fit_space, rows_of
from bottega.smooth._local.blocks import check_found, in_blocks, no_boxes, writable
from bottega.smooth._local.rows import LocalRows, coefficient_count, derivative_units
from bottega.smooth._local.weights import KERNELS

_BORDER = 1e-9  # of a radius
# Sums by boxes take a point about as long as this many rows do, and each row this many to prepare.
_WIDE, _BUILD = 1_500, 30


@stored
@dataclass(frozen=True)
class Recipe:
    """What kind of local fit is wanted."""

    kernel: str
    degree: int
    nearest: bool = False  # the bandwidth is a fraction of the rows
    product: bool = True  # the weight of several inputs is a product, not that of the distance

    def check_loaded(self) -> None:
        """Raise where what was read from a file is no recipe."""
        insist(self.kernel in KERNELS and self.degree in (0, 1, 2), "an unknown kind of local fit")


@dataclass(frozen=True)
class LocalValues:
    """Local polynomials at points."""

    found: FloatArray  # functionals, one column each
    length: FloatArray  # squared lengths of their rows of the smoother
    C: FloatArray  # from which those rows follow: (m, count, k)
    used: FloatArray  # bandwidths
    widened: BoolArray  # which of them had to be


@stored
@dataclass(frozen=True)
class Window:
    """Distinct places with a bandwidth: fits a polynomial about any point."""

    rows: LocalRows
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
        radius = self.rows.nearest(1e-12, self.recipe.degree).radii(at)[0]
        # The next row stands on the border: no rounding may let it in.
        return np.asarray((1 - _BORDER) * radius / KERNELS[self.recipe.kernel].reach)

    def at(
        self,
        at: FloatArray,
        *,
        count: int = 1,
        spread: FloatArray | None = None,
        spare: FloatArray | None = None,
    ) -> LocalValues:
        """Fit the polynomials about points on the scale of the rows, `count` functionals each.

        `spread` has the variances for the lengths of rows, which are nan without (for one input);
        `spare` what the method of this name gives for these points, where it is known.
        """
        kernel, recipe, rows = KERNELS[self.recipe.kernel], self.recipe, self.rows
        if recipe.nearest:
            h, widened = rows.nearest(self.bandwidth, recipe.degree).radii(at)
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
            sums, squares, known, level = no_boxes(len(at))

        def block(part: slice) -> Any:
            shape = (recipe.degree, kernel.code, kernel.reach)
            near = (h[part], spare[part], *shape)
            if line:
                points = np.ascontiguousarray(at[part, 0])
                done = (sums[part], squares[part], known[part], level)
                return fit_line(X, y, w, v, points, *near, count, with_norm, done, False)
            return fit_space(X, y, w, v, at[part], *near, recipe.product, count)

        pairs = 0 if boxed else len(at) * len(rows.y)
        found, C, length, used = in_blocks(len(at), pairs, block)
        check_found(found)
        unit = derivative_units(used, count, line)
        return LocalValues(
            found * unit, length * unit**2, C * unit[:, :, None], used, widened | (used != h)
        )

    def evaluate(
        self, Z: FloatArray, *, lengths: bool = False, count: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Return functionals at points and, on request, their variances over sigma^2."""
        values = self.at(Z, count=count, spread=self.variances() if lengths else None)
        return values.found, values.length

    def _boxes_pay(self, points: int) -> bool:
        """Return True if sums by boxes are faster than row by row: many points, wide windows."""
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
            return sums_polynomial(x, y, w, at, h, poly, powers)
        if not squared:
            return sums_normal(x, y, w, at, h, kernel.reach, powers)
        # The square of the normal function is itself with h over the root of two.
        root = float(np.sqrt(2.0))
        found, safe = sums_normal(x, y, w, at, h / root, kernel.reach, powers)
        found[:, :5] /= root ** np.arange(5)
        return found, safe

    def matrix(self, at: FloatArray) -> FloatArray:
        """Return the weight of each place's mean response in the value at points."""
        kernel, recipe = KERNELS[self.recipe.kernel], self.recipe
        points = self.at(at)
        X, w, Z = writable(self.rows.X, self.rows.weight, np.ascontiguousarray(at))
        shape = (recipe.degree, kernel.code, kernel.reach, recipe.product)
        return rows_of(X, w, Z, points.used, *shape, points.C)[:, 0]

    def variances(self) -> FloatArray:
        """Return the variance of the mean response of each place, over sigma^2."""
        return 1 / self.rows.weight

    def squares(self) -> FloatArray:
        """Return what makes lengths of rows sum to tr SS', every response counting alike."""
        return np.asarray(self.rows.square / self.rows.weight**2)
