"""Columns that a user chooses: by name, by position, or by a truth value for each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bottega.core.errors import ParameterError, did_you_mean

__all__ = ["chosen_columns", "column_number"]

_MOST = 10  # names in a message


def chosen_columns(given: Any, names: Sequence[str], owner: str) -> list[int]:
    """Return the positions of the columns that a parameter chooses; none for ``"auto"``.

    Parameters
    ----------
    given : "auto", sequence of str or int, or sequence of bool
        Names or positions of columns, or a truth value for each of them.
    names : sequence of str
        Names of all columns.
    owner : str
        Name of the parameter, for errors.

    Examples
    --------
    >>> chosen_columns(["size", -1], ["size", "age", "shop"], "categorical_features")
    [0, 2]
    >>> chosen_columns([False, False, True], ["size", "age", "shop"], "categorical_features")
    [2]
    """
    if isinstance(given, str):
        if given == "auto":
            return []
        raise ParameterError(
            f"{owner}={given!r} is not allowed; give 'auto' or a list of names or numbers of "
            f"columns, such as [{given!r}]."
        )
    chosen = list(given)
    if chosen and all(isinstance(one, bool | np.bool_) for one in chosen):
        if len(chosen) != len(names):
            raise ParameterError(
                f"{owner} has {len(chosen)} truth values and X has {len(names)} columns; give one "
                "per column."
            )
        return [j for j, one in enumerate(chosen) if one]
    return [column_number(one, names, owner) for one in chosen]


def column_number(one: Any, names: Sequence[str], owner: str) -> int:
    """Return the position of a column that is named or numbered; `owner` says where."""
    p = len(names)
    if isinstance(one, str):
        if one not in names:
            shown = ", ".join(names[:_MOST]) + (f" and {p - _MOST} more" if p > _MOST else "")
            raise ParameterError(
                f"{owner} names a column {one!r} that is not there; the columns are {shown}."
                f"{did_you_mean(one, names)}"
            )
        return list(names).index(one)
    if isinstance(one, bool) or not isinstance(one, int | np.integer) or not -p <= one < p:
        raise ParameterError(
            f"{owner} names {one!r}, which is no column; X has the columns 0 to {p - 1}."
        )
    return int(one) % p
