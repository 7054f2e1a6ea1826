"""Labels of rows as codes of the few distinct ones: nothing is done with the texts of each row."""

from typing import Any

import numpy as np

from bottega.core.typing import Array, BoolArray, IntArray

__all__ = ["CodedLabels"]


class CodedLabels:
    """The labels of rows, wherever an array of them would do.

    Parameters
    ----------
    codes : ndarray of int, shape (n,)
        Positions in `labels`.
    labels : ndarray of shape (m,)
        Labels, not all of which need be in use; some may be alike.

    Examples
    --------
    >>> y = CodedLabels(np.array([1, 0, 1]), np.array(["a", "b"]))
    >>> np.asarray(y).tolist(), y[1:].within(np.array(["a", "b", "c"]))
    (['b', 'a', 'b'], (array([0, 1]), True))
    """

    ndim = 1

    def __init__(self, codes: IntArray, labels: Array) -> None:
        self.codes, self.labels = codes, labels

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows."""
        return self.codes.shape

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> "CodedLabels":
        return CodedLabels(self.codes[rows], self.labels)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.labels[self.codes], dtype=dtype)

    def within(self, classes: Array) -> tuple[IntArray, bool]:
        """Return the position of each row's label among sorted classes, and whether all are there.

        The position of a label that is not means nothing.
        """
        place = np.minimum(np.searchsorted(classes, self.labels), len(classes) - 1)
        known: BoolArray = classes[place] == self.labels
        return place.take(self.codes), bool(np.all(known) or np.all(known[self.codes]))
