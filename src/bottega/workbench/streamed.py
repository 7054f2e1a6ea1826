"""A method that fits chunks, on the drawn rows of a part and on those that were not drawn."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.chunked import Chunked
from bottega.core.engine import current_engine, working_on
from bottega.core.frames import is_frame
from bottega.core.parts import RowSource, refuse_other_count
from bottega.core.row_numbers import numbered, spans_of
from bottega.core.row_parts import each_part
from bottega.core.rows import split_rows
from bottega.core.typing import Array, IntArray
from bottega.data import EncodedChunks, Table, convert
from bottega.data.array_rows import ArrayRows
from bottega.data.role_columns import class_labels, group_labels, order_values
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.procedures import EstimatorProcedure, takes_weights
from bottega.workbench.drawn import DrawnTable
from bottega.workbench.features import inputs_of
from bottega.workbench.together import together

__all__ = ["StreamedProcedure", "StreamedRows", "notes_on_drawn", "procedure_for_table"]

_PASSES = 3  # over the rows that a fit of chunks takes, as a rule
_NUMBERS = 2_000_000  # of encoded inputs that are held at once


@dataclass(frozen=True, eq=False)
class StreamedProcedure(EstimatorProcedure):
    """An estimator that learns from the training rows of a part, and from rows not in memory.

    A knob is chosen along the method's own path over all these rows where that takes few passes,
    and from the rows in memory otherwise. Rows that depend on those held out are not learnt from:
    of the same groups, or of a later time. With `most_rows` it learns from rows in memory alone, as
    any other.
    """

    table: Any = None  # a DrawnTable
    counted: list[int] = field(default_factory=list)  # rows that the model of all rows has read

    @property
    def sends_rows(self) -> bool:
        """Whether an engine is sent parts of the rows, rather than the work as a whole."""
        return self.most_rows is None

    def learns_from(self, n: int) -> int:
        """Return how many rows a fit learns from where n of those in memory are to be fitted to.

        Where groups or time leave out some of those that are not in memory, it is fewer.
        """
        return super().learns_from(n) + (0 if self.most_rows else self.table.others.count)

    def seconds_more(self) -> float:
        """Return about how long the rows that are not in memory take to be read in a fit."""
        return _PASSES * float(self.table.others.seconds)

    def _model(self, part: Part, X: Any, given: IntArray) -> Any:
        if not self.sends_rows:
            return super()._model(part, X, given)
        # Levels of categories are learnt as the rows come, which is not for parts side by side.
        with working_on(None) if is_frame(X) else nullcontext():
            rows = self._rows(part, X, given)
            model = self._fitted(rows, part, X, given)
            if not part.tests and isinstance(rows, StreamedRows) and rows.leaves_some:
                self.counted[:] = [rows.n_rows]
            return model

    def _rows(self, part: Part, X: Any, given: IntArray) -> RowSource:
        """Return the rows to learn from; in a trial those in memory, as if they came in chunks."""
        y, weight = self.rows.y[given], None
        if takes_weights(self.estimator):
            weight = self._weight(given)
        if part.key[0] < 0:
            return ArrayRows.of(X, y, weight, len(y))
        table: DrawnTable = self.table
        reader = _RowReader.of(table, self.inputs.joined(part, None), int(X.shape[1]))
        if takes_weights(self.estimator):
            reader = replace(reader, weight=table.asked["weight"], factors=self._factors(given))
        barred, until = None, None
        if self.rows.groups is not None:
            barred = np.setdiff1d(np.asarray(table.groups), self.rows.groups[given])
        if self.rows.time is not None:
            until = float(self.rows.time[given].max())
        return StreamedRows(
            table.others.source,
            table.others.drawn,
            table.others.stored,
            reader,
            first=(X, y) if weight is None else (X, y, weight),
            barred=barred,
            until=until,
        )

    def _fitted(self, rows: RowSource, part: Part, X: Any, given: IntArray) -> Any:
        """Return a copy fitted to all rows, its knob chosen."""
        model = clone(self.estimator)
        if not self.is_chosen_here or self.estimator.walks_chunks:
            return model.fit(rows)
        chosen = super()._model(part, X, given)
        setting = {knob: getattr(chosen, f"{knob}_") for knob in chosen.knobs}
        model.set_params(**setting).fit(rows)
        model.path_ = chosen.path_  # what the knob was chosen by
        return model

    def _factors(self, given: IntArray) -> Mapping[Any, float] | None:
        """Return by how much rows of each class count more, beside their own weights."""
        if self.class_weight is None:
            return None
        alike = replace(self.rows, weight=None)
        y, factor = self.rows.y[given], replace(self, rows=alike)._weight(given)
        assert factor is not None
        labels, first = np.unique(y, return_index=True)
        return dict(zip(labels.tolist(), factor[first].tolist(), strict=True))


def procedure_for_table(estimator: Any, inputs: Any, rows: Any, table: Table, **how: Any) -> Any:
    """Return a method as a procedure that learns from as many rows as it can.

    Parameters
    ----------
    estimator : Estimator
        The method, not fitted.
    inputs, rows, **how
        As `EstimatorProcedure` takes them.
    table : Table
        All rows, or those that were drawn of a source. With groups or time a method whose path is
        that of all rows learns from rows in memory, where folds that respect them can choose.
    """
    plain = EstimatorProcedure(estimator, inputs, rows, **how)
    more = isinstance(table, DrawnTable) and table.others.count
    if not more or not isinstance(estimator, Chunked) or _needs_drawn_folds(plain):
        return plain
    return StreamedProcedure(estimator, inputs, rows, table=table, **how)


def _needs_drawn_folds(procedure: EstimatorProcedure) -> bool:
    """Return True if a path of all rows is to be judged by folds that respect groups or time."""
    walks = isinstance(procedure.estimator, Chunked) and procedure.estimator.walks_chunks
    return walks and procedure.is_chosen_here and procedure.inner is not None


def notes_on_drawn(procedures: Mapping[str, Any], titles: Mapping[str, str]) -> list[str]:
    """Return why methods that fit chunks learn from the drawn rows alone, in sentences.

    Parameters
    ----------
    procedures : dict of str to EstimatorProcedure
        Methods of a comparison of drawn rows.
    titles : dict of str to str
        What the methods are called.
    """
    return together(
        (
            titles[name],
            "learned from the drawn rows alone: the penalty or another setting is chosen by folds "
            + ("that keep groups together" if each.rows.time is None else "in the order of time")
            + ", which need their rows in memory.",
        )
        for name, each in procedures.items()
        if _needs_drawn_folds(each)
    )


@dataclass(frozen=True, eq=False)
class _RowReader:
    """How rows as they are stored become inputs, responses and weights."""

    pipeline: Any  # what encodes, and no model
    features: tuple[str, ...]
    target: str
    classes: Array | None
    group: str | None
    time: str | None
    day_first: dict[str, bool]
    width: int  # columns of the inputs, once they are encoded
    weight: str | None = None
    factors: Mapping[Any, float] | None = None

    @classmethod
    def of(cls, table: DrawnTable, pipeline: Any, width: int) -> "_RowReader":
        return cls(
            pipeline=pipeline,
            features=table.features,
            target=str(table.target),
            classes=table.classes,
            group=table.asked["group"],
            time=table.asked["time"],
            day_first=table.day_first,
            width=width,
        )

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        roles = (self.target, self.weight, self.group, self.time)
        return [*self.features, *(name for name in roles if name is not None)]

    @property
    def deciding(self) -> list[str]:
        """The columns that tell which rows are learnt from."""
        return [name for name in (self.target, self.group, self.time) if name is not None]

    def read(self, frame: convert.Frame) -> tuple[Any, ...]:
        """Return inputs, responses and, where rows have them, weights."""
        given = frame.select(list(self.features)).to_native()
        raw = inputs_of(self.pipeline, given, self.features, self.day_first, warn=False)
        X = self.pipeline.steps[0][1].transform(raw)
        y = self.responses(frame)
        if self.weight is None and self.factors is None:
            return X, y
        w = np.ones(len(y)) if self.weight is None else convert.numbers(frame[self.weight])
        if self.factors is not None:
            labels, codes = np.unique(y, return_inverse=True)
            w = w * np.array([self.factors.get(label, 1.0) for label in labels.tolist()])[codes]
        return X, y, w

    def responses(self, frame: convert.Frame) -> Array:
        """Return the numbers or labels to predict."""
        series = frame[self.target]
        return convert.numbers(series) if self.classes is None else class_labels(series)


class StreamedRows(RowSource):
    """Rows in memory, and after them those of a source that were not drawn.

    Parameters
    ----------
    source : EncodedChunks
        All rows.
    drawn : ndarray of int
        Numbers of the rows that are left out of them, in order.
    count : int
        How many rows the source has.
    reader : _RowReader
        How the others are encoded.
    first : tuple, optional
        Inputs, responses and weights of the rows in memory.
    barred : ndarray, optional
        Groups whose rows are left out.
    until : float, optional
        Time of the last row that is not left out.
    what : str
        What the source is, and its verb, where it has another number of rows.
    """

    def __init__(
        self,
        source: EncodedChunks,
        drawn: IntArray,
        count: int,
        reader: _RowReader,
        *,
        first: tuple[Any, ...] | None = None,
        barred: Array | None = None,
        until: float | None = None,
        what: str = "The source has",
    ) -> None:
        self._source, self._drawn, self._count, self._what = source, drawn, count, what
        self._reader, self._first, self._barred, self._until = reader, first, barred, until
        self._n_rows: int | None = None
        self.in_files = source.in_files

    @property
    def leaves_some(self) -> bool:
        """Whether rows are left out for their group or time: how many, only a pass tells."""
        return self._barred is not None or self._until is not None

    @property
    def n_rows(self) -> int:
        """How many rows a pass gives; counted once more where other processes have read them."""
        if self._n_rows is None:
            self._n_rows = sum(each_part(_count, self.parts(), in_files=self.in_files))
        return self._n_rows

    def check_unchanged(self) -> None:
        """Raise where the rows are known to be others than they were."""
        self._source.check_unchanged()

    @property
    def told_count(self) -> int:
        """How many rows there are at most."""
        return self._count

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        count = 0
        if self._first is not None:
            count += len(self._first[1])
            yield self._first
        frames = self._source.stored(self._reader.columns)
        for place, frame in numbered(frames, self._count, self._what):
            at = np.flatnonzero(self._wanted(frame, place))
            count += len(at)
            for some in split_rows(len(at), max(_NUMBERS // self._reader.width, 1)):
                yield self._reader.read(frame[at[some], :])
        self._n_rows = count

    def count(self) -> int:
        """Return how many rows a pass gives, from the columns alone that decide it."""
        frames = self._source.stored(self._reader.deciding)
        rows = numbered(frames, self._count, self._what)
        others = sum(int(np.sum(self._wanted(frame, place))) for place, frame in rows)
        return others if self._first is None else others + len(self._first[1])

    def _wanted(self, frame: convert.Frame, place: slice) -> Array:
        """Return which rows of a frame are to be learnt from."""
        reader = self._reader
        wanted = ~convert.missing(frame[reader.target])
        wanted[_within(self._drawn, place)] = False
        if reader.group is not None and self._barred is not None:
            wanted &= ~np.isin(group_labels(frame[reader.group]), self._barred)
        if reader.time is not None and self._until is not None:
            wanted &= order_values(frame[reader.time]) <= self._until  # a missing time is not
        if reader.classes is not None:
            known = np.flatnonzero(wanted)
            wanted[known] = np.isin(reader.responses(frame[known, :]), reader.classes)
        return wanted

    def parts(self) -> list[Iterable[Any]]:
        """Return the rows in memory, and the parts of the source, each with those left out."""
        parts = self._source.parts()
        if current_engine() is None or len(parts) < 2:
            return [self]
        counting = _Counting(self._reader.target)
        sizes = each_part(counting, parts, in_files=self._source.in_files)
        refuse_other_count(sum(sizes), self._count, self._what)
        others = [
            StreamedRows(
                part,
                _within(self._drawn, place),
                size,
                self._reader,
                barred=self._barred,
                until=self._until,
                what="A part of the source has",
            )
            for part, size, place in zip(parts, sizes, spans_of(sizes), strict=True)
        ]
        return [[self._first], *others]


def _within(numbers: IntArray, place: slice) -> IntArray:
    """Return which rows of a place numbers in order name, counted from its start."""
    ends = np.searchsorted(numbers, [place.start, place.stop])
    return numbers[slice(*ends)] - place.start


def _count(part: Iterable[Any]) -> int:
    """Return how many rows a part of streamed rows gives."""
    return part.count() if isinstance(part, StreamedRows) else sum(len(y) for _, y, *_ in part)


@dataclass(frozen=True)
class _Counting:
    """Counts the rows of a part."""

    column: str

    def __call__(self, part: EncodedChunks) -> int:
        return sum(len(frame) for frame in part.stored([self.column]))
