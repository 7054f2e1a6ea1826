"""Decision values of rows that are left out, from the machine that was fitted with them."""

from typing import Any

import numpy as np

from bottega.core.typing import FloatArray
from bottega.kernel._support.machines import Machine

__all__ = ["left_out"]

_MOST = 5_000  # free rows up to which the matrix of the free ones is inverted
_BLOCK = 1_000


def left_out(machine: Machine, between: Any) -> FloatArray:
    r"""Return the decision value of each row as the machine of the other rows would have it.

    While the other free rows stay free, leaving out row i changes its value by
    :math:`\beta_i S_i^2` with the span :math:`S_i`, the distance of the row from those that the
    free ones span in the space of the features [1]_. Other rows do not change theirs. With very
    many free rows the span is replaced by its bound, the length of the row.

    Parameters
    ----------
    machine : Machine
        The machine.
    between : callable
        Returns the kernel of some rows with others.

    References
    ----------
    .. [1] Chapelle, O., Vapnik, V., Bousquet, O. and Mukherjee, S. (2002). Choosing multiple
       parameters for support vector machines. Machine Learning 46, 131-159.
    """
    size = np.abs(machine.beta)
    support = np.flatnonzero(size)
    found = machine.fitted.copy()
    if not len(support):
        return found
    free = support[size[support] < machine.bound[support]]
    held = support[size[support] >= machine.bound[support]]
    span2 = np.zeros(len(found))
    if 0 < len(free) <= _MOST:
        K = between(free, free)
        inverse, widest = _inverse(K), 4.0 * float(np.max(np.diagonal(K)))
        span2[free] = np.clip(1.0 / np.maximum(np.diagonal(inverse)[:-1], 1e-300), 0.0, widest)
        for start in range(0, len(held), _BLOCK):
            some = held[start : start + _BLOCK]
            near = np.vstack([between(free, some), np.ones(len(some))])
            own = np.diagonal(between(some, some))
            span2[some] = own - np.einsum("ij,ij->j", near, inverse @ near)
    else:
        for start in range(0, len(support), _BLOCK):
            some = support[start : start + _BLOCK]
            span2[some] = np.diagonal(between(some, some))
    return found - machine.beta * np.maximum(span2, 0.0)


def _inverse(K: FloatArray) -> FloatArray:
    """Return the inverse of the matrix of the free rows with the constant, slightly regularised."""
    n = len(K)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = K
    system[np.arange(n), np.arange(n)] += 1e-10 * max(float(np.max(np.diagonal(K))), 1e-300)
    system[n, n] = 0.0
    return np.asarray(np.linalg.inv(system), dtype=np.float64)
