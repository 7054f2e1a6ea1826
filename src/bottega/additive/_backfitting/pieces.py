r"""The terms of a backfitted model: a plane of all columns that are lines, and curves beside it.

A smoother S of column x is split into what it makes of polynomials and the rest. The polynomials
of all terms, the lines and the levels are fitted together by least squares; beside them a term has
the curve ``(1 - H) S r``, with H the projection on its own polynomial. So terms that are nearly
lines of one another cost no further rounds.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.errors import InputError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["CurvePiece", "fixed_smoother", "projection"]


@stored
@dataclass(frozen=True, eq=False)
class CurvePiece:
    """A curve (or surface) beside its polynomial, as it stands.

    Attributes
    ----------
    columns : tuple of int
        Positions of its inputs.
    centre, scale : ndarray of shape (d,)
        Units in which the smoother sees them.
    degree : int
        Degree of the polynomial that is fitted with the lines of all terms.
    smoother : estimator
        Unfitted at first; then as it was fitted last.
    by : int or None
        Position of a column of numbers that the curve is multiplied with.
    level : float or None
        The level of the column `by` that has the curve; None for a column of numbers.
    line : ndarray of shape (q,) or None
        What is taken off the smoother's curve: coefficients of 1 and the polynomial.
    """

    columns: tuple[int, ...]
    centre: FloatArray
    scale: FloatArray
    degree: int
    smoother: Any
    by: int | None = None
    level: float | None = None
    line: FloatArray | None = None

    def inputs(self, X: FloatArray) -> FloatArray:
        """Return the inputs in the units of the smoother; missing ones at the centre."""
        u = X[:, list(self.columns)] / self.scale - self.centre / self.scale
        return np.where(np.isnan(u), 0.0, u)

    def factor(self, X: FloatArray) -> FloatArray:
        """Return what the curve is multiplied with at each row; zero where an input is missing."""
        known = ~np.any(np.isnan(X[:, list(self.columns)]), axis=1)
        found = known.astype(np.float64)
        if self.by is not None:
            by = X[:, self.by]
            here = by if self.level is None else (by == self.level).astype(np.float64)
            found = found * np.where(np.isnan(here), 0.0, here)
        return found

    def polynomial(self, u: FloatArray) -> FloatArray:
        """Return 1 and the powers of the inputs up to the degree."""
        powers = [u**k for k in range(1, self.degree + 1)]
        return np.column_stack([np.ones(len(u)), *powers])

    def fixed_columns(self, X: FloatArray) -> FloatArray:
        """Return the columns of the piece that are fitted with the lines of all terms."""
        table = self.polynomial(self.inputs(X)) * self.factor(X)[:, None]
        varying = self.by is not None and self.level is None
        return table if varying else table[:, 1:]

    def smoothed(self, X: FloatArray, r: FloatArray, w: FloatArray) -> tuple["CurvePiece", Any]:
        """Return the piece fitted to partial residuals, and its curve at the rows."""
        factor = self.factor(X)
        here = np.flatnonzero(factor != 0)
        u, z = self.inputs(X)[here], factor[here]
        weight = w[here] * z**2
        model = clone(self.smoother).fit(u, r[here] / z, sample_weight=weight)
        curve = model.predict(u)
        P = self.polynomial(u)
        line = projection(P, weight) @ curve
        found = np.zeros(len(X))
        found[here] = z * (curve - P @ line)
        return replace(self, smoother=model, line=line), found

    def at(self, X: FloatArray) -> FloatArray:
        """Return the curve beside its polynomial at rows of X."""
        assert self.line is not None
        factor = self.factor(X)
        here = np.flatnonzero(factor != 0)
        found = np.zeros(len(X))
        if len(here):
            u = self.inputs(X)[here]
            found[here] = factor[here] * (self.smoother.predict(u) - self.polynomial(u) @ self.line)
        return found

    @property
    def curved_df(self) -> float:
        """Degrees of freedom beside the polynomial."""
        return max(float(self.smoother.df_) - 1 - self.degree * len(self.columns), 0.0)


def projection(P: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the matrix that turns responses into the weighted least squares coefficients of P."""
    root = np.sqrt(weight)
    return np.asarray(np.linalg.pinv(P * root[:, None]) * root)


def fixed_smoother(piece: CurvePiece) -> CurvePiece:
    """Return a fitted piece whose smoother keeps its knob: it is not chosen again."""
    model = piece.smoother
    if not hasattr(model, "df_"):
        raise InputError(
            f"{type(model).__name__} has no degrees of freedom; backfit smoothers of "
            "bottega.smooth."
        )
    knobs = {name: getattr(model, f"{name}_") for name in getattr(model, "knobs", ())}
    instead = dict.fromkeys(getattr(model, "_instead", ()))
    return replace(piece, smoother=clone(model).set_params(**knobs, **instead))
