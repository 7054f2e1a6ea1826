"""The rules that preserve convexity, one class each, and the pieces of vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp, softmax

from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.optimize._convexity.curves import Curve
from bottega.optimize._convexity.numbers import (
    added,
    common_inputs,
    finite_array,
    one_number,
    product,
    times,
)
from bottega.optimize._convexity.piece import Piece
from bottega.optimize._convexity.reasons import Reason, combined, negated

__all__ = ["Affine", "AffineInside", "Composition", "Constant", "Largest", "LogSumExp", "Multiple",
           "NormPiece", "Sum"]  # fmt: skip

_INF = float("inf")


class Affine(Piece):
    """a.x + b."""

    def __init__(self, a: Any, b: Any = 0.0) -> None:
        self.a, self.b = np.atleast_1d(finite_array(a, "a")), one_number(b, "b")
        if self.a.ndim != 1 or not self.a.size:
            raise InputError(f"a has shape {self.a.shape}; give one vector.")
        self.inputs, self.bends = len(self.a), (0.0, 0.0)
        if not np.any(self.a):
            self.bounds = (self.b, self.b)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"a.({of}) + {self.b:g}" if self.b else f"a.({of})"

    def _value(self, x: FloatArray) -> float:
        return float(self.a @ x + self.b)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return self.a.copy()

    def _hessian(self, x: FloatArray) -> FloatArray:
        return np.zeros((len(x), len(x)))

    def _reason(self) -> Reason:
        return Reason("affine", self.words(), "a known function")


class Constant(Piece):
    """A number."""

    def __init__(self, value: Any) -> None:
        self.number = one_number(value, "the constant")
        self.bounds, self.bends = (self.number, self.number), (0.0, 0.0)

    def words(self, of: str = "x") -> str:
        """Return the number."""
        return f"{self.number:g}"

    def _value(self, x: FloatArray) -> float:
        return self.number

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.zeros_like(x)

    def _hessian(self, x: FloatArray) -> FloatArray:
        return np.zeros((len(x), len(x)))

    def _reason(self) -> Reason:
        return Reason("affine", self.words(), "a constant")

    def around(self, inner: Piece) -> Piece:
        """Return the constant."""
        return self


class NormPiece(Piece):
    """The norm of the vector, of order 1, 2 or infinity."""

    differentiable = False
    bounds = (0.0, _INF)
    bends = (0.0, _INF)

    def __init__(self, order: float = 2) -> None:
        if order not in (1, 2, _INF):
            raise ParameterError(f"order={order!r} is not allowed; give 1, 2 or inf.")
        self.order = float(order)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"norm_{self.order:g}({of})"

    def _value(self, x: FloatArray) -> float:
        size = float(np.max(np.abs(x)))
        if self.order == _INF or size == 0 or not np.isfinite(size):
            return size
        scaled = np.abs(x) / size  # squares do not overflow
        return size * float(np.sum(scaled) if self.order == 1 else np.sqrt(scaled @ scaled))

    def _gradient(self, x: FloatArray) -> FloatArray:
        if self.order == 1:
            return np.sign(x)
        if self.order == _INF:
            found = np.zeros_like(x)
            at = int(np.argmax(np.abs(x)))
            found[at] = np.sign(x[at])
            return found
        size = self._value(x)
        return x / size if size > 0 else np.zeros_like(x)

    def _hessian(self, x: FloatArray) -> FloatArray:
        size = self._value(x)
        if self.order != 2 or size == 0:
            return np.zeros((len(x), len(x)))
        u = x / size
        return (np.eye(len(x)) - np.outer(u, u)) / size

    def _reason(self) -> Reason:
        return Reason("convex", self.words(), "a known function")


class LogSumExp(Piece):
    """log of the sum of the exponentials of the entries."""

    bends = (0.0, 0.5)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"log_sum_exp({of})"

    def _value(self, x: FloatArray) -> float:
        return float(logsumexp(x))

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.asarray(softmax(x))

    def _hessian(self, x: FloatArray) -> FloatArray:
        p = softmax(x)
        return np.asarray(np.diag(p) - np.outer(p, p))

    def _reason(self) -> Reason:
        return Reason("convex", self.words(), "a known function")


class Sum(Piece):
    """The sum of pieces."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces: list[Piece] = []
        for piece in pieces:
            self.pieces += piece.pieces if isinstance(piece, Sum) else [piece]
        flat = self.pieces
        self.inputs = common_inputs([piece.inputs for piece in flat])
        self.bounds = added([piece.bounds for piece in flat])
        self.bends = added([piece.bends for piece in flat])
        self.differentiable = all(piece.differentiable for piece in flat)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return " + ".join(piece.words(of) for piece in self.pieces)

    def _value(self, x: FloatArray) -> float:
        return float(sum(piece._value(x) for piece in self.pieces))

    def _gradient(self, x: FloatArray) -> FloatArray:
        return np.sum([piece._gradient(x) for piece in self.pieces], axis=0)

    def _hessian(self, x: FloatArray) -> FloatArray:
        return np.sum([piece._hessian(x) for piece in self.pieces], axis=0)

    def _reason(self) -> Reason:
        parts = tuple(piece.reason() for piece in self.pieces)
        kind = combined([part.kind for part in parts])
        if kind == "unknown":
            return Reason(kind, self.words(), "a sum with parts of different curvature", parts)
        return Reason(kind, self.words(), f"a sum of {kind} functions", parts)

    def around(self, inner: Piece) -> Piece:
        """Return the sum of the compositions."""
        return Sum([piece.around(inner) for piece in self.pieces])


