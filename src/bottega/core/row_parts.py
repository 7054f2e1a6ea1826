"""Rows in parts that the processes of an engine pass over: read, checked, and kept if need be."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from bottega.core.engine import Engine, SharedParts, current_engine
from bottega.core.errors import BottegaError, InputError
from bottega.core.parallel import answers_in_turn
from bottega.core.parts import RowSource

__all__ = ["RowParts", "each_part", "share_chunks"]

_HELD = 2_000_000  # rows of a part that a process surely has room for
Step = Callable[[Iterable[Any]], Iterable[Any]]


class RowParts:
    """Parts of rows in chunks, each of which one process of an engine passes over.

    The first pass over files works on one chunk after the other and keeps none: for a fit of one
    pass, memory for all rows would only take time to fill. Whoever comes a second time comes often,
    and has the rows kept. What had to be sent, or made, is kept from the first pass on. Files that
    are one part are read again in every pass, unless they are known to have few rows: one process
    would have to keep all of them.

    Parameters
    ----------
    parts : SharedParts
        Where the chunks of each part are.
    in_files : bool
        Whether a part can be read again.
    steps : sequence of callable
        What is done to the chunks of a part when it is read; each takes and returns an iterable.
    alone : bool
        Whether there is one part of perhaps very many rows.
    """

    def __init__(
        self,
        parts: SharedParts,
        in_files: bool,
        steps: Sequence[Step] = (),
        alone: bool = False,
    ) -> None:
        self._parts, self._in_files, self._steps = parts, in_files, tuple(steps)
        self._alone = alone
        self._keeps = not in_files
        self._kept: SharedParts | None = None

    def map(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> list[Any]:
        """Return ``function(part)``, or ``function(part, each[i])``, of every part, in order.

        A part is an iterable of chunks, for one iteration.
        """
        parts, made = self._next_pass(function)
        return parts.map(made, each)

    def reduce(self, function: Callable[..., Any], each: Sequence[Any] | None = None) -> Any:
        """Return what `function` gives for every part, merged in order; None is left out."""
        parts, made = self._next_pass(function)
        return parts.reduce(made, each)

    def then(self, step: Step) -> "RowParts":
        """Return the parts with one more step between reading them and what they are used for."""
        if self._kept is not None:
            return RowParts(self._kept, False, (step,))
        found = RowParts(self._parts, self._in_files, (*self._steps, step), self._alone)
        found._keeps = self._keeps
        return found

    def keep(self) -> None:
        """Have the rows kept from the next pass on, unless they never are: another pass follows."""
        self._keeps = True

    def glance(self, function: Callable[[Iterable[Any]], Any]) -> list[Any]:
        """Return what a function that reads little gives for every part, such as its classes.

        A part of files is given as it is, with the ways it has to read some columns alone.
        """
        return self._parts.map(function) if self._in_files else self.map(function)

    def _next_pass(self, function: Callable[..., Any]) -> tuple[SharedParts, Callable[..., Any]]:
        if not self._keeps or (self._in_files and self._alone):
            self._keeps = True
            return self._parts, partial(_of_read, self._steps, function)
        if self._kept is None:
            self._kept = self._parts.keep(partial(_read, self._steps))
        return self._kept, function


def share_chunks(engine: Engine, chunks: Iterable[Any]) -> RowParts:
    """Return the parts of chunks, for the processes of an engine to pass over.

    Chunks that do not know their parts are read here, and sent.
    """
    if isinstance(chunks, RowSource):
        parts, count = chunks.parts(), chunks.told_count
        alone = len(parts) == 1 and (count is None or count > _HELD)
        return RowParts(engine.share_out(parts), chunks.in_files, alone=alone)
    return RowParts(engine.share_out([[chunk] for chunk in chunks]), in_files=False)


def each_part(function: Callable[[Any], Any], parts: Sequence[Any], *, in_files: bool) -> list[Any]:
    """Return what a function that reads little gives for every part, in order.

    The processes of an engine read parts of files; what would have to be sent is looked at here.
    """
    engine = current_engine()
    if engine is None or not in_files:
        return list(answers_in_turn(function, parts))
    return engine.share_out(parts).map(function)


def _read(steps: Sequence[Step], part: Iterable[Any]) -> Iterable[Any]:
    rows: Iterable[Any] = _readable(part)
    for step in steps:
        rows = step(rows)
    return rows


def _readable(part: Iterable[Any]) -> Iterator[Any]:
    try:
        yield from part
    except BottegaError:
        raise
    except OSError as error:
        raise InputError(f"A part of the rows cannot be read: {error}.") from error


def _of_read(
    steps: Sequence[Step], function: Callable[..., Any], part: Iterable[Any], *more: Any
) -> Any:
    return function(_read(steps, part), *more)
