"""Whatever a user gives as data, as a Table with a target."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError
from bottega.core.frames import default_names, is_frame, make_frame
from bottega.core.parts import RowSource
from bottega.data import Table, read
from bottega.data.read.files import is_path, path_in_words, path_of
from bottega.scale.source import source
from bottega.workbench.drawn import SAMPLE, draw_table
from bottega.workbench.memory import is_larger_than_memory

__all__ = ["as_table"]


def as_table(
    data: Any,
    target: Any,
    task: str | None,
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    **roles: Any,
) -> Table:
    """Return the data as a Table with its target set; of a source `sample` rows.

    `roles` may name the columns (or be the values) of `weight`, `group` and `time`; None for no
    such role. A Table that is aimed at another target keeps its kinds, weights, groups and times.
    """
    if is_path(data) and is_larger_than_memory(data):
        data = source(data, target=_named_target(target))
    if isinstance(data, RowSource):
        return draw_table(data, sample, target=target, task=task, seed=seed, **roles)
    roles = {name: value for name, value in roles.items() if value is not None}
    if isinstance(data, Table):
        if target is None and data.target is None:
            raise InputError("The table has no target; name the column to predict.")
        return data.aimed_at(target, task, **roles)
    if is_path(data):
        named: dict[str, Any] = {
            name: value for name, value in roles.items() if isinstance(value, str)
        }
        table = read(data, target=target, task=task, **named)
        if table.target is None:
            known = ", ".join(repr(column.name) for column in table.columns[:8])
            raise InputError(
                f"{path_in_words(path_of(data))} was read, but which column should be predicted? "
                f"Name the target: one of {known}."
            )
        given = {name: value for name, value in roles.items() if name not in named}
        return table.aimed_at(**given) if given else table
    if target is None:
        raise InputError("What should be predicted? Give the responses, or the target's name.")
    if isinstance(target, str):
        return Table(data, target=target, task=task, **roles)
    return _joined(data, target, task, roles)


def _named_target(target: Any) -> str:
    if not isinstance(target, str):
        raise InputError("The files are too large for memory: name the column to predict.")
    return target


def _joined(X: Any, y: Any, task: str | None, roles: dict[str, Any]) -> Table:
    """Return inputs and responses that came separately as one Table."""
    responses = np.asarray(y)
    if responses.ndim == 2 and responses.shape[1] == 1:
        responses = responses[:, 0]
    if responses.ndim != 1:
        raise InputError(
            f"compare is for one target; got responses of shape {responses.shape}: "
            "compare each column alone."
        )
    if np.ma.isMaskedArray(y) and np.ma.is_masked(y):
        responses = np.ma.filled(np.ma.ravel(y).astype(float), np.nan)
    if is_frame(X):
        frame = nw.from_native(X, eager_only=True)
        columns = {name: frame[name].to_numpy() for name in frame.columns}
        like = X
    else:
        inputs = np.ma.filled(X.astype(float), np.nan) if np.ma.isMaskedArray(X) else np.asarray(X)
        if inputs.ndim != 2:
            raise InputError(f"X must have rows and columns; got shape {inputs.shape}.")
        columns = dict(zip(default_names(inputs.shape[1]), inputs.T, strict=True))
        like = None
    rows = {len(column) for column in columns.values()}
    if rows != {len(responses)}:
        raise InputError(f"X has {max(rows, default=0)} rows and y has {len(responses)}.")
    name = str(getattr(y, "name", None) or "target")
    while name in columns:
        name += "_"
    frame = make_frame({**columns, name: responses}, like)
    return Table(frame, target=name, task=task, **roles)
