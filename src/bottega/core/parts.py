"""Rows in chunks that are cut into parts, each of which one worker of an engine holds."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bottega.core.engine import Engine, HeldParts
from bottega.core.errors import BottegaError, InputError
from bottega.core.parallel import answers_in_turn

__all__ = ["RowSource", "at_first_sight", "hold_chunks", "merged", "of_blocks"]


class RowSource(Iterable[Any]):
    """Rows that come in chunks, as often as one likes: what `fit` takes in the place of X and y.

    Iterating gives ``(X, y)`` or ``(X, y, w)``. `finite` says that the numbers of X were looked at.
    """

    finite = False

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Start a pass over the chunks."""

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


def at_first_sight(chunks: Iterable[Any]) -> Iterable[Any]:
    """Return chunks as `RowSource.at_first_sight` has them; any others as they are."""
    return chunks.at_first_sight() if isinstance(chunks, RowSource) else chunks


def hold_chunks(engine: Engine, chunks: Iterable[Any]) -> HeldParts:
    """Return the chunks of all parts, held by the workers of an engine.

    Chunks that do not know their parts are read here, and sent.
    """
    if isinstance(chunks, RowSource):
        return engine.hold(chunks.parts(), _read_part)
    return engine.hold([[chunk] for chunk in chunks], list)


def _read_part(part: Iterable[Any]) -> list[Any]:
    try:
        return list(part)
    except BottegaError:
        raise
    except OSError as error:
        raise InputError(f"A part of the rows cannot be read: {error}.") from error


def merged(total: Any, other: Any) -> Any:
    """Return two statistics as one; None is that of no rows."""
    if total is None or other is None:
        return other if total is None else total
    return total.merge(other)


def of_blocks(function: Callable[..., Any], blocks: Iterable[tuple[Any, ...]]) -> Any:
    """Return what a function gives for each block of rows, merged; None without rows.

    Blocks are worked on side by side and merged in order, so that the answer does not depend on
    the number of threads.
    """
    total = None
    for found in answers_in_turn(lambda block: function(*block), blocks):
        total = merged(total, found)
    return total
