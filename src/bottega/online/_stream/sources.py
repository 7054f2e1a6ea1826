"""Anything that gives rows, as blocks of rows: arrays, frames, files, queries, generators."""

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import is_frame, make_frame
from bottega.core.sparse import is_sparse
from bottega.data.read import is_query, read_chunks
from bottega.data.table import Table
from bottega.online._stream.blocks import as_block, take


class StreamError(InputError):
    """A stream broke off: a row could not be learned.

    Attributes
    ----------
    row : int
        Its number in the stream, from 1. All rows before it are learned.
    run : Run or None
        What was learned before it.
    """

    def __init__(self, message: str, row: int, run: Any = None) -> None:
        super().__init__(message)
        self.row = row
        self.run = run


def length_of(stream: Any) -> int | None:
    """Return how many rows will come, where that is known."""
    if isinstance(stream, Table):
        return int(stream.n_rows)
    if is_frame(stream):
        return len(nw.from_native(stream, eager_only=True))
    return int(np.shape(stream[1])[0]) if _is_pair(stream) else None


def labels_of(stream: Any, target: str | None) -> Any:
    """Return all truths, where they are known beforehand."""
    if isinstance(stream, Table):
        return stream.y
    if is_frame(stream):
        return _split(stream, target)[1]
    return np.asarray(stream[1]) if _is_pair(stream) else None


def blocks_of(stream: Any, target: str | None, block: int) -> Iterator[tuple[Any, Any]]:
    """Yield ``(X, y)`` blocks of at most `block` rows, in the order of the rows."""
    for X, y in _pieces(stream, target, block):
        X, y = as_block(X), np.asarray(y)
        if y.ndim != 1 or X.shape[0] != len(y):
            raise InputError(
                f"A block has {X.shape[0]} rows and truths of shape {y.shape}; give one truth "
                "per row."
            )
        for start in range(0, len(y), block):
            part = slice(start, start + block)
            yield take(X, part), y[part]


def _pieces(stream: Any, target: str | None, block: int) -> Iterator[tuple[Any, Any]]:
    if isinstance(stream, Table):
        if stream.y is None:
            raise InputError("The table has no target; read it with target=.")
        yield stream.X, stream.y
    elif is_frame(stream):
        yield _split(stream, target)
    elif _is_pair(stream):
        yield stream
    elif isinstance(stream, str | os.PathLike) or is_query(stream):
        for frame in read_chunks(stream, rows=block):
            yield _split(frame, target)
    elif isinstance(stream, Iterable) and not isinstance(stream, Mapping):
        yield from _items(stream, target, block)
    else:
        raise InputError(
            f"A {type(stream).__name__} is not a stream of rows; give (X, y), a frame with "
            "target=, a path or a query with target=, or something that yields (X, y) blocks or "
            "(row, truth) pairs."
        )


def _is_pair(stream: Any) -> bool:
    """Return True for a pair of tables, False for a sequence of two blocks or rows."""
    return isinstance(stream, tuple) and len(stream) == 2 and _is_table(stream[0])


def _is_table(X: Any) -> bool:
    if isinstance(X, np.ndarray | list):
        try:
            return np.ndim(X) == 2
        except ValueError:  # lists of unequal lengths
            return False
    return not isinstance(X, tuple | Mapping | str) and (is_sparse(X) or is_frame(X))


def _split(frame: Any, target: str | None) -> tuple[Any, Any]:
    """Return the inputs and the target column of a frame."""
    data = nw.from_native(frame, eager_only=True)
    if target is None:
        raise InputError(
            f"Which column is to be predicted? Give target=, one of {', '.join(data.columns[:8])}."
        )
    if target not in data.columns:
        raise InputError(f"There is no column {target!r}.{did_you_mean(target, data.columns)}")
    return data.drop(target).to_native(), data[target].to_numpy()


def _items(stream: Iterable[Any], target: str | None, block: int) -> Iterator[tuple[Any, Any]]:
    """Yield what comes as blocks as it is, and gather what comes row by row."""
    waiting: list[tuple[Any, Any]] = []
    try:
        for item in stream:
            frame = not isinstance(item, tuple | list) and is_frame(item)
            X, y = _split(item, target) if frame else _parts(item)
            table = frame or _is_table(X)
            if waiting and (table or not _alike(waiting[0][0], X)):
                yield _gathered(waiting)
                waiting = []
            if table:
                yield X, np.atleast_1d(np.asarray(y))
                continue
            waiting.append((X, y))
            if len(waiting) == block:
                yield _gathered(waiting)
                waiting = []
    except Exception:
        if waiting:  # what had come is learned before the stream's own error is shown
            yield _gathered(waiting)
        raise
    if waiting:
        yield _gathered(waiting)


def _parts(item: Any) -> tuple[Any, Any]:
    if isinstance(item, tuple | list) and len(item) in (2, 3):
        if len(item) == 3 and item[2] is not None:
            raise InputError(
                "A chunk came with weights, which online learners do not take; repeat rows, or "
                "leave the weights out."
            )
        return item[0], item[1]
    raise InputError(
        f"The stream gave a {type(item).__name__}; it should give (X, y) blocks, (row, truth) "
        "pairs, or frames."
    )


def _alike(first: Any, row: Any) -> bool:
    """Return True if two rows fit in one block; if not, the learner will raise what is wrong."""
    if isinstance(first, Mapping) and isinstance(row, Mapping):
        return row.keys() == first.keys()
    named = isinstance(first, Mapping) or isinstance(row, Mapping)
    return not named and np.shape(first) == np.shape(row)


def _gathered(waiting: list[tuple[Any, Any]]) -> tuple[Any, tuple[Any, ...]]:
    """Return rows that came one by one as a block."""
    rows, truths = zip(*waiting, strict=True)
    if not isinstance(rows[0], Mapping):
        return np.asarray(rows), truths
    # Columns are known by their names, in the order of the first row.
    for name, value in rows[0].items():
        if isinstance(value, str):
            raise InputError(
                f"Column {name!r} holds text ({value!r}); turn rows of named values into numbers "
                "with bottega.online.hashed_rows."
            )
    return make_frame({str(name): [row[name] for row in rows] for name in rows[0]}), truths
