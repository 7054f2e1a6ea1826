"""What each column of a table is for; roles that are given as values become columns."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.data.convert import Frame


def assign_roles(
    data: Frame,
    target: str | None,
    weight: str | None,
    group: str | None,
    time: str | None,
    ignore: set[str],
) -> dict[str, str]:
    """Give each column its role, or say which name is wrong."""
    roles = dict.fromkeys(data.columns, "feature")
    wanted = [("target", target), ("weight", weight), ("group", group), ("time", time)]
    wanted += [("ignore", name) for name in sorted(ignore, key=str)]
    for role, name in wanted:
        if name is None:
            continue
        if name not in roles:
            known = ", ".join(repr(column) for column in data.columns[:8])
            more = ", ..." if len(data.columns) > 8 else ""
            raise InputError(
                f"There is no column {name!r} to use as {role}.{did_you_mean(name, roles)} "
                f"The columns are {known}{more}."
            )
        if roles[name] != "feature":
            raise InputError(
                f"Column {name!r} cannot be both {roles[name]} and {role}; give it one role."
            )
        roles[name] = role
    return roles


def with_roles(
    data: Frame, weight: Any, group: Any, time: Any
) -> tuple[Frame, str | None, str | None, str | None]:
    """Return the data with a column for each role that was given as values, and their names.

    ``time=True`` is the order of the rows.
    """
    names: list[str | None] = []
    for role, given in (("weight", weight), ("group", group), ("time", time)):
        if given is None or isinstance(given, str):
            names.append(given)
            continue
        if role == "time" and given is True:
            given = np.arange(len(data))
        values = np.ma.asarray(given) if np.ma.isMaskedArray(given) else np.asarray(given)
        if values.ndim == 0 and values.dtype.kind not in "biufM":
            raise InputError(f"{role} is the name of a column or one value per row, not {given!r}.")
        if values.shape != (len(data),):
            raise InputError(
                f"{role} has values of shape {values.shape} and the data have {len(data)} rows; "
                "give one value per row, or the name of a column."
            )
        name = role
        while name in data.columns:
            name = f"({name})"
        masked = np.ma.getmaskarray(values)
        content: Any = np.ma.getdata(values)
        if masked.any() or content.dtype.kind in "OUS":
            content = [
                None if gone or value != value else value
                for value, gone in zip(content.tolist(), masked.tolist(), strict=True)
            ]
        series = nw.new_series(name, content, backend=data.implementation)
        data = data.with_columns(series)
        names.append(name)
    return data, names[0], names[1], names[2]
