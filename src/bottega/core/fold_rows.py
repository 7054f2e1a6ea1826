"""The rows of a source that are in some folds: dealt by their number, whatever the chunks."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from bottega.core.chunks import parts_of
from bottega.core.deal import FoldDealer
from bottega.core.engine import current_engine
from bottega.core.frames import is_frame
from bottega.core.parts import RowSource

__all__ = ["FoldRows"]


class FoldRows(RowSource):
    """The rows of some of the folds of a source.

    Parameters
    ----------
    source : RowSource
        All rows.
    count : int
        How many folds they are dealt to.
    folds : sequence of int
        The folds that are wanted.
    start : int
        Rows before those of the source.
    """

    def __init__(
        self, source: RowSource, count: int, folds: Sequence[int], *, start: int = 0
    ) -> None:
        self._source, self._count, self._folds = source, count, tuple(folds)
        self._start = start

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for X, y, w, fold in self.dealt():
            at = np.flatnonzero(np.isin(fold, self._folds))
            yield _taken(X, at), _taken(y, at), _taken(w, at)

    def dealt(self) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Yield all rows, with the fold of each."""
        dealer = FoldDealer(self._count, start=self._start)
        for X, y, w in map(parts_of, self._source):
            yield X, y, w, dealer.deal(len(X))

    def parts(self) -> "list[FoldRows]":
        """Return the parts of the source, each of which knows where it starts."""
        parts = self._source.parts()
        engine = current_engine()
        if engine is None or len(parts) < 2:
            return [self]
        sizes = engine.hold(parts, _count_rows).map(int)
        starts = accumulate(sizes, initial=self._start)
        return [
            FoldRows(part, self._count, self._folds, start=start)  # type: ignore[arg-type]
            for part, start in zip(parts, starts, strict=False)
        ]


def _count_rows(part: Iterable[Any]) -> int:
    return sum(len(parts_of(chunk)[0]) for chunk in part)


def _taken(values: Any, at: Any) -> Any:
    if values is None:
        return None
    if is_frame(values) and hasattr(values, "iloc"):
        return values.iloc[at]
    return values[at]