class Multiple(Piece):
    """A number times a piece."""

    def __init__(self, factor: Any, piece: Piece) -> None:
        self.factor, self.piece = one_number(factor, "the factor"), piece
        if isinstance(piece, Multiple):
            self.factor, self.piece = self.factor * piece.factor, piece.piece
        self.inputs, self.differentiable = piece.inputs, piece.differentiable
        self.bounds = times(self.factor, self.piece.bounds)
        self.bends = times(self.factor, self.piece.bends)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        inner = self.piece.words(of)
        return f"{self.factor:g} * " + (f"({inner})" if isinstance(self.piece, Sum) else inner)

    def _value(self, x: FloatArray) -> float:
        return self.factor * self.piece._value(x) if self.factor else 0.0

    def _gradient(self, x: FloatArray) -> FloatArray:
        return self.factor * self.piece._gradient(x) if self.factor else np.zeros_like(x)

    def _hessian(self, x: FloatArray) -> FloatArray:
        if not self.factor:
            return np.zeros((len(x), len(x)))
        return self.factor * self.piece._hessian(x)

    def _reason(self) -> Reason:
        part = self.piece.reason()
        if self.factor == 0:
            return Reason("affine", self.words(), "zero times a function", (part,))
        known = {
            "affine": "an affine function",
            "unknown": "a function of unknown curvature",
        }.get(part.kind, f"a {part.kind} function")
        if self.factor > 0:
            return Reason(part.kind, self.words(), f"a positive multiple of {known}", (part,))
        rule = f"a negative multiple of {known}"
        return Reason(negated(part.kind), self.words(), rule, (part,))

    def around(self, inner: Piece) -> Piece:
        """Return the multiple of the composition."""
        return Multiple(self.factor, self.piece.around(inner))


class Largest(Piece):
    """The largest of pieces at each point."""

    differentiable = False

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = list(pieces)
        self.inputs = common_inputs([piece.inputs for piece in self.pieces])
        lows, highs = zip(*(piece.bounds for piece in self.pieces), strict=True)
        self.bounds = (max(lows), max(highs))
        self.bends = (min(piece.bends[0] for piece in self.pieces), _INF)
        if len(self.pieces) == 1:
            self.bends = self.pieces[0].bends

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"max({', '.join(piece.words(of) for piece in self.pieces)})"

    def _at(self, x: FloatArray) -> Piece:
        return self.pieces[int(np.argmax([piece._value(x) for piece in self.pieces]))]

    def _value(self, x: FloatArray) -> float:
        return float(np.max([piece._value(x) for piece in self.pieces]))

    def _gradient(self, x: FloatArray) -> FloatArray:
        return self._at(x)._gradient(x)

    def _hessian(self, x: FloatArray) -> FloatArray:
        return self._at(x)._hessian(x)

    def _reason(self) -> Reason:
        parts = tuple(piece.reason() for piece in self.pieces)
        if all(part.kind in ("convex", "affine") for part in parts):
            return Reason("convex", self.words(), "the largest of convex functions", parts)
        rule = "the largest of functions that are not all convex"
        return Reason("unknown", self.words(), rule, parts)

    def around(self, inner: Piece) -> Piece:
        """Return the largest of the compositions."""
        return Largest([piece.around(inner) for piece in self.pieces])


