"""Least squares splines of given rows, for any set of knots."""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from bottega.basis.spline_functions import (
    LocalDesign,
    clamped_knots,
    design,
    natural_transform,
    place_knots,
)
from bottega.core.errors import InputError
from bottega.core.losses import Loss
from bottega.core.rows import Rows
from bottega.core.typing import FloatArray
from bottega.smooth._path.scores import Score
from bottega.smooth._splines.basis_smoother import SplineFit, gram

# A Gram matrix of B-splines has a condition of some thousands; beyond this a function sees no data.
_SINGULAR = 1e-13


@dataclass(frozen=True)
class KnotChoices:
    """Rows to which splines with different knots are fitted, each once."""

    rows: Rows
    x: FloatArray
    distinct: FloatArray  # values of x, ascending
    degree: int
    natural: bool
    even: bool  # knots evenly spaced, instead of at quantiles
    _fits: dict[int, tuple[FloatArray, SplineFit]] = field(default_factory=dict)

    def fit_count(self, count: int) -> tuple[FloatArray, SplineFit]:
        """Return the interior knots, `count` of them, and the fit."""
        if count not in self._fits:
            interior = self._placed(count)
            self._fits[count] = interior, self.fit(interior)[0]
        return self._fits[count]

    def score_count(self, count: int, loss: Loss | None) -> Score:
        """Fit with `count` interior knots, and return what a path needs of it."""
        interior = self._placed(count)
        fit, B = self.fit(interior)
        self._fits[count] = interior, fit
        return fit.score(B, self.rows, loss)

    def _placed(self, count: int) -> FloatArray:
        x, low, high = self.x, self.distinct[0], self.distinct[-1]
        if not high > low:
            raise InputError(f"All {len(x)} values of x are equal ({low:g}); a curve needs more.")
        if self.even:
            return place_knots(x, count, "even")
        found = place_knots(x, count, weight=self.rows.weight)
        if not np.all(np.diff(np.concatenate([[low], found, [high]])) > 0):
            found = place_knots(self.distinct, count)
        return found

    def fit(self, interior: FloatArray) -> tuple[SplineFit, LocalDesign]:
        """Fit by least squares with given interior knots; returns the design of the rows too."""
        degree, natural, distinct = self.degree, self.natural, self.distinct
        df = len(interior) + (2 if natural else degree + 1)
        if len(distinct) < df:
            raise InputError(
                f"{len(interior)} knots make {df} parameters, and x has only {len(distinct)} "
                "distinct values; take fewer knots or a lower degree."
            )
        knots = clamped_knots(interior, float(distinct[0]), float(distinct[-1]), degree)
        B = design(self.x, knots, degree, linear_ends=natural)
        G, right = gram(B, self.rows)
        T = natural_transform(knots) if natural else np.eye(len(G))
        inner = T.T @ G @ T
        # On one scale, so that a place with few rows does not look like one with none.
        unit = np.sqrt(np.diagonal(inner))
        if unit.min(initial=np.inf) > 0:
            values, vectors = linalg.eigh(inner / np.outer(unit, unit))
        if not unit.min(initial=np.inf) > 0 or values[0] < _SINGULAR * values[-1]:
            raise InputError(
                f"With the knots {np.array2string(interior, precision=4, threshold=6)} some pieces "
                "have too few rows to be fitted; take fewer knots, or knots='quantile'."
            )
        root = T @ (vectors / np.sqrt(values) / unit[:, None])
        M = root @ root.T
        return SplineFit(knots, degree, natural, M, M @ right, float(df), float(df)), B
