"""What a fitted model keeps of its terms: directions, ridge functions, shares."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bottega.additive._pursuit.coordinates import WhiteCoordinates
from bottega.additive._pursuit.model import RidgeSum, RidgeTerm
from bottega.core.loaded import insist, is_array
from bottega.core.signs import signs
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.smooth._splines.cubic_curve import CubicCurve

_NAMED = 3  # inputs in the name of a term
_COUNTS = 0.1  # share of the largest part in a direction from which on an input is named


@stored
@dataclass(frozen=True)
class RidgeTerms:
    """A sum of ridge functions: ``intercept + sum_m beta[m] f_m((x - center) @ directions[m])``.

    Attributes
    ----------
    center, spread : ndarray of shape (p,)
        Means and standard deviations of the inputs.
    directions : ndarray of shape (M, p)
        One direction of length one for each term, in the units of the inputs.
    functions : tuple of CubicCurve
        Ridge functions, of mean zero and variance one over the rows of the fit.
    beta : ndarray of shape (M, q)
        The share of each function in each predictor.
    intercept : ndarray of shape (q,)
        Intercepts.
    """

    center: FloatArray
    spread: FloatArray
    directions: FloatArray
    functions: tuple[CubicCurve, ...]
    beta: FloatArray
    intercept: FloatArray

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        M, p, q = len(self.functions), len(self.center), len(self.intercept)
        fits = is_array(self.directions, np.float64, (M, p))
        fits = fits and is_array(self.spread, np.float64, (p,))
        insist(fits and is_array(self.beta, np.float64, (M, q)), "terms without directions")
        for each in self.functions:
            insist(isinstance(each, CubicCurve), "a term without a function")

    def names(self, inputs: Sequence[str]) -> list[str]:
        """Return each term with the inputs that count most in its direction: ``f1: 0.7 a - 0.7 b``.

        They count by their standard deviations.
        """
        return [
            f"f{m + 1}: {_in_words(direction, inputs, np.abs(direction) * self.spread)}"
            for m, direction in enumerate(self.directions)
        ]

    def projections(self, X: FloatArray) -> FloatArray:
        """Return the projection of each row on each direction, (n, M)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray((X - self.center) @ self.directions.T)

    def values(self, X: FloatArray) -> FloatArray:
        """Return the value of each ridge function at each row, (n, M)."""
        if not self.functions:
            return np.empty((len(X), 0))
        Z = self.projections(X)
        with np.errstate(over="ignore", invalid="ignore"):
            columns = [f(np.ascontiguousarray(Z[:, m])) for m, f in enumerate(self.functions)]
        return np.column_stack(columns)

    def predictor(self, X: FloatArray) -> FloatArray:
        """Return the linear predictors of each row, (n, q)."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.intercept + self.values(X) @ self.beta)


@dataclass(frozen=True)
class Scale:
    """The responses of a fit: ``(y - shift) / unit``."""

    shift: FloatArray
    unit: FloatArray


def ridge_terms(model: RidgeSum, coordinates: WhiteCoordinates, scale: Scale) -> RidgeTerms:
    """Return the terms in the units of the inputs, the most important first.

    Each direction points to where the input that counts most in it (in standard deviations) rises.
    """
    order = np.argsort([-term.importance for term in model.terms], kind="stable")
    found = [_in_units(model.terms[m], coordinates) for m in order]
    directions = [direction for direction, _ in found]
    beta = [model.terms[m].beta * scale.unit for m in order]
    return RidgeTerms(
        coordinates.center,
        coordinates.scale,
        np.array(directions).reshape(len(found), len(coordinates.center)),
        tuple(curve for _, curve in found),
        np.array(beta).reshape(len(found), len(model.intercept)),
        model.intercept * scale.unit + scale.shift,
    )


def _in_words(direction: FloatArray, inputs: Sequence[str], size: FloatArray) -> str:
    """Return a sum of the inputs with the largest sizes, and how many others count."""
    counts = np.flatnonzero(size >= _COUNTS * size.max())
    order = counts[np.argsort(-size[counts], kind="stable")]
    text = ""
    for j in order[:_NAMED]:
        sign = (" - " if text else "-") if direction[j] < 0 else (" + " if text else "")
        text += f"{sign}{abs(direction[j]):.2g} {inputs[j]}"
    left = len(order) - _NAMED
    return text + (f" + {left} more" if left > 0 else "")


def _in_units(term: RidgeTerm, coordinates: WhiteCoordinates) -> tuple[FloatArray, CubicCurve]:
    """Return the direction of a term, of length one, and its function of the projection."""
    standard = coordinates.axes @ term.a
    sign = float(signs(standard[:, None])[0])
    direction = sign * standard / coordinates.scale
    largest = np.max(np.abs(direction))
    length = float(largest * np.sqrt(np.sum((direction / largest) ** 2)))
    low, span = term.low / length, term.span / length
    knots, value, slope, bend = term.curve
    if len(knots) == 1:  # a constant
        knots, value, slope, bend = (np.repeat(each, 2) for each in term.curve)
        knots = knots + np.array([0.0, 1.0])
    if sign < 0:
        low = -(low + span)
        knots, value, slope, bend = (1 - knots)[::-1], value[::-1], -slope[::-1], bend[::-1]
    parts = (np.ascontiguousarray(each) for each in (knots, value, slope, bend))
    return direction / length, CubicCurve(low, span, *parts)
