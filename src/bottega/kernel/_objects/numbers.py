"""The numbers of a kernel: which are allowed, and gamma where the rows decide it."""

from numbers import Integral, Real
from typing import Any

import numpy as np

from bottega.core.errors import InputError, ParameterError
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import as_points

__all__ = ["check_degree", "check_number", "gamma_grid", "resolve_gamma"]

_SMALLEST, _LARGEST = 1e-140, 1e140  # sizes whose squares are ordinary numbers


def check_number(name: str, value: Any, above: float | None = None) -> None:
    """Refuse what is not a finite number above a limit."""
    number = isinstance(value, Real) and not isinstance(value, bool) and np.isfinite(float(value))
    if number and (above is None or value > above):
        return
    bound = "" if above is None else f" above {above:g}"
    raise ParameterError(f"{name}={value!r} is not allowed; {name} must be a number{bound}.")


def check_degree(degree: Any) -> None:
    """Refuse what is not a whole number at least 1."""
    if not isinstance(degree, Integral) or isinstance(degree, bool) or degree < 1:
        raise ParameterError(
            f"degree={degree!r} is not allowed; degree must be a whole number at least 1."
        )


def resolve_gamma(gamma: Any, X: Any = None, weight: FloatArray | None = None) -> float:
    """Return gamma as a number.

    Parameters
    ----------
    gamma : float, "scale", "auto" or None
        A number above 0; ``"scale"`` is 1 / (p var(X)) with the variance of all numbers in X (1
        where it is zero); ``"auto"`` and None are 1 / p.
    X : array-like of shape (n, p), optional
        The training rows.
    weight : ndarray of shape (n,), optional
        Weights of the rows in the variance.

    Examples
    --------
    >>> resolve_gamma("scale", np.array([[1.0, 3.0], [3.0, 1.0]]))
    0.5
    """
    if not (gamma is None or isinstance(gamma, str)):
        check_number("gamma", gamma, above=0)
        return float(gamma)
    if gamma not in (None, "scale", "auto"):
        raise ParameterError(
            f"gamma={gamma!r} is not allowed; gamma must be a number above 0, 'scale' or 'auto'."
        )
    if X is None:
        raise ParameterError(f"gamma={gamma!r} depends on the rows: give X, or a number.")
    X = as_points(X)
    p = X.shape[1]
    if gamma != "scale":
        return 1.0 / p
    values = X.data if is_sparse(X) else X
    size = float(np.max(np.abs(values), initial=0.0))
    if size == 0:
        return 1.0
    if not _SMALLEST < size < _LARGEST:
        raise InputError(
            f"The inputs are up to {size:.3g} in size, and the squares of such numbers "
            f"{'vanish' if size < 1 else 'overflow'}: gamma='scale' has no value. Bring the inputs "
            "to a scale near one."
        )
    variance = _variance(X / size, weight)
    return 1.0 / (p * variance) / size / size if variance > 0 else 1.0


def gamma_grid(X: Any, weight: FloatArray | None, count: int) -> list[float]:
    """Return so many values of gamma, each four times the one before and about ``"scale"``."""
    middle = resolve_gamma("scale", X, weight)
    return [middle * 4.0 ** (k - 2 * count // 3) for k in range(count)]


def _variance(X: Any, weight: FloatArray | None) -> float:
    """Return the variance of all numbers of a table, its rows weighted."""
    share = np.full(X.shape[0], 1 / X.shape[0]) if weight is None else weight / weight.sum()
    mean = float(np.sum(share @ X) / X.shape[1])
    if is_sparse(X):
        return float(np.sum(share @ X.multiply(X)) / X.shape[1]) - mean**2
    return float(share @ np.sum((X - mean) ** 2, axis=1) / X.shape[1])
