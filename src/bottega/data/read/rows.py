"""Where rows come from, frame after frame: files, databases, frames, Arrow datasets, parts.

Each can be read any number of times, can be told which columns are wanted, and knows the parts that
other processes can read by themselves.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bottega.core.errors import InputError
from bottega.core.parallel import spare_threads
from bottega.data import convert
from bottega.data.read.chunks import read_chunks
from bottega.data.read.files import (
    file_sizes,
    find_files,
    frame_or_path,
    is_path,
    kind_of,
    path_of,
)
from bottega.data.read.parquet import check_alike, parquet_rows

__all__ = ["FrameRows", "PartRows", "StoredRows", "rows_of"]

_PART = 1_000_000  # rows of one part of a large Parquet file


class FrameRows(Protocol):
    """Frames of rows, in order."""

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows, of all columns or some; labels named in `text` as they are written."""

    def parts(self) -> "list[FrameRows]":
        """Return parts that can be read apart, in order."""


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of files, of a database or of a frame, as `read_chunks` reads them.

    `sizes` are those of the files when the source was made, which they must keep: a pass without a
    file, or with another half of it, is no pass over the same rows.
    """

    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] | None = None

    def check_files(self) -> None:
        """Raise where the files are not those that the source was made of."""
        if self.sizes is None:
            return
        found = file_sizes(frame_or_path(self.source)[1])
        for file in [*self.sizes, *found]:
            before, now = self.sizes.get(file), found.get(file)
            if before != now:
                what = "is gone" if now is None else "is new"
                raise InputError(
                    "The files of the source are not what they were when it was made: "
                    f"{file!r} {what if None in (before, now) else 'has another size'}. Make the "
                    "source again, and do not change its files meanwhile."
                )

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows."""
        self.check_files()
        return read_chunks(self.source, **self.options, columns=columns, text=text)

    def parts(self) -> "list[FrameRows]":
        """Return a part per Parquet file, and several of a long one; anything else is one part.

        What a text file holds is known from all its rows only.
        """
        self.check_files()
        if self.options.get("span") is not None:
            return [self]  # of a long file, whose other rows are in other parts
        frame, path = frame_or_path(self.source)
        if frame is not None:
            frame = convert.as_frame(frame)
            size = max(1, -(-len(frame) // 64), self.options.get("rows", 1))
            starts = range(0, max(len(frame), 1), size)
            return [replace(self, source=frame[s : s + size].to_native()) for s in starts]
        files = find_files(path)
        if kind_of(files) != "parquet":
            return [self]
        counts = parquet_rows(files)
        found: list[FrameRows] = []
        for file, count in zip(files, counts, strict=True):
            path = os.path.abspath(file)  # other processes may have another working directory
            sizes = None if self.sizes is None else {path: self.sizes[file]}
            part = replace(self, source=path, sizes=sizes)
            if count <= 2 * _PART:
                found.append(part)
                continue
            for start in range(0, count, _PART):
                span = (start, min(start + _PART, count))
                found.append(replace(part, options={**self.options, "span": span}))
        return found


@dataclass(frozen=True, eq=False)
class DatasetRows:
    """The rows of an Arrow dataset, or of one of its fragments; only wanted columns are read."""

    dataset: Any
    where: Any = None
    rows: int = 10_000

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows."""
        try:
            for batch in self.dataset.to_batches(**self._options(columns)):
                if batch.num_rows:
                    yield batch.to_pandas()
        except (OSError, ValueError) as error:
            raise InputError(f"The Arrow dataset cannot be read: {error}.") from error

    def _options(self, columns: Sequence[str] | None) -> dict[str, Any]:
        return {
            "columns": None if columns is None else list(columns),
            "filter": self.where,
            "batch_size": self.rows,
            "use_threads": spare_threads() > 1,
        }

    def parts(self) -> "list[FrameRows]":
        """Return a part per fragment, which is a file as a rule."""
        fragments = getattr(self.dataset, "get_fragments", None)
        if fragments is None:
            return [self]
        schema = self.dataset.schema
        return [_FragmentRows(each, self.where, self.rows, schema) for each in fragments()]


@dataclass(frozen=True, eq=False)
class _FragmentRows(DatasetRows):
    """A fragment of a dataset, read by the columns and types of the whole."""

    schema: Any = None

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        for batch in self.dataset.to_batches(schema=self.schema, **self._options(columns)):
            if batch.num_rows:
                yield batch.to_pandas()

    def parts(self) -> "list[FrameRows]":
        return [self]


@dataclass(frozen=True, eq=False)
class PartRows:
    """Rows in parts, each made by a function of its own: those of a cluster, say."""

    makers: Sequence[Callable[[], Any]]

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows, part by part."""
        first: list[str] | None = None
        for number, make in enumerate(self.makers, start=1):
            frame = convert.as_frame(make())
            first = frame.columns if first is None else first
            _check_columns(first, frame.columns, number)
            yield frame.select(first if columns is None else list(columns)).to_native()

    def parts(self) -> "list[FrameRows]":
        """Return each part by itself."""
        return [PartRows([make]) for make in self.makers]


def _check_columns(first: Sequence[str], found: Sequence[str], number: int) -> None:
    absent = [name for name in first if name not in found]
    strange = [name for name in found if name not in first]
    if absent or strange:
        what = f"lacks {absent[0]!r}" if absent else f"has {strange[0]!r} besides"
        raise InputError(
            f"Part {number} of the rows has other columns than the first one: it {what}. Give all "
            "parts the same columns."
        )


def rows_of(source: Any, options: Mapping[str, Any]) -> FrameRows:
    """Return where the rows of a source come from."""
    if isinstance(source, StoredRows | PartRows | DatasetRows):
        return source
    if callable(getattr(source, "to_batches", None)) and callable(getattr(source, "scanner", None)):
        return DatasetRows(source, options.get("where"), int(options.get("rows", 10_000)))
    if is_path(source):
        source = path_of(source)
    frame, path = frame_or_path(source)
    if frame is not None:
        return StoredRows(source, options)
    sizes = file_sizes(path)
    if len(sizes) > 1 and kind_of([*sizes]) == "parquet":
        check_alike([*sizes])
    return StoredRows(source, options, sizes)
