"""Estimators that fit rows in chunks: the same work, prepared from merged statistics."""

from abc import abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import validate_data

from bottega.core.chunks import CheckedChunks, Mergeable, is_empty, parts_of
from bottega.core.engine import current_engine
from bottega.core.errors import InputError, Unforeseen, UnforeseenClass
from bottega.core.estimator import AS_IT_IS, Estimator
from bottega.core.matrix_columns import current_columns, made_of
from bottega.core.parallel import at_most
from bottega.core.parts import RowSource, at_first_sight, refuse_generator
from bottega.core.row_parts import RowParts, share_chunks
from bottega.core.threads import one_thread
from bottega.core.validate import refuse_missing_labels

__all__ = ["NO_ROWS", "Chunked"]

NO_ROWS = "The chunks have no rows to fit; give at least one row that counts."

_WIDE = 200  # columns from which on products of blocks of rows are worth several threads


class Chunked(Estimator):
    """An estimator whose work can be prepared from statistics of blocks of rows."""

    # What `fit_chunks` keeps of the rows and where its answer is not that of `fit`: for the Notes.
    in_chunks: ClassVar[str] = ""

    _gathers: ClassVar[bool] = False  # whether the work after the passes wants the cores
    _sparse_chunks: ClassVar[bool] = False  # whether sparse matrices stay as they are

    # Whether the whole path over chunks takes few passes: it follows from their statistics.
    walks_chunks: ClassVar[bool] = False

    def fit_chunks(self, chunks: Iterable[Any]) -> Self:
        """Fit to rows that come in chunks, in memory that does not grow with their number.

        Parameters
        ----------
        chunks : source, or iterable of (X, y) or (X, y, w)
            A source (`bottega.scale.source`), or what may be iterated over more than once: a list,
            or an object whose ``__iter__`` starts afresh. A method without responses takes X
            alone, too, and ignores y.

        Returns
        -------
        Self
            The same answer as ``fit`` on all rows together, unless the Notes of the class say
            otherwise. What is per row (leverages, residuals) is not kept.
        """
        self._forget()
        self._check_params()
        try:
            with at_most(getattr(self, "n_jobs", None)), _columns_of(chunks):
                self._fit_foreseen(chunks)
                if isinstance(chunks, RowSource):
                    chunks.check_unchanged()
                    self._encoded = chunks.encoding
        except BaseException:
            self._forget()  # a model that could not be fitted is not fitted
            raise
        return self

    def _fit_source(self, source: RowSource) -> Self:
        return self.fit_chunks(source)

    def _fit_foreseen(self, chunks: Iterable[Any]) -> None:
        """Fit to rows as their files describe them, with the classes that the first ones have.

        Where that proves wrong, all rows are read to learn what they are, and the fit starts anew.
        """
        rows, guess = at_first_sight(chunks), True
        while True:
            try:
                return self._fit_rows(rows, guess=guess)
            except UnforeseenClass:
                if not guess:  # of rows that have changed since the classes were read
                    raise
                guess = False
            except Unforeseen:
                if rows is chunks:
                    raise
                rows = chunks
            self._forget()

    def _fit_rows(self, chunks: Iterable[Any], *, guess: bool) -> None:
        checked = self._check_chunks(chunks, guess=guess)
        many = self._gathers or checked.n_features > _WIDE
        with nullcontext() if many else one_thread():
            self._fit_checked(checked)

    def _fit_checked(self, checked: CheckedChunks) -> None:
        found = self._first_pass(checked)
        self._check_count(checked.count or 0)
        work = self._prepare_merged(found, checked)
        self._finish(work, None, self._choose(work, None, AS_IT_IS))

    def _first_pass(self, checked: CheckedChunks) -> Any:
        """Return the statistics of all rows, merged; None without rows."""
        return checked.reduce(self._statistics, self._folds_of_chunks())

    def _check_count(self, count: int) -> None:
        """Refuse chunks with too few rows."""
        if not count:
            raise InputError(NO_ROWS)
        if count < self._least_rows:
            raise InputError(
                f"{type(self).__name__} requires at least {self._least_rows} rows with positive "
                f"weight; the chunks have {count}."
            )

    def _check_chunks(self, chunks: Iterable[Any], *, guess: bool = False) -> CheckedChunks:
        """Return the chunks to check; with `guess`, the classes are those of the first one."""
        refuse_generator(chunks)
        if not isinstance(chunks, Iterable):
            raise InputError(
                f"Chunks are a list of (X, y), or an object to iterate over; got {chunks!r}."
            )
        first = None
        for first in chunks:
            if not is_empty(parts_of(first)[0]):
                break
        if first is None:
            raise InputError("There are no chunks to fit; give at least one (X, y).")
        X, y, w = parts_of(first)
        if is_empty(X):
            raise InputError(NO_ROWS)
        self._remember_frame(X)
        target = get_tags(self).target_tags
        if not (target.required or is_classifier(self) or is_regressor(self)):
            y = None
        if y is None and target.required:
            raise InputError(
                f"{type(self).__name__} requires y: give chunks of (X, y), or name the "
                "column in bottega.scale.source(data, target=...)."
            )
        if np.ndim(y) > 1 and not target.multi_output:
            raise InputError(f"y must have one axis; the first chunk's has {np.ndim(y)}.")
        # Sets the number of columns and their names; the rows are checked chunk by chunk.
        validate_data(self, X, skip_check_array=True)
        engine = current_engine()
        held = None if engine is None else share_chunks(engine, chunks)
        if is_classifier(self):
            if guess:
                self.classes_ = _classes_of([(y, w)])
            else:
                self.classes_ = _classes_in(chunks) if held is None else _classes_held(held)
            if guess and len(self.classes_) < 2:  # of rows in their order, or none that counts
                raise UnforeseenClass("The first chunk has rows of one class at most.")
            if not len(self.classes_):
                raise InputError(NO_ROWS)
        classes = getattr(self, "classes_", None)
        names = getattr(self, "feature_names_in_", None)
        gaps, read = get_tags(self).input_tags.allow_nan, self._reader_of_chunks(X)
        how = (names, gaps, read, held, self._sparse_chunks, guess)
        return CheckedChunks(chunks, self.n_features_in_, np.ndim(y), classes, *how)

    def _reader_of_chunks(self, first: Any) -> Any:
        """Return what makes a matrix of the inputs of each chunk, or None where they are numbers.

        `first` are the inputs of the first chunk.
        """
        return None

    def _folds_of_chunks(self) -> int:
        """Return how many folds of the rows the statistics are wanted for."""
        return 1

    @abstractmethod
    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Mergeable:
        """Return the statistics of one block of rows, by `fold` where there are several.

        `y` has two axes for a regression, the codes of the classes for a classification, and is
        None for a method without responses. `fold` is the number of the fold of each row, or None.
        """

    @abstractmethod
    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        """Return the prepared work from the merged statistics; the chunks may be read again."""


