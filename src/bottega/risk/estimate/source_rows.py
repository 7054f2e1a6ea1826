"""Rows of a source, judged like rows in memory: what is held of each is a few numbers.

Responses, folds, predictions and losses of all rows are in memory, their inputs are not: a
procedure learns from the rows of a source by their numbers, and predicts them so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import take_rows
from bottega.core.lazy import cached_property
from bottega.core.matrix_columns import MatrixColumns
from bottega.core.parts import RowSource
from bottega.core.row_numbers import numbered, spans_of
from bottega.core.row_parts import each_part
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, BoolArray, IntArray
from bottega.data import EncodedChunks, convert
from bottega.data.role_columns import group_labels, order_values, with_target
from bottega.risk.estimate.judged_rows import JudgedRows, read_rows
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.procedures import PlainInputs

__all__ = ["NumberedRows", "SourceRows", "inputs_of_rows", "read_judged"]


def read_judged(
    X: Any, y: Any, task: str, *, weight: Any = None, groups: Any = None, time: Any = None
) -> tuple[Any, JudgedRows]:
    """Return inputs and judged rows, as `read_rows` does, or of a source."""
    if not isinstance(X, RowSource):
        return read_rows(X, y, task, weight=weight, groups=groups, time=time)
    if y is not None or weight is not None:
        raise InputError(
            "A source has its own responses and weights: name their columns when it is made."
        )
    first = X.at_first_sight()
    rows = first if isinstance(first, RowSource) else X
    by_part = each_part(_responses_of, rows.parts(), in_files=rows.in_files)
    found = [chunk for part in by_part for chunk in part]
    if any(labels is None for labels, _ in found):
        raise InputError("The source has no responses to judge by; give its target.")
    sizes = [sum(len(labels) for labels, _ in part) for part in by_part]
    if not sum(sizes):
        raise InputError("The source has no rows to judge.")
    labels = np.concatenate([labels for labels, _ in found])
    if labels.ndim > 1 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim > 1:
        raise InputError("One response at a time is evaluated, and the source has several.")
    if isinstance(X, EncodedChunks):
        groups = _column(X, X.group if groups is None else groups, group_labels)
        time = _column(X, time, order_values)
    told = None if found[0][1] is None else np.concatenate([w for _, w in found])
    return NumberedRows(X, tuple(sizes)), JudgedRows(labels, task, told, groups, time)


def inputs_of_rows(X: Any) -> Any:
    """Return inputs that a splitter may look at; None where they are not in memory."""
    return None if isinstance(X, NumberedRows) else X


def _responses_of(part: RowSource) -> list[tuple[Any, Any]]:
    return [(None if y is None else np.asarray(y), w) for y, w in part.responses()]


def _column(source: EncodedChunks, values: Any, read: Callable[[Any], Array]) -> Any:
    """Return a column of the rows that have a target; anything but a name is returned as it is."""
    if not isinstance(values, str):
        return values
    known = next((frame.columns for frame in source.stored()), [values])
    if values not in known:
        raise InputError(f"The source has no column {values!r}.{did_you_mean(values, known)}")
    names = [values] if source.target in (None, values) else [values, source.target]
    found = []
    for frame in with_target(source.stored(names), source.target):
        if convert.missing(frame[values]).any():
            raise InputError(
                f"Column {values!r} has missing values where groups or times are wanted; fill them "
                "in, or leave those rows out (where=)."
            )
        found.append(read(frame[values]))
    return np.concatenate(found)


@dataclass(frozen=True, eq=False)
class NumberedRows(PlainInputs):
    """The rows of a source by their numbers, as the inputs of a procedure."""

    X: RowSource
    sizes: tuple[int, ...]  # of its parts

    def train(self, part: Part) -> "SourceRows":
        """Return the training rows."""
        return self._of(part.train)

    def test(self, part: Part, rows: IntArray) -> "SourceRows":
        """Return other rows, in the order that they have in the source."""
        return self._of(rows)

    @cached_property
    def at_first_sight(self) -> "NumberedRows":
        """The same rows without learning from all of them beforehand, where that may do."""
        found = self.X.at_first_sight()
        if found is self.X or not isinstance(found, RowSource):
            return self
        return NumberedRows(found, self.sizes)

    @cached_property
    def parts(self) -> Sequence[tuple[Any, slice]]:
        """The parts of the source, and the numbers of their rows."""
        parts = self.X.parts()
        if len(parts) != len(self.sizes):
            raise InputError(
                f"The source has {len(parts)} parts, and {len(self.sizes)} in an earlier pass; do "
                "not change its files meanwhile."
            )
        return list(zip(parts, spans_of(self.sizes), strict=True))

    def _of(self, rows: IntArray) -> "SourceRows":
        chosen = np.zeros(sum(self.sizes), dtype=np.bool_)
        chosen[rows] = True
        if np.count_nonzero(chosen) < len(rows):
            raise InputError(
                "The folds name a row twice, and a source gives each row once: give weights for "
                "what counts more than once."
            )
        return SourceRows(self.X, chosen, self)


class SourceRows(RowSource):
    """Some rows of a source, by their numbers.

    Parameters
    ----------
    source : RowSource
        All rows, or those of a part.
    chosen : ndarray of bool
        Which of them.
    inputs : NumberedRows, optional
        The same rows, which know their parts; none for a part.
    """

    def __init__(
        self, source: RowSource, chosen: BoolArray, inputs: NumberedRows | None = None
    ) -> None:
        self._source, self._chosen, self._inputs = source, chosen, inputs
        self.in_files = source.in_files

    @property
    def plain(self) -> Sequence[str] | None:
        """Names of the columns, where they are known to be finite numbers."""
        return self._source.plain

    @property
    def encoding(self) -> str | None:
        """What tells how rows are encoded."""
        return self._source.encoding

    def check_unchanged(self) -> None:
        """Raise where the rows are known to be others than they were."""
        self._source.check_unchanged()

    @property
    def told_count(self) -> int:
        """How many rows there are."""
        return int(np.count_nonzero(self._chosen))

    @property
    def ends(self) -> Sequence[tuple[float, float]] | None:
        """The least and the largest number of each column among all rows, where that is told."""
        return self._source.ends

    @property
    def made_of(self) -> MatrixColumns | None:
        """What the columns of X were made of, where an encoder made them."""
        return self._source.made_of

    def __iter__(self) -> Iterator[Any]:
        return self._chosen_of(self._source)

    def plain_blocks(self) -> Iterator[Any]:
        """Yield X as an array, y and w of each chunk, where X is known to be finite numbers."""
        return self._chosen_of(self._source.plain_blocks())

    def responses(self) -> Iterator[Any]:
        """Yield the responses and weights (or None) of each chunk."""
        return self._chosen_of(self._source.responses())

    def _chosen_of(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the chosen rows of what comes together, chunk by chunk."""
        what = "A part of the source has" if self._inputs is None else "The source has"
        for place, chunk in numbered(chunks, len(self._chosen), what, _size):
            chosen = self._chosen[place]
            if chosen.all():
                yield chunk
            elif chosen.any():
                at = np.flatnonzero(chosen)
                yield tuple(None if each is None else take_rows(each, at) for each in chunk)

    def at_first_sight(self) -> "SourceRows":
        """Return the rows without learning from all of them beforehand, where that may do."""
        if self._inputs is None:
            return self
        found = self._inputs.at_first_sight
        return self if found is self._inputs else SourceRows(found.X, self._chosen, found)

    def parts(self) -> "list[SourceRows]":
        """Return the rows in parts that other processes can read by themselves, in order."""
        if self._inputs is None:
            return [self]
        return [SourceRows(part, self._chosen[place]) for part, place in self._inputs.parts]


def _size(chunk: tuple[Any, ...]) -> int:
    first = chunk[0]
    return int(first.shape[0]) if is_sparse(first) else len(first)
