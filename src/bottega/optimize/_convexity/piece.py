"""Functions of a vector that know their values, derivatives and curvature."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.curves import Curve
from bottega.optimize._convexity.reasons import Reason

__all__ = ["Piece", "SumOfCurves", "as_vector", "constant_of"]

_INF = float("inf")
# Bounds of second derivatives carry rounding: a bound so near zero proves nothing.
_MARGIN = 1e-9


class Piece(ABC):
    """A function of a vector, built of known functions, which proves its own curvature.

    Pieces add, take multiples (``2 * f``, ``-f``), take an affine map inside (``f.of(A, b)`` is
    f(Ax + b)) and stand inside one another: ``m(f)`` is m applied to the number f(x).

    Attributes
    ----------
    inputs : int or None
        Length of the vector; None if any will do.
    bounds : tuple of float
        A lower and an upper bound of the values.
    bends : tuple of float
        A lower and an upper bound of the eigenvalues of the Hessian, proved by rules.
    differentiable : bool
        True if every part has a gradient everywhere in its domain.
    """

    inputs: int | None = None
    bounds: tuple[float, float] = (-_INF, _INF)
    bends: tuple[float, float] = (-_INF, _INF)
    differentiable: bool = True

    # NumPy leaves `array * piece` to the piece, which then says what it takes.
    __array_ufunc__ = None

    # ---- what each kind of piece says ------------------------------------------------------------

    @abstractmethod
    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""

    @abstractmethod
    def _value(self, x: FloatArray) -> float: ...

    @abstractmethod
    def _gradient(self, x: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _hessian(self, x: FloatArray) -> FloatArray: ...

    @abstractmethod
    def _reason(self) -> Reason: ...

    def around(self, inner: "Piece") -> "Piece":
        """Return this function of the number that another one gives."""
        raise ParameterError(
            f"{self.words()} is a function of vectors; only functions of one number, such as "
            f"square() or exponential(), take {inner.words()} inside."
        )

    # ---- what all of them do ---------------------------------------------------------------------

    def __call__(self, x: Any) -> Any:
        """Return the value at a vector; or, of another piece, the composition."""
        if isinstance(x, Piece):
            return self.around(x)
        return self.value(x)

    def value(self, x: Any) -> float:
        """Return the value at a vector."""
        with np.errstate(all="ignore"):
            return float(self._value(as_vector(x, self.inputs)))

    def gradient(self, x: Any) -> FloatArray:
        """Return the gradient; at a kink, one of the slopes between those of the sides."""
        with np.errstate(all="ignore"):
            return self._gradient(as_vector(x, self.inputs))

    def hessian(self, x: Any) -> FloatArray:
        """Return the matrix of second derivatives, where there are such."""
        with np.errstate(all="ignore"):
            return self._hessian(as_vector(x, self.inputs))

    def reason(self) -> Reason:
        """Return the proof of the curvature, rule by rule; ``print`` writes it as a tree."""
        found = self._reason()
        if found.kind != "unknown":
            return found
        low, high = self.bends
        slack = _MARGIN * max((abs(b) for b in (low, high) if abs(b) < _INF), default=0.0)
        if low > slack:
            rule = f"its second derivatives are at least {low:.4g}"
            return Reason("convex", found.of, rule, found.parts)
        if high < -slack:
            rule = f"its second derivatives are at most {high:.4g}"
            return Reason("concave", found.of, rule, found.parts)
        return found

    @property
    def curvature(self) -> str:
        """What the rules prove: "affine", "convex", "concave", or "unknown" (they do not tell)."""
        return self.reason().kind

    def of(self, A: Any, b: Any = 0.0) -> "Piece":
        """Return the function x -> f(Ax + b).

        Parameters
        ----------
        A : array-like of shape (m, d)
            The matrix; a vector is one row.
        b : array-like of shape (m,) or float, default=0.0
            The shift.
        """
        from bottega.optimize._convexity.rules import AffineInside

        return AffineInside(self, A, b)

    def __add__(self, other: Any) -> "Piece":
        from bottega.optimize._convexity.rules import Sum

        return Sum([self, constant_of(other)])

    __radd__ = __add__

    def __mul__(self, factor: Any) -> "Piece":
        from bottega.optimize._convexity.rules import Multiple

        if isinstance(factor, Piece):
            raise ParameterError(
                f"No rule covers the product of {self.words()} and {factor.words()}; multiply a "
                "piece by a number."
            )
        return Multiple(factor, self)

    __rmul__ = __mul__

    def __neg__(self) -> "Piece":
        return self * -1.0

    def __sub__(self, other: Any) -> "Piece":
        return self + -constant_of(other)

    def __rsub__(self, other: Any) -> "Piece":
        return constant_of(other) + -self

    def __repr__(self) -> str:
        kind = self.curvature
        return f"{self.words()}  [{kind if kind != 'unknown' else 'unknown curvature'}]"


class SumOfCurves(Piece):
    """The sum of a function of one number over the entries of the vector."""

    def __init__(self, curve: Curve) -> None:
        self.curve, self.bends, self.differentiable = curve, curve.bends, curve.differentiable
        # A sum over an unknown number of entries: only its sign is known.
        low, high = curve.range
        self.bounds = (low if low >= 0 else -_INF, high if high <= 0 else _INF)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"{self.curve.name}({of})"

    def _value(self, x: FloatArray) -> float:
        return float(np.sum(self.curve.value(x)))

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.curve.slope(x), dtype=np.float64)

    def _hessian(self, x: FloatArray) -> FloatArray:
        return np.diag(np.asarray(self.curve.bend(x), dtype=np.float64))

    def _reason(self) -> Reason:
        kind = self.curve.shape_on(*self.curve.domain)
        known = "a known function" if kind != "unknown" else "it is neither convex nor concave"
        return Reason(kind, self.words(), known)

    def around(self, inner: Piece) -> Piece:
        """Return the curve of the number that a piece gives."""
        from bottega.optimize._convexity.rules import Composition

        return Composition(self.curve, inner)


def as_vector(x: Any, inputs: int | None) -> FloatArray:
    """Return x as a vector of the right length."""
    found = np.atleast_1d(np.asarray(x, dtype=np.float64))
    if found.ndim != 1 or (inputs is not None and len(found) != inputs):
        wanted = "a vector" if inputs is None else f"a vector of {inputs} numbers"
        raise InputError(f"x has shape {found.shape}; this function takes {wanted}.")
    return found


def constant_of(other: Any) -> Piece:
    """Return a piece as it is, and a number as a constant."""
    from bottega.optimize._convexity.rules import Constant

    if isinstance(other, Piece):
        return other
    return Constant(other)
