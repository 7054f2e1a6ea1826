"""Large sparse tables for k-means: made dense block by block, pass after pass."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.sparse import dense_parts
from bottega.core.typing import Array, FloatArray

__all__ = ["SparseChunks", "by_parts"]


@dataclass(frozen=True)
class SparseChunks:
    """A sparse table as chunks of dense rows, the same each time they are iterated over."""

    X: Any
    weight: FloatArray | None = None

    def __iter__(self) -> Iterator[Any]:
        for rows, part in dense_parts(self.X):
            yield part if self.weight is None else (part, None, self.weight[rows])


def by_parts(X: Any, of: Callable[[FloatArray], tuple[Array, ...]]) -> tuple[Array, ...]:
    """Return what `of` gives for all rows; those of a sparse table are made dense in parts."""
    found = [of(part) for _, part in dense_parts(X)]
    return tuple(np.concatenate(each) for each in zip(*found, strict=True))
