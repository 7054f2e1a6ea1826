"""Parquet files whose inputs are numbers as they are: read without having learnt an encoder."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import Unforeseen
from bottega.core.labels import CodedLabels
from bottega.core.parallel import made_ahead
from bottega.core.parts import RowSource
from bottega.core.recycled import RecycledArrays
from bottega.core.rows import split_rows
from bottega.core.typing import BoolArray, FloatArray
from bottega.data._encode.statistics import SAFE
from bottega.data._kernels.copied import copied
from bottega.data.columns import is_key
from bottega.data.read.batches import Types, is_text, plain_types, readable, record_batches
from bottega.data.read.files import find_files, frame_or_path, is_bundled, is_path, kind_of
from bottega.data.read.footers import NumberFooter, Span, column_names, number_footers
from bottega.data.read.parquet import check_alike
from bottega.data.read.rows import StoredRows
from bottega.data.read.stored_numbers import StoredNumbers, stored_numbers
from bottega.data.role_columns import class_labels, whole_numbers

__all__ = ["PlainNumbers"]

_PIECE, _LEAST = 2**20, 1000  # numbers in a chunk, and rows at least


@dataclass(frozen=True, eq=False)
class PlainNumbers(RowSource):
    """Chunks of Parquet files whose footers say that all inputs are numbers, and none is missing.

    They are what `EncodedChunks` makes of the same files, but nothing has to be learnt before the
    first pass. A value that is missing all the same (NaN, or infinite) raises `Unforeseen`.

    Parameters
    ----------
    source : StoredRows
        Where the rows are.
    names : sequence of str
        The inputs.
    target, weight : str or None
        The columns of responses and weights.
    footers : mapping of str to NumberFooter, optional
        What the files say about the inputs.
    """

    in_files = True

    source: StoredRows
    names: Sequence[str]
    target: str | None
    weight: str | None
    footers: Mapping[str, NumberFooter] | None = None

    @classmethod
    def of(
        cls, source: Any, target: str | None, weight: str | None, others: set[str]
    ) -> "PlainNumbers | None":
        """Return the rows of a source, if its footers say that they are such; no `others`.

        What is wrong with names of columns is for others to say.
        """
        files = _parquet_files(source)
        if not files:
            return None
        within = column_names(files[0])
        roles = [*(name for name in (target, weight) if name is not None), *others]
        if len(set(roles)) < len(roles) or not set(roles) <= set(within):
            return None
        names = [name for name in within if name not in roles]
        found = cls(source, names, target, weight)
        types = plain_types(files, found._columns)
        if (
            not names
            or types is None
            or any(is_text(types[name]) for name in (*names, weight) if name)
        ):
            return None
        footers = number_footers(files, names, within)
        if footers is None or not all(
            _is_plain(name, types, said) for name, said in footers.items()
        ):
            return None
        return replace(found, footers=footers)

    @property
    def ends(self) -> Sequence[tuple[float, float]] | None:
        """The least and the largest number of each input, as the files say."""
        if self.footers is None:
            return None
        said = [self.footers[name] for name in self.names]
        return [(float(each.low), float(each.high)) for each in said]

    @property
    def told_count(self) -> int | None:
        """How many rows all files have; some may lack a response."""
        return None if self.footers is None else max(each.rows for each in self.footers.values())

    @property
    def plain(self) -> Sequence[str]:
        """Names of the columns, which are looked at as they are read."""
        return self.names

    @property
    def _columns(self) -> list[str]:
        return [*self.names, *(name for name in (self.target, self.weight) if name is not None)]

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        import pandas as pd

        columns = pd.Index(self.names, dtype=object)
        for X, y, w in self.plain_blocks():
            frame = pd.DataFrame(X, columns=columns, copy=False)
            yield (frame, y) if self.weight is None else (frame, y, w)

    def plain_blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the inputs of each chunk as an array, with responses and weights."""
        return made_ahead(self._blocks())

    def _blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        types, arrays = self._types(self._columns), RecycledArrays.of_thread()
        roles = self._columns[len(self.names) :]
        for file in _parquet_files(self.source):
            with (
                readable(file),
                stored_numbers(file, self.names, roles, self._span) as stored,
            ):
                yield from self._blocks_of(file, types, stored, arrays)
        self.source.check_files()

    def _blocks_of(
        self, file: str, types: Types, stored: StoredNumbers | None, arrays: RecycledArrays
    ) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the blocks of a file, whose columns are stored as they are or decoded by Arrow."""
        p, known = len(self.names), () if stored is None else stored.names
        decoded = {name: kind for name, kind in types.items() if name not in known}
        # Few rows at a time: they stay in the cache while they are worked on.
        most = min(self._rows, max(_PIECE // p, _LEAST))
        for batch in self._record_batches(file, decoded) if decoded else [None]:
            numbers: Any = _Decoded(batch, self.names) if stored is None else stored
            for part in _even(numbers.rows if batch is None else batch.num_rows, most):
                n = part.stop - part.start
                matrix: Any = arrays.take((p, n))
                beside = {name: np.empty(n) for name in numbers.names[p:]}
                if not np.all(numbers.read([*matrix, *beside.values()])[:p]):
                    raise Unforeseen(
                        "Some numbers are missing or infinite, and the files did not say so."
                    )
                y, w, kept = self._responses(batch, part, beside)
                if kept is None:
                    yield matrix.T, y, w
                else:
                    yield matrix.T[kept], *(None if each is None else each[kept] for each in (y, w))

    def responses(self) -> Iterator[tuple[Any, Any]]:
        """Yield responses and weights alone: no other column is read."""
        types = self._types(self._columns[len(self.names) :])
        for file in _parquet_files(self.source):
            for batch in self._record_batches(file, types):
                y, w, kept = self._responses(batch, slice(0, batch.num_rows), {})
                yield (y, w) if kept is None else (y[kept], None if w is None else w[kept])

    def parts(self) -> "list[PlainNumbers]":
        """Return parts that can be read apart, in order."""
        parts: Any = self.source.parts()
        return [replace(self, source=part) for part in parts]

    def check_alike(self) -> None:
        """Raise where the files do not have the same columns any more."""
        files = _parquet_files(self.source)
        if len(files) > 1:
            check_alike(files)

    @property
    def _rows(self) -> int:
        return int(self.source.options["rows"])

    @property
    def _span(self) -> Span | None:
        return self.source.options.get("span")

    def _types(self, columns: list[str]) -> Types:
        types = plain_types(_parquet_files(self.source), columns)
        if types is None:
            raise Unforeseen("The files are not what they were when the source was made.")
        return types

    def _record_batches(self, file: str, types: Types) -> Iterator[Any]:
        return record_batches([file], types, self._rows, self._span, apart=True)

    def _responses(
        self, batch: Any, part: slice, beside: Mapping[str, Any]
    ) -> tuple[Any, Any, BoolArray | None]:
        """Return responses, weights, and which rows have a response; None for all of them.

        They are `beside` the inputs, or in a part of a batch of Arrow.
        """

        def column(name: str) -> Any:
            if name in beside:
                return beside[name]
            return batch.column(name).slice(part.start, part.stop - part.start)

        w = None if self.weight is None else _numbers(column(self.weight))
        if self.target is None:
            return None, w, None
        found = column(self.target)
        if hasattr(found, "dictionary"):
            labels = _labels(tuple(found.dictionary.to_pylist()))
            if not found.null_count:
                return CodedLabels(found.indices.to_numpy(), labels), w, None
            codes = found.indices.fill_null(0).to_numpy(zero_copy_only=False)
            y: Any = CodedLabels(codes, labels) if len(labels) else codes
            absent = found.is_null().to_numpy(zero_copy_only=False)
        else:
            y, absent = _responses(found)
        return y, w, ~absent if absent.any() else None


def _parquet_files(source: Any) -> list[str]:
    """Return the files of a source that is nothing else than Parquet files."""
    if not isinstance(source, StoredRows) or not is_path(source.source):
        return []
    if any(source.options.get(name) is not None for name in ("table", "query", "where")):
        return []
    if isinstance(source.source, str) and is_bundled(source.source):
        return []
    source.check_files()
    files = find_files(frame_or_path(source.source)[1])
    return files if kind_of(files) == "parquet" else []


@lru_cache(maxsize=8)
def _labels(distinct: tuple[str | None, ...]) -> np.ndarray:
    return class_labels(nw.new_series("labels", list(distinct), nw.String, backend="pandas"))


def _is_plain(name: str, types: Types, said: NumberFooter) -> bool:
    """Return True if a column is a number like others: not missing, constant, a key, or extreme."""
    if said.missing or not said.rows or not said.low < said.high:
        return False
    if not 1 / SAFE <= max(abs(said.low), abs(said.high)) <= SAFE:
        return False
    whole = "int" in types[name]
    return not (whole and is_key(name, said.rows, int(said.low), int(said.high)))


def _responses(column: Any) -> tuple[np.ndarray, BoolArray]:
    """Return a column, and where it has no value; whole numbers, which may be labels, stay such."""
    if isinstance(column, np.ndarray) or "int" not in str(column.type):
        y = _numbers(column)
        absent = np.isnan(y)
        return whole_numbers(np.where(absent, 0.0, y)) if absent.any() else whole_numbers(y), absent
    whole = column.fill_null(0) if column.null_count else column
    absent = column.is_null().to_numpy(zero_copy_only=False)
    return whole.to_numpy(zero_copy_only=False), absent


def _numbers(column: Any) -> np.ndarray:
    if not isinstance(column, np.ndarray):
        column = column.to_numpy(zero_copy_only=False)
    return np.asarray(column, dtype=np.float64)


def _even(n: int, most: int) -> Iterator[slice]:
    """Yield slices of about the same size."""
    return split_rows(n, max(1, -(-n // max(1, -(-n // most)))))


class _Decoded:
    """Columns of a batch of Arrow, read as `StoredNumbers` are."""

    def __init__(self, batch: Any, names: Sequence[str]) -> None:
        self.names = names
        self._columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in names]
        self._place = 0

    def read(self, out: Sequence[FloatArray]) -> BoolArray:
        """Write the next numbers of each column to an array each; return which are all finite."""
        finite = np.empty(len(out), dtype=np.bool_)
        stop = self._place + len(out[0])
        for j, (column, row) in enumerate(zip(self._columns, out, strict=True)):
            given = column[self._place : stop]
            if given.dtype == np.float64 and given.flags.c_contiguous:
                total = copied(given, row)
            else:
                row[:] = given
                total = row.sum()
            # A sum is finite if all its terms are.
            finite[j] = np.isfinite(total) or np.isfinite(row).all()
        self._place = stop
        return finite
