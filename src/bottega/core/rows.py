"""The rows a fit looks at: inputs, responses and weights, checked once."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import take_rows
from bottega.core.typing import Array, FloatArray, IntArray

__all__ = ["Rows", "are_counts", "check_weight", "first_rows", "split_rows"]

_EXTREME = 1e100
_ALL_WHOLE = 2.0**52  # from here on every number is whole
_SOME = 512  # rows among which there is one of every class, as a rule


def check_weight(sample_weight: Any, n: int) -> FloatArray | None:
    """Return the weights as an array, or None where there are none (or all are one)."""
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.ndim == 0:  # one number for all
        weight = np.full(n, float(weight))
    if weight.shape != (n,):
        raise InputError(
            f"sample_weight has shape {weight.shape}; it needs one number per row: ({n},)."
        )
    if not np.all(np.isfinite(weight)) or np.any(weight < 0):
        raise InputError("sample_weight must be finite and not negative; correct those rows.")
    if not np.any(weight > 0):
        raise InputError("All of sample_weight is zero; at least one row must count.")
    counted = weight[weight > 0]
    if counted.max() > _EXTREME or counted.min() < 1 / _EXTREME:
        raise InputError(
            f"sample_weight runs from {counted.min():.3g} to {counted.max():.3g}, beyond what sums "
            f"of squares can hold; rescale it to lie between {1 / _EXTREME:g} and {_EXTREME:g}."
        )
    return None if np.all(weight == 1) else weight


def are_counts(weight: FloatArray) -> bool:
    """Return whether weights are whole numbers, which may count rows, and not just huge."""
    return not np.any(weight % 1) and float(np.max(weight, initial=0.0)) < _ALL_WHOLE


@dataclass(frozen=True)
class Rows:
    """Checked rows, all of them with a positive weight.

    Attributes
    ----------
    X : array, sparse matrix, data frame, or whatever the method reads its inputs into
        Inputs.
    y : ndarray or None
        Responses; the codes 0, 1, ... of the classes for a classifier; None without responses.
    weight : ndarray of shape (n,) or None
        Weights above zero; None where all are one.
    given : Rows or None
        The rows as they were given, those of weight zero included; None where all count.
    kept : ndarray of int or None
        Which of the given rows these are; None where all count.

    Examples
    --------
    >>> rows = Rows.of(np.eye(3), np.arange(3.0), np.array([1.0, 0.0, 2.0]))
    >>> len(rows), rows.kept, rows.total_weight
    (2, array([0, 2]), 3.0)
    """

    X: Any
    y: Any = None
    weight: FloatArray | None = None
    given: "Rows | None" = None
    kept: IntArray | None = None

    @classmethod
    def of(cls, X: Any, y: Any, weight: FloatArray | None) -> "Rows":
        """Return the rows that count, remembering all that were given."""
        everything = cls(X, y, weight)
        if weight is None or np.all(weight > 0):
            return everything
        kept = np.flatnonzero(weight > 0)
        found = everything.take(kept)
        ones = found.weight is not None and bool(np.all(found.weight == 1))
        return cls(found.X, found.y, None if ones else found.weight, everything, kept)

    def __len__(self) -> int:
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    def take(self, positions: Array) -> "Rows":
        """Return the rows at the given positions."""
        return Rows(
            take_rows(self.X, positions),
            None if self.y is None else self.y[positions],
            None if self.weight is None else self.weight[positions],
        )

    @property
    def weights(self) -> FloatArray:
        """The weights, as ones where there are none."""
        return np.ones(len(self)) if self.weight is None else self.weight

    @property
    def total_weight(self) -> float:
        """Sum of the weights."""
        return float(len(self)) if self.weight is None else float(self.weight.sum())

    @property
    def log_weights(self) -> float:
        """Sum of the logarithms of the weights."""
        return 0.0 if self.weight is None else float(np.sum(np.log(self.weight)))


def split_rows(n: int, size: int) -> Iterator[slice]:
    """Yield slices that cover `n` rows, `size` at a time."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def first_rows(codes: IntArray, K: int) -> IntArray:
    """Return the place of the first row of each class, 0 for a class without rows.

    Examples
    --------
    >>> first_rows(np.array([2, 0, 2]), 4)
    array([1, 0, 0, 0])
    """
    found = np.full(K, -1, dtype=np.intp)
    for some in (codes[:_SOME], codes):
        found[some[::-1]] = np.arange(len(some))[::-1]  # of equal codes the last one counts
        if np.all(found >= 0):
            break
    return np.maximum(found, 0)
