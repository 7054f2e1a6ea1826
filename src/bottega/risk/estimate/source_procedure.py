"""An estimator as a procedure over a source: it learns from some rows, and predicts others."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone

from bottega.core.chunks import is_empty, parts_of
from bottega.core.engine import current_engine
from bottega.core.errors import InputError, ParameterError, Unforeseen
from bottega.core.estimator import Estimator
from bottega.core.parallel import answers_in_turn
from bottega.core.row_parts import share_chunks
from bottega.core.typing import Array, IntArray
from bottega.risk.estimate.judged_rows import JudgedRows
from bottega.risk.estimate.nested_engine import Part
from bottega.risk.estimate.procedures import EstimatorProcedure, PlainInputs
from bottega.risk.estimate.source_rows import NumberedRows, SourceRows

__all__ = ["SourceProcedure", "procedure_for"]

_IN_MEMORY = {
    "values": "give the estimator the values of its knob, or judge one estimator for each of them",
    "class_weight": "name a column of weights when the source is made",
    "most_rows": "draw a sample of them (source.sample)",
    "decision": "draw a sample of them (source.sample)",
}


def procedure_for(estimator: Any, X: Any, rows: JudgedRows, **how: Any) -> EstimatorProcedure:
    """Return an estimator as a procedure on inputs of `read_judged`."""
    if isinstance(X, NumberedRows):
        return SourceProcedure(estimator, X, rows, **how)
    return EstimatorProcedure(estimator, PlainInputs(X), rows, **how)


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
        for name, cure in _IN_MEMORY.items():
            if getattr(self, name) is not None:
                raise ParameterError(f"{name}= is for rows in memory; {cure}.")
        if not self.is_chosen_here:
            return
        if self.rows.groups is not None or self.rows.time is not None:
            raise ParameterError(
                "Over a source a knob is chosen by folds that know no groups and no time: give the "
                "knob a value, or let bottega.compare choose it on rows that it draws."
            )
        if not (self.inner is None or isinstance(self.inner, Integral)):
            raise ParameterError(
                "Over a source inner= is a number of folds, which the method deals by itself, or "
                "None for its own estimate of error."
            )

    def _model(self, part: Part, X: Any, given: IntArray) -> Any:
        """Return a copy fitted to rows of the source, by the rule and the folds asked for."""
        model = clone(self.estimator)
        if self.is_chosen_here:
            if self.select is not None:
                model.set_params(select=self.select)
            folds = model.params.get("cv")
            if isinstance(self.inner, Integral) and folds is not None and folds.accepts(self.inner):
                model.set_params(cv=self.inner)
        return model.fit(X)

    def _predicted(self, predict: Callable[[Any], Any], part: Part, rows: IntArray) -> Array:
        """Return predictions of rows by their numbers, in one pass over the source."""
        chosen = self.inputs.test(part, rows)
        try:
            found = _by_part(partial(_predictions, predict), chosen.at_first_sight())
        except Unforeseen:
            found = _by_part(partial(_predictions, predict), chosen)
        placed = np.empty_like(found)
        placed[np.argsort(rows, kind="stable")] = found
        return placed


def _by_part(function: Callable[[Iterable[Any]], list[Array]], rows: SourceRows) -> Array:
    """Return the arrays that a function gives for each part, made where its rows are, as one."""
    engine = current_engine()
    if engine is None:
        found: Iterable[list[Array]] = answers_in_turn(function, rows.parts())
    else:
        found = share_chunks(engine, rows).map(function)
    return np.concatenate([block for blocks in found for block in blocks])


def _predictions(predict: Callable[[Any], Any], part: Iterable[Any]) -> list[Array]:
    found = (parts_of(chunk)[0] for chunk in part)
    return [np.asarray(predict(X)) for X in found if not is_empty(X)]
