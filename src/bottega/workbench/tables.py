"""Whatever a user gives as data, as a Table with a target."""

import os
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import is_frame, make_frame
from bottega.data import Table, read

__all__ = ["as_table"]


def as_table(data: Any, target: Any, task: str | None) -> Table:
    """Return the data as a Table with its target set.

    A Table that is aimed at another target keeps its kinds, weights, groups and times.
    """
    if isinstance(data, Table):
        if target is None and data.target is None:
            raise InputError("The table has no target; name the column to predict.")
        return data.aimed_at(target, task)
    if isinstance(data, str | os.PathLike):
        table = read(data, target=target, task=task)
        if table.target is None:
            raise InputError(
                f"{str(data)!r} was read, but which column should be predicted? Name the target: "
                f"one of {', '.join(repr(column.name) for column in table.columns[:8])}."
            )
        return table
    if target is None:
        raise InputError("What should be predicted? Give the responses, or the target's name.")
    if isinstance(target, str):
        return Table(data, target=target, task=task)
    return _joined(data, target, task)


def _joined(X: Any, y: Any, task: str | None) -> Table:
    """Return inputs and responses that came separately as one Table."""
    responses = np.asarray(y)
    if responses.ndim == 2 and responses.shape[1] == 1:
        responses = responses[:, 0]
    if responses.ndim != 1:
        raise InputError(
            f"compare is for one target; got responses of shape {responses.shape}: "
            "compare each column alone."
        )
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        like = X
    else:
        inputs = np.asarray(X)
        if inputs.ndim != 2:
            raise InputError(f"X must have rows and columns; got shape {inputs.shape}.")
        columns = {f"x{j}": inputs[:, j] for j in range(inputs.shape[1])}
        like = None
    rows = {len(column) for column in columns.values()}
    if rows != {len(responses)}:
        raise InputError(f"X has {max(rows, default=0)} rows and y has {len(responses)}.")
    name = str(getattr(y, "name", None) or "target")
    while name in columns:
        name += "_"
    return Table(make_frame({**columns, name: responses}, like), target=name, task=task)