def _classes_held(held: RowParts) -> Any:
    """Return the classes among the rows of parts that an engine has."""
    each = held.glance(_classes_in)
    return reduce(np.union1d, [classes for classes in each if classes is not None])


def _classes_in(chunks: Iterable[Any]) -> Any:
    """Return the classes among the rows of chunks; responses are read alone where that can be."""
    if isinstance(chunks, RowSource):
        return _classes_of(chunks.responses())
    return _classes_of(parts_of(chunk)[1:] for chunk in chunks)


def _classes_of(responses: Iterable[tuple[Any, Any]]) -> Any:
    """Return the classes among the rows that count, sorted."""
    found: Any = None
    for number, (y, w) in enumerate(responses, start=1):
        labels = np.asarray(y)
        try:
            refuse_missing_labels(labels)
        except InputError as error:
            raise InputError(f"Chunk {number} cannot be used: {error}") from error
        if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
            raise InputError(
                f"Chunk {number} cannot be used: y holds numbers with fractions, and a classifier "
                "takes labels of discrete classes; for numbers use a regression."
            )
        here = np.unique(labels if w is None else labels[np.asarray(w) > 0])
        found = here if found is None else np.union1d(found, here)
    return found


def _columns_of(chunks: Iterable[Any]) -> AbstractContextManager[None]:
    """Let warnings of a fit know what a source made its columns of, unless the caller says it."""
    found = chunks.made_of if isinstance(chunks, RowSource) else None
    return nullcontext() if found is None or current_columns() is not None else made_of(found)
