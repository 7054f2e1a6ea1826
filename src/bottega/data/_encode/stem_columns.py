"""A column of free text as columns of numbers: how much of each text is which stem."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.data import convert
from bottega.data.texts.cleaning import Cleaning
from bottega.data.texts.counts import (
    choose_terms,
    count_known,
    count_terms,
    inverse_frequencies,
    weigh,
)
from bottega.data.texts.language import find_language
from bottega.data.texts.stop_words import STOP_WORDS

__all__ = ["MAX_STEMS", "ColumnTexts", "StemColumns", "most_stems"]

MAX_STEMS = 200  # methods that know nothing of sparse columns take these, too
_ROWS_EACH = 4  # rows per stem, so that few texts do not become more columns than rows
_LEAST_TEXTS = 2  # a stem of one text says nothing beside that text's own response
_MOST_TEXTS = 0.9


def most_stems(n_rows: int) -> int:
    """Return how many stems the texts of so many rows become at most."""
    return min(MAX_STEMS, max(n_rows // _ROWS_EACH, 1))


@dataclass(frozen=True)
class ColumnTexts:
    """The texts of one column of frames, in every iteration read anew."""

    frames: Iterable[Any]
    name: str

    def __iter__(self) -> Iterator[str | None]:
        for frame in self.frames:
            yield from convert.labels(convert.as_frame(frame)[self.name])


@stored
@dataclass(frozen=True)
class StemColumns:
    """The stems of a column of texts.

    Attributes
    ----------
    cleaning : Cleaning
        How words are found; the language is that of the texts, if it is English or Italian.
    stems : list of str
        The commonest stems, by name.
    idf : ndarray
        Their inverse frequencies.
    """

    cleaning: Cleaning
    stems: list[str]
    idf: FloatArray

    @classmethod
    def learn(cls, given: Iterable[str | None]) -> "StemColumns":
        """Choose stems from texts, which are iterated twice; a missing one is empty."""
        language = find_language(text or "" for text in given)
        common = tuple(sorted(STOP_WORDS.get(language or "", ())))
        cleaning = Cleaning(language, common, alphabets=language is None)
        counts = count_terms((text or "" for text in given), cleaning)
        chosen = choose_terms(counts, _LEAST_TEXTS, _MOST_TEXTS, most_stems(counts.n_texts))
        idf = inverse_frequencies(counts.texts[chosen], counts.n_texts)
        return cls(cleaning, [counts.names[i] for i in chosen], idf)

    def names(self, name: str, taken: Sequence[str]) -> list[str]:
        """Return the names of the columns of stems; those of other columns are taken."""
        found, other = [], set(taken)
        for stem in self.stems:
            title = f"{name}: {stem}"
            while title in other:
                title += "'"
            found.append(title)
        return found

    def values(self, given: Sequence[str | None]) -> FloatArray:
        """Return the tf-idf weights of the stems of each text, which have length 1 or 0."""
        texts = [text or "" for text in given]
        out = np.zeros((len(texts), len(self.stems)))
        columns = {stem: j for j, stem in enumerate(self.stems)}
        if not columns:
            return out
        start = 0
        for block in count_known(texts, self.cleaning, (1, 1), columns):
            out[start : start + block.shape[0]] = weigh(block, self.idf, "l2").toarray()
            start += block.shape[0]
        return out
