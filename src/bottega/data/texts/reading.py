"""Texts that a user gives, in whatever form: one list of them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from bottega.core.errors import InputError
from bottega.core.missing import is_missing
from bottega.data import convert

__all__ = ["as_texts"]


def as_texts(X: Any, what: str = "X") -> list[str]:
    """Return texts as a list, empty where one is missing.

    Parameters
    ----------
    X : iterable of str, or data frame of one column
        Texts.
    what : str
        What to call them in messages.

    Examples
    --------
    >>> as_texts(["One text.", None])
    ['One text.', '']
    """
    if isinstance(X, str | bytes):
        raise InputError(f"{what} is one text; give a list of texts, [text] for a single one.")
    frame = None if isinstance(X, np.ndarray | list | tuple) else convert.frame_or_none(X)
    if frame is not None:
        if len(frame.columns) != 1:
            listed = ", ".join(map(repr, frame.columns[:8]))
            raise InputError(
                f"{what} is a data frame with {len(frame.columns)} columns ({listed}); give the "
                "one that holds the texts."
            )
        X = frame[frame.columns[0]].to_list()
    elif isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise InputError(f"{what} has shape {X.shape}; give one text per row: ({len(X)},).")
        X = X.tolist()
    elif not isinstance(X, Iterable):
        raise InputError(f"{what} is of type {type(X).__name__}; give a list of texts.")
    found = list(X)
    if set(map(type, found)) <= {str}:
        return found
    return [_as_text(each, i, what) for i, each in enumerate(found)]


def _as_text(value: Any, i: int, what: str) -> str:
    if isinstance(value, str):
        return str(value)
    if is_missing(value):
        return ""
    if isinstance(value, bytes):
        raise InputError(
            f"{what} holds bytes in row {i} (counted from 0), not text; decode them before: "
            "value.decode('utf-8'), or whatever their encoding is."
        )
    raise InputError(
        f"{what} holds {convert.short(value)} of type {type(value).__name__} in row {i} (counted "
        "from 0), not text; give texts, None where one is missing."
    )
