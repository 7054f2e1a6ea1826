"""Scores and predictions of rows that come in chunks, in memory that does not grow with them."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from bottega.core import progress
from bottega.core.chunks import is_empty, parts_of
from bottega.core.engine import current_engine
from bottega.core.errors import InputError, ParameterError, did_you_mean, refuse_unknown
from bottega.core.moments import Moments
from bottega.core.parts import RowSource, of_blocks
from bottega.core.row_parts import share_chunks
from bottega.data import EncodedChunks, convert
from bottega.data.parquet_folder import ParquetFolder
from bottega.data.read.date_order import dated_frames
from bottega.data.read.rows import rows_of
from bottega.data.stored_chunks import StoredChunks

__all__ = ["predict_to", "score"]

_OPTIONS = ("table", "query", "encoding", "decimal", "where")


def score(model: Any, source: Iterable[Any]) -> float:
    """Return the score of a fitted model on the rows of a source, in one pass.

    Parameters
    ----------
    model : estimator
        A fitted classifier or regressor, or the pipeline of the source that it was fitted to.
    source : source, or iterable of (X, y) or (X, y, w)
        The rows of the fit; for a pipeline any rows: it encodes them as it did those of the fit.

    Returns
    -------
    float
        What ``model.score`` gives of all rows together: the share of the rows that are classified
        right, or the coefficient of determination.

    Examples
    --------
    >>> from bottega import scale
    >>> from bottega.linear import LeastSquares
    >>> rows = scale.source("diabetes", target="target", rows=100)
    >>> model = LeastSquares().fit(rows)
    >>> round(scale.score(model, rows), 3)
    0.518
    >>> round(scale.score(rows.pipeline(model), scale.source("diabetes", target="target")), 3)
    0.518
    """
    if isinstance(model, RowSource):
        raise InputError("The fitted model comes first: scale.score(model, source).")
    if isinstance(model, Pipeline) and isinstance(source, EncodedChunks):
        source = StoredChunks(source, _inputs_of(model), getattr(model[0], "text_columns", ()))
    elif isinstance(source, EncodedChunks) and _is_encoded_otherwise(source, model):
        raise InputError(
            "The rows of this source are encoded by what they hold themselves (medians in the "
            "place of missing values, levels, units), not as those of the fit: give the pipeline "
            "of the source of the fit, scale.score(rows.pipeline(model), source)."
        )
    if not (is_classifier(model) or is_regressor(model)):
        raise InputError(
            f"{type(model).__name__} is neither a classifier nor a regressor: it has no score of "
            "rows in chunks."
        )
    engine = current_engine()
    sums = partial(_sums_of, model)
    if engine is None or not isinstance(source, RowSource):
        found = sums(source)
    else:
        found = share_chunks(engine, source).reduce(sums)
    if found is None:
        raise InputError("The source has no rows to judge.")
    return found.score(is_classifier(model))


def _is_encoded_otherwise(source: EncodedChunks, model: Any) -> bool:
    """Return True if a model is known to be fitted to rows that were encoded in another way."""
    fitted = getattr(model, "__dict__", {})
    if "_encoded" not in fitted:
        return False
    if source.at_first_sight() is source:
        source.learn()
    return bool(fitted["_encoded"] != source.encoding)


class _ScoreSums:
    """Weighted losses of rows, and moments of their responses."""

    def __init__(self, loss: float, responses: Moments) -> None:
        self.loss, self.responses = loss, responses

    def merge(self, other: Self) -> Self:
        """Take in other rows."""
        self.loss += other.loss
        self.responses.merge(other.responses)
        return self

    def score(self, of_classes: bool) -> float:
        """Return the accuracy, or the coefficient of determination."""
        if of_classes:
            return 1 - self.loss / self.responses.weight
        spread = float(self.responses.scatter[0, 0])
        if spread == 0:  # as scikit-learn has it
            return float(self.loss == 0)
        return 1 - self.loss / spread


def _sums_of(model: Any, chunks: Iterable[Any]) -> _ScoreSums | None:
    def each() -> Iterator[tuple[Any, ...]]:
        for X, y, w in map(parts_of, chunks):
            if y is None:
                raise InputError("The source has no responses to judge by; give its target.")
            if not is_empty(X):
                yield X, np.asarray(y), w

    found: _ScoreSums | None = of_blocks(partial(_block_sums, model), each())
    return found


def _block_sums(model: Any, X: Any, y: Any, w: Any) -> _ScoreSums:
    predicted = np.asarray(model.predict(X))
    weight = np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)
    if is_classifier(model):
        return _ScoreSums(float(weight @ (predicted != y)), Moments().update(weight[:, None], w=w))
    if y.ndim > 1:
        raise InputError("Scores of rows in chunks are for one response.")
    return _ScoreSums(float(weight @ (y - predicted) ** 2), Moments().update(y[:, None], w=w))


def predict_to(
    model: Any,
    data: Any,
    folder: str | os.PathLike[str],
    *,
    ids: str | Sequence[str] = (),
    columns: Callable[[Any], Mapping[str, Any]] | None = None,
    rows: int = 50_000,
    text: Iterable[str] = (),
    **options: Any,
) -> int:
    """Predict the rows of files into a folder of Parquet files.

    Parameters
    ----------
    model : object with ``predict``
        It takes frames as they are stored: a saved model (`bottega.load`), or the pipeline of a
        source and what was fitted to it (``source.pipeline(model)``).
    data : path, frame or Arrow dataset
        The rows, as in `source`.
    folder : path
        The folder to write; it must not exist, or be empty. It appears when all is written.
    ids : sequence of str
        Columns of the data to copy beside the predictions.
    columns : callable, optional
        Returns the columns to write for a frame of rows. By default it is one:
        ``predicted_<target>`` where the model knows its target, as a saved one does, and
        ``prediction`` otherwise.
    rows : int
        Rows that are predicted at a time.
    text : iterable of str
        Columns of text files to read as they are written.
    **options
        ``table``, ``query``, ``encoding``, ``decimal``, ``where``, as in `bottega.data.chunks`.

    Returns
    -------
    int
        How many rows were predicted.

    Examples
    --------
    >>> import tempfile
    >>> from bottega import scale
    >>> from bottega.linear import LeastSquares
    >>> learned = scale.source("diabetes", target="target")
    >>> model = learned.pipeline(LeastSquares().fit(learned))
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     scale.predict_to(model, "diabetes", f"{parent}/out")
    442
    """
    if isinstance(data, RowSource):
        raise InputError(
            "Rows are predicted as they are stored: give the files (or the frame) that the source "
            "is made of."
        )
    if "handle_unknown" in options:
        raise ParameterError(
            "predict_to has no option 'handle_unknown'; it is one of source.pipeline(model, "
            "handle_unknown=...)."
        )
    refuse_unknown("predict_to", options, _OPTIONS)
    ids = [ids] if isinstance(ids, str) else ids
    if len(set(ids)) < len(ids):
        raise InputError(f"ids={list(ids)!r} names a column twice; name each column once.")
    if columns is None and not hasattr(model, "predict"):
        raise InputError(
            f"{type(model).__name__} predicts nothing; give a fitted model first, then the files "
            "to predict."
        )
    made = _prediction(model) if columns is None else columns
    source, text = rows_of(data, {"rows": rows, **options}), list(text)
    with ParquetFolder(folder) as out:
        for stored, frame in dated_frames(source, _inputs_of(model), text):
            predicted, count = made(frame), convert.as_frame(frame).shape[0]
            if not isinstance(predicted, Mapping):
                raise InputError(
                    f"columns= gave {type(predicted).__name__}; it makes a dict of columns, such "
                    "as {'prediction': model.predict(frame)}."
                )
            for name, values in predicted.items():
                n = len(values) if np.ndim(values) else 0
                if n != count or np.ndim(values) > 1:
                    raise InputError(
                        f"The model gave {'x'.join(map(str, np.shape(values))) or 'no'} values of "
                        f"{name!r} for {count} rows; a column has one value for each row."
                    )
            found = {**_copied(stored, ids), **predicted}
            if not predicted.keys().isdisjoint(ids):
                raise InputError("A column to copy has the name of a column of predictions.")
            out.write(found)
            progress.report("rows predicted", out.rows, out.rows)
        if not out.rows:
            raise InputError("The data have no rows to predict.")
    return out.rows


def _prediction(model: Any) -> Callable[[Any], Mapping[str, Any]]:
    target = getattr(model, "target", None)  # of a saved model
    name = f"predicted_{target}" if isinstance(target, str) else "prediction"
    return lambda frame: {name: np.asarray(model.predict(frame))}


def _inputs_of(model: Any) -> list[str]:
    """Return the names of the columns that a model takes, as far as it says."""
    names = getattr(model, "columns", None)  # of a saved model
    names = getattr(model, "feature_names_in_", None) if names is None else names
    return [] if names is None else [str(name) for name in names]


def _copied(frame: Any, ids: Sequence[str]) -> dict[str, Any]:
    data: nw.DataFrame[Any] = convert.as_frame(frame)
    for name in ids:
        if name not in data.columns:
            raise InputError(
                f"The data have no column {name!r} to copy.{did_you_mean(name, data.columns)}"
            )
    return {name: data[name].to_arrow() for name in ids}
