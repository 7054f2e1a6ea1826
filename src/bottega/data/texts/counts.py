"""Counts of terms, which terms are kept, and their weights."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.preprocessing import normalize
from sklearn.utils import murmurhash3_32

from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.data.texts.cleaning import Cleaning
from bottega.data.texts.numbering import Numbering, blocks_of

_MOST_TERMS = 1 << 20  # distinct terms that are numbered before the numbering starts afresh


def count_block(row: IntArray, column: IntArray, shape: tuple[int, int]) -> Any:
    """Return how often each column stands in each row, as a sparse matrix; -1 stands for none.

    Rows come in ascending order.
    """
    if len(column) and column.min() < 0:
        kept = column >= 0
        row, column = row[kept], column[kept]
    start = np.zeros(shape[0] + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=shape[0]), out=start[1:])
    found = csr_matrix((np.ones(len(column), dtype=np.int64), column, start), shape=shape)
    found.sum_duplicates()
    return found


@dataclass
class TermCounts:
    """The terms of a corpus: in how many texts each is, and how often.

    Attributes
    ----------
    names : list of str
        The terms.
    texts : ndarray of int
        In how many texts each is.
    times : ndarray of int
        How often it occurs in all.
    n_texts, n_empty : int
        Texts, and those of them without a term.
    matrix : sparse matrix or None
        The counts of every text, where they were kept.
    """

    names: list[str]
    texts: IntArray
    times: IntArray
    n_texts: int
    n_empty: int
    matrix: Any = None


def count_terms(
    texts: Iterable[str], cleaning: Cleaning, sizes: tuple[int, int] = (1, 1), *, keep: bool = False
) -> TermCounts:
    """Count the terms of texts, in one pass; `keep` keeps the counts of every text."""
    numbering = Numbering(cleaning, sizes)
    in_texts = times = np.zeros(0, dtype=np.int64)
    n_texts = n_empty = 0
    kept = []
    for block in blocks_of(texts):
        row, term = numbering.read(block)
        width = len(numbering.names)
        found = count_block(row, term, (len(block), width))
        in_texts = _longer(in_texts, width) + np.bincount(found.indices, minlength=width)
        times = _longer(times, width) + np.bincount(term, minlength=width)
        n_texts += len(block)
        n_empty += int(np.sum(np.diff(found.indptr) == 0))
        if keep:
            kept.append(found)
    matrix = None
    if keep:
        for found in kept:
            found.resize(found.shape[0], len(numbering.names))
        matrix = vstack(kept, format="csr") if len(kept) != 1 else kept[0]
    return TermCounts(numbering.names, in_texts, times, n_texts, n_empty, matrix)


def _longer(values: IntArray, width: int) -> IntArray:
    return np.concatenate([values, np.zeros(width - len(values), dtype=np.int64)])


def beyond_limits(counts: TermCounts, min_df: float, max_df: float) -> tuple[BoolArray, BoolArray]:
    """Return which terms are in too few texts, and which in too many."""
    low, high = _limit(min_df, counts.n_texts), _limit(max_df, counts.n_texts)
    return counts.texts < low, counts.texts > high


def choose_terms(
    counts: TermCounts, min_df: float, max_df: float, max_features: int | None
) -> IntArray:
    """Return the numbers of the terms that are neither too rare nor too frequent, by name.

    Limits are numbers of texts, or shares of them where they are fractions. Of too many terms those
    that occur most often are kept, the first by name among equals.
    """
    rare, frequent = beyond_limits(counts, min_df, max_df)
    chosen = np.flatnonzero(~rare & ~frequent)
    by_name = np.array(sorted(chosen.tolist(), key=counts.names.__getitem__), dtype=np.int64)
    if max_features is None or len(by_name) <= max_features:
        return by_name
    commonest = np.argsort(-counts.times[by_name], kind="stable")[:max_features]
    return by_name[np.sort(commonest)]


def _limit(given: float, n_texts: int) -> float:
    return given if isinstance(given, int | np.integer) else given * n_texts


def count_known(
    texts: Iterable[str],
    cleaning: Cleaning,
    sizes: tuple[int, int],
    columns: Mapping[str, int] | int,
) -> Iterator[Any]:
    """Yield the counts of known terms, block by block.

    `columns` are the columns of the terms, or the number of columns to which terms are hashed.
    """
    width = columns if isinstance(columns, int) else len(columns)
    numbering = Numbering(cleaning, sizes)
    place: IntArray = np.zeros(0, dtype=np.int64)
    for block in blocks_of(texts):
        if len(numbering.names) > _MOST_TERMS:  # memory stays bounded, whatever comes
            numbering, place = Numbering(cleaning, sizes), place[:0]
        row, term = numbering.read(block)
        place = np.concatenate([place, _columns(numbering.names[len(place) :], columns)])
        yield count_block(row, place[term], (len(block), width))


def _columns(names: Sequence[str], columns: Mapping[str, int] | int) -> IntArray:
    if isinstance(columns, int):
        found = (abs(murmurhash3_32(name)) % columns for name in names)
        return np.fromiter(found, dtype=np.int64, count=len(names))
    return np.fromiter(map(columns.get, names, repeat(-1)), dtype=np.int64, count=len(names))


def inverse_frequencies(in_texts: IntArray, n_texts: int, *, smooth: bool = True) -> FloatArray:
    """Return log(n / df) + 1 of each term; smooth as if one more text had every term."""
    return np.log((n_texts + smooth) / (in_texts.astype(np.float64) + smooth)) + 1.0


def weigh(counts: Any, idf: FloatArray | None, norm: str | None, *, sublinear: bool = False) -> Any:
    """Return counts times inverse frequencies, each text divided by its norm."""
    found = counts.astype(np.float64)
    if sublinear:
        found.data = np.log(found.data) + 1.0
    if idf is not None:
        found.data *= idf[found.indices]
    return found if norm is None else normalize(found, norm=norm, copy=False)
