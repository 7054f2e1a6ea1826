"""What the methods that read texts share."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from bottega.core.chunked import Chunked
from bottega.core.chunks import CheckedChunks, Mergeable
from bottega.core.estimator import AS_IT_IS, Unweighted
from bottega.core.frames import is_frame
from bottega.core.parts import RowSource
from bottega.core.rows import Rows
from bottega.data import EncodedChunks
from bottega.data.texts.reading import as_texts
from bottega.text._inputs.counted import CountedTexts
from bottega.text._inputs.in_chunks import ChunkedTexts, SourceTexts, text_column
from bottega.text.corpus import Corpus

__all__ = ["TextEstimator", "texts_of"]


def texts_of(X: Any, learner: str | None = None) -> Any:
    """Return texts that can be iterated over more than once.

    `learner` is the class that learns from them, which takes no weights of a source.
    """
    if isinstance(X, Corpus | CountedTexts | ChunkedTexts | SourceTexts):
        return X
    if isinstance(X, EncodedChunks):
        return SourceTexts(X, learner)
    return ChunkedTexts(X, learner) if isinstance(X, RowSource) else as_texts(X)


class TextEstimator(Chunked, Unweighted):
    """An estimator whose rows are texts: a list of them, a column, a `Corpus`, or a source.

    Chunks are texts and no numbers: they are read one after the other, as a `Corpus` is, and what
    is learnt from them is what is learnt in memory.
    """

    in_chunks: ClassVar[str] = (
        "Chunks are lists of texts, or frames of one column, and the answer is that of `fit`. Of a "
        "source its one column of free text is read, as it is stored; where it has several, name "
        'one: ``bottega.scale.source(path, columns=["text"])``. Rows that lack the target of the '
        "source are left out. To make a source takes passes over the files, which "
        '``read_corpus(path, "text", stream=True)`` does not.'
    )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def _read(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        given = X.given if isinstance(X, CountedTexts) else X
        given = given.first if isinstance(given, ChunkedTexts) else given
        self._remember_frame(given)
        self.n_features_in_ = 1
        names = given.columns if is_frame(given) else None
        names = [text_column(given)] if isinstance(given, EncodedChunks) else names
        if names is not None:
            self.feature_names_in_ = np.array([str(name) for name in names], dtype=object)
        return Rows(texts_of(X, type(self).__name__), y)

    def _fit_foreseen(self, chunks: Iterable[Any]) -> None:
        named = type(self).__name__
        texts = chunks if isinstance(chunks, RowSource) else ChunkedTexts(chunks, named)
        rows = self._read(texts, None, None)
        work = self._prepare(rows)
        self._finish(work, rows, self._choose(work, rows, AS_IT_IS))

    def _statistics(self, X: Any, y: Any, w: Any, fold: Any) -> Mergeable:
        raise NotImplementedError("Texts are read in their order, not summed.")

    def _prepare_merged(self, statistics: Any, chunks: CheckedChunks) -> Any:
        raise NotImplementedError("Texts are read in their order, not summed.")
