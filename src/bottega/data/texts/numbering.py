"""Texts as numbers of terms: each distinct word is cleaned and stemmed once.

A block of texts is joined and its words are found and numbered in one pass of compiled code; all
else is done with arrays of numbers. The time goes with the number of characters, but the work that
is slow (stems, names of phrases) with the number of distinct words.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import filterfalse, islice

import numpy as np

from bottega.core.typing import IntArray
from bottega.data.texts.cleaning import Cleaning, Scanner

BLOCK = 20_000  # texts that are read at once
_CHARACTERS = 1 << 23  # and their characters, of more texts than one
_MOST_WORDS = 1 << 20  # distinct words that are remembered

__all__ = ["BLOCK", "Numbering", "blocks_of"]


class Numbering:
    """Numbers the terms of texts: stems and phrases of several stems.

    Parameters
    ----------
    cleaning : Cleaning
        How words are found and stemmed.
    sizes : tuple of (int, int)
        The fewest and the most stems of a term.

    Attributes
    ----------
    names : list of str
        The terms by number, in the order in which they came.
    """

    def __init__(self, cleaning: Cleaning, sizes: tuple[int, int] = (1, 1)) -> None:
        self.names: list[str] = []
        self._sizes = sizes
        self._scanner = Scanner(cleaning)
        self._number_of: dict[str, int] = {}
        self._terms: dict[str, int] = {}  # of words; -1 where one is taken out
        self._phrases: dict[int, int] = {}  # two numbers in one: of a term and of the stem after it

    def read(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """Return the text and the number of each term of a block, in the order of the texts."""
        if len(self._terms) > _MOST_WORDS:
            self._terms.clear()
        row, word, distinct = self._scanner.words(texts)
        for new in filterfalse(self._terms.__contains__, distinct):
            self._terms[new] = self._term(new)
        terms = np.fromiter(map(self._terms.__getitem__, distinct), np.int64, len(distinct))
        term = terms[word]
        if np.any(terms < 0):
            kept = term >= 0
            row, term = row[kept], term[kept]
        return self._with_phrases(row, term)

    def _term(self, word: str) -> int:
        """Return the number of the term of a word, -1 where it is taken out."""
        name = self._scanner.term(word)
        return -1 if name is None else self._number(name)

    def _number(self, name: str) -> int:
        number = self._number_of.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def _with_phrases(self, row: IntArray, stem: IntArray) -> tuple[IntArray, IntArray]:
        """Return the terms of the sizes asked for, given the stems of texts in their order."""
        least, most = self._sizes
        rows, terms = ([row], [stem]) if least == 1 else ([], [])
        phrase, start = stem, row
        for size in range(2, most + 1):
            inside = start[: len(row) - size + 1] == row[size - 1 :]
            pairs = phrase[: len(inside)] << 32 | stem[size - 1 :]
            phrase = np.full(len(inside), -1)
            phrase[inside] = self._numbers_of_pairs(pairs[inside])
            if size >= least:
                rows.append(row[: len(inside)][inside])
                terms.append(phrase[inside])
        if len(rows) == 1:
            return rows[0], terms[0]
        every = np.concatenate(rows)
        order = np.argsort(every, kind="stable")
        return every[order], np.concatenate(terms)[order]

    def _numbers_of_pairs(self, pairs: IntArray) -> IntArray:
        distinct, place = np.unique(pairs, return_inverse=True)
        known, names = self._phrases, self.names
        for pair in distinct.tolist():
            if pair not in known:
                first, second = names[pair >> 32], names[pair & 0xFFFFFFFF]
                known[pair] = self._number(f"{first} {second}")
        found = np.fromiter(map(known.__getitem__, distinct.tolist()), np.int64, len(distinct))
        return found[place]


def blocks_of(texts: Iterable[str]) -> Iterator[list[str]]:
    """Yield texts in blocks of moderate size; a text that is large alone is a block of its own."""
    rest = iter(texts)
    while block := list(islice(rest, BLOCK)):
        ends = np.cumsum(np.fromiter(map(len, block), dtype=np.int64, count=len(block)))
        start = 0
        while start < len(block):
            before = ends[start - 1] if start else 0
            stop = max(int(np.searchsorted(ends, before + _CHARACTERS, side="right")), start + 1)
            yield block[start:stop]
            start = stop
