"""Texts that come in chunks: those of a user, or the column of a source that holds them."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.parts import refuse_generator
from bottega.core.typing import Array
from bottega.data import EncodedChunks, convert
from bottega.data.role_columns import with_target
from bottega.data.texts.reading import as_texts

__all__ = ["ChunkedTexts", "SourceTexts", "text_column"]


class ChunkedTexts:
    """The texts of chunks in their order, read anew in every pass.

    Parameters
    ----------
    chunks : iterable
        Each chunk is texts, as `as_texts` takes them, or a tuple of texts, responses and weights.
    learner : str, optional
        The class that learns from the texts: it takes no weights. Those of texts that are only
        transformed do not matter.
    """

    def __init__(self, chunks: Iterable[Any], learner: str | None = None) -> None:
        refuse_generator(chunks)
        if isinstance(chunks, str | bytes) or not isinstance(chunks, Iterable):
            raise InputError(
                f"Chunks of texts are of type {type(chunks).__name__}; give a list of lists of "
                "texts, or an object to iterate over that yields them."
            )
        self._chunks, self._learner = chunks, learner

    def __iter__(self) -> Iterator[str]:
        for number, chunk in enumerate(self._chunks, start=1):
            texts, weights = _texts_and_weights(chunk)
            if self._learner is not None and weights is not None and np.any(weights != 1):
                raise InputError(_no_weights(self._learner, "leave them out, or repeat texts"))
            yield from as_texts(texts, f"Chunk {number}")

    @property
    def first(self) -> Any:
        """The texts of the first chunk, in whatever form; None where there is no chunk."""
        return _texts_and_weights(next(iter(self._chunks), None))[0]


class SourceTexts:
    """The texts of a source as they are stored, one chunk of rows in memory at a time.

    Rows without a target are left out, so that texts and responses of the source go together.

    Parameters
    ----------
    source : EncodedChunks
        It has one column that could hold texts.
    learner : str, optional
        The class that learns from the texts, as in `ChunkedTexts`.
    """

    def __init__(self, source: EncodedChunks, learner: str | None = None) -> None:
        if learner is not None and source.weight is not None:
            raise InputError(_no_weights(learner, "make the source without weight="))
        self._source, self._column = source, text_column(source)

    def __iter__(self) -> Iterator[str]:
        target = self._source.target
        columns = [self._column] if target is None else [self._column, target]
        for frame in with_target(self._source.stored(columns), target):
            yield from as_texts(convert.texts(frame[self._column]), f"Column {self._column!r}")


def text_column(source: EncodedChunks) -> str:
    """Return the only column of free text; without one, the only column of labels."""
    kinds = source.kinds
    texts = [name for name, kind in kinds.items() if kind == "text"]
    found = texts or [name for name, kind in kinds.items() if kind == "category"]
    if len(found) == 1:
        return found[0]
    if not found:
        listed = ", ".join(map(repr, list(kinds)[:8]))
        raise InputError(
            f"No column of the source holds texts; it has {listed}. Name the one that does when "
            "the source is made, and its kind: bottega.scale.source(path, columns=['text'], "
            "kinds={'text': 'text'})."
        )
    raise InputError(
        f"It is not clear which column of the source holds the texts: {len(found)} could "
        f"({', '.join(map(repr, found[:8]))}). Name the one that does when the source is made: "
        f"bottega.scale.source(path, columns=[{found[0]!r}])."
    )


def _texts_and_weights(chunk: Any) -> tuple[Any, Array | None]:
    """Return the texts of a chunk, which may come with responses and weights."""
    if not isinstance(chunk, tuple) or not chunk:
        return chunk, None
    if isinstance(chunk[0], str | bytes) or not isinstance(chunk[0], Iterable):
        return chunk, None  # a tuple of texts, the first of which may be missing
    texts, _, weights = [*chunk, None, None][:3]
    return texts, None if weights is None else np.asarray(weights)


def _no_weights(learner: str, cure: str) -> str:
    return f"{learner} takes no weights of texts: {cure}."
