"""The spectrum kernel of texts."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.errors import InputError, ParameterError
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.kernel._objects.base import Kernel

__all__ = ["SpectrumKernel"]


@stored
@dataclass(frozen=True)
class SpectrumKernel(Kernel):
    """How many substrings of a length two texts share, each counted as often as it occurs in both.

    The feature of a substring is the number of its occurrences; the kernel is the inner product
    over all substrings of `length` characters. A text that is shorter has no features.

    Parameters
    ----------
    length : int
        Length of the substrings.

    Notes
    -----
    A matrix costs the total length of the texts to count, and a product of sparse count tables.

    References
    ----------
    .. [1] Leslie, C., Eskin, E. and Noble, W. S. (2002). The spectrum kernel: a string kernel for
       SVM protein classification. Pacific Symposium on Biocomputing 7, 566-575.

    Examples
    --------
    >>> SpectrumKernel(2)(["banana", "bandana", "apple"])
    array([[9., 7., 0.],
           [7., 8., 0.],
           [0., 0., 4.]])
    """

    length: int = 3

    objects = True

    def __post_init__(self) -> None:
        if not isinstance(self.length, int | np.integer) or self.length < 1:
            raise ParameterError(
                f"length={self.length!r} is not allowed; length must be a whole number at least 1."
            )

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """Return the matrix k(x_i, z_j) of two lists of texts."""
        left = self._counts(X)
        right = left if Z is None else self._counts(Z)
        places = {part: j for j, part in enumerate({part for each in left for part in each})}
        A = _table(left, places)
        B = A if Z is None else _table(right, places)
        return np.asarray((A @ B.T).toarray())

    def diagonal(self, X: Any) -> FloatArray:
        """Return k(x, x) of each text."""
        return np.array(
            [float(sum(c * c for c in each.values())) for each in self._counts(X)], dtype=np.float64
        )

    def feature_map(self, X: Any) -> FloatArray:
        """Return the counts of all substrings that occur in these texts, in sorted order."""
        counts = self._counts(X)
        names = sorted({part for each in counts for part in each})
        return _table(counts, {part: j for j, part in enumerate(names)}).toarray()

    def _counts(self, texts: Iterable[Any]) -> list[Counter[str]]:
        if isinstance(texts, str):
            raise InputError("The spectrum kernel takes a list of texts, not a single text.")
        size, found = int(self.length), []
        for text in texts:
            if not isinstance(text, str):
                raise InputError(
                    f"The spectrum kernel is for texts; found {text!r} of type "
                    f"{type(text).__name__}."
                )
            found.append(Counter(text[i : i + size] for i in range(len(text) - size + 1)))
        return found


def _table(counts: list[Counter[str]], places: dict[str, int]) -> Any:
    """Return the counts as a sparse table; substrings without a place are left out."""
    rows, columns, values = [], [], []
    for i, each in enumerate(counts):
        for part, count in each.items():
            if part in places:
                rows.append(i)
                columns.append(places[part])
                values.append(float(count))
    shape = len(counts), max(1, len(places))
    return sparse.csr_array((values, (rows, columns)), shape=shape)
