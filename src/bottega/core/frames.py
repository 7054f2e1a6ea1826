"""Data frames at the edges: what the user gave is what the user gets back.

Inside bottega there are arrays. A result that is a table is a pandas frame, or a polars frame
when the data were polars; without pandas the first of polars and pyarrow that is installed.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.errors import MissingExtra
from bottega.core.sparse import is_sparse

__all__ = ["backend_of", "default_names", "is_frame", "make_frame", "take_rows", "with_values"]

_BACKENDS = ("pandas", "polars", "pyarrow")


def is_frame(data: Any) -> bool:
    """Return True if `data` is an eager data frame that narwhals understands.

    A pandas frame with two columns of one name is not: its names cannot be told apart.
    """
    try:
        return isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame)
    except nw.exceptions.DuplicateError:
        return False


def backend_of(data: Any) -> str:
    """Return which library results about `data` should be shown in."""
    if is_frame(data):
        return str(nw.from_native(data, eager_only=True).implementation.name).lower()
    for name in _BACKENDS:
        if find_spec(name) is not None:
            return name
    raise MissingExtra(
        "Tables of results need a data frame library and none is installed: "
        "run  pip install 'bottega[data]'."
    )


def default_names(count: int) -> list[str]:
    """Return the names of columns that have none: scikit-learn's, counted from 0.

    Examples
    --------
    >>> default_names(3)
    ['x0', 'x1', 'x2']
    """
    return [f"x{j}" for j in range(count)]


def make_frame(columns: Mapping[str, Any], like: Any = None) -> Any:
    """Build a data frame from named columns, in the library of `like` (a frame, or its name)."""
    backend = like if isinstance(like, str) else backend_of(like)
    data = {name: _column(values) for name, values in columns.items()}
    return nw.from_dict(data, backend=import_module(backend)).to_native()


def _column(values: Any) -> Any:
    """Return numbers as an array; labels as a list, for each library to find their type."""
    if isinstance(values, list):
        # Whole numbers among others are numbers like them: polars would refuse the mixture.
        if any(isinstance(v, float) for v in values) and all(
            v is None or isinstance(v, float | int) for v in values
        ):
            return [None if v is None else float(v) for v in values]
        return values
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else array.tolist()


def with_values(data: Any, values: np.ndarray) -> Any:
    """Return an array as a frame like that of the data: its kind, names and index.

    Where the data are no frame, the array itself.

    Examples
    --------
    >>> import pandas as pd
    >>> with_values(pd.DataFrame({"a": [1.0, None]}, index=["p", "q"]), np.array([[1.0], [2.0]]))
         a
    p  1.0
    q  2.0
    """
    if not is_frame(data):
        return values
    frame = nw.from_native(data, eager_only=True)
    found = make_frame(dict(zip(frame.columns, values.T, strict=True)), data)
    index = nw.maybe_get_index(frame)
    if index is not None:
        found.index = index
    return found


def take_rows(data: Any, rows: np.ndarray) -> Any:
    """Return the given rows of an array, a sparse matrix, a frame, a list, or what has its own."""
    if isinstance(data, np.ndarray):
        return data[rows]
    if is_frame(data):
        return nw.from_native(data, eager_only=True)[np.asarray(rows), :].to_native()
    if is_sparse(data):  # which takes rows in this format alone
        return data.tocsr()[rows].asformat(data.format)
    if hasattr(data, "__array__") or isinstance(data, list | tuple):
        return np.asarray(data)[rows]
    return data[rows]
