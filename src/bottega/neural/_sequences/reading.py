"""Sequences in the forms that people have them in, as rows: a length, then the steps.

A row is the number of steps followed by the numbers of each step, filled up with zeros; so rows can
be taken, dealt into folds and ordered like those of any table.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.neural._network.tables import FARTHEST, center_and_scale

__all__ = ["SequenceScale", "packed", "with_lengths"]


def with_lengths(X: FloatArray) -> FloatArray:
    """Return the rows of a table as sequences of single numbers, all of one length."""
    return np.column_stack([np.full(len(X), float(X.shape[1])), X])


def packed(X: Any) -> tuple[FloatArray, int] | None:
    """Return sequences as rows, and how many numbers a step has; None where X is a table.

    Parameters
    ----------
    X : ndarray of shape (n, T, d), or list of n arrays of shape (T_i,) or (T_i, d)
        Sequences, of any lengths.

    Examples
    --------
    >>> packed([np.array([5.0, 6.0]), np.array([7.0])])
    (array([[2., 5., 6.],
           [1., 7., 0.]]), 1)
    """
    if is_frame(X) or is_sparse(X) or not hasattr(X, "__len__"):
        return None
    if isinstance(X, list | tuple) and X and isinstance(X[0], str):
        raise InputError(
            f"X holds texts, such as {X[0]!r}, and sequences are of numbers: give each as an array "
            "of one number, or vector, per word."
        )
    if isinstance(X, np.ndarray) and X.ndim != 3 and (X.dtype != object or X.ndim == 2):
        return None
    if not len(X) or not all(hasattr(each, "__len__") and np.ndim(each[:1]) for each in X):
        return None
    own = any(isinstance(each, np.ndarray) for each in X)
    if not own and len({len(each) for each in X}) == 1 and not hasattr(X[0][0], "__len__"):
        return None  # a table written as lists
    try:
        return _rows([np.asarray(each, dtype=np.float64) for each in X])
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"X holds a sequence that cannot be read as numbers ({error}); give each as an array "
            "of shape (steps,) or (steps, numbers per step)."
        ) from error


def _rows(sequences: list[FloatArray]) -> tuple[FloatArray, int]:
    for i, each in enumerate(sequences):
        if each.ndim not in (1, 2) or 0 in each.shape:
            raise InputError(
                f"The sequence {i} of X (counted from 0) has shape {each.shape}; a sequence has at "
                "least one step, and each step at least one number. Leave empty ones out."
            )
        if not np.all(np.isfinite(each)):
            raise InputError(
                f"Input X contains NaN or infinity: the sequence {i} (counted from 0) does. Fill "
                "in what is missing, or end the sequence before it."
            )
    widths = {each.shape[1] if each.ndim == 2 else 1 for each in sequences}
    if len(widths) > 1:
        raise InputError(
            f"The sequences of X have {' and '.join(map(str, sorted(widths)[:2]))} numbers per "
            "step; every step of every sequence needs as many."
        )
    d, longest = widths.pop(), max(map(len, sequences))
    found = np.zeros((len(sequences), 1 + longest * d))
    for i, each in enumerate(sequences):
        found[i, 0] = len(each)
        found[i, 1 : 1 + each.size] = each.ravel()
    return found, d


@stored
@dataclass(frozen=True)
class SequenceScale:
    """What brings the numbers of a step into standard units: a mean and a deviation for each."""

    center: FloatArray
    scale: FloatArray

    @classmethod
    def of(cls, X: FloatArray, d: int, weight: FloatArray | None) -> "SequenceScale":
        """Learn from all steps of all sequences."""
        steps, lengths = split(X, d)
        there = np.arange(steps.shape[1]) < lengths[:, None]
        each = None if weight is None else np.repeat(weight, lengths)
        center, scale, _ = center_and_scale(steps[there], each)
        return cls(center, scale)

    def arrays(self, X: FloatArray) -> tuple[Array, ...]:
        """Return steps (n, T, d) in standard units, zeros behind the ends, and the lengths.

        What is farther than a million units counts as a million.
        """
        steps, lengths = split(X, len(self.center))
        there = (np.arange(steps.shape[1]) < lengths[:, None])[:, :, None]
        units = np.clip((steps - self.center) / self.scale, -FARTHEST, FARTHEST)
        return np.where(there, units, 0.0), lengths


def split(X: FloatArray, d: int) -> tuple[FloatArray, IntArray]:
    """Return the steps (n, T, d) and the lengths of rows."""
    return X[:, 1:].reshape(len(X), -1, d), X[:, 0].astype(np.int64)
