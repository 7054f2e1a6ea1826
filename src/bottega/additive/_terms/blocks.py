r"""Blocks of columns: what the terms of an additive model become before they are fitted.

A term is a product of *margins*. A margin is a basis in one input (a spline, the levels of a
factor, the value itself) or in several at once (a thin-plate spline). A row of a block is the
Kronecker product of the rows of its margins, times the transform that absorbs its constraint:

    row = kron(margin_1(x_1), ..., margin_M(x_M)) @ transform

so that the engine needs each basis only at the distinct (or binned) values of its margin.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Protocol

import numpy as np

from bottega.core.loaded import insist, is_array
from bottega.core.stored import stored
from bottega.core.typing import FloatArray

__all__ = ["KINDS", "Block", "Margin", "MarginBasis", "row_products"]

# "smooth": one curve or surface; "tensor": a product of curves; "factor": an effect a level, not
# penalised; "random": an effect a level (or curve), penalised towards zero as a whole; "linear":
# columns without penalty; "intercept": the column of ones.
KINDS = ("smooth", "tensor", "factor", "random", "linear", "intercept")


class MarginBasis(Protocol):
    """Functions of the inputs of one margin."""

    @property
    def size(self) -> int:
        """Number of functions."""

    def at(self, values: FloatArray) -> FloatArray:
        """Return the functions at points (m, d) as an array (m, size).

        A point with a missing coordinate (NaN) has a row of zeros, except in a factor with a
        level for missing values.
        """

    def combine(self, values: FloatArray, coef: FloatArray) -> FloatArray:
        """Return ``at(values) @ coef`` without the zeros; coefficients (size, D)."""


@stored
@dataclass(frozen=True, eq=False)
class Margin:
    """A basis in some of the inputs.

    Attributes
    ----------
    columns : tuple of int
        Positions of the inputs in X: one, or several that are binned together.
    basis : MarginBasis
        The functions.
    transform : ndarray of shape (basis.size, size), optional
        Absorbs a constraint of the margin itself (a centred margin of a pure interaction).
    """

    columns: tuple[int, ...]
    basis: MarginBasis
    transform: FloatArray | None = None

    @property
    def size(self) -> int:
        """Number of columns."""
        return self.basis.size if self.transform is None else int(self.transform.shape[1])

    def rows(self, values: FloatArray) -> FloatArray:
        """Return the columns of the margin at values (m, d) of its inputs: (m, size)."""
        values = np.asarray(values, dtype=np.float64)
        found = self.basis.at(values[:, None] if values.ndim == 1 else values)
        return found if self.transform is None else found @ self.transform


def row_products(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the Kronecker product of each pair of rows: (n, a) and (n, b) make (n, a b)."""
    return (left[:, :, None] * right[:, None, :]).reshape(len(left), -1)


@stored
@dataclass(frozen=True, eq=False)
class Block:
    r"""The columns and penalties of one term.

    Attributes
    ----------
    name : str
        How the term is called in results: ``"smooth(x1)"``, ``"factor(g)"``.
    kind : str
        One of `KINDS`.
    margins : tuple of Margin
        The factors of the product; none for the intercept, whose only column is one.
    transform : ndarray of shape (product of margin sizes, size), optional
        Absorbs the constraint: with it, the effect has mean zero over the (weighted) rows.
    penalties : tuple of ndarray of shape (size, size)
        Each has a smoothing parameter of its own; the block is penalised by their weighted sum. All
        are symmetric, positive semidefinite and of about the same size. Empty: no penalty.
    fixed : tuple of float, optional
        Smoothing parameters that are given, one for each penalty (also where the user asks for
        degrees of freedom of the term: the builder has found the penalty that gives them); None
        where they are to be chosen.
    signs : ndarray of shape (m, size), optional
        Shape constraint, ``signs @ coef >= 0`` (monotone, convex); None without.
    labels : tuple of str
        Names of the coefficients where they have some (levels of a factor), else empty.
    term : int
        Position of the term of the model that the block belongs to; a term with a factor in ``by=``
        has a block for each level. -1 for the intercept and for indicators of missing values.
    shrink : ndarray of shape (size, size), optional
        Penalty on the null space of the others, for the selection of terms (double penalty); the
        engine adds it to `penalties` where asked.

    Notes
    -----
    A coefficient that no row says anything about (a level without rows, two terms that are the
    same) is the engine's to find and to set to zero.
    """

    name: str
    kind: str
    margins: tuple[Margin, ...] = ()
    transform: FloatArray | None = None
    penalties: tuple[FloatArray, ...] = ()
    fixed: tuple[float, ...] | None = None
    signs: FloatArray | None = None
    labels: tuple[str, ...] = field(default=())
    term: int = -1
    shrink: FloatArray | None = None

    def check_loaded(self) -> None:
        """Raise where what was read from a file does not fit together."""
        wide = [(self.transform, self.raw_size)]
        wide += [(margin.transform, margin.basis.size) for margin in self.margins]
        for Z, size in wide:
            fits = Z is None or is_array(Z, np.float64, (size, None))
            insist(fits, f"the columns of {self.name} do not fit")
        insist([column >= 0 for column in self.columns], f"{self.name} has no such column")

    @property
    def columns(self) -> tuple[int, ...]:
        """Positions of all inputs of the block, margin after margin."""
        return tuple(column for margin in self.margins for column in margin.columns)

    @property
    def raw_size(self) -> int:
        """Number of columns before the constraint is absorbed."""
        return int(np.prod([margin.size for margin in self.margins], dtype=np.intp))

    @property
    def size(self) -> int:
        """Number of coefficients."""
        return self.raw_size if self.transform is None else int(self.transform.shape[1])

    @property
    def centred(self) -> bool:
        """Whether the effect has mean zero over the rows."""
        return self.transform is not None or any(m.transform is not None for m in self.margins)

    def margin_rows(self, values: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the columns of each margin at its own distinct values."""
        return [margin.rows(at) for margin, at in zip(self.margins, values, strict=True)]

    def rows(self, values: Sequence[FloatArray]) -> FloatArray:
        """Return the columns of the block: (m, size).

        Parameters
        ----------
        values : sequence of ndarray of shape (m,) or (m, d)
            A point a row for each margin. With one margin these are its distinct values; with
            several the values of the margins row by row.
        """
        if not self.margins:
            return np.ones((len(values[0]) if values else 1, 1))
        found = reduce(row_products, self.margin_rows(values))
        return found if self.transform is None else found @ self.transform

    def design(self, X: FloatArray) -> FloatArray:
        """Return the columns of the block at rows of X: (n, size). For prediction and tests."""
        if not self.margins:
            return np.ones((len(X), 1))
        return self.rows([X[:, list(margin.columns)] for margin in self.margins])

    def effect(self, X: FloatArray, coef: FloatArray) -> FloatArray:
        """Return ``design(X) @ coef`` for coefficients (size, D), without the whole design."""
        if not self.margins:
            return np.broadcast_to(coef, (len(X), coef.shape[1]))
        if self.transform is not None:
            coef = self.transform @ coef
        *multipliers, last = self.margins
        if any(margin.size > 1 for margin in multipliers):
            parts = self.margin_rows([X[:, list(margin.columns)] for margin in self.margins])
            return np.asarray(reduce(row_products, parts) @ coef)
        if last.transform is not None:
            coef = last.transform @ coef
        found = last.basis.combine(X[:, list(last.columns)], coef)
        for margin in multipliers:
            found = found * margin.rows(X[:, list(margin.columns)])
        return found