class AffineInside(Piece):
    """f(Ax + b)."""

    def __init__(self, piece: Piece, A: Any, b: Any = 0.0) -> None:
        self.piece, self.A = piece, np.atleast_2d(finite_array(A, "A"))
        rows, self.inputs = self.A.shape if self.A.ndim == 2 else (0, 0)
        if not self.A.size or self.A.ndim != 2 or piece.inputs not in (None, rows):
            wanted = "rows" if piece.inputs is None else f"{piece.inputs} rows"
            raise InputError(f"A has shape {self.A.shape}; {piece.words()} takes {wanted} of it.")
        shift = finite_array(b, "b")
        if shift.shape not in ((), (1,), (rows,)):
            raise InputError(f"b has shape {shift.shape}; A has {rows} rows.")
        self.b = np.broadcast_to(shift, (rows,))
        self.bounds, self.differentiable = piece.bounds, piece.differentiable
        self.bends = self._bends()

    def _bends(self) -> tuple[float, float]:
        size = np.linalg.svd(self.A, compute_uv=False)
        full = self.A.shape[0] >= self.A.shape[1]
        least, most = float(size[-1]) ** 2 if full else 0.0, float(size[0]) ** 2
        low, high = self.piece.bends
        return (
            product(low, least if low > 0 else most),
            product(high, most if high > 0 else least),
        )

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        shift = " + b" if np.any(self.b) else ""
        return self.piece.words(f"A {of}{shift}" if of == "x" else f"A ({of}){shift}")

    def _value(self, x: FloatArray) -> float:
        return self.piece._value(self.A @ x + self.b)

    def _gradient(self, x: FloatArray) -> FloatArray:
        return self.A.T @ self.piece._gradient(self.A @ x + self.b)

    def _hessian(self, x: FloatArray) -> FloatArray:
        return np.asarray(self.A.T @ self.piece._hessian(self.A @ x + self.b) @ self.A)

    def _reason(self) -> Reason:
        part = self.piece.reason()
        return Reason(part.kind, self.words(), "an affine map inside", (part,))


class Composition(Piece):
    """A function of the number that another one gives."""

    def __init__(self, curve: Curve, inner: Piece) -> None:
        self.curve, self.inner, self.inputs = curve, inner, inner.inputs
        self.differentiable = curve.differentiable and inner.differentiable
        # Values outside the curve's domain give no finite number.
        self._where = (
            max(inner.bounds[0], curve.domain[0]),
            min(inner.bounds[1], curve.domain[1]),
        )
        self.bounds = curve.range_on(*self._where)
        self.bends = self._bends()

    def _bends(self) -> tuple[float, float]:
        kind = self._reason().kind
        low, high = (0.0 if kind in each else None for each in (("convex",), ("concave",)))
        if isinstance(self.inner, Affine):
            size = float(self.inner.a @ self.inner.a)
            alone = self.inner.inputs == 1
            bends = [product(bend, size) for bend in self.curve.bends]
            low = bends[0] if alone else min(0.0, bends[0])
            high = bends[1] if alone else max(0.0, bends[1])
        return (-_INF if low is None else low, _INF if high is None else high)

    def words(self, of: str = "x") -> str:
        """Return the function as a formula."""
        return f"{self.curve.name}({self.inner.words(of)})"

    def _value(self, x: FloatArray) -> float:
        return float(self.curve.value(np.array([self.inner._value(x)]))[0])

    def _gradient(self, x: FloatArray) -> FloatArray:
        z = np.array([self.inner._value(x)])
        return float(self.curve.slope(z)[0]) * self.inner._gradient(x)

    def _hessian(self, x: FloatArray) -> FloatArray:
        z, g = np.array([self.inner._value(x)]), self.inner._gradient(x)
        slope, bend = float(self.curve.slope(z)[0]), float(self.curve.bend(z)[0])
        return bend * np.outer(g, g) + slope * self.inner._hessian(x)

    def _reason(self) -> Reason:
        part = self.inner.reason()
        name, words = self.curve.name, self.words()
        shape = self.curve.shape_on(*self._where)
        way = self.curve.direction_on(*self._where)
        if shape == "unknown":
            rule = f"{name} is neither convex nor concave on the values inside"
            return Reason("unknown", words, rule, (part,))
        if part.kind == "affine":
            return Reason(shape, words, f"{name} is {shape}, and what is inside is affine", (part,))
        # What lies outside the domain has to be a convex set's complement on the right side.
        fits = (part.kind == "convex" and self.inner.bounds[0] >= self.curve.domain[0]) or (
            part.kind == "concave" and self.inner.bounds[1] <= self.curve.domain[1]
        )
        same = shape == part.kind
        if fits and way == ("rising" if same else "falling"):
            moves = {"rising": "non-decreasing", "falling": "non-increasing"}[way]
            low = self.inner.bounds[0]
            where = f" from {low:g} on" if np.isfinite(low) and low >= 0 else ""
            rule = f"{name} is {shape} and {moves}{where}, and what is inside is {part.kind}"
            return Reason(shape, words, rule, (part,))
        return Reason("unknown", words, f"no rule covers {name} of what is inside", (part,))

    def around(self, inner: Piece) -> Piece:
        """Return the curve of the composition inside."""
        return Composition(self.curve, self.inner.around(inner))
