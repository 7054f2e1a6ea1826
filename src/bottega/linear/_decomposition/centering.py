"""Centred, scaled and weighted inputs: where a linear fit happens, and the way back from there."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.moments import Moments
from bottega.core.stored import stored
from bottega.core.typing import BoolArray, FloatArray
from bottega.core.validate import check_columns

# A column whose spread is a few units in the last place of its mean holds nothing but rounding.
ROUNDING = 10 * np.finfo(np.float64).eps


@stored
@dataclass(frozen=True)
class Centering:
    """The affine map between the user's columns and those of the penalised problem."""

    n: int  # rows with a positive weight
    weight: float  # sum of the weights
    mean: FloatArray  # (p,): what is taken off each input; zero without an intercept
    scale: FloatArray  # (p,): what each input is divided by; one where nothing is to be scaled
    constant: BoolArray  # (p,): inputs that do not vary become zero columns
    y_mean: FloatArray  # (q,): what is taken off each response; zero without an intercept
    fit_intercept: bool

    @classmethod
    def from_rows(
        cls, X: FloatArray, y: FloatArray, w: Any, *, standardize: bool, fit_intercept: bool
    ) -> tuple[Self, FloatArray, FloatArray]:
        """Return the map for rows in memory, and the rows it gives (`y` has two axes)."""
        if fit_intercept:
            mean, y_mean = np.average(X, axis=0, weights=w), np.average(y, axis=0, weights=w)
            A, Y = X - mean, y - y_mean
            # The second pass removes what rounding left in the first mean.
            correction, y_correction = (np.average(each, axis=0, weights=w) for each in (A, Y))
            mean, y_mean = mean + correction, y_mean + y_correction
            A -= correction
            Y -= y_correction
        else:
            mean, y_mean = np.zeros(X.shape[1]), np.zeros(y.shape[1])
            A, Y = X.copy(), y.copy()
        _weigh(w, A, Y)
        weight = float(len(X)) if w is None else float(w.sum())
        square = np.einsum("ij,ij->j", A, A) / weight
        check_columns(square, np.einsum("ij,ij->j", Y, Y), mean=mean)
        scale, constant = _scale(mean, square, standardize)
        found = cls(len(X), weight, mean, scale, constant, y_mean, fit_intercept)
        A *= found.inverse_scale
        return found, A, Y

    @classmethod
    def from_moments(
        cls, moments: Moments, p: int, *, standardize: bool, fit_intercept: bool
    ) -> tuple[Self, FloatArray]:
        """Return the map from the moments of ``[X, y]``, and the scatter of the mapped columns."""
        scatter, mean = moments.scatter, moments.mean
        if not fit_intercept:
            scatter = scatter + moments.weight * np.outer(mean, mean)
            mean = np.zeros_like(mean)
        square = np.diag(scatter)[:p] / moments.weight
        check_columns(square, np.diag(scatter)[p:], mean=moments.mean[:p])
        scale, constant = _scale(mean[:p], square, standardize)
        found = cls(
            moments.count, moments.weight, mean[:p], scale, constant, mean[p:], fit_intercept
        )
        factor = np.concatenate([found.inverse_scale, np.ones(len(mean) - p)])
        return found, scatter * np.outer(factor, factor)

    @property
    def inverse_scale(self) -> FloatArray:
        """What each centred input is multiplied by: zero for constant columns."""
        return np.where(self.constant, 0.0, 1 / self.scale)

    def inputs(self, X: Any) -> FloatArray:
        """Return unweighted rows of inputs, centred and scaled."""
        dense = X.toarray() if hasattr(X, "toarray") else X
        return np.asarray((dense - self.mean) * self.inverse_scale)

    def rows(self, X: FloatArray, y: FloatArray, w: Any) -> tuple[FloatArray, FloatArray]:
        """Return rows as the fit sees them: centred, scaled and times the root of their weight."""
        A, Y = self.inputs(X), y - self.y_mean
        _weigh(w, A, Y)
        return A, Y

    def original(self, coef: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return coefficients ``(..., q, p)`` and intercepts ``(..., q)`` on the user's scale.

        Of a single response they may come, and go, as ``(m, p)`` and ``(m,)``.
        """
        back = coef * self.inverse_scale
        return back, self.y_mean - back @ self.mean


def _scale(mean: FloatArray, square: FloatArray, standardize: bool) -> tuple[FloatArray, BoolArray]:
    spread = np.sqrt(square)
    constant = spread <= ROUNDING * np.abs(mean)
    scale = np.where(constant, 1.0, spread) if standardize else np.ones_like(spread)
    return scale, constant


def _weigh(w: Any, *tables: FloatArray) -> None:
    if w is not None:
        for table in tables:
            table *= np.sqrt(w)[:, None]


def squeeze(found: FloatArray, y_ndim: int) -> Any:
    """Take off the axis of responses when the response was one-dimensional."""
    if y_ndim == 2:
        return found
    return float(found[0]) if found.ndim == 1 else found[0]
