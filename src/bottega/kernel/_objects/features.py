"""The monomials whose inner products are the polynomial kernel."""

from itertools import combinations_with_replacement
from itertools import product as choices
from math import comb, factorial, prod

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import FloatArray

__all__ = ["monomial_map"]

_MOST_COLUMNS = 100_000


def monomial_map(
    X: FloatArray, degree: int, gamma: float, coef0: float, distinct: bool
) -> FloatArray:
    r"""Return features whose inner products are :math:`(\gamma\, x^\top z + c)^d`.

    By the binomial theorem the part of degree k has the factor
    :math:`\binom dk \gamma^k c^{d - k}`, and :math:`(x^\top z)^k` is the sum over all choices of k
    inputs in order, of which those of the same inputs are taken together with `distinct`.
    """
    if coef0 < 0:
        raise InputError(
            f"coef0={coef0:g} is negative: this polynomial is no kernel and has no feature map."
        )
    p = X.shape[1]
    parts = [k for k in range(degree + 1) if coef0 > 0 or k == degree]
    count = sum(comb(p + k - 1, k) if distinct else p**k for k in parts)
    if count > _MOST_COLUMNS:
        raise InputError(
            f"The map has {count:,} monomials of {p} inputs; at most {_MOST_COLUMNS:,} are made. "
            "Use the kernel itself, which needs none of them."
        )
    columns = []
    for k in parts:
        factor = comb(degree, k) * gamma**k * coef0 ** (degree - k)
        chosen = (
            combinations_with_replacement(range(p), k) if distinct else choices(range(p), repeat=k)
        )
        for inputs in chosen:
            orders = 1
            if distinct:
                orders = factorial(k) // prod(factorial(inputs.count(j)) for j in set(inputs))
            columns.append(np.sqrt(factor * orders) * np.prod(X[:, list(inputs)], axis=1))
    return np.column_stack(columns)
