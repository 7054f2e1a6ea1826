"""Estimators that keep little of each row: they read chunks, and then fit as they do in memory."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.estimator import AS_IT_IS
from bottega.core.rows import Rows
from bottega.core.typing import Array, FloatArray

__all__ = ["Gathered", "joined_responses"]


class Gathered(Chunked):
    """An estimator that makes rows in memory of chunks, in a form that takes little of it.

    A subclass gives `_gather`; from there on a fit is that of `Estimator`.
    """

    _gathers: ClassVar[bool] = True

    @abstractmethod
    def _gather(self, checked: CheckedChunks) -> Rows:
        """Return what is kept of the rows of all chunks, in their order."""

    def _fit_checked(self, checked: CheckedChunks) -> None:
        rows = self._gather(checked)
        self._check_count(len(rows))
        work = self._prepare(rows)
        self._finish(work, rows, self._choose(work, rows, AS_IT_IS))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Mergeable:
        raise NotImplementedError("Rows are gathered, not summed.")

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        raise NotImplementedError("Rows are gathered, not summed.")


def joined_responses(
    responses: Sequence[Array],
    weights: Sequence[FloatArray | None],
    factor: FloatArray | None = None,
) -> tuple[Array, FloatArray | None]:
    """Return responses and weights of all chunks; no weights where none has any.

    `factor` is that of each class on the weights of its rows, whose codes are the responses.

    Examples
    --------
    >>> joined_responses([np.array([0, 1]), np.array([1])], [None, np.array([3.0])])
    (array([0, 1, 1]), array([1., 1., 3.]))
    """
    y = np.concatenate(responses)
    weight = None
    if any(each is not None for each in weights):
        pairs = zip(weights, responses, strict=True)
        weight = np.concatenate([np.ones(len(y)) if w is None else w for w, y in pairs])
    if factor is not None:
        weight = factor[y] if weight is None else factor[y] * weight
    return y, weight
