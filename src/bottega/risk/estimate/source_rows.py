"""Rows of a source, judged like rows in memory: what is held of each is a few numbers.

Responses, folds, predictions and losses of all rows are in memory, their inputs are not: a
procedure learns from the rows of a source by their numbers, and predicts them so.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.chunks import is_empty, parts_of
from bottega.core.engine import current_engine
from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.estimator import Estimator
from bottega.core.frames import take_rows
from bottega.core.parallel import answers_in_turn
from bottega.core.parts import RowSource
from bottega.core.row_parts import share_chunks
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.data import EncodedChunks
from bottega.data.role_columns import group_labels, order_values, with_target
from bottega.risk.cost_sensitive import CostSensitiveClassifier
from bottega.risk.estimate.judged_rows import JudgedRows, class_probabilities, read_rows
from bottega.risk.estimate.nested_engine import FittedProcedure, Part
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs, told_by

__all__ = ["SourceProcedure", "SourceRows", "inputs_of_rows", "procedure_on", "read_judged"]


def read_judged(
    X: Any, y: Any, task: str, *, weight: Any = None, groups: Any = None, time: Any = None
) -> tuple[Any, JudgedRows]:
    """Return inputs and judged rows, as `read_rows` does, or of a source."""
    if not isinstance(X, RowSource):
        return read_rows(X, y, task, weight=weight, groups=groups, time=time)
    if y is not None or weight is not None:
        raise InputError(
            "A source has its own responses and weights: name their columns when it is made."
        )
    first, responses, weights = X.at_first_sight(), [], []
    for found, w in (first if isinstance(first, RowSource) else X).responses():
        if found is None:
            raise InputError("The source has no responses to judge by; give its target.")
        responses.append(np.asarray(found))
        weights.append(w)
    if not sum(map(len, responses)):
        raise InputError("The source has no rows to judge.")
    labels = np.concatenate(responses)
    if labels.ndim > 1 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim > 1:
        raise InputError("One response at a time is evaluated, and the source has several.")
    if isinstance(X, EncodedChunks):
        groups = _column(X, X.group if groups is None else groups, lambda frame, name: group_labels(frame[name]))
        time = _column(X, time, lambda frame, name: order_values(frame[name]))
    told = None if weights[0] is None else np.concatenate(weights)
    return NumberedRows(X, len(labels)), JudgedRows(labels, task, told, groups, time)


def procedure_on(estimator: Any, X: Any, rows: JudgedRows, **how: Any) -> EstimatorProcedure:
    """Return an estimator as a procedure on inputs of `read_judged`."""
    if isinstance(X, NumberedRows):
        return SourceProcedure(estimator, X, rows, **how)
    return EstimatorProcedure(estimator, PlainInputs(X), rows, **how)


def inputs_of_rows(X: Any) -> Any:
    """Return inputs that a splitter may look at; None where they are not in memory."""
    return None if isinstance(X, NumberedRows) else X


def _column(source: EncodedChunks, values: Any, read: Callable[[Any, str], Any]) -> Any:
    """Return a column of the rows that have a target, by its name; what is no name as it is."""
    if not isinstance(values, str):
        return values
    known = next((frame.columns for frame in source.stored()), [values])
    if values not in known:
        raise InputError(f"The source has no column {values!r}.{did_you_mean(values, known)}")
    names = [values] if source.target in (None, values) else [values, source.target]
    frames = with_target(source.stored(names), source.target)
    return np.concatenate([read(frame, values) for frame in frames])


class NumberedRows:
    """A source and the number of its rows, which are known by their place."""

    def __init__(self, source: RowSource, count: int) -> None:
        self.source, self.count = source, count

    @cached_property
    def at_first_sight(self) -> "NumberedRows":
        """The same rows without learning from all of them beforehand, where that may do."""
        found = self.source.at_first_sight()
        if found is self.source or not isinstance(found, RowSource):
            return self
        return NumberedRows(found, self.count)

    @cached_property
    def parts(self) -> Sequence[tuple[RowSource, slice]]:
        """The parts of the source, and the numbers of their rows."""
        parts, engine = self.source.parts(), current_engine()
        if engine is None or not self.source.in_files:
            sizes = list(answers_in_turn(_rows_of, parts))
        else:
            sizes = engine.share_out(parts).map(_rows_of)
        ends = pairwise(accumulate(sizes, initial=0))
        return [(part, slice(*span)) for part, span in zip(parts, ends, strict=True)]  # type: ignore[misc]

    def of(self, rows: IntArray) -> "SourceRows":
        """Return some of the rows, by their numbers."""
        chosen = np.zeros(self.count, dtype=np.bool_)
        chosen[rows] = True
        return SourceRows(self.source, chosen, self)


def _rows_of(part: RowSource) -> int:
    """Return how many rows a part has; only their responses are read where that can be."""
    return sum(len(y) for y, _ in part.responses())


class SourceRows(RowSource):
    """Some rows of a source, by their numbers.

    Parameters
    ----------
    source : RowSource
        All rows, or those of a part.
    chosen : ndarray of bool
        Which of them.
    numbered : NumberedRows, optional
        The same rows, which know their parts; none for a part.
    """

    def __init__(
        self, source: RowSource, chosen: BoolArray, numbered: NumberedRows | None = None
    ) -> None:
        self._source, self._chosen, self._numbered = source, chosen, numbered
        self.in_files = source.in_files

    @property
    def plain(self) -> Sequence[str] | None:
        """Names of the columns, where they are known to be finite numbers."""
        return self._source.plain

    @property
    def ends(self) -> Sequence[tuple[float, float]] | None:
        """The least and the largest number of each column among all rows, where that is told."""
        return self._source.ends

    def __iter__(self) -> Iterator[Any]:
        return self._chosen_of(self._source)

    def plain_blocks(self) -> Iterator[Any]:
        """Yield X as an array, y and w of each chunk, where X is known to be finite numbers."""
        return self._chosen_of(self._source.plain_blocks())

    def responses(self) -> Iterator[Any]:
        """Yield the responses and weights (or None) of each chunk."""
        return self._chosen_of(self._source.responses())

    def _chosen_of(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Yield the chosen rows of what comes together, chunk by chunk."""
        start, end = 0, len(self._chosen)
        for chunk in chunks:
            n = len(chunk[0]) if not is_sparse(chunk[0]) else chunk[0].shape[0]
            at = np.flatnonzero(self._chosen[start : start + n])
            start += n
            if start > end:
                break
            if len(at) == n:
                yield chunk
            elif len(at):
                yield tuple(None if each is None else take_rows(each, at) for each in chunk)
        if start != end:
            raise InputError(
                f"The source has {'fewer' if start < end else 'more'} rows than the {end} of an "
                "earlier pass; do not change its files meanwhile."
            )

    def at_first_sight(self) -> Iterable[Any]:
        """Return the rows without learning from all of them beforehand, where that may do."""
        if self._numbered is None:
            return self
        found = self._numbered.at_first_sight
        same = found is self._numbered
        return self if same else SourceRows(found.source, self._chosen, found)

    def parts(self) -> "list[SourceRows]":
        """Return the rows in parts that other processes can read by themselves, in order."""
        if self._numbered is None:
            return [self]
        return [SourceRows(part, self._chosen[span]) for part, span in self._numbered.parts]


