"""What the surfaces share: prediction with partial derivatives and standard errors."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.smooth._path.path_smoother import PathSmoother
from bottega.smooth._path.scores import Score, score_fit
from bottega.smooth._surface.points import DistinctPoints, Scaling

_BLOCK = 2_000  # points at once: F has as many columns as there are coefficients


class SurfaceFit(ABC):
    """The decomposition for one set of points: every penalty follows from it."""

    points: DistinctPoints

    @abstractmethod
    def shares(self, alpha: FloatArray) -> FloatArray:
        """Return the eigenvalues of the smoother, one column per penalty."""

    @abstractmethod
    def at_points(self, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return fitted means and leverages of the points, one column per penalty."""

    def at_rows(self, alpha: FloatArray, rows: Rows) -> list[tuple[FloatArray, FloatArray]]:
        """Return fitted values and leverages of the rows, a pair for each penalty."""
        fitted, leverage = self.at_points(alpha)
        columns = zip(fitted.T, leverage.T, strict=True)
        return [self.points.at_rows(*each, rows.weight) for each in columns]

    def scores(self, alpha: FloatArray, rows: Rows, loss: Loss | None) -> list[Score]:
        """Reduce the fits to what a path needs."""
        pairs = zip(self.at_rows(alpha, rows), self.shares(alpha).sum(axis=0), strict=True)
        return [score_fit(rows, *each, loss, df) for each, df in pairs]


class Surface(PathSmoother):
    """A linear smoother of a few inputs.

    A subclass gives `_surface_at` and `_noise_at`, at scaled points and for a partial derivative by
    its orders in the inputs that vary. `_noise_at` is a matrix F, one row per point, with ``F F'``
    the covariance of the surface there in units of sigma^2.
    """

    _scaling: Scaling

    def _keep(self, scaling: Scaling, fit: SurfaceFit, alpha: FloatArray, rows: Rows) -> None:
        """Keep the scaling, the points and the smoother of the fit at one penalty."""
        self._scaling, self._points = scaling, fit.points
        share = fit.shares(alpha)[:, 0]
        trace_sst, df = float(share @ share), float(share.sum())
        self._keep_smoother(rows, *fit.at_rows(alpha, rows)[0], trace_sst, df)

    @abstractmethod
    def _surface_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Return the surface or a derivative at each scaled point."""

    @abstractmethod
    def _noise_at(self, u: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        """Return F, with F F' the covariance over sigma^2."""

    @abstractmethod
    def _check_orders(self, orders: tuple[int, ...]) -> None:
        """Refuse a derivative that the surface does not have."""

    def predict(self, X: Any, return_std: bool = False, derivative: Any = 0) -> Any:
        """Return the surface, or its derivatives, at each row of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Points.
        return_std : bool
            Whether to return the standard error too.
        derivative : int or sequence of int
            0 for the surface; 1 for its slopes along all inputs; or the orders of one partial
            derivative, one per input, such as ``(1, 0)``. With one input, the order itself. Which
            orders there are is in the notes of the class. Along an input that does not vary all
            derivatives are zero.

        Returns
        -------
        mean : ndarray of shape (m,), or (m, p) for the slopes along several inputs
        std : ndarray of the same shape
            Only with `return_std`. It is about noise alone: nothing about bias.
        """
        X = self._check_new(X)
        wanted = self._wanted(derivative, X.shape[1])
        mean = np.column_stack([self._partial(X, orders) for orders in wanted])
        mean = mean[:, 0] if len(wanted) == 1 else mean
        if not return_std:
            return mean
        std = np.column_stack([self._partial_error(X, orders) for orders in wanted])
        return mean, std[:, 0] if len(wanted) == 1 else std

    def _wanted(self, derivative: Any, p: int) -> list[tuple[int, ...]]:
        """Return the orders in each input of every derivative that is asked for."""
        if np.ndim(derivative) == 0:
            if derivative == 1:
                wanted = [tuple(row) for row in np.eye(p, dtype=int).tolist()]
            else:
                wanted = [(derivative, *([0] * (p - 1)))]
            fits = derivative in (0, 1) or p == 1
        else:
            wanted = [tuple(derivative)]
            fits = len(wanted[0]) == p
        whole = all(isinstance(k, int | np.integer) and k >= 0 for k in wanted[0])
        if not (fits and whole):
            raise InputError(
                f"derivative={derivative!r} is not allowed; use 0, 1 for all slopes, or {p} whole "
                "numbers, the order in each input."
            )
        for orders in wanted:
            self._check_orders(tuple(orders[j] for j in self._scaling.columns))
        return wanted

    def _inner(self, orders: tuple[int, ...]) -> tuple[tuple[int, ...], float]:
        """Return the orders in the inputs that vary, and the factor to their units.

        The factor is zero for a derivative along an input that does not vary.
        """
        columns = self._scaling.columns
        inner = tuple(orders[j] for j in columns)
        if sum(inner) != sum(orders):
            return (0,) * len(columns), 0.0
        widths = self._scaling.divisor * self._scaling.span
        return inner, float(np.prod(widths ** -np.array(inner, dtype=np.float64)))

    def _partial(self, X: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        inner, factor = self._inner(orders)
        return factor * self._surface_at(self._scaling(X), inner)

    def _partial_error(self, X: FloatArray, orders: tuple[int, ...]) -> FloatArray:
        inner, factor = self._inner(orders)
        u, found = self._scaling(X), np.empty(len(X))
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            found[part] = np.sqrt((self._noise_at(u[part], inner) ** 2).sum(axis=1))
        return np.asarray(factor * self.smoother_.sigma * found)

    def _noise_rows(self, X: FloatArray) -> FloatArray:
        """Return F, with F F' the covariance of the surface at checked points over sigma^2."""
        return self._noise_at(self._scaling(X), (0,) * len(self._scaling.columns))

    def _standard_error(self, X: Any) -> FloatArray:
        X = self._check_new(X)
        return self._partial_error(X, (0,) * X.shape[1])
