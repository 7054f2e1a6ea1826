"""The inputs of chunks as one matrix: sparse, in memory, or in a file that is mapped into it."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from bottega.core.chunks import CheckedChunks
from bottega.core.errors import InputError
from bottega.core.scratch import FEW_NUMBERS, scratch_array
from bottega.core.sparse import is_sparse
from bottega.core.typing import FloatArray

__all__ = ["gather_matrix", "unweighted_blocks"]


def unweighted_blocks(checked: CheckedChunks, owner: str) -> Iterator[Any]:
    """Yield the inputs of each chunk for a method, the `owner`, that takes no weights."""
    for X, _, w in checked:
        if w is not None and np.any(w != 1):
            raise InputError(f"{owner} takes no sample_weight: leave it out, or repeat rows.")
        yield X


def gather_matrix(checked: CheckedChunks, owner: str) -> Any:
    """Return the inputs of all chunks: a sparse matrix if the first one is, else an array.

    An array of more than 1 GiB is in a temporary file (`bottega.core.scratch`).
    """
    few: list[Any] | None = []
    count, p, kept_sparse = 0, checked.n_features, False
    for block in unweighted_blocks(checked, owner):
        kept_sparse = kept_sparse or is_sparse(block)
        count += block.shape[0]
        if few is not None and (kept_sparse or count * p <= FEW_NUMBERS):
            few.append(sparse.csr_array(block) if kept_sparse else block)
        else:
            few = None
    if few is not None:
        if not few:
            return np.zeros((0, p))
        return sparse.vstack(few, format="csr") if kept_sparse else np.concatenate(few)
    found: FloatArray = scratch_array((count, p), np.float64)
    start = 0
    for block in unweighted_blocks(checked, owner):
        stop = start + block.shape[0]
        found[start:stop] = block.toarray() if is_sparse(block) else block
        start = stop
    return found
