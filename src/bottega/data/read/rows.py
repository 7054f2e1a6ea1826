"""Where rows come from, frame after frame: files, databases, frames, Arrow datasets, parts.

Each can be read any number of times, can be told which columns are wanted, and knows the parts that
other processes can read by themselves.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from bottega.core.errors import InputError
from bottega.core.parallel import spare_threads
from bottega.data import convert
from bottega.data.read.chunks import read_chunks
from bottega.data.read.files import (
    FileState,
    file_states,
    find_files,
    frame_or_path,
    is_path,
    kind_of,
    path_of,
)
from bottega.data.read.layout import TextLayout
from bottega.data.read.parquet import check_alike, parquet_rows

__all__ = ["FrameRows", "PartRows", "StoredRows", "rows_of"]

_PART = 1_000_000  # rows of one part of a large Parquet file
# Bytes of small text files that share a part: at least, as opening a part takes as long as reading
# 1 MB, and at most. Between the two there are about `_SHARES` parts, for as many workers.
_TEXT_PART = (2_000_000, 64_000_000)
_SHARES = 16
_UNPACKED = 5  # bytes of text per byte of a .gz file, about
# What a condition with a query in it has, which may read the other files.
_QUERY = re.compile(r"\b(select|from|values|table)\b", re.IGNORECASE)


class FrameRows(Protocol):
    """Frames of rows, in order."""

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows, of all columns or some; labels named in `text` as they are written."""

    def parts(self, text: Any = ()) -> "list[FrameRows]":
        """Return parts that can be read apart, in order, with the same labels in `text`."""


@dataclass(frozen=True, eq=False)
class StoredRows:
    """The rows of files, of a database or of a frame, as `read_chunks` reads them.

    `states` are those of the files when the source was made, which they must keep: a pass without a
    file, or with another half of it, is no pass over the same rows. Other processes are told the
    sizes alone: they may have copies of the files, written at another time.
    """

    source: Any
    options: Mapping[str, Any] = field(default_factory=dict)
    states: Mapping[str, FileState] | None = None
    # Of several text files, by the columns that are read as they are written; passes find them.
    _layouts: dict[frozenset[str], TextLayout | None] = field(default_factory=dict, repr=False)

    def check_files(self) -> None:
        """Raise where the files are not those that the source was made of."""
        if self.states is None:
            return
        found: Mapping[str, FileState] = {}
        with suppress(InputError):  # where there is no file any more
            found = file_states(frame_or_path(self.source)[1])
        for file in [*self.states, *found]:
            what = _change(self.states.get(file), found.get(file))
            if what is not None:
                raise InputError(
                    "The files of the source are not what they were when it was made: "
                    f"{file!r} {what}. Make the source again, and do not change its files "
                    "meanwhile."
                )

    def __getstate__(self) -> dict[str, Any]:
        told = dict(self.__dict__)
        if self.states is not None:
            told["states"] = {file: (size, None) for file, (size, _) in self.states.items()}
        return told

    def frames(self, columns: Sequence[str] | None = None, text: Any = ()) -> Iterator[Any]:
        """Yield the rows."""
        self.check_files()
        key = frozenset(text)
        how = {**self.options, "columns": columns, "text": text}
        if self._layouts.get(key) is not None:  # a pass before this one has learnt it
            how["layout"] = self._layouts[key]
        elif columns is None:
            how["on_layout"] = partial(self._keep_layout, key)
        return self._checked(read_chunks(self.source, **how))

    def _checked(self, frames: Iterator[Any]) -> Iterator[Any]:
        yield from frames
        self.check_files()

    def parts(self, text: Any = ()) -> "list[FrameRows]":
        """Return a part per file, and several of a long Parquet file; a database is one part.

        What a text file holds is known from all rows only: a long one is one part, and each of
        several is read by the types and signs that all together tell; small ones share a part.
        Files that these do not describe (`layout_of`) are one part together.
        """
        self.check_files()
        if not {"span", "layout"}.isdisjoint(self.options):
            return [self]  # a part already, whose other rows are in other parts
        frame, path = frame_or_path(self.source)
        if frame is not None:
            frame = convert.as_frame(frame)
            size = max(1, -(-len(frame) // 64), self.options.get("rows", 1))
            starts = range(0, max(len(frame), 1), size)
            return [replace(self, source=frame[s : s + size].to_native()) for s in starts]
        files = find_files(path)
        if kind_of(files) != "parquet":
            return self._text_parts(files, text)
        counts = parquet_rows(files)
        found: list[FrameRows] = []
        for file, count in zip(files, counts, strict=True):
            part = self._part([file])
            if count <= 2 * _PART:
                found.append(part)
                continue
            for start in range(0, count, _PART):
                span = (start, min(start + _PART, count))
                found.append(replace(part, options={**self.options, "span": span}))
        return found

    def _text_parts(self, files: list[str], text: Any) -> "list[FrameRows]":
        if len(files) == 1 or _QUERY.search(self.options.get("where") or ""):
            return [self._absolute(files)]
        key = frozenset(text)
        if key not in self._layouts:
            next(self.frames(None, text), None)
        layout = self._layouts.get(key)
        if layout is None:
            return [self._absolute(files)]
        return [self._part(some, layout=layout) for some in _together(files)]

    def _part(self, files: list[str], **more: Any) -> "StoredRows":
        """Return some of the files, with more options."""
        states = None if self.states is None else {file: self.states[file] for file in files}
        part = replace(self, options={**self.options, **more}, states=states, _layouts={})
        return part._absolute(files)

    def _absolute(self, files: list[str]) -> "StoredRows":
        """Return rows of files whatever the working directory: other processes have their own."""
        paths = [*map(os.path.abspath, files)]
        states = self.states
        if states is not None:
            states = {os.path.abspath(file): state for file, state in states.items()}
        return replace(self, source=paths[0] if len(paths) == 1 else paths, states=states)

    def _keep_layout(self, text: frozenset[str], layout: TextLayout | None) -> None:
        self._layouts[text] = layout


def _together(files: list[str]) -> list[list[str]]:
    """Return text files by the part that they are in, in their order; a large one is alone."""
    sizes = [
        os.path.getsize(file) * (_UNPACKED if file.lower().endswith(".gz") else 1) for file in files
    ]
    least, most = _TEXT_PART
    limit = min(max(sum(sizes) // _SHARES, least), most)
    found: list[list[str]] = []
    room = 0
    for file, size in zip(files, sizes, strict=True):
        if found and size <= room:
            found[-1].append(file)
            room -= size
        else:
            found.append([file])
            room = limit - size
    return found


def _change(before: FileState | None, now: FileState | None) -> str | None:
    """Say how a file has changed; None where it has not, as far as one can tell."""
    if now is None:
        return "is gone"
    if before is None:
        return "is new"
    if before[0] != now[0]:
        return "has another size"
    return None if before[1] in (None, now[1]) else "was written again"


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

    def parts(self, text: Any = ()) -> "list[FrameRows]":
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

    def parts(self, text: Any = ()) -> "list[FrameRows]":
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

    def parts(self, text: Any = ()) -> "list[FrameRows]":
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
    states = file_states(path)
    if len(states) > 1 and kind_of([*states]) == "parquet":
        check_alike([*states])
    return StoredRows(source, options, states)
