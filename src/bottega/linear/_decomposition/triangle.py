r"""What rows tell about linear coefficients, as the QR factor of the rows: updated and merged.

The information :math:`A^\top A` of the rows :math:`A = [1, X, y]` is kept by its square root, the
triangle R with :math:`R^\top R = A^\top A`. New rows are merged by an orthogonal transformation, so
nothing cancels and no digits are lost to squaring, however many rows go by. With an intercept the
first row seen is taken off all rows: another origin changes the first row of R alone, and below it
stands the triangle of the centred columns, which a large common level of the inputs would blur.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import validate_data

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.linear_smoother import Intervals
from bottega.core.row_factor import triangle_of
from bottega.core.rows import Rows, check_weight, split_rows
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.validate import check_columns, refuse_masked
from bottega.linear._decomposition.centering import ROUNDING
from bottega.linear._decomposition.coefficients import LinearPrediction
from bottega.linear._decomposition.rank import independent_columns
from bottega.linear._kernels.recursive import absorb_rows

_BLOCK = 2048  # rows merged at a time: a block of a few dozen columns stays in the cache


@dataclass(frozen=True)
class TriangleSolution:
    """Coefficients that fit the rows of a triangle (and a prior).

    An intercept comes first, and belongs to the origin.
    """

    coef: FloatArray  # (d,): zero where aliased
    root: FloatArray  # (d, r): root @ root.T = (A'A)^-1; zero rows where aliased
    aliased: BoolArray  # (d,): columns that (so far) are combinations of those before them
    rss: float
    df: float  # trace of the smoother matrix
    origin: FloatArray  # (p + 1,): what was taken off inputs and response

    @property
    def first(self) -> int:
        """One with an intercept, else zero."""
        return len(self.coef) - len(self.origin) + 1

    @property
    def intercept(self) -> float:
        """Intercept at the origin of the user's columns."""
        if not self.first:
            return 0.0
        return float(self.origin[-1] + self.coef[0] - self.origin[:-1] @ self.coef[1:])

    def original_root(self) -> FloatArray:
        """Return the root for the intercept at the origin of the user's columns."""
        root = self.root.copy()
        if self.first:
            root[0] -= self.origin[:-1] @ root[1:]
        return root

    def mean_at(self, X: FloatArray) -> FloatArray:
        """Return the mean at each row."""
        mean = (X - self.origin[:-1]) @ self.coef[self.first :]
        return np.asarray(mean + self.coef[0] + self.origin[-1] if self.first else mean)

    def unit_error_at(self, X: FloatArray) -> FloatArray:
        """Return the standard error of the mean at each row over sigma."""
        reach = (X - self.origin[:-1]) @ self.root[self.first :]
        return np.linalg.norm(reach + self.root[0] if self.first else reach, axis=1)


