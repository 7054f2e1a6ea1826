"""Mergeable statistics: fit = map chunks, merge, solve.

A statistic that can be updated with a block of rows and merged with another of its kind gives
the same answer from an array, from a file larger than memory and from a cluster.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from functools import partial
from typing import Any, Protocol, Self, runtime_checkable

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import check_array, check_X_y

from bottega.core import dealt_parts
from bottega.core.deal import MOST_ORDERED, FoldDealer, deal_rows
from bottega.core.engine import current_engine
from bottega.core.errors import InputError, UnforeseenClass
from bottega.core.frames import is_frame
from bottega.core.labels import CodedLabels
from bottega.core.parallel import answers_in_turn
from bottega.core.parts import (
    RowSource,
    counted,
    of_blocks,
    parts_side_by_side,
    refuse_other_count,
)
from bottega.core.progress import PARTS, reported
from bottega.core.row_numbers import spans_of
from bottega.core.row_parts import RowParts
from bottega.core.rows import check_weight
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray, IntArray
from bottega.core.validate import (
    naming_texts,
    refuse_masked,
    refuse_missing_labels,
    refuse_texts,
    refuse_vanishing,
)

__all__ = ["CheckedChunks", "Mergeable", "is_empty", "parts_of"]

_COLUMNS = 8  # read with one pass over chunks, after the first


@runtime_checkable
class Mergeable(Protocol):
    """What can be computed chunk by chunk."""

    def update(self, X: Any, y: Any = None, w: Any = None) -> Self:
        """Take in a block of rows."""

    def merge(self, other: Self) -> Self:
        """Take in what another block of rows gave."""


class CheckedChunks:
    """Chunks of rows given by a user, checked each time they are iterated over.

    Iterating gives ``(X, y, w)``: finite numbers, responses with two axes (or the codes of classes,
    or None without responses), weights positive or None. Rows of weight zero and chunks without
    rows are left out.

    `chunks` are X, (X, y) or (X, y, w), and must be the same each time they are iterated over. Each
    has `n_features` columns (`names` is what those of data frames are taken by; with `allow_nan`
    values may be missing) and responses with `y_ndim` axes (0 for a method without responses, which
    ignores those that are there), labels among `classes` for a classifier, whose folds are
    stratified by them. `read` makes a matrix of inputs that are not numbers. `held` are the same
    chunks in parts that an engine has. With `sparse` a sparse matrix stays one (CSR).
    `guessed` classes may lack some, which are then `UnforeseenClass`.
    """

    def __init__(
        self,
        chunks: Iterable[Any],
        n_features: int,
        y_ndim: int,
        classes: Any = None,
        names: Any = None,
        allow_nan: bool = False,
        read: Callable[[Any], FloatArray] | None = None,
        held: RowParts | None = None,
        sparse: bool = False,
        guessed: bool = False,
    ) -> None:
        self.chunks = chunks
        self.sparse = sparse
        self.allow_nan = allow_nan
        self.read = read
        self.names = names
        self.n_features = n_features
        self.y_ndim = y_ndim
        self.classes = classes
        self.guessed = guessed
        self._part = 0  # its number from one on, where these chunks are one of several parts
        plain = getattr(chunks, "plain", None)
        self._plain = plain is not None and names is not None and list(plain) == list(names)
        self.count: int | None = None  # of the rows that count, once they were passed over
        self._folds: dict[int, IntArray | None] = {}  # of all rows, by their number
        self._part_folds: dict[int, list[Any]] = {}  # of the parts that an engine has
        # A copy, which holds no rows: a circle of references would keep them for too long.
        self._held = None if held is None else held.then(copy(self).of)

    def __getstate__(self) -> dict[str, Any]:
        # How to check, and no rows.
        dealt: dict[str, Any] = {"_folds": {}, "_part_folds": {}}
        return vars(self) | {"chunks": (), "count": None, "_held": None} | dealt

    def of(self, chunks: Iterable[Any], part: int = 0) -> "CheckedChunks":
        """Return other chunks, such as a part of these with its number, to be checked alike."""
        found = copy(self)
        found.chunks, found._part = chunks, part
        return found

    def parts(self) -> "list[CheckedChunks]":
        """Return the chunks in parts that threads of this process pass over side by side."""
        parts = parts_side_by_side(self.chunks)
        if len(parts) == 1:
            return [self]
        return [self.of(part, number) for number, part in enumerate(parts, start=1)]

    @property
    def told_count(self) -> int | None:
        """How many rows there are at most, where the source tells it before they are read."""
        return self.chunks.told_count if isinstance(self.chunks, RowSource) else None

    def expect_passes(self) -> None:
        """Have the processes of an engine keep the rows from the first pass on: others follow."""
        if self._held is not None:
            self._held.keep()

    @property
    def are_held(self) -> bool:
        """Whether the processes of an engine pass over the rows."""
        return self._held is not None and current_engine() is not None

    def reduce(self, function: Callable[..., Any], folds: int = 1) -> Any:
        """Return ``function(X, y, w, fold)`` of all chunks, merged; None without rows.

        The rows are passed over where they are: here, or in parts by the workers of an engine. The
        function changes nothing, and returns what can be merged.
        """
        found = self._reduced(partial(counted, function), folds)
        self.take_count(0 if found is None else found.rows)
        if found is None:
            return None
        refuse_vanishing(found.size)
        return found.answer

    def _reduced(self, function: Callable[..., Any], folds: int) -> Any:
        if not self.are_held:
            if folds > 1 or self.read is not None:
                return of_blocks(function, self.dealt(folds))
            return self._of_parts(lambda part: part._of_chunks(function))
        assert self._held is not None
        if folds == 1:
            return self._held.reduce(partial(dealt_parts.of_part_alone, function))
        dealt = partial(dealt_parts.of_dealt_part, function, folds, self.classes is not None)
        return self._held.reduce(dealt, self._folds_of_parts(folds))

    def _of_chunks(self, function: Callable[..., Any]) -> Any:
        """Return what a function gives for each chunk, checked by the thread that works on it."""
        return of_blocks(partial(self._of_chunk, function), enumerate(self.given(), start=1))

    def _of_chunk(self, function: Callable[..., Any], number: int, chunk: Any) -> Any:
        found = self._checked(number, chunk)
        return None if found is None else function(*found, None)

    def map(self, function: Callable[..., Any]) -> Iterator[Any]:
        """Yield ``function(X, y, w)`` of each chunk in order, made where the rows are."""
        if not self.are_held and len(self.parts()) == 1:
            yield from answers_in_turn(lambda block: function(*block), self)
            return
        count = 0
        for found in self.map_parts(partial(dealt_parts.each_of_part, function)):
            count += sum(each.rows for each in found)
            yield from (each.answer for each in found)
        self.take_count(count)

    def map_parts(
        self, function: Callable[..., Any], each: Sequence[Any] | None = None
    ) -> Iterator[Any]:
        """Yield ``function(part)``, or ``function(part, each[i])``, of every part in order.

        A part is an iterable of ``(X, y, w)``, made where the rows are; the rows of all parts are
        counted by whoever asks for them.
        """
        if self.are_held:
            assert self._held is not None
            yield from self._held.map(function, each)
            return
        parts = self.parts()
        more: Any = [()] * len(parts) if each is None else [(one,) for one in each]
        found = answers_in_turn(
            lambda given: function(given[0], *given[1]), zip(parts, more, strict=True)
        )
        yield from reported(PARTS, len(parts), found)

    def reduce_parts(self, function: Callable[..., Any]) -> Any:
        """Return ``function(part)`` of every part, merged in order, as `map_parts` has them."""
        if self.are_held:
            assert self._held is not None
            return self._held.reduce(function)
        return self._of_parts(function)

    def _of_parts(self, function: Callable[..., Any]) -> Any:
        parts = self.parts()
        return of_blocks(function, ((part,) for part in parts), len(parts))

    def _folds_of_parts(self, count: int) -> list[Any]:
        """Return for each part the folds of its rows, or what was dealt before it."""
        if count not in self._part_folds:
            self._part_folds[count] = self._deal_parts(count)
        return self._part_folds[count]

    def _deal_parts(self, count: int) -> list[Any]:
        assert self._held is not None
        self._held.keep()  # the folds want a pass of their own
        sizes = self._held.map(dealt_parts.rows_by_class)
        known = None
        if sum(size.total() for size in sizes) <= MOST_ORDERED:
            known = self._deal(count)
        if known is not None:
            return [known[rows] for rows in spans_of(size.total() for size in sizes)]
        found: list[Any] = []
        before: Counter[Any] = Counter()
        for size in sizes:
            found.append(dict(before))
            before.update(size if self.classes is not None else {None: size.total()})
        return found

    def dealt(self, count: int) -> Iterator[tuple[FloatArray, Any, Any, IntArray | None]]:
        """Yield ``(X, y, w, fold)``, with the fold of each row; None for one fold.

        The folds are those that the rows get together (`bottega.core.deal`), for which the
        responses are read beforehand, and columns where responses are equal.
        """
        if count > 1 and count not in self._folds:
            self._folds[count] = self._deal(count)
        dealer, start = FoldDealer(count), 0
        for X, y, w in self:
            fold = None
            if count > 1:
                known = self._folds[count]
                if known is None:
                    fold = dealer.deal(len(X), None if self.classes is None else y)
                else:
                    fold = known[start : start + len(X)]
            start += len(X)
            yield X, y, w, fold

    def _deal(self, count: int) -> IntArray | None:
        """Return the fold of each row, or None where there are too many to put them in order."""
        responses, weights, n = [], [], 0
        for y, w in self.map(_response_and_weight):
            n += len(w)
            if n > MOST_ORDERED:
                return None
            responses.append(y)
            weights.append(w)
        if not n:
            return None
        y = np.concatenate(responses)
        strata = None if self.classes is None else y
        return deal_rows(count, n, self, y, np.concatenate(weights), strata=strata)

    def iter_columns(self) -> Iterator[FloatArray]:
        """Yield the columns of the inputs, a few with each pass over the chunks."""
        start, size = 0, 1
        while start < self.n_features:
            block = np.concatenate([*self.map(partial(_columns, start, start + size))])
            yield from block.T
            start, size = start + size, _COLUMNS

    def __iter__(self) -> Iterator[tuple[FloatArray, Any, Any]]:
        count = 0
        for number, chunk in enumerate(self.given(), start=1):
            found = self._checked(number, chunk)
            if found is not None:
                count += found[0].shape[0]
                if self.count is not None and count > self.count:
                    break
                yield found
        self.take_count(count)

    def take_count(self, count: int) -> None:
        """Note how many rows a pass has had; raise where an earlier one has had others."""
        self.check_count(count)
        self.count = count

    def check_count(self, count: int) -> None:
        """Raise where a pass has had another number of rows than an earlier one."""
        if self.count is not None:
            refuse_other_count(count, self.count, "The chunks have")

    def given(self) -> Iterable[Any]:
        """Return the chunks as they are to be checked: inputs as arrays where they are plain."""
        chunks = self.chunks
        return chunks.plain_blocks() if self._plain and isinstance(chunks, RowSource) else chunks

    def _checked(self, place: int, chunk: Any) -> tuple[FloatArray, Any, Any] | None:
        """Return the rows of a chunk that count, or None where there are none."""
        number = f"{place} of part {self._part}" if self._part else f"{place}"
        X, y, w = parts_of(chunk)
        if self.y_ndim == 0:
            y = None
        if is_empty(X):
            return None
        if self._plain and w is None and self.read is None and self._is_read(y):
            # Nothing is left to look at: it would take as long as the sums of the rows.
            return np.asarray(X), self._response(y), None
        refuse_masked(X=X, y=y, w=w)
        X = self._in_order(X, number)
        if is_sparse(X) and not self.sparse and self.read is None:
            raise InputError(
                f"Chunk {number} is sparse, and this method sums up chunks that are arrays or data "
                "frames; give X.toarray()."
            )
        with naming_texts(X):
            if self.read is not None:
                X = self.read(X)
            elif not is_sparse(X):
                X = np.asarray(X, dtype=np.float64)
        try:
            X, y = self._rows(X, y)
            if w is not None:
                w = np.asarray(w, dtype=np.float64)
                # A chunk may count for nothing as a whole, unlike the rows of a fit.
                n = X.shape[0]
                w = check_weight(w, n) if np.any(w) or w.shape != (n,) else w
        except ValueError as error:
            raise InputError(f"Chunk {number} cannot be used: {error}") from error
        if X.shape[1] != self.n_features:
            raise InputError(
                f"Chunk {number} has {X.shape[1]} columns and the first one "
                f"{self.n_features}; give all chunks the same columns."
            )
        if np.ndim(y) != self.y_ndim:
            raise InputError(
                f"Chunk {number} has a response with {np.ndim(y)} axes and the first one "
                f"{self.y_ndim}; give all chunks the same responses."
            )
        if w is not None and np.any(w == 0):
            X, y, w = X[w > 0], None if y is None else y[w > 0], w[w > 0]
        if not X.shape[0]:
            return None
        return X, self._response(y), w

    def _response(self, y: Any) -> Any:
        """Return checked responses with two axes, or the codes of labels."""
        if self.classes is not None:
            return self._codes(y)
        return None if y is None else np.asarray(y, dtype=np.float64).reshape(len(y), -1)

    def _codes(self, y: Any) -> IntArray:
        if isinstance(y, CodedLabels):
            place, known = y.within(self.classes)
            if not known:
                raise UnforeseenClass("A class appears that the first chunk does not have.")
            return place
        _refuse_rounded(y, self.classes)
        codes: IntArray = np.searchsorted(self.classes, y)
        if self.guessed and (codes.max() == len(self.classes) or np.any(self.classes[codes] != y)):
            raise UnforeseenClass("A class appears that the first chunk does not have.")
        return codes

    def _is_read(self, y: Any) -> bool:
        """Return True for responses that need not be looked at: none, labels, finite numbers."""
        if y is None or isinstance(y, CodedLabels):
            return y is None or self.classes is not None
        if not isinstance(y, np.ndarray):
            return False
        return y.dtype.kind in "iu" or (y.dtype == np.float64 and bool(np.isfinite(y).all()))

    def _in_order(self, X: Any, number: str) -> Any:
        """Return the columns of a data frame in the order of the first chunk."""
        names = getattr(X, "columns", None)
        if self.names is None or (names is not None and list(names) == list(self.names)):
            return X
        if not is_frame(X):
            return X
        frame = nw.from_native(X, eager_only=True)
        if frame.columns == list(self.names):
            return X
        absent = [name for name in self.names if name not in frame.columns]
        if absent or len(frame.columns) != len(self.names):
            strange = [name for name in frame.columns if name not in self.names]
            raise InputError(
                f"Chunk {number} has other columns than the first one: "
                f"{'without ' + repr(absent[0]) if absent else 'with ' + repr(strange[0])}."
            )
        return frame.select(list(self.names)).to_native()

    def _rows(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Return checked inputs and responses."""
        how: dict[str, Any] = {"dtype": np.float64}
        how["ensure_all_finite"] = "allow-nan" if self.allow_nan else not self._plain
        how["accept_sparse"] = "csr" if self.sparse else False
        if self.y_ndim == 0:
            return check_array(X, **how), y
        number = self.classes is None
        if isinstance(y, CodedLabels) and not number and len(y) == len(X):
            return check_array(X, **how), y  # labels that were read as such
        if number:
            refuse_texts(y)
        else:
            refuse_missing_labels(y)
        found: tuple[Any, Any] = check_X_y(X, y, multi_output=number, y_numeric=number, **how)
        return found


