"""Whatever a user gives as data, as a Table without a target."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bottega.core.errors import InputError, did_you_mean
from bottega.core.frames import default_names, is_frame, make_frame
from bottega.data import Table, read_frame
from bottega.data.read.files import is_path, path_of, short_name

__all__ = ["described_table"]


def described_table(
    data: Any,
    columns: Iterable[str] | None,
    exclude: Iterable[str],
    kinds: Mapping[str, str] | None = None,
) -> Table:
    """Return the data as a Table without roles, some columns left out.

    A Table that has a target, weights, groups or times loses them: their columns are described too.
    """
    source, asked = None, dict(kinds or {})
    ignored: set[str] = set()
    if isinstance(data, Table):
        source = data.source
        asked = {**data.asked["kinds"], **asked}
        ignored = set(data.asked["ignore"])
        roles = {column.role for column in data.columns}
        plain = roles <= {"feature", "ignore"}
        frame = data.frame
    elif is_path(data):
        labels = [name for name, kind in asked.items() if kind in ("category", "text", "id")]
        frame = read_frame(data, text=labels)
        source = short_name(path_of(data))
    elif is_frame(data):
        frame, source = data, "a data frame"
    else:
        frame = _named(data)
    known = _names(frame)
    left_out = ignored | _left_out(known, columns, exclude)
    if isinstance(data, Table) and plain and not kinds and left_out == ignored:
        return data
    found = Table(frame, kinds=asked, ignore=left_out, source=source)
    if isinstance(data, Table):
        found.day_first |= data.day_first
        found.decimal |= {n: sign for n, sign in data.decimal.items() if n in found.kinds}
    return found


def _names(frame: Any) -> list[str]:
    from bottega.data import convert

    return list(convert.as_frame(frame).columns)


def _named(data: Any) -> Any:
    """Return an array as a frame with the columns x0, x1, ..."""
    if np.ma.isMaskedArray(data):
        data = np.ma.filled(data.astype(float), np.nan)
    array = np.asarray(data)
    if array.ndim != 2 or not array.size:
        raise InputError(
            f"The data have shape {array.shape}; give a table of rows and columns: a file, a data "
            "frame, or an array with two axes."
        )
    return make_frame(dict(zip(default_names(array.shape[1]), array.T, strict=True)))


def _left_out(known: list[str], columns: Iterable[str] | None, exclude: Iterable[str]) -> set[str]:
    """Return the columns that are not described."""
    gone = {exclude} if isinstance(exclude, str) else {str(name) for name in exclude}
    kept = None
    if columns is not None:
        kept = {columns} if isinstance(columns, str) else {str(name) for name in columns}
    for option, names in (("columns", kept or set()), ("exclude", gone)):
        for name in sorted(names - set(known)):
            raise InputError(
                f"{option} names {name!r}, and there is no such column.{did_you_mean(name, known)}"
            )
    if kept is not None:
        if not kept:
            raise InputError("columns is empty; name at least one column, or leave it out.")
        if kept & gone:
            both = sorted(kept & gone)[0]
            raise InputError(f"Column {both!r} is in columns and in exclude; name it in one.")
        gone |= set(known) - kept
    return gone
