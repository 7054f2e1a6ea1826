"""One loess fit at a given span: plain or robust, direct or blended, with R's statistics."""

from dataclasses import dataclass

import numpy as np

from bottega.core.lazy import cached_property
from bottega.core.smoother import Smoother
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._local.rows import LocalRows, TrainingFit
from bottega.smooth._loess.blended import BlendedSurface, blend_surface
from bottega.smooth._loess.fits import LocalFits, local_fits

LoessSurface = LocalFits | BlendedSurface


@stored
@dataclass(frozen=True)
class LoessSmoother(Smoother):
    """A `Smoother` with the residual scale of loess."""

    spread: float = np.nan  # sqrt(sum w r^2 / one_delta), or its robust form
    # Degrees of freedom of Student's t, one_delta^2 / two_delta; nan where two_delta was not
    # computed: n - df then.
    lookup: float = np.nan

    @property
    def sigma(self) -> float:
        """Residual standard deviation."""
        return self.spread

    @property
    def df_residual(self) -> float:
        """Degrees of freedom for tests and intervals."""
        return self.n - self.df if np.isnan(self.lookup) else self.lookup


@dataclass(frozen=True)
class LoessFit:
    """A surface, and the one it would be without robustness weights."""

    rows: LocalRows
    surface: LoessSurface  # with the last robustness weights
    plain: LoessSurface  # without any; the same object if there are none
    robust: FloatArray  # robustness weights
    two_delta: bool  # whether to compute it

    @cached_property
    def training(self) -> TrainingFit:
        """`surface` at its rows."""
        # The statistics are those of the plain surface: of a robust one nobody asks for two_delta.
        return self.surface.training(two_delta=self.two_delta and self.surface is self.plain)

    def statistics(self) -> dict[str, float]:
        """Return trace, enp, one_delta and two_delta of the surface without robustness weights."""
        training = self.training
        if self.surface is not self.plain:
            training = self.plain.training(two_delta=self.two_delta)
        trace = float(training.leverage.sum())
        return {
            "trace": trace,
            "enp": training.trace_sst,
            "one_delta": len(self.rows.y) - 2 * trace + training.trace_sst,
            "two_delta": training.two_delta,
        }

    def spread(self, one_delta: float) -> float:
        """Return the residual scale; nan where nothing is left to estimate it from."""
        if not one_delta > 1e-9 * len(self.rows.y):
            return float("nan")
        residuals = self.rows.y - self.training.fitted
        if self.surface is not self.plain:
            pseudo = pseudo_values(self.training.fitted, residuals, self.rows.weight, self.robust)
            residuals = pseudo - self.plain.refit(pseudo).evaluate(self.rows.X)[0][:, 0]
        return float(np.sqrt(np.sum(self.rows.weight * residuals**2) / one_delta))


def fit_loess(
    rows: LocalRows,
    span: float,
    degree: int,
    *,
    cell: float | None,
    rounds: int = 1,
    two_delta: bool = False,
) -> LoessFit:
    """Fit at one span, `rounds` times: after the first with bisquare weights from the one before.

    `cell` is the share of a window's rows that a cell of the blended surface holds; None: direct.
    """

    def surface_with(robust: FloatArray | None) -> LoessSurface:
        fits = local_fits(rows, span, degree, robust)
        if cell is None:
            return fits
        return blend_surface(fits, int(np.floor(len(rows.y) * span * cell)))

    plain = surface = surface_with(None)
    robust = np.ones(len(rows.y))
    for _ in range(1, rounds):
        robust = bisquare_weights(rows.y - surface.evaluate(rows.X)[0][:, 0])
        surface = surface_with(robust)
    return LoessFit(rows, surface, plain, robust, two_delta)


def bisquare_weights(residuals: FloatArray) -> FloatArray:
    r"""Return :math:`(1 - (r / 6m)^2)^2` inside six times the median absolute residual, else 0.

    Where more than half of the residuals are zero there is no scale to judge by: all count fully.

    Examples
    --------
    >>> bisquare_weights(np.array([0.0, 1.0, -1.0, 3.0, 60.0])).round(4)
    array([1.    , 0.9452, 0.9452, 0.5625, 0.    ])
    """
    limit = 6 * np.median(np.abs(residuals))
    if not limit > 0:
        return np.ones_like(residuals)
    return np.maximum(1 - (residuals / limit) ** 2, 0.0) ** 2


def pseudo_values(
    fitted: FloatArray, residuals: FloatArray, weight: FloatArray, robust: FloatArray
) -> FloatArray:
    """Return responses whose plain residuals have the scale of the robust fit.

    ``fitted + robust * residual / c`` with c the mean slope of the bisquare's influence: least
    squares on them behaves as the robust fit does, so its statistics hold (Cleveland, Grosse and
    Shyu, 1992).
    """
    scaled = residuals * np.sqrt(weight)
    limit = 6 * np.median(np.abs(scaled))
    if not limit > 0:
        return fitted + residuals
    slope = np.mean((1 - 5 * (scaled / limit) ** 2) * np.sqrt(robust))
    return fitted + robust * residuals / slope
