"""Columns of numbers that a Parquet file stores as they are: read with nothing in between.

Arrow copies such numbers twice more than it takes to read them, which is most of the time of a fit
of one pass. Other types, and what is compressed or in a dictionary, are left to it.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from bottega.core.errors import Unforeseen
from bottega.core.typing import BoolArray, FloatArray
from bottega.data._kernels.pages import take_values
from bottega.data.read.footers import Span, footer_of, groups_of

__all__ = ["StoredNumbers", "stored_numbers"]

_SIZE = 8  # bytes of a number
_AS_THEY_ARE = frozenset(("PLAIN", "RLE", "BIT_PACKED"))  # encodings of numbers, and of levels
_AT_ONCE = 1 << 16  # numbers of a column that are read at once: what the cache of a core holds
_HEADERS = 1 << 12  # bytes beside the numbers that are read with them


@dataclass
class _UnreadColumn:
    """The numbers of a column that were not read yet: places in the file."""

    runs: list[Span]  # of pages; the last one comes first
    optional: bool  # whether values could be missing, though none is
    place: int = 0
    stop: int = 0
    left: int = 0  # numbers of the page that `place` is in

    def next_run(self) -> None:
        if self.left or not self.runs:
            raise _strange()
        self.place, self.stop = self.runs.pop()


class StoredNumbers:
    """Some columns of the rows of a Parquet file, read side by side, some rows at a time.

    Attributes
    ----------
    names : list of str
        The columns.
    rows : int
        How many rows there are.
    """

    def __init__(self, file: BinaryIO, columns: dict[str, _UnreadColumn], rows: int) -> None:
        self.names, self.rows = list(columns), rows
        self._file: Any = file
        self._columns = list(columns.values())
        self._bytes = np.empty(_SIZE * _AT_ONCE + _HEADERS, np.uint8)

    def read(self, out: Sequence[FloatArray]) -> BoolArray:
        """Write the next numbers of each column to an array each; return which are all finite."""
        finite = np.empty(len(out), dtype=np.bool_)
        for j, (column, row) in enumerate(zip(self._columns, out, strict=True)):
            starts = range(0, len(row), _AT_ONCE)
            total = sum(self._read(column, row[start : start + _AT_ONCE]) for start in starts)
            # A sum is finite if all its terms are.
            finite[j] = np.isfinite(total) or np.isfinite(row).all()
        return finite

    def skip(self, rows: int) -> None:
        """Pass over some rows."""
        nowhere = np.empty((len(self.names), min(rows, _AT_ONCE)))
        for start in range(0, rows, _AT_ONCE):
            self.read(list(nowhere[:, : rows - start]))

    def _read(self, column: _UnreadColumn, out: FloatArray) -> float:
        """Fill an array with the next numbers of a column; return their sum."""
        total, done = 0.0, 0
        while done < len(out):
            if column.place == column.stop:
                column.next_run()
            size = min(column.stop - column.place, _SIZE * (len(out) - done) + _HEADERS)
            pages = self._bytes[:size]
            self._file.seek(column.place)
            if self._file.readinto(pages) != size:
                raise _strange()
            taken, used, column.left, some = take_values(
                pages, column.left, column.optional, out[done:]
            )
            column.place += used
            if not used or column.place > column.stop:
                raise _strange()
            done += taken
            total += some
        return total


@contextmanager
def stored_numbers(
    path: str, needed: Sequence[str], more: Sequence[str], span: Span | None
) -> Iterator[StoredNumbers | None]:
    """Open columns of a file, or of a span of its rows, that are stored as they are.

    None where the `needed` ones are not; of `more`, those that are come after them.
    """
    with open(path, "rb", buffering=0) as file:
        metadata, schema = footer_of(path, file)
        columns = [] if metadata is None else schema.names
        nested = metadata is not None and metadata.num_columns != len(columns)
        if nested or sys.byteorder != "little" or not {*needed, *more} <= set(columns):
            yield None
            return
        groups, first = groups_of(metadata, span)
        found = {}
        for name in [*needed, *more]:
            column = _column(metadata, columns.index(name), groups)
            if column is not None:
                found[name] = column
            elif name in needed:
                yield None
                return
        start, stop = span or (0, metadata.num_rows)
        numbers = StoredNumbers(file, found, stop - start)
        if start > first:
            numbers.skip(start - first)
        yield numbers


def _column(metadata: Any, j: int, groups: Sequence[int]) -> _UnreadColumn | None:
    """Return where the numbers of a column are; None where they are not stored as they are."""
    shape = metadata.schema.column(j)
    if shape.max_repetition_level or shape.max_definition_level > 1:
        return None
    runs = []
    for number in groups:
        run = metadata.row_group(number).column(j)
        if (
            run.physical_type != "DOUBLE"
            or run.num_values != metadata.row_group(number).num_rows
            or run.compression != "UNCOMPRESSED"
            or run.has_dictionary_page
            or not _AS_THEY_ARE.issuperset(run.encodings)
            or run.statistics is None
            or run.statistics.null_count != 0
        ):
            return None
        runs.append((run.data_page_offset, run.data_page_offset + run.total_compressed_size))
    return _UnreadColumn(runs[::-1], shape.max_definition_level == 1)


def _strange() -> Unforeseen:
    return Unforeseen("The pages of a file are not what its footer says.")
