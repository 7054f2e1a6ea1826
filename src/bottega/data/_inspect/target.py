"""The column to predict: its task, its values, and what to know about them."""

from typing import NamedTuple

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import Array
from bottega.data import convert, findings
from bottega.data.columns import MAX_LEVELS, MIN_ID_ROWS, count
from bottega.data.convert import Series
from bottega.data.findings import Finding
from bottega.data.role_columns import class_labels


class Response(NamedTuple):
    """The values to predict, the task, the sorted labels of classes, and findings."""

    y: Array
    task: str
    classes: Array | None
    notes: list[Finding]


def read_target(series: Series, kind: str, task: str | None) -> Response:
    """Read the target, none of whose values is missing."""
    name = series.name
    distinct = count(series)[1]
    if distinct == 1:
        value = convert.short(series.to_list()[0])
        raise InputError(
            f"Target {name!r} has one value only ({value}): there is nothing to learn; "
            "choose another target or add rows."
        )
    if kind in ("date", "text"):
        raise InputError(
            f"Target {name!r} holds {'dates' if kind == 'date' else 'free text'}, which no "
            "method predicts; choose another target or turn it into numbers or labels."
        )
    if kind == "number" and task != "classification" and (task or distinct > 2):
        y = convert.numbers(series)
        return Response(y, "regression", None, list(findings.about_numbers(y, name)))
    if task == "regression":
        raise InputError(
            f"Target {name!r} is of kind {kind}, and regression needs numbers; leave task out "
            f"or give kinds={{{name!r}: 'number'}}."
        )
    if distinct == len(series) >= MIN_ID_ROWS:
        raise InputError(
            f"Target {name!r} has a different value in each of the {distinct:,} rows: no class "
            "can be learnt from one row; choose another target."
        )
    if distinct > MAX_LEVELS:
        raise InputError(
            f"Target {name!r} has {distinct:,} classes, and {MAX_LEVELS:,} are the most that "
            "can be used; group its rare classes, or choose another target."
        )
    y = class_labels(series)
    return Response(y, "classification", np.unique(y), list(findings.about_classes(y, name)))
