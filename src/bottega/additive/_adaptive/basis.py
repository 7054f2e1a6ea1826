"""The terms of adaptive splines: products of hinges, lines and memberships, one input each."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray, IntArray

# Kinds of factors.
HINGE, LINE, SUBSET, MISSING = 0, 1, 2, 3


@stored
@dataclass(frozen=True)
class Factor:
    """A function of one input; where the input is missing it is zero, but for ``MISSING``.

    ==========  =============================================================
    kind        value
    ==========  =============================================================
    HINGE       ``max(0, sign * (x - knot)) / scale``
    LINE        ``(x - knot) / scale``; the knot is the least value of the data
    SUBSET      1 where the level is one of `levels`, else 0
    MISSING     1 where the input is missing, else 0
    ==========  =============================================================

    Attributes
    ----------
    variable : int
        Column of the input.
    kind : int
        One of the above.
    knot : float
        A value of the data, in the units of the input; NaN without meaning.
    sign : int
        1 for a hinge that rises to the right of the knot, -1 for one that rises to the left; 0 for
        the others.
    scale : float
        Power of two near the range of the input, so that products neither overflow nor vanish.
    levels : tuple of int
        Codes of the levels of a ``SUBSET``, ascending.

    Examples
    --------
    >>> Factor(0, HINGE, knot=2.0, sign=1).values([1.0, 5.0, np.nan]).tolist()
    [0.0, 3.0, 0.0]
    """

    variable: int
    kind: int
    knot: float = float("nan")
    sign: int = 0
    scale: float = 1.0
    levels: tuple[int, ...] = ()

    def values(self, x: object) -> FloatArray:
        """Return the function at values of its input."""
        x = np.asarray(x, dtype=np.float64)
        gone = np.isnan(x)
        if self.kind == MISSING:
            return gone.astype(np.float64)
        if self.kind == SUBSET:
            return np.isin(x, self.levels).astype(np.float64)
        out = x / self.scale
        out -= self.knot / self.scale
        if self.kind == HINGE:
            if self.sign < 0:
                np.negative(out, out=out)
            np.maximum(out, 0.0, out=out)
        if gone.any():
            out[gone] = 0.0
        return out


@stored
@dataclass(frozen=True)
class Term:
    """A product of factors, each of another input; without factors the intercept.

    Examples
    --------
    >>> Term((Factor(1, HINGE, 0.0, 1), Factor(0, LINE, 0.0))).variables
    (1, 0)
    """

    factors: tuple[Factor, ...] = ()

    @property
    def degree(self) -> int:
        """How many inputs it is a product of."""
        return len(self.factors)

    @property
    def variables(self) -> tuple[int, ...]:
        """Columns of its inputs, in the order in which they came in."""
        return tuple(each.variable for each in self.factors)

    @property
    def unit(self) -> float:
        """What divides a coefficient to give that of the term in the units of its inputs."""
        return float(np.prod([each.scale for each in self.factors if each.kind in (HINGE, LINE)]))

    def times(self, factor: Factor) -> "Term":
        """Return the product with one more factor."""
        return Term((*self.factors, factor))


@stored
@dataclass(frozen=True, eq=False)
class Basis:
    """Terms, the intercept first, and how missing values of inputs are met.

    Attributes
    ----------
    terms : tuple of Term
        The terms.
    fill : ndarray of shape (p,)
        What stands for a missing value of an input that had none when the terms were grown: its
        median, or its most frequent level. NaN where missing values are met by terms of their own.

    Examples
    --------
    >>> hinge = Term((Factor(0, HINGE, 2.0, 1),))
    >>> Basis((Term(), hinge), np.array([0.0])).matrix(np.array([[1.0], [5.0]])).tolist()
    [[1.0, 0.0], [1.0, 3.0]]
    """

    terms: tuple[Term, ...]
    fill: FloatArray

    def __len__(self) -> int:
        return len(self.terms)

    def __iter__(self) -> Iterator[Term]:
        return iter(self.terms)

    def take(self, kept: Iterable[int] | IntArray) -> "Basis":
        """Return some of the terms."""
        return Basis(tuple(self.terms[int(k)] for k in kept), self.fill)

    @property
    def units(self) -> FloatArray:
        """What divides the coefficients to give those in the units of the inputs."""
        return np.array([term.unit for term in self.terms])

    def matrix(self, X: FloatArray) -> FloatArray:
        """Return the terms at rows of inputs, (n, M), column by column in memory.

        X holds numbers, codes in the columns of categories, and NaN where a value is missing.
        """
        out = np.empty((len(X), len(self.terms)), order="F")
        columns: dict[int, FloatArray] = {}
        seen: dict[Factor, FloatArray] = {}
        uses = [factor for term in self.terms for factor in term.factors]
        shared = {factor for factor in uses if uses.count(factor) > 1}

        def values(factor: Factor) -> FloatArray:
            if factor in seen:
                return seen[factor]
            j = factor.variable
            if j not in columns:
                columns[j] = self._filled(X[:, j], j)
            found = factor.values(columns[j])
            if factor in shared:
                seen[factor] = found
            return found

        for k, term in enumerate(self.terms):
            out[:, k] = reduce(np.multiply, map(values, term.factors)) if term.factors else 1.0
        return out

    def _filled(self, x: FloatArray, j: int) -> FloatArray:
        if np.isnan(self.fill[j]):
            return x
        gone = np.isnan(x)
        return np.where(gone, self.fill[j], x) if gone.any() else x
