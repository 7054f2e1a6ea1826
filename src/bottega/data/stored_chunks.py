"""Chunks of a source as they are stored, for a pipeline that encodes them itself."""

from collections.abc import Collection, Iterator
from typing import Any

from bottega.core.parts import RowSource
from bottega.data.chunks import EncodedChunks
from bottega.data.role_columns import with_target

__all__ = ["StoredChunks"]


class StoredChunks(RowSource):
    """The rows of a source that have a target: frames of stored columns, responses and weights.

    Parameters
    ----------
    source : EncodedChunks
        The rows.
    columns : collection of str
        The columns wanted; those that the source lacks are for the pipeline to miss. All inputs,
        where none is named.
    text : collection of str
        Those of them to read from text files as they are written.
    """

    def __init__(
        self, source: EncodedChunks, columns: Collection[str], text: Collection[str]
    ) -> None:
        self._source, self._columns, self._text = source, columns, text
        self.in_files = source.in_files

    def __iter__(self) -> Iterator[Any]:
        source = self._source
        if source.at_first_sight() is source:
            source.learn()  # how the target is written
        roles = {source.target, source.weight, source.group}
        for frame in with_target(source.stored(text=self._text), source.target):
            names = [name for name in self._columns if name in frame.columns]
            inputs = names or [name for name in frame.columns if name not in roles]
            X = frame.select(inputs).to_native()
            yield X, source.response_of(frame), source.weight_of(frame)

    def parts(self) -> list["StoredChunks"]:
        """Return parts that can be read apart, in order."""
        return [StoredChunks(part, self._columns, self._text) for part in self._source.parts()]
