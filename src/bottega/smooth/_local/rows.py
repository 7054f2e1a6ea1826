"""The training rows of local polynomials: scaled, sorted, counted for the nearest fraction."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.loaded import insist, insist_on_length
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.smooth._kernels import nearest as kernels
from bottega.smooth._local.blocks import in_blocks, writable
from bottega.smooth._surface.hull import inside_hull

_TRIM = 0.1  # of the rows at each end, for the scale of an input
_FLAT = 1e-100  # a middle that varies so much less than all rows is constant


def coefficient_count(p: int, degree: int) -> int:
    """Return the number of coefficients of a polynomial of p inputs.

    Examples
    --------
    >>> coefficient_count(1, 2), coefficient_count(2, 2), coefficient_count(3, 1)
    (3, 6, 4)
    """
    return (1, 1 + p, 1 + p + p * (p + 1) // 2)[degree]


def derivative_units(h: FloatArray, count: int, line: bool) -> FloatArray:
    """Return what turns coefficients in u = (x - point) / h into value, slopes and curvature."""
    factor = np.ones((len(h), count))
    if count > 1:
        factor[:, 1:] /= h[:, None]
    if line and count > 2:
        factor[:, 2:] *= 2 / h[:, None]
    return factor


@dataclass(frozen=True)
class TrainingFit:
    """A surface at the rows it was fitted to."""

    fitted: FloatArray
    leverage: FloatArray
    trace_sst: float  # nan unless asked for
    widened: int  # windows that held too few rows
    two_delta: float = np.nan  # tr(((I - S)(I - S)')^2), nan unless asked for


@stored
@dataclass(frozen=True)
class NearestWindows:
    """The nearest fraction of the rows about any point."""

    X: FloatArray  # rows on the scale of the distances, ascending in the first column
    weight: FloatArray  # in the local fits: rows of weight zero do not help a fit
    mass: FloatArray  # what each row counts for in the nearest fraction
    target: float  # mass that a window must reach
    stretch: float  # factor on the radius of the window (fractions over one)
    least: int  # distinct rows that a window must hold

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist_on_length(self, len(self.X), "weight", "mass")
        insist(np.isfinite(self.X), "rows that are no numbers")

    @property
    def rows_inside(self) -> float:
        """Number of rows in a window, about."""
        return float(min(1.0, self.target / self.mass.sum()) * len(self.X))

    def radii(self, at: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the radius of the window of each point, and which of them had to be widened."""
        settings = (self.target, self.stretch)
        if self.X.shape[1] > 1:
            X, weight, mass = writable(self.X, self.weight, self.mass)

            def block(rows: slice) -> Any:
                return kernels.radii_space(X, weight, mass, *settings, at[rows], self.least)

            h, widened = in_blocks(len(at), float(len(at)) * len(X), block)
            return h, widened
        x, weight = writable(np.ascontiguousarray(self.X[:, 0]), self.weight)
        sums = np.concatenate([[0.0], np.cumsum(self.mass)])
        order = np.argsort(at[:, 0], kind="stable")
        h, widened = np.empty(len(at)), np.empty(len(at), dtype=bool)
        h[order], widened[order] = kernels.radii_line(
            x, weight, sums, *settings, at[order, 0], self.least
        )
        return h, widened


@stored
@dataclass(frozen=True)
class LocalRows:
    """Training rows, ascending in the first column."""

    X: FloatArray  # inputs that vary, on the scale of the distances
    y: FloatArray
    weight: FloatArray
    square: FloatArray  # sum of the squared weights, where rows were put together
    mass: FloatArray  # what each row counts for in the nearest fraction
    order: IntArray  # positions in the data as given
    columns: IntArray  # which inputs vary
    divisor: FloatArray  # what they were divided by

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        insist_on_length(self, len(self.X), "y", "weight", "square", "mass")
        insist_on_length(self, self.X.shape[1], "columns", "divisor")
        insist(np.isfinite(self.divisor) & (self.divisor != 0), "inputs divided by no number")
        insist(self.columns >= 0, "inputs that are not there")

    def scale(self, X: FloatArray) -> FloatArray:
        """Return inputs on the scale of the rows."""
        return np.ascontiguousarray(X[:, self.columns] / self.divisor)

    def inside(self, Z: FloatArray) -> BoolArray:
        """Return which scaled points lie in the convex hull of the rows."""
        return inside_hull(self.X, Z)

    def highest_degree(self, degree: int) -> int:
        """Return the highest degree, up to the given, with fewer coefficients than places."""
        p = self.X.shape[1]
        wanted = coefficient_count(p, degree)
        counts = self.weight > 0
        places = max(len(np.unique(self.X[counts, c])) for c in range(p))
        if places <= wanted and p > 1:
            places = len(np.unique(self.X[counts], axis=0))
        while degree > 0 and places <= coefficient_count(p, degree):
            degree -= 1
        return degree

    def nearest(self, span: float, degree: int, weight: FloatArray | None = None) -> NearestWindows:
        """Return the windows of a span, for fits with the rows' weights or other ones."""
        total = float(self.mass.sum())
        # As many rows as the fraction holds whole; the first term guards against its rounding,
        # the last against that of the sums of masses.
        target = max(np.floor(total * min(span, 1.0) + 1e-5), 1.0) - 1e-9 * total
        target = max(target, 1e-12 * total)  # of few rows of great weight
        return NearestWindows(
            self.X,
            self.weight if weight is None else weight,
            self.mass,
            target,
            float(np.sqrt(max(span, 1.0))),
            coefficient_count(self.X.shape[1], degree),
        )


def make_rows(
    X: FloatArray, y: FloatArray, weight: FloatArray | None, *, standardize: bool, by_weight: bool
) -> LocalRows:
    """Prepare checked rows; the nearest fraction counts weights, or rows.

    Weights that are whole numbers are counts, others are relative: equal ones are as none.
    """
    weight = np.ones(len(y)) if weight is None else weight
    mass = np.ones(len(y))
    if by_weight and not np.all(weight == weight[0]):
        whole = np.all(weight == np.round(weight))
        mass = weight if whole else weight * (len(weight) / weight.sum())
    varies = np.flatnonzero(X.max(axis=0) > X.min(axis=0))
    columns = varies if len(varies) else np.array([0])
    divisor = np.ones(len(columns))
    if standardize and len(columns) > 1:
        divisor = np.array([_trimmed_deviation(X[:, c], mass) for c in columns])
    X = X[:, columns] / divisor
    order = np.argsort(X[:, 0], kind="stable")
    X, y, weight, mass = (np.ascontiguousarray(each[order]) for each in (X, y, weight, mass))
    return LocalRows(X, y, weight, weight**2, mass, order, columns, divisor)


def _trimmed_deviation(x: FloatArray, mass: FloatArray) -> float:
    """Return the standard deviation of the middle of the rows, all of them where it is zero."""
    order = np.argsort(x, kind="stable")
    x, mass = x[order], mass[order]
    ends = np.cumsum(mass)
    total = ends[-1]
    trim = np.ceil(_TRIM * total)
    share = np.minimum(ends, total - trim) - np.maximum(ends - mass, trim)
    middle = _deviation(x, np.maximum(share, 0.0))
    whole = _deviation(x, mass)
    return middle if middle > _FLAT * whole else whole


def _deviation(x: FloatArray, mass: FloatArray) -> float:
    total = mass.sum()
    if total <= 1:
        return 0.0
    center = np.sum(mass * x) / total
    return float(np.sqrt(np.sum(mass * (x - center) ** 2) / (total - 1)))
