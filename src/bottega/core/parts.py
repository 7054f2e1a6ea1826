"""Rows in chunks that are cut into parts, and statistics of parts that are merged."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bottega.core.errors import InputError
from bottega.core.matrix_columns import MatrixColumns
from bottega.core.parallel import answers_in_turn
from bottega.core.progress import PARTS, reported
from bottega.core.validate import size_told

__all__ = [
    "KeptPart",
    "RowSource",
    "at_first_sight",
    "counted",
    "merged",
    "of_blocks",
    "parts_side_by_side",
    "refuse_generator",
    "refuse_other_count",
    "refuse_source",
]


class RowSource(Iterable[Any]):
    """Rows that come in chunks, as often as one likes: what `fit` takes in the place of X and y.

    Iterating gives ``(X, y)`` or ``(X, y, w)``. `plain` names the columns of X where all chunks are
    known to have them, in this order, as numbers that are finite; `in_files` says that other
    processes can read the parts again and again.
    """

    in_files = False

    @property
    def plain(self) -> Sequence[str] | None:
        """Names of the columns, where they are known to be finite numbers."""
        return None

    @property
    def ends(self) -> Sequence[tuple[float, float]] | None:
        """The least and the largest number of each column, where that is told before rows are read.

        They may be those of rows that do not count, and a part has those of all parts: whoever uses
        them compares them with the rows afterwards.
        """
        return None

    @property
    def made_of(self) -> MatrixColumns | None:
        """What the columns of X were made of, where an encoder made them."""
        return None

    @property
    def encoding(self) -> str | None:
        """What tells how rows are encoded; None where they are as they are stored."""
        return None

    @property
    def told_count(self) -> int | None:
        """How many rows there are at most, where that is told before they are read."""
        return None

    def check_unchanged(self) -> None:
        """Raise where the rows are known to be others than they were."""
        return

    def plain_blocks(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield X as an array, y and w of each chunk, where X is known to be finite numbers.

        They are the chunks; a source that need not make frames for them gives them sooner.
        """
        for chunk in self:
            X, y, w = [*chunk, None, None][:3]
            yield np.asarray(X), y, w

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Start a pass over the chunks."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse to be an array: whoever wants one would hold all rows in memory."""
        refuse_source(self)

    def at_first_sight(self) -> Iterable[Any]:
        """Return the chunks without learning from all rows beforehand, where that may do.

        A pass over them raises `Unforeseen` where it does not: then the chunks themselves are read.
        """
        return self

    def responses(self) -> Iterator[tuple[Any, Any]]:
        """Yield the responses and weights (or None) of each chunk."""
        for chunk in self:
            y, w = [*chunk[1:], None][:2]
            yield y, w

    def parts(self) -> Sequence[Iterable[Any]]:
        """Return the chunks in parts that other processes can read by themselves, in order."""
        return [self]


class KeptPart(list[Any]):
    """The chunks of a part that a process keeps from pass to pass, and what else it remembers.

    `memory` is for what would only take time to make anew: it may be gone at any pass, since it
    does not travel and is lost with the process.

    Examples
    --------
    >>> part = KeptPart([1, 2])
    >>> part.memory["bounds"] = [0.5, 0.7]
    >>> from copy import copy
    >>> copy(part), copy(part).memory
    ([1, 2], {})
    """

    def __init__(self, chunks: Iterable[Any]) -> None:
        super().__init__(chunks)
        self.memory: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        return KeptPart, (list(self),)


def refuse_generator(chunks: Any) -> None:
    """Raise where chunks can be iterated over only once."""
    if isinstance(chunks, Iterator):
        raise InputError(
            "Chunks are iterated over more than once, and a generator can only be iterated over "
            "once: give a list, or an object whose __iter__ starts afresh."
        )


def refuse_source(X: Any) -> None:
    """Raise where rows of a source are given for rows in memory."""
    if isinstance(X, RowSource):
        raise InputError(
            "A source is read in chunks, and this wants its rows in memory. For sources there are "
            "fit(source), bottega.scale.score(model, source), bottega.scale.predict_to(model, "
            "files, folder) and bottega.risk.cross_validate(model, source); source.sample(100_000) "
            "draws rows as a frame."
        )


def at_first_sight(chunks: Iterable[Any]) -> Iterable[Any]:
    """Return chunks as `RowSource.at_first_sight` has them; any others as they are."""
    return chunks.at_first_sight() if isinstance(chunks, RowSource) else chunks


def parts_side_by_side(chunks: Iterable[Any]) -> Sequence[Iterable[Any]]:
    """Return the chunks in parts that threads of this process read and work on side by side.

    What does not know its parts is one: it is read by one thread, and worked on by all.
    """
    return chunks.parts() if isinstance(chunks, RowSource) else [chunks]


def merged(total: Any, other: Any) -> Any:
    """Return two statistics as one; None is that of no rows."""
    if total is None or other is None:
        return other if total is None else total
    return total.merge(other)


def of_blocks(
    function: Callable[..., Any], blocks: Iterable[tuple[Any, ...]], parts: int | None = None
) -> Any:
    """Return what a function gives for each block of rows, merged; None without rows.

    Blocks are worked on side by side and merged in order, so that the answer does not depend on
    the number of threads. Where they are the `parts` of a source, each is reported.
    """
    each: Iterable[Any] = answers_in_turn(lambda block: function(*block), blocks)
    total = None
    for found in each if parts is None else reported(PARTS, parts, each):
        total = merged(total, found)
    return total


@dataclass
class _Counted:
    """What a pass gives of some rows, how many there were, and how large their responses are."""

    answer: Any
    rows: int
    size: float

    def merge(self, other: Self) -> Self:
        self.answer = merged(self.answer, other.answer)
        self.rows += other.rows
        self.size = max(self.size, other.size)
        return self


def counted(function: Callable[..., Any], X: Any, *more: Any) -> _Counted:
    """Return what a function gives of some rows, and what is to be known of all of them."""
    return _Counted(function(X, *more), X.shape[0], size_told(more[0] if more else None))


def refuse_other_count(count: int, known: int, what: str) -> None:
    """Raise where a pass has had another number of rows than an earlier one.

    Parameters
    ----------
    count, known : int
        Rows of the pass, and of the earlier one.
    what : str
        What has them, with its verb: ``"The chunks have"``.
    """
    if count != known:
        raise InputError(
            f"{what} {'fewer' if count < known else 'more'} rows than the {known} of an earlier "
            "pass; give chunks that are the same each time, and do not change their files "
            "meanwhile."
        )
