"""What local regression and loess share: the path, prediction with slopes, and the hull."""

from abc import abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.linear_smoother import LinearSmoother
from bottega.core.losses import Loss
from bottega.core.parallel import in_threads
from bottega.core.path import Path, along
from bottega.core.rows import Rows
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.smooth._local.rows import TrainingFit, coefficient_count
from bottega.smooth._path.path_smoother import PathSmoother
from bottega.smooth._path.scores import Score, largest_first, loo_path, score_fit


class LocalSmoother(PathSmoother):
    """A curve or surface of local polynomials.

    `_settle` calls `_keep`. The prepared work has ``rows``, the rows that count, ``data``, how they
    are fitted to, and ``place``, where the former are among the latter. A surface has
    ``evaluate(Z, lengths, count)``: functionals of the local polynomials at points, and their
    variances over sigma^2.
    """

    _slope_errors: ClassVar[bool] = True
    degree: int
    outside: str
    degree_: int

    def _keep(self, surface: Any, work: Any) -> None:
        """Keep the surface, and the rows whose inputs it is over."""
        self._surface, self._rows, self._first = surface, work.data, work.rows.X[0]

    def _restore(self, rows: Rows) -> None:
        # Rows of weight zero have fitted values wherever they lie.
        everywhere = copy(self)
        everywhere.outside = "extrapolate"
        LinearSmoother._restore(everywhere, rows)
        self.smoother_ = everywhere.smoother_

    def _warn_degree(self, p: int) -> None:
        if self.degree_ < self.degree:
            terms = coefficient_count(p, self.degree)
            warn_caller(
                f"The rows lie at too few places for the {terms} coefficients of degree "
                f"{self.degree}: degree {self.degree_} is used instead. Give more rows or a lower "
                "degree.",
                DataWarning,
            )

    def _warn_widened(self, widened: int, p: int, cure: str) -> None:
        if widened:
            terms = coefficient_count(p, self.degree_)
            value = getattr(self, f"{self.knob}_")
            warn_caller(
                f"At {self.knob}={value!r}, {widened} windows held fewer than {terms} distinct "
                f"rows, too few for degree {self.degree_}, and were widened until they did. Use a "
                f"larger {self.knob}{cure}.",
                DataWarning,
            )

    @abstractmethod
    def _grid(self, work: Any) -> FloatArray:
        """Return the method's own values of the knob, the simplest first."""

    @abstractmethod
    def _training(self, work: Any, value: float) -> TrainingFit:
        """Return the fit to the rows alone."""

    @abstractmethod
    def _surface_of(self, work: Any, value: float) -> Any:
        """Return the surface alone."""

    def _path(self, work: Any, values: Any, loss: Loss | None) -> Path:
        grid = self._grid(work)
        if values is not None:
            grid = largest_first(values)

        def attempt(value: float) -> tuple[Score, bool]:
            fit = self._training(work, value)
            fitted, leverage = fit.fitted[work.place], fit.leverage[work.place]
            return score_fit(work.rows, fitted, leverage, loss), fit.widened == 0

        found = in_threads(attempt, grid.tolist(), stage=f"{self.knob}s")
        scores = [score for score, _ in found]
        chosen = np.arange(len(grid)) if values is not None else _usable(found)
        df = np.array([score.df for score in scores])
        chosen = chosen[np.argsort(df[chosen], kind="stable")]
        settings = along(self.knob, grid[chosen])
        return loo_path(settings, [scores[i] for i in chosen], work.rows, loss)

    def _curves(self, work: Any, values: Sequence[Any], X_new: FloatArray) -> Array:
        Z = work.data.scale(X_new)
        surfaces = (self._surface_of(work, value) for value in values)
        return np.column_stack([surface.evaluate(Z)[0][:, 0] for surface in surfaces])

    def predict(self, X: Any, return_std: bool = False, derivative: int = 0) -> Any:
        """Return the fitted mean, or a derivative of it, at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error too. It is about noise alone: nothing about bias.
            Loess has it for the mean alone.
        derivative : {0, 1, 2}
            0 for the mean; 1 (and for one input 2) for the slope (curvature) of the local
            polynomial, up to its degree.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, p) for the slopes of several inputs
        std : ndarray of the same shape
            Only with `return_std`.
        """
        X = self._check_new(X)
        self._check_derivative(derivative, return_std)
        away = self._outside(X)
        p = len(self._rows.columns)
        count = 1 if not derivative else 1 + (derivative if p == 1 else p)
        found, length = self._surface.evaluate(self._rows.scale(X), lengths=return_std, count=count)
        mean = self._in_units(found, derivative)
        mean[away] = np.nan
        if not return_std:
            return mean
        std = self._in_units(self.smoother_.sigma * np.sqrt(length), derivative)
        std[away] = np.nan
        return mean, std

    def _in_units(self, found: FloatArray, derivative: int) -> FloatArray:
        """Return the functionals that were asked for, in the units of the inputs."""
        if not derivative:
            return found[:, 0]
        if self.n_features_in_ == 1:
            return np.asarray(found[:, derivative] / self._rows.divisor[0] ** derivative)
        slopes = np.zeros((len(found), self.n_features_in_))
        slopes[:, self._rows.columns] = (
            found[:, 1 : 1 + len(self._rows.columns)] / self._rows.divisor
        )
        return slopes

    def _check_derivative(self, derivative: Any, return_std: bool) -> None:
        several = self.n_features_in_ > 1
        if derivative not in range(min(self.degree_, 1 if several else 2) + 1):
            raise InputError(
                f"derivative={derivative!r} is not available: the local polynomials have degree "
                f"{self.degree_}"
                + (", and of several inputs only slopes are given." if several else ".")
            )
        if derivative and return_std and not self._slope_errors:
            raise InputError("Standard errors are given for the mean alone: derivative=0.")

    def _standard_error(self, X: Any) -> FloatArray:
        length = self._surface.evaluate(self._rows.scale(self._check_new(X)), lengths=True)[1]
        return np.asarray(self.smoother_.sigma * np.sqrt(length[:, 0]))

    def _outside(self, X: FloatArray) -> BoolArray:
        """Return which points are to be nan, having warned where that was asked for."""
        nowhere = np.zeros(len(X), dtype=bool)
        if self.outside == "extrapolate":
            return nowhere
        still = np.setdiff1d(np.arange(X.shape[1]), self._rows.columns)  # inputs that do not vary
        away = ~self._rows.inside(self._rows.scale(X)) | np.any(
            X[:, still] != self._first[still], axis=1
        )
        if self.outside == "nan":
            return np.asarray(away)
        if np.any(away):
            warn_caller(
                f"{int(away.sum())} of {len(X)} points lie outside the convex hull of the training "
                "rows: the fit there is an extrapolation, and its standard error does not say how "
                "wrong it may be. Use outside='nan' to leave them out.",
                DataWarning,
            )
        return nowhere


def _usable(found: list[tuple[Score, bool]]) -> IntArray:
    """Return the values at which no window was widened and every row can be left out."""
    finite = np.array([score.finite for score, _ in found])
    fine = finite & np.array([enough for _, enough in found])
    for choice in (fine, finite):
        if np.any(choice):
            return np.flatnonzero(choice)
    return np.zeros(1, dtype=np.intp)  # the first value is the simplest model
