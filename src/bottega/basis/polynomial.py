"""Polynomials of the inputs, orthogonal on the training rows or as plain powers."""

from collections.abc import Mapping
from itertools import combinations_with_replacement
from math import comb
from typing import ClassVar

import numpy as np

from bottega.basis._expansion.columns import ColumnExpansion
from bottega.core.errors import InputError
from bottega.core.params import Boolean, Integer, Parameter
from bottega.core.typing import FloatArray

__all__ = ["Polynomial"]

# What is left of a column after taking off the lower degrees, relative to what it was, when
# nothing but rounding is left.
_ROUNDING = 1e-13
_MOST_COLUMNS = 100_000  # products of inputs


class Polynomial(ColumnExpansion):
    r"""Powers of each input up to a degree, on request with their products.

    With ``orthogonal=False`` the columns are :math:`\phi_j(x) = x^j`, j from 1 to the degree. With
    ``orthogonal=True`` they are polynomials of degree j that on the training rows are orthogonal to
    one another and to the constant, and have unit length: they span the same functions, so a least
    squares fit is the same, but it can be computed, and one degree more leaves the others as they
    were. With ``interactions=True`` the columns are products of these over the inputs, up to the
    degree in all: every polynomial of several inputs, such as the conics
    :math:`x_1, x_2, x_1^2, x_1 x_2, x_2^2` of degree 2.

    Parameters
    ----------
    degree : int, default=3
        Highest power; a higher one bends more. n distinct values are interpolated by degree n - 1.
    orthogonal : bool, default=True
        Whether the columns are orthogonal on the training rows.
    interactions : bool, default=False
        Whether to add the products of powers of different inputs, of total degree up to the
        degree: ``C(p + degree, degree) - 1`` columns in all, by rising total degree, as many as
        p^degree / degree! when inputs are many.
    include_bias : bool, default=False
        Whether a column of ones comes first. The linear models bring their own intercept.

    Attributes
    ----------
    degree_ : ndarray of int, shape (p,)
        Highest degree that differs from the lower ones on the training rows: a column of m distinct
        values has degrees up to m - 1. The orthogonal columns above it are zero.
    recurrence_ : ndarray of shape (p, 3, degree + 1, degree + 1)
        By which a degree follows from the lower ones: the two projections and, on the diagonal of
        the third matrix, the lengths.

    Notes
    -----
    The orthogonal columns are built by Arnoldi's process: x times the last column, less its
    projections on all the columns before (taken off twice, so that rounding does not add up). The
    projections are kept, and new rows go through the same steps. It costs
    :math:`O(n p\,\mathrm{degree}^2)` and at degree 29 on 30 points the columns are still
    orthogonal to rounding, where plain powers have lost every digit. They are those of R's ``poly``
    up to their sign. Products of orthogonal columns span all products of powers, are well scaled,
    and are themselves orthogonal only where the rows form a grid.

    A polynomial of high degree swings between the rows and runs away outside them. Use a penalty,
    or choose the degree by cross-validation.

    References
    ----------
    .. [1] Brubeck, P. D., Nakatsukasa, Y. and Trefethen, L. N. (2021). Vandermonde with Arnoldi.
       SIAM Review 63, 405-415.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([[1.0], [2.0], [3.0]])
    >>> Polynomial(2, orthogonal=False).fit_transform(x)
    array([[1., 1.],
           [2., 4.],
           [3., 9.]])
    >>> Polynomial(2).fit_transform(x).round(4)
    array([[-0.7071,  0.4082],
           [ 0.    , -0.8165],
           [ 0.7071,  0.4082]])
    >>> both = Polynomial(2, orthogonal=False, interactions=True).fit([[2.0, 3.0]])
    >>> both.transform([[2.0, 3.0]]).tolist()
    [[2.0, 3.0, 4.0, 6.0, 9.0]]
    >>> both.get_feature_names_out().tolist()
    ['x0', 'x1', 'x0^2', 'x0 x1', 'x1^2']
    """

    params: ClassVar[Mapping[str, Parameter]] = {
        "degree": Integer(1, None, help="highest power"),
        "orthogonal": Boolean(help="make the columns orthogonal on the training rows"),
        "interactions": Boolean(help="add the products of powers of different inputs"),
        "include_bias": Boolean(help="put a column of ones first"),
    }

    def __init__(
        self,
        degree: int = 3,
        *,
        orthogonal: bool = True,
        interactions: bool = False,
        include_bias: bool = False,
    ) -> None:
        self.degree = degree
        self.orthogonal = orthogonal
        self.interactions = interactions
        self.include_bias = include_bias

    def _learn(self, X: FloatArray) -> None:
        p, top = X.shape[1], int(self.degree)
        if self.interactions and comb(p + top, top) > _MOST_COLUMNS:
            raise InputError(
                f"All products of {p} inputs up to degree {top} are {comb(p + top, top) - 1:,} "
                f"columns; at most {_MOST_COLUMNS:,} are made. Take a lower degree or fewer inputs."
            )
        distinct = np.array([len(np.unique(X[:, j])) for j in range(p)])
        self.degree_ = np.minimum(top, distinct - 1)
        if not self.orthogonal:
            return
        # On [-1, 1] no power overflows and the recurrence is at its best.
        low, high = X.min(axis=0), X.max(axis=0)
        self._middle, half = low + (high - low) / 2, (high - low) / 2
        self._half = np.where(half > 0, half, 1.0)
        self.recurrence_ = np.zeros((p, 3, top + 1, top + 1))
        for j in range(p):
            self._orthogonal(X[:, j], j, learn=True)

    def _orthogonal(self, x: FloatArray, j: int, learn: bool = False) -> FloatArray:
        """Return the orthogonal columns of an input, by projections that are kept or learned."""
        steps, t = self.recurrence_[j], (x - self._middle[j]) / self._half[j]
        Q = np.zeros((len(x), int(self.degree) + 1))
        if learn:
            steps[2, 0, 0] = 1 / np.sqrt(len(x))
        Q[:, 0] = steps[2, 0, 0]
        for k in range(1, self.degree_[j] + 1):
            before, column = Q[:, :k], t * Q[:, k - 1]
            length = np.linalg.norm(column)
            for repeat in range(2):
                if learn:
                    steps[repeat, :k, k] = before.T @ column
                column = _take_off(column, before, steps[repeat, :k, k])
            if learn:
                steps[2, k, k] = np.linalg.norm(column)
                if steps[2, k, k] <= _ROUNDING * length:
                    steps[2, k, k], self.degree_[j] = 0.0, k - 1
                    break
            Q[:, k] = column / steps[2, k, k]
        return Q[:, 1:]

    def _expand(self, x: FloatArray, j: int) -> FloatArray:
        if self.orthogonal:
            return self._orthogonal(x, j)
        return np.asarray(x[:, None] ** np.arange(1, int(self.degree) + 1))

    def _names(self, name: str) -> list[str]:
        powers = range(1, int(self.degree) + 1)
        if self.orthogonal:
            return [f"poly({name}, {k})" for k in powers]
        return [name if k == 1 else f"{name}^{k}" for k in powers]

    def _products(self) -> list[list[tuple[int, int]]]:
        """Return the factors of each column, as pairs of an input and its power."""
        inputs, found = range(self.n_features_in_), []
        for total in range(1, int(self.degree) + 1):
            for chosen in combinations_with_replacement(inputs, total):
                found.append([(j, chosen.count(j)) for j in dict.fromkeys(chosen)])
        return found

    def _columns(self, X: FloatArray) -> list[FloatArray]:
        each = super()._columns(X)
        if not self.interactions:
            return each
        return [
            np.prod([each[j][:, power - 1] for j, power in factors], axis=0)[:, None]
            for factors in self._products()
        ]

    def _column_names(self, names: list[str]) -> list[str]:
        if not self.interactions:
            return super()._column_names(names)
        made = [self._names(name) for name in names]
        return [" ".join(made[j][k - 1] for j, k in factors) for factors in self._products()]


def _take_off(column: FloatArray, before: FloatArray, projection: FloatArray) -> FloatArray:
    # At a degree near the number of rows each step magnifies the rounding of the last. Summed row
    # by row in one order (which BLAS does not promise) a training row gets the very number it had
    # in the fit, whatever rows come with it.
    return np.asarray(column - np.einsum("ik,k->i", before, projection))