def _refuse_rounded(y: Array, classes: Array) -> None:
    """Refuse labels that are whole numbers in some chunks and rounded in others, as floats."""
    kinds = {y.dtype.kind, classes.dtype.kind}
    mixed = "f" in kinds and not kinds.isdisjoint("iu")
    if mixed and max(float(y.max()), -float(y.min())) >= 2**53:
        raise InputError(
            "Labels of 2^53 and more are whole numbers in some chunks and rounded in others, as "
            "floats; store them as texts."
        )


def _response_and_weight(X: Any, y: Any, w: Any) -> tuple[Any, FloatArray]:
    return y, np.ones(X.shape[0]) if w is None else w


def _columns(start: int, end: int, X: Any, *_: Any) -> FloatArray:
    return np.asarray(X[:, start:end])


def is_empty(X: Any) -> bool:
    """Return True for a table without rows."""
    shape = getattr(X, "shape", None)
    return shape is not None and len(shape) == 2 and shape[0] == 0


def parts_of(chunk: Any) -> tuple[Any, Any, Any]:
    """Return inputs, responses and weights of a chunk given as X, (X, y) or (X, y, w)."""
    given = list(chunk) if isinstance(chunk, tuple | list) else [chunk]
    X, y, w = [*given, None, None][:3]
    return X, y, w
