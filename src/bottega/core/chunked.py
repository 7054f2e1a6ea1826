"""Estimators that fit rows in chunks: the same work, prepared from merged statistics."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.errors import InputError
from bottega.core.estimator import AS_IT_IS, Estimator

__all__ = ["Chunked"]


class Chunked(Estimator):
    """An estimator whose work can be prepared from statistics of blocks of rows."""

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in memory that does not grow with their number.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, w)
            It may be iterated over more than once: a list, or an object whose ``__iter__`` starts
            afresh (see `bottega.data.chunks`).

        Returns
        -------
        Self
            The same answer as ``fit`` on all rows together. What is per row (leverages, residuals)
            is not kept.
        """
        self._forget()
        self._check_params()
        checked = self._check_chunks(chunks)
        statistics: Any = None
        start = 0
        for X, y, w in checked:
            block = self._statistics(X, y, w, start)
            statistics = block if statistics is None else statistics.merge(block)
            start += len(X)
        if statistics is None:
            raise InputError("The chunks have no rows to fit; give at least one row that counts.")
        if start < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; the chunks have {start}."
            )
        work = self._prepare_merged(statistics, checked)
        self._finish(work, None, self._choose(work, None, AS_IT_IS))
        return self

    def _check_chunks(self, chunks: Iterable[Any]) -> CheckedChunks:
        if isinstance(chunks, Iterator):
            raise InputError(
                "Chunks are iterated over more than once, and a generator can only be iterated "
                "over once: give a list, or an object whose __iter__ starts afresh."
            )
        first = next(iter(chunks), None)
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, *_ = first
        self._remember_frame(X)
        if np.ndim(y) != 1 and not get_tags(self).target_tags.multi_output:
            raise InputError(f"y must have one axis; the first chunk's has {np.ndim(y)}.")
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        return CheckedChunks(chunks, self.n_features_in_, np.ndim(y))

    @abstractmethod
    def _statistics(self, X: Any, y: Any, w: Any, start: int) -> Mergeable:
        """Return the statistics of one block of rows, `start` rows being before it."""

    @abstractmethod
    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        """Return the prepared work from the merged statistics; the chunks may be read again."""
