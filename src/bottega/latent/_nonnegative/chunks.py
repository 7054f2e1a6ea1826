"""A table without negative numbers that comes in chunks of its rows."""

from typing import ClassVar

from bottega.core.chunks import CheckedChunks
from bottega.core.gathered import Gathered
from bottega.core.gathered_matrix import gather_matrix
from bottega.core.rows import Rows

__all__ = ["TableChunks"]


class TableChunks(Gathered):
    """Puts the rows of chunks together: sparse as they are, or in a file where they are many."""

    _sparse_chunks: ClassVar[bool] = True
    in_chunks: ClassVar[str] = (
        "The rows of chunks are put together, beyond 1 GiB in a temporary file, and the codes "
        "of all rows are in memory; the answer is that of `fit`. Chunks may be sparse."
    )

    def _gather(self, checked: CheckedChunks) -> Rows:
        return Rows(gather_matrix(checked, type(self).__name__))
