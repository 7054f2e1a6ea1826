"""Estimators that keep little of each row: they read chunks, and then fit as they do in memory."""

from abc import abstractmethod
from typing import Any, ClassVar

from bottega.core.chunked import NO_ROWS, Chunked
from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.errors import InputError
from bottega.core.estimator import AS_IT_IS
from bottega.core.rows import Rows

__all__ = ["Gathered"]


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
        if not len(rows):
            raise InputError(NO_ROWS)
        if len(rows) < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; the chunks have {len(rows)}."
            )
        work = self._prepare(rows)
        self._finish(work, rows, self._choose(work, rows, AS_IT_IS))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Mergeable:
        raise NotImplementedError("Rows are gathered, not summed.")

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        raise NotImplementedError("Rows are gathered, not summed.")
