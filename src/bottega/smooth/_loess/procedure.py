"""One loess fit at a given span: plain or robust, direct or blended, with R's statistics."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from bottega.core.typing import FloatArray
from bottega.smooth._local.rows import LocalRows, TrainingFit
from bottega.smooth._loess.blended import BlendedSurface, blend_surface
from bottega.smooth._loess.direct import DirectSurface
from bottega.smooth._loess.fits import local_fits
from bottega.smooth._loess.robust import bisquare_weights, pseudo_values

LoessSurface = DirectSurface | BlendedSurface


@dataclass(frozen=True)
class LoessFit:
    """A surface, and the one it would be without robustness weights.

    Attributes
    ----------
    rows : LocalRows
        The training rows.
    surface, plain : DirectSurface or BlendedSurface
        With the last robustness weights, and without any; the same object if there are none.
    robust : ndarray of shape (n,)
        Robustness weights.
    two_delta : bool
        Whether to compute it.
    """

    rows: LocalRows
    surface: LoessSurface
    plain: LoessSurface
    robust: FloatArray
    two_delta: bool

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
            smooth = self.plain.refit(replace(self.plain.fits, y=pseudo))
            residuals = pseudo - smooth.evaluate(self.rows.X)[0][:, 0]
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
    """Fit at one span.

    Parameters
    ----------
    rows : LocalRows
        The training rows.
    span, degree
        As in `Loess`.
    cell : float or None
        Share of a window's rows that a cell of the blended surface holds; None: direct.
    rounds : int
        Number of fits; all but the first with bisquare weights from the one before.
    two_delta : bool
        Whether to compute it.
    """

    def surface_with(robust: FloatArray | None) -> LoessSurface:
        fits = local_fits(rows, span, degree, robust)
        if cell is None:
            return DirectSurface(fits)
        return blend_surface(fits, int(np.floor(len(rows.y) * span * cell)))

    plain = surface = surface_with(None)
    robust = np.ones(len(rows.y))
    for _ in range(1, rounds):
        robust = bisquare_weights(rows.y - surface.evaluate(rows.X)[0][:, 0])
        surface = surface_with(robust)
    return LoessFit(rows, surface, plain, robust, two_delta)
