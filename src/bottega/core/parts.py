"""Rows in chunks that are cut into parts, each of which one worker of an engine holds."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from bottega.core.engine import Engine, HeldParts
from bottega.core.errors import BottegaError, InputError

__all__ = ["RowSource", "hold_chunks", "merged", "of_blocks"]


class RowSource(Iterable[Any]):
    """Rows that come in chunks, as often as one likes: what `fit` takes in the place of X and y.

    Iterating gives ``(X, y)`` or ``(X, y, w)``.
    """

    @abstractmethod
    def __iter__(self) -> Iterator[Any]:
        """Start a pass over the chunks."""

    def parts(self) -> Sequence[Iterable[Any]]:
        """Return the chunks in parts that other processes can read by themselves, in order."""
        return [self]


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
    """Return what a function gives for each block of rows, merged; None without rows."""
    total = None
    for block in blocks:
        total = merged(total, function(*block))
    return total
