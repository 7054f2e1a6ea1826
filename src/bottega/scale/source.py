"""Rows wherever they are, as one type: what `fit` and `fit_chunks` take in the place of X and y."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bottega.core.errors import InputError, refuse_unknown
from bottega.core.frames import is_frame
from bottega.core.parts import RowSource
from bottega.data import chunks
from bottega.data.array_rows import ArrayRows
from bottega.data.read.files import is_path
from bottega.data.read.rows import PartRows

__all__ = ["source"]

_ROWS = 100_000  # of a chunk
_OPTIONS = (
    "kinds", "group", "columns", "ignore", "encoder", "where", "table", "query", "encoding",
    "decimal",
)  # fmt: skip


def source(
    data: Any,
    target: Any = None,
    *,
    weight: Any = None,
    rows: int = _ROWS,
    **options: Any,
) -> RowSource:
    """Return the rows of files, databases, frames or arrays as chunks that any fit takes.

    Parameters
    ----------
    data : path or list of paths, frame or list of frames, array, Arrow dataset, Dask collection
        Parquet, CSV or JSON files, a folder or a pattern of them (``"folder/*.parquet"``), a
        DuckDB file (with ``table=`` or ``query=``), data frames, an array of inputs.
    target : str or array-like, optional
        The column to predict; with an array of inputs the responses themselves.
    weight : str or array-like, optional
        The column of row weights; with an array of inputs the weights themselves.
    rows : int
        Rows of a chunk.
    **options
        For all but arrays, what `bottega.data.chunks` takes: ``kinds``, ``group``, ``columns`` (the
        inputs to use), ``ignore``, ``encoder``, ``where``, ``table``, ``query``, ``encoding``,
        ``decimal``.

    Returns
    -------
    RowSource
        It can be iterated over any number of times. Columns that are not numbers are encoded from
        what all rows hold, and rows without a target are left out; arrays are taken as they are.
        ``warnings`` says what was done to the columns, and the source shows it.

    Examples
    --------
    >>> from bottega.linear import Ridge
    >>> rows = source("diabetes", target="target", rows=100)
    >>> bool(Ridge(alpha=1.0).fit(rows).coef_[2] > 0)
    True
    """
    if isinstance(data, RowSource):
        return data
    refuse_unknown("source", options, ("target", "weight", "rows", *_OPTIONS))
    if isinstance(data, list | tuple) and not data:
        raise InputError("The list of files (or frames) is empty.")
    if not (isinstance(rows, int) and rows > 0):
        raise InputError(f"rows={rows!r} is not allowed; give an integer above 0.")
    if _is_dask(data, "to_delayed", "npartitions") and hasattr(data, "columns"):
        makers = [_DaskPart(part) for part in data.to_delayed()]
        return chunks(PartRows(makers), target=target, weight=weight, rows=rows, **options)
    if _is_dask(data, "to_delayed", "rechunk"):
        _refuse(options)
        return ArrayRows(_array_blocks(data, target, weight), rows)
    _refuse_what_is_no_table(data, target)
    if isinstance(data, list | tuple) and any(is_frame(each) for each in data):
        held = [_HeldFrame(each) for each in data]
        return chunks(PartRows(held), target=target, weight=weight, rows=rows, **options)
    if is_path(data) or is_frame(data) or hasattr(data, "to_batches"):
        return chunks(data, target=target, weight=weight, rows=rows, **options)
    _refuse(options)
    X = np.asarray(data)
    if X.ndim == 0:
        raise InputError(
            f"Rows are of type {type(data).__name__}, which is neither files nor a table: give "
            "files, a data frame or a list of them, an array, an Arrow dataset or what Dask has."
        )
    y, w = (None if each is None else np.asarray(each) for each in (target, weight))
    for name, values in (("target", y), ("weight", w)):
        if values is not None and (values.ndim == 0 or len(values) != len(X)):
            raise InputError(
                f"{name} is {'a name' if values.ndim == 0 else f'of {len(values)} values'}, and "
                f"the inputs are an array of {len(X)} rows; give one value per row."
            )
    return ArrayRows.of(X, y, w, rows)


def _is_dask(data: Any, *methods: str) -> bool:
    module = type(data).__module__.partition(".")[0]
    return module.startswith("dask") and all(hasattr(data, name) for name in methods)


def _refuse_what_is_no_table(data: Any, target: Any) -> None:
    """Refuse frames that are still to be computed, and responses of a frame."""
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise InputError(
            f"{type(data).__name__} has no rows yet: give the files that it reads, or its rows by "
            "collect()."
        )
    if is_frame(data) and not (target is None or isinstance(target, str)):
        raise InputError(
            f"target is of type {type(target).__name__}; of a frame give the name of the column "
            "to predict, with that column in the frame."
        )


class _HeldFrame:
    """A frame in memory, as a part of the rows."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __call__(self) -> Any:
        return self._frame


def _refuse(options: dict[str, Any]) -> None:
    if options:
        name = next(iter(options))
        raise InputError(f"{name}= is for tables with named columns; arrays are taken as they are.")


class _DaskPart:
    """A partition of a Dask collection, computed where it is asked for."""

    def __init__(self, *delayed: Any) -> None:
        self._delayed = delayed

    def __call__(self) -> Any:
        found = _computed(self._delayed)
        return found[0] if len(found) == 1 else found


class _DaskBlock(_DaskPart):
    """The same rows of inputs, responses and weights."""

    def __call__(self) -> Any:
        found = iter(_computed([each for each in self._delayed if each is not None]))
        return tuple(None if each is None else next(found) for each in self._delayed)


def _computed(delayed: Any) -> Any:
    import dask
    from distributed import get_worker, worker_client

    try:
        get_worker()
    except ValueError:
        return dask.compute(*delayed)
    with worker_client() as client:  # this task waits for others, and lends its thread to them
        return client.gather(client.compute(list(delayed)))


def _array_blocks(X: Any, y: Any, w: Any) -> list[Callable[[], Any]]:
    """Return the blocks of rows of Dask arrays, which all have the blocks of X."""
    if X.ndim != 2:
        raise InputError(f"The inputs have {X.ndim} axes; give a Dask array with rows and columns.")
    if any(np.isnan(size) for size in X.chunks[0]):
        X = X.compute_chunk_sizes()
    X = X.rechunk({1: -1})
    parts = [X.to_delayed()[:, 0]]
    for name, each in (("target", y), ("weight", w)):
        if each is None:
            parts.append([None] * len(parts[0]))
            continue
        if not _is_dask(each, "to_delayed", "rechunk"):
            import dask.array as da

            each = da.from_array(np.asarray(each))
        if any(np.isnan(size) for size in each.chunks[0]):
            each = each.compute_chunk_sizes()
        if each.shape[0] != X.shape[0]:
            raise InputError(f"{name} has {each.shape[0]} values and the inputs {X.shape[0]} rows.")
        parts.append(each.rechunk({0: X.chunks[0]}).to_delayed().ravel())
    return [_DaskBlock(*each) for each in zip(*parts, strict=True)]