@dataclass(frozen=True, eq=False)
class SourceProcedure(EstimatorProcedure):
    """An estimator that learns from rows of a source, and predicts others.

    `inputs` are `NumberedRows`. A knob is chosen as the estimator chooses it over rows in chunks:
    folds deal them by their content or their number.
    """

    sends_rows = True  # an engine is sent parts of the rows, rather than the work as a whole

    def __post_init__(self) -> None:
        if not isinstance(self.estimator, Estimator):
            raise InputError(
                f"{type(self.estimator).__name__} needs all rows in memory, and a source gives "
                "them in chunks: draw a sample of them (source.sample), or use a method that fits "
                "chunks (bottega.cards(chunks=True))."
            )
        if self.values is not None:
            raise ParameterError(
                "values= is for rows in memory; give the estimator the values of its knob, or "
                "judge one estimator for each of them."
            )
        divided = self.rows.groups is not None or self.rows.time is not None
        if self.is_chosen_here and divided:
            raise ParameterError(
                "Over a source a knob is chosen by folds that know no groups and no time: give the "
                "knob a value, or let bottega.compare choose it on rows that it draws."
            )

    def fit(self, part: Part) -> FittedProcedure:
        """Fit a copy to the training rows of a part."""
        model: Any = self._prepared().fit(self.inputs.of(part.train))
        told = told_by(model)
        if self._cost is not None:
            model = CostSensitiveClassifier.of(model, self._cost)
        classes = self.rows.classes

        def probabilities(X: Any) -> FloatArray:
            return class_probabilities(model, X, classes, "loss")

        has_any = classes is not None and hasattr(model, "predict_proba")
        return FittedProcedure(
            partial(self._predicted, model.predict),
            partial(self._predicted, probabilities) if has_any else None,
            model,
            *told,
        )

    def _prepared(self) -> Any:
        """Return a copy that chooses its knob by the rule and the number of folds asked for."""
        model = clone(self.estimator)
        if not self.is_chosen_here:
            return model
        if self.select is not None:
            model.set_params(select=self.select)
        folds = model.params.get("cv")
        if isinstance(self.inner, Integral) and folds is not None and folds.accepts(self.inner):
            model.set_params(cv=self.inner)
        return model

    def _predicted(self, predict: Callable[[Any], Any], rows: IntArray) -> Array:
        """Return predictions of rows by their numbers, in one pass over the source."""
        order, chosen = np.argsort(rows, kind="stable"), self.inputs.of(rows)
        engine, of_part = current_engine(), partial(_predictions, predict)
        each: Iterable[Any] = (
            answers_in_turn(of_part, chosen.parts())
            if engine is None
            else share_chunks(engine, chosen).map(of_part)
        )
        found = np.concatenate([block for blocks in each for block in blocks])
        placed = np.empty_like(found)
        placed[order] = found
        return placed


def _predictions(predict: Callable[[Any], Any], part: Iterable[Any]) -> list[Array]:
    found = (parts_of(chunk)[0] for chunk in part)
    return [np.asarray(predict(X)) for X in found if not is_empty(X)]