@stored
class Triangle:
    """The triangle of all rows ``[1, X, y]`` seen so far."""

    def __init__(self, n_features: int, *, intercept: bool, forgetting: float = 1.0) -> None:
        size = n_features + intercept + 1
        self.R: FloatArray = np.zeros((size, size))
        self.origin: FloatArray = np.zeros(n_features + 1)  # taken off inputs and response
        self.intercept = intercept
        self.forgetting = forgetting
        self.count = 0  # rows with a positive weight
        self.weight = 0.0  # sum of the weights, each times its share still remembered
        self.rows = 0.0  # number of rows still remembered: `count`, but for forgetting
        self.age = 0  # rows that went by

    def update(self, X: FloatArray, y: FloatArray, w: Any = None) -> Self:
        """Take in a block of rows at once."""
        R = self.R
        size = len(R)
        if len(X) < size:  # a few rotations are done before LAPACK is called
            self.update_by_row(X, y, w)
            return self
        origin = self._origin(X, y)
        for part in split_rows(len(X), _BLOCK):
            m = part.stop - part.start
            stacked = np.empty((size + m, size), order="F")
            stacked[:size] = R
            block = stacked[size:]
            if self.intercept:
                block[:, 0] = 1.0
            block[:, int(self.intercept) : -1] = X[part] - origin[:-1]
            block[:, -1] = y[part] - origin[-1]
            if w is not None:
                block *= np.sqrt(w[part])[:, None]
            if self.forgetting < 1:
                stacked[:size] *= self.forgetting ** (m / 2)
                block *= self.forgetting ** (np.arange(m - 1, -1, -1)[:, None] / 2)
            R = triangle_of(stacked)
        return self._advance(R, origin, len(X), w)

    def update_by_row(
        self, X: FloatArray, y: FloatArray, w: Any = None, prior: float = 0.0
    ) -> FloatArray:
        """Take in rows one after the other; return the error of predicting each from those before.

        `prior` is the precision that the rows before this block are joined by. It takes part in
        the predictions and is not kept.
        """
        origin = self._origin(X, y)
        R, base = (self.with_prior(prior), 0 * origin) if prior else (self.R.copy(), origin)
        rows = np.ascontiguousarray(X - base[:-1]), np.ascontiguousarray(y - base[-1])
        root = np.zeros(0) if w is None else np.sqrt(w)
        errors = np.empty(len(X))
        absorb_rows(R, *rows, root, self.intercept, np.sqrt(self.forgetting), errors)
        if prior:
            self.update(X, y, w)
        else:
            self._advance(R, origin, len(X), w)
        return errors

    def merge(self, other: Self, *, beside: bool = False) -> Self:
        """Take in the rows of another triangle, which came later, or `beside` these."""
        if not self.age:
            self.origin = other.origin
        faded = 1.0 if beside else self.forgetting**other.age
        self.R = triangle_of(np.vstack([np.sqrt(faded) * self.R, other.about(self.origin)]))
        self.count += other.count
        self.weight = faded * self.weight + other.weight
        self.rows = faded * self.rows + other.rows
        self.age = max(self.age, other.age) if beside else self.age + other.age
        return self

    def _origin(self, X: FloatArray, y: FloatArray) -> FloatArray:
        return np.append(X[0], y[0]) if self.intercept and not self.age else self.origin

    def _advance(self, R: FloatArray, origin: FloatArray, m: int, w: Any) -> Self:
        if not np.all(np.isfinite(R)):
            raise InputError(
                "The squares of these numbers overflow: bring inputs and response to a smaller "
                "scale."
            )
        self.R, self.origin = R, origin
        self.age += m
        if w is None and self.forgetting == 1:
            self.count, self.weight, self.rows = self.count + m, self.weight + m, self.rows + m
            return self
        memory = self.forgetting ** np.arange(m - 1, -1, -1.0)
        weights = np.ones(m) if w is None else w
        old = self.forgetting**m
        self.count += int(np.count_nonzero(weights))
        self.weight = old * self.weight + float(memory @ weights)
        self.rows = old * self.rows + float(memory @ (weights > 0))
        return self

    def about(self, origin: Any) -> FloatArray:
        """Return a copy of R for rows with another origin taken off them."""
        R = self.R.copy()
        if self.intercept:
            R[0, 1:] += R[0, 0] * (self.origin - origin)
        return R

    def with_prior(self, precision: float) -> FloatArray:
        """Return R about zero with the rows of a prior N(0, I / precision) on all coefficients."""
        rows = np.sqrt(precision) * np.eye(len(self.R) - 1, len(self.R))
        return triangle_of(np.vstack([self.about(0.0), rows]))

    def solve(self, prior: float = 0.0) -> TriangleSolution:
        """Return the coefficients that fit the rows, with a prior of that precision."""
        d = len(self.R) - 1
        if prior:
            R, origin = self.with_prior(prior), 0 * self.origin
            kept = independent_columns(R[:d, :d])
        else:
            R, origin = self.R, self.origin
            kept = self._independent()
        if not kept.all():
            R = triangle_of(R[:, np.append(kept, True)])
        r = len(R) - 1 if kept.all() else int(kept.sum())
        coef, root = np.zeros(d), np.zeros((d, r))
        if r:
            root[kept] = solve_triangular(R[:r, :r], np.eye(r))
            coef[kept] = solve_triangular(R[:r, :r], R[:r, r])
        # The triangle's corner is the penalised sum: residuals plus prior.
        rss = max(float(R[r, r] ** 2) - prior * float(coef @ coef), 0.0)
        df = r - prior * float(np.sum(root**2))
        return TriangleSolution(coef, root, ~kept, rss, df, origin)

    def _independent(self) -> BoolArray:
        """Return which columns are not combinations of those before them."""
        d, first = len(self.R) - 1, int(self.intercept)
        kept = independent_columns(self.R[first:d, first:d]) & ~self.constant()
        return np.append(np.ones(first, dtype=np.bool_), kept)

    def constant(self) -> BoolArray:
        """Return which inputs do not vary: a spread that is rounding of the level is none."""
        d, first = len(self.R) - 1, int(self.intercept)
        spread = np.linalg.norm(self.R[first:d, first:d], axis=0)
        if not first:
            return np.asarray(spread == 0)
        return np.asarray(spread <= ROUNDING * np.abs(self.origin[:-1] * self.R[0, 0]))


def _check_sizes(X: FloatArray) -> None:
    size = np.max(np.abs(X), axis=0, initial=0.0)
    with np.errstate(over="ignore"):
        check_columns(size**2, mean=size)


class TriangleLearner(LinearPrediction, Intervals, Chunked):
    """What a learner shares whose `_settle` takes the triangle of all rows."""

    fit_intercept: bool
    n_features_in_: int
    _triangle: Triangle

    def _new_triangle(self) -> Triangle:
        return Triangle(
            self.n_features_in_,
            intercept=self.fit_intercept,
            forgetting=float(getattr(self, "forgetting", 1.0)),
        )

    def _prepare(self, rows: Rows) -> Triangle:
        _check_sizes(rows.X)
        return self._new_triangle().update(rows.X, rows.y, rows.weight)

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Any:
        _check_sizes(X)
        return self._new_triangle().update(X, y[:, 0], w)

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        return statistics

    def _next_rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Return the rows of a further block, of learners that have seen some."""
        self._check_params()
        same = self._new_triangle()
        seen = self._triangle
        if (same.intercept, same.forgetting) != (seen.intercept, seen.forgetting):
            raise InputError(
                "forgetting or fit_intercept has changed since the first rows; call fit to start "
                "afresh."
            )
        if not self._is_plain(X, y):
            refuse_masked(X=X, y=y, sample_weight=sample_weight)
            self._remember_frame(X)
            X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, reset=False)
            y = np.asarray(y, dtype=np.float64)
        return Rows.of(X, y, check_weight(sample_weight, len(y)))

    def _is_plain(self, X: Any, y: Any) -> bool:
        """Return True if rows need no check: the full one takes twenty times as long as a row."""
        return (
            type(X) is np.ndarray
            and type(y) is np.ndarray
            and X.dtype == y.dtype == np.float64
            and X.shape == (len(y), self.n_features_in_)
            and y.ndim == 1
            and len(y) > 0
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all() and np.isfinite(y).all())
        )
