"""Statistics of a part of the rows, which a process of an engine passes over in checked blocks."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from bottega.core.deal import FoldDealer
from bottega.core.parts import counted, of_blocks

__all__ = ["each_of_part", "of_dealt_part", "of_part_alone", "rows_by_class", "rows_of_part"]


def each_of_part(function: Callable[..., Any], part: Iterable[Any]) -> list[Any]:
    """Return what a function makes of each block of a part, with its number of rows."""
    return [counted(function, *block) for block in part]


def of_part_alone(function: Callable[..., Any], part: Iterable[Any]) -> Any:
    """Return the statistics of a part, whose rows are all in one fold."""
    return of_blocks(function, ((*block, None) for block in part))


def of_dealt_part(
    function: Callable[..., Any], count: int, stratified: bool, part: Iterable[Any], known: Any
) -> Any:
    """Return the statistics of a part by folds: the known ones, or those that a dealer gives."""

    def dealt() -> Iterator[tuple[Any, ...]]:
        start = 0
        dealer = FoldDealer(count, start=dict(known)) if isinstance(known, dict) else None
        for X, y, w in part:
            if dealer is None:
                fold = known[start : start + len(X)]
            else:
                fold = dealer.deal(len(X), y if stratified else None)
            start += len(X)
            yield X, y, w, fold

    return of_blocks(function, dealt())


def rows_of_part(part: Iterable[Any]) -> int:
    """Return how many rows a part has."""
    return sum(len(X) for X, _, _ in part)


def rows_by_class(part: Iterable[Any]) -> Counter[Any]:
    """Return how many rows of a part have each code of a class; without classes, one count."""
    found: Counter[Any] = Counter()
    for X, y, _ in part:
        if y is None or np.ndim(y) != 1:
            found[None] += len(X)
        else:
            found.update(np.asarray(y).tolist())
    return found
