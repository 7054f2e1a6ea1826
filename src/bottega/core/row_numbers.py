"""Rows of chunks by their numbers: which ones each part has, and each chunk of a pass."""

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise
from typing import Any

from bottega.core.parts import refuse_other_count

__all__ = ["numbered", "spans_of"]


def spans_of(sizes: Iterable[int]) -> list[slice]:
    """Return the numbers of the rows of parts that follow one another.

    Examples
    --------
    >>> spans_of([2, 0, 3])
    [slice(0, 2, None), slice(2, 2, None), slice(2, 5, None)]
    """
    return [slice(*ends) for ends in pairwise(accumulate(sizes, initial=0))]


def numbered(
    chunks: Iterable[Any], count: int, what: str, size: Callable[[Any], int] = len
) -> Iterator[tuple[slice, Any]]:
    """Yield the numbers of the rows of each chunk, and the chunk.

    Rows in another place than before are not told from those that were there: a pass with another
    number of rows is refused, and none is yielded that is one too many.

    Parameters
    ----------
    chunks : iterable
        The rows, in one pass.
    count : int
        How many there are in all.
    what : str
        What has them, as `refuse_other_count` says it.
    size : callable
        Returns how many rows a chunk has.

    Examples
    --------
    >>> list(numbered(["ab", "c"], 3, "The texts have"))
    [(slice(0, 2, None), 'ab'), (slice(2, 3, None), 'c')]
    """
    start = 0
    for chunk in chunks:
        at = slice(start, start + size(chunk))
        start = at.stop
        if start > count:
            break
        yield at, chunk
    refuse_other_count(start, count, what)
