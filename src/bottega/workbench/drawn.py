"""Rows drawn from a source, as a table that knows where the others are.

A comparison of a source is one of the drawn rows: they are split, dealt to folds, encoded, judged
and explained as those of any table in memory. Only methods that fit chunks see more: they learn
from the rows that were not drawn, too (`bottega.workbench.streamed`).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.params import Integer
from bottega.core.parts import RowSource
from bottega.core.typing import IntArray
from bottega.data import EncodedChunks, Table, convert
from bottega.data.findings import Finding, about_gaps
from bottega.data.role_columns import with_target
from bottega.data.row_sample import sample_rows

__all__ = ["SAMPLE", "DrawnTable", "OtherRows", "draw_table"]

SAMPLE = 100_000  # rows that are drawn
# What findings say of rows, and what they say of drawn ones.
_OF_ROWS = {
    "rare_levels": ("seen in one row only", "seen in one drawn row only"),
    "imbalance": (" rows (", " drawn rows ("),
    "rare_class": ("has one row:", "has one drawn row (sample= draws more):"),
}
# Findings that say how a column is read, or why it is left out: a column has one of them at most.
_READ = {
    *("id", "constant", "empty", "levels", "date_format", "unusable"),
    *("mixed", "number_format", "number_as_text"),
}


@dataclass(frozen=True, eq=False)
class OtherRows:
    """The rows of a source that were not drawn.

    Attributes
    ----------
    source : EncodedChunks
        All rows.
    drawn : ndarray of int
        Numbers of the rows that were drawn, in order, the first row being 0.
    count : int
        How many other rows have a target.
    stored : int
        How many rows there are in all, those without a target too.
    seconds : float
        Time of a pass over the source.
    """

    source: EncodedChunks
    drawn: IntArray
    count: int
    stored: int
    seconds: float


class DrawnTable(Table):
    """A table of rows that were drawn from a source; made by `draw_table`.

    Attributes
    ----------
    others : OtherRows
        The rows that were not drawn.
    unlabelled : native frame or None
        Rows that have no target: where there are texts as many as were drawn of the others, at
        most.
    """

    others: OtherRows

    @property
    def n_stored(self) -> int:
        """How many rows with a target the source has."""
        return self.n_rows + self.others.count

    def aimed_at(self, target: str | None = None, task: str | None = None, **roles: Any) -> Table:
        """Return itself: another target or role would need other rows to be drawn."""
        same = target in (None, self.target) and task in (None, self.task)
        if not same or any(each is not None for each in roles.values()):
            raise InputError(
                "These rows were drawn for one target and its roles; give the source itself, with "
                "the target and the columns of weights, groups and time that are wanted."
            )
        return self


def draw_table(
    source: RowSource,
    size: int = SAMPLE,
    *,
    target: str | None = None,
    task: str | None = None,
    weight: str | None = None,
    group: str | None = None,
    time: str | None = None,
    seed: int = 0,
) -> DrawnTable:
    """Return rows of a source as a table in memory.

    Parameters
    ----------
    source : RowSource
        The rows, of named columns, with a target. Kinds that all rows together tell are kept.
    size : int
        Rows to draw; all where there are fewer. Of classes each has its share.
    target : str, optional
        The target of the source, where it is given a second time.
    task : {"regression", "classification"}, optional
        What the target is, where its values do not say.
    weight, group, time : str, optional
        Columns of these roles; weights and groups are those of the source by default.
    seed : int
        Seed of the draw.
    """
    if not isinstance(source, EncodedChunks) or source.target is None:
        raise InputError(
            "compare takes a source with named columns and a target: scale.source(files, "
            "target='COLUMN'). Arrays that are in memory are given as they are, with their "
            "responses."
        )
    if target not in (None, source.target):
        raise InputError(
            f"The target of the source is {source.target!r}, not {target!r}; make a source with "
            "the target that is wanted."
        )
    Integer(1).check("compare", "sample", size)
    for role, given in (("weights", weight), ("groups", group), ("time", time)):
        if given is not None and not isinstance(given, str):
            raise InputError(f"{role} of a source is the name of a column; got {given!r}.")
    strata = source.target if _has_classes(source, task) else None
    start, numbered = perf_counter(), _RowsAndNumbers(source)
    counts: Counter[Any] = Counter()
    frame = sample_rows(numbered, size, seed, strata, counts)
    if frame is None:
        raise InputError(f"Target {source.target!r} has no value at all; choose another.")
    seconds = perf_counter() - start
    rows = nw.from_native(frame, eager_only=True)
    drawn = rows[numbered.column].to_numpy().astype(np.int64)
    roles = {"weight": weight or source.weight, "group": group or source.group, "time": time}
    table = _read(rows.drop(numbered.column).to_native(), source, task, roles)
    table.day_first |= source.day_first
    table.row_numbers = drawn + 1
    lost = {} if strata is None else _undrawn(counts, rows[strata])
    more = numbered.kept - len(drawn) - sum(lost.values())
    table.others = OtherRows(source, drawn, more, numbered.stored, seconds)
    if numbered.kept < numbered.stored and "text" in table.kinds.values():
        table.unlabelled = sample_rows(_without_target(source), size, seed)
    own = _told_by_all(table, source, {source.target, *roles.values()})
    if more:
        own = [_of_the_drawn(each) for each in own]
    table.warnings = (*_findings(table, numbered), *_about_undrawn(lost, str(strata)), *own)
    return table


def _without_target(source: EncodedChunks) -> Iterator[convert.Frame]:
    """Yield the rows that have no target."""
    for frame in source.stored():
        absent = np.flatnonzero(convert.missing(frame[str(source.target)]))
        if len(absent):
            yield frame[absent, :]


class _RowsAndNumbers:
    """The rows of a source that have a target, with a column of their numbers."""

    def __init__(self, source: EncodedChunks) -> None:
        self.source = source
        self.column = "(row)"
        self.stored, self.kept = 0, 0

    def __iter__(self) -> Iterator[convert.Frame]:
        for frame in self.source.stored():
            while self.column in frame.columns:
                self.column = f"({self.column})"
            numbers = np.arange(self.stored, self.stored + len(frame))
            self.stored += len(frame)
            series = nw.new_series(self.column, numbers, backend=frame.implementation)
            for rows in with_target([frame.with_columns(series)], self.source.target):
                self.kept += len(rows)
                yield rows


def _has_classes(source: EncodedChunks, task: str | None) -> bool:
    """Return True if a table in memory with this target would be one of classes."""
    seen: set[float] = set()
    for frame in source.stored([str(source.target)]):
        series = frame[str(source.target)]
        if task is not None or convert.storage(series) not in ("integer", "number"):
            return task != "regression"
        values = convert.numbers(series)
        seen.update(np.unique(values[~np.isnan(values)]).tolist())
        if len(seen) > 2:
            return False
    return True


def _read(frame: Any, source: EncodedChunks, task: str | None, roles: dict[str, Any]) -> DrawnTable:
    """Return the rows as a table; where all rows tell another kind of a column, it is that."""
    used = {source.target, *roles.values()}
    kinds = {name: kind for name, kind in source.kinds.items() if name not in used}
    given: dict[str, Any] = {
        "target": source.target, "task": task, "source": source.name or "a source",
        "decimal": source.decimal, **roles,
    }  # fmt: skip
    table = DrawnTable(frame, ignore=source.ignore, **given)
    other = {name: kind for name, kind in kinds.items() if table.kinds.get(name) != kind}
    gone = [name for name in table.kinds if name not in kinds and table.kinds[name] != "text"]
    if not other and not gone:
        return table
    return DrawnTable(frame, ignore=source.ignore.union(gone), kinds=other, **given)


def _told_by_all(table: Table, source: EncodedChunks, used: set[str | None]) -> list[Finding]:
    """Return what is to be known of a table; how columns are read is told by all rows.

    Columns that are `used` for something else are no inputs.
    """
    every = [each for each in source.warnings if each.code in _READ and each.column not in used]
    told = {each.column for each in every}
    own = (each for each in table.warnings if each.code not in _READ or each.column not in told)
    return [*every, *own]


def _undrawn(counts: Counter[Any], drawn: convert.Series) -> dict[str, int]:
    """Return how many rows the classes have of which none was drawn."""
    known = {str(each) for each in convert.labels(drawn)}
    return {name: count for name, count in counts.items() if name not in known}


def _about_undrawn(lost: Mapping[str, int], target: str) -> Iterator[Finding]:
    if lost:
        name, count = max(lost.items(), key=lambda each: each[1])
        more = f", and {len(lost) - 1:,} more classes" if len(lost) > 1 else ""
        message = (
            f"Class {name!r} of {target!r} ({count:,} {'row' if count == 1 else 'rows'}){more}: no "
            "row was drawn. Methods neither learn it nor are judged on it; sample= draws more."
        )
        yield Finding("rare_class", target, message)


def _of_the_drawn(finding: Finding) -> Finding:
    """Say of what the drawn rows alone tell that it is about them."""
    if finding.code in _OF_ROWS:
        return replace(finding, message=finding.message.replace(*_OF_ROWS[finding.code], 1))
    if finding.code != "copies":
        return finding
    # There are copies of them among the others, too.
    seen, _, _ = finding.message.partition(". ")
    return Finding(
        "copies_apart",
        None,
        f"Of the drawn rows {seen}. Their copies among the rows that were not drawn are learnt "
        "from by methods that fit chunks, and the error of these comes out too low: drop the "
        "copies if they are a slip.",
    )


def _findings(table: DrawnTable, read: _RowsAndNumbers) -> Iterator[Finding]:
    """Say which rows were drawn, and which were left out."""
    if table.others.count:
        yield Finding(
            "drawn",
            None,
            f"Of {table.n_stored:,} rows {table.n_rows:,} were drawn at random: methods are judged "
            "on these, which are held in memory, and what is said of values and levels is of "
            "these. Methods that fit chunks learn from the other rows, too, where there is time "
            "for it.",
        )
    yield from about_gaps(read.stored - read.kept, read.stored, str(table.target))
