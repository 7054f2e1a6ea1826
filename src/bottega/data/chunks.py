"""Data larger than memory, as numbers: chunks that any ``fit_chunks`` takes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import clone

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data._inspect.chunk_kinds import ChunkedColumn
from bottega.data._inspect.examine import check_kinds, class_labels
from bottega.data._inspect.notes import is_left_out
from bottega.data._inspect.roles import assign_roles
from bottega.data.columns import UNUSABLE
from bottega.data.convert import Frame
from bottega.data.encoder import Encoder
from bottega.data.read import is_query, read_chunks
from bottega.data.read.files import is_boolean

__all__ = ["EncodedChunks", "chunks"]


def chunks(
    source: Any,
    *,
    target: str,
    rows: int = 10_000,
    kinds: Mapping[str, str] | None = None,
    weight: str | None = None,
    ignore: str | Iterable[str] = (),
    encoder: Encoder | None = None,
    table: str | None = None,
    query: str | None = None,
    encoding: str = "utf-8",
) -> "EncodedChunks":
    """Return the rows of files, a database or a frame in chunks of numbers, ready to be fitted.

    The columns are read as `read` and `Encoder` read them together: kinds are inferred from all
    rows; keys, constants and free text are left out; categories and missing values are encoded the
    same in every chunk. Two passes over the rows learn this; for more than some millions of
    numbers the medians, which stand in for missing values, take four more. At no time is more than
    a chunk in memory, beside the distinct values of texts and keys: name columns with many of them
    in `ignore`.

    Parameters
    ----------
    source : path, frame or name
        What `read` takes; a pattern such as ``"folder/*.parquet"`` for many files.
    target : str
        The column to predict; rows where it is missing are left out.
    rows : int
        Rows of a chunk, up to the size of the pieces in which they come.
    kinds : dict of str to str, optional
        Kinds that override the inferred ones, as in `Table`.
    weight : str, optional
        The column of row weights.
    ignore : str or iterable of str
        Columns to leave out.
    encoder : Encoder, optional
        How to encode; by default numbers keep their scale (``Encoder(standardize=False)``), as most
        methods that fit chunks standardise by themselves.
    table, query, encoding
        As in `read`.

    Returns
    -------
    EncodedChunks
        It can be iterated over any number of times.

    Examples
    --------
    >>> from bottega.linear import Ridge
    >>> diabetes = chunks("diabetes", target="target", rows=100)
    >>> [len(X) for X, y in diabetes]
    [100, 100, 100, 100, 42]
    >>> bool(Ridge(alpha=1.0).fit_chunks(diabetes).coef_[2] > 0)
    True
    """
    if is_query(source):
        raise InputError(
            "Chunks are iterated over more than once, and the rows of an executed query come once: "
            "give a file, or a DuckDB file with query=."
        )
    kinds = {str(name): kind for name, kind in (kinds or {}).items()}
    text = [name for name, kind in kinds.items() if kind in ("category", "text", "id")]
    options = {"rows": rows, "table": table, "query": query, "encoding": encoding, "text": text}
    left_out = {ignore} if isinstance(ignore, str) else set(ignore)
    return EncodedChunks(source, options, target, weight, left_out, kinds, encoder)


class EncodedChunks:
    """Chunks ``(X, y)`` or ``(X, y, w)`` of encoded rows; made by `chunks`.

    X is a data frame with the names of the encoded columns, y the target: numbers as they are,
    anything else as labels.

    Attributes
    ----------
    kinds : dict of str to str
        The kind of each feature.
    encoder : Encoder
        The encoder, fitted; it encodes new rows in the same way.
    """

    def __init__(
        self,
        source: Any,
        options: Mapping[str, Any],
        target: str,
        weight: str | None,
        ignore: set[str],
        kinds: Mapping[str, str],
        encoder: Encoder | None,
    ) -> None:
        self._source, self._options = source, dict(options)
        self._target, self._weight = target, weight
        self.kinds, decimal = self._infer(ignore, kinds)
        self.encoder = clone(Encoder(standardize=False) if encoder is None else encoder)
        self.encoder.set_params(kinds=self.kinds, decimal=decimal).fit_chunks(_FeatureFrames(self))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        names = [str(name) for name in self.encoder.get_feature_names_out()]
        for frame in self._rows():
            matrix = self.encoder.transform(self._features(frame))
            X = nw.from_numpy(matrix, names, backend=frame.implementation).to_native()
            if self._weight is None:
                yield X, self._response(frame)
            else:
                yield X, self._response(frame), convert.numbers(frame[self._weight])

    def _frames(self) -> Iterator[Frame]:
        for chunk in read_chunks(self._source, **self._options):
            yield convert.as_frame(chunk)

    def _rows(self) -> Iterator[Frame]:
        """Yield the rows that have a target."""
        for frame in self._frames():
            absent = convert.missing(frame[self._target])
            if absent.any():
                frame = frame[np.flatnonzero(~absent), :]
            if len(frame):
                yield frame

    def _features(self, frame: Frame) -> Any:
        return frame.select(list(self.kinds)).to_native()

    def _response(self, frame: Frame) -> np.ndarray:
        series = frame[self._target]
        if convert.storage(series) in ("integer", "number"):
            return convert.numbers(series)
        return class_labels(series)

    def _infer(
        self, ignore: set[str], given: Mapping[str, str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the kinds of the columns to learn from, and decimal signs of written numbers."""
        columns: dict[str, ChunkedColumn] = {}
        names: list[str] = []
        for number, frame in enumerate(self._frames()):
            if not number:
                check_kinds(given, frame.columns)
                roles = assign_roles(frame, self._target, self._weight, None, None, ignore)
                names = [name for name, role in roles.items() if role == "feature"]
                text = self._options["text"]
                if is_boolean(frame, self._target) and self._target not in text:
                    # Labels stay as they are written, Yes and No too: read them as text.
                    self._options["text"] = [*text, self._target]
                    return self._infer(ignore, given)
                columns = {name: ChunkedColumn(name) for name in names if name not in given}
            for name, column in columns.items():
                column.update(frame[name])
        seen = {name: column.profile() for name, column in columns.items()}
        used = [name for name in names if name in given or not is_left_out(seen[name])]
        kinds = {name: given.get(name) or seen[name].kind for name in used}
        kinds = {n: kind for n, kind in kinds.items() if kind not in (*UNUSABLE, "text")}
        signs = {name: seen[name].decimal for name in used if name in seen}
        if not kinds:
            raise InputError(
                "No column is left to learn from; give kinds={...} to use one, or add columns."
            )
        return kinds, {name: sign for name, sign in signs.items() if sign is not None}


class _FeatureFrames:
    """The feature columns of chunks, for the encoder to learn from."""

    def __init__(self, chunks: EncodedChunks) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[Any]:
        for frame in self._chunks._rows():
            yield self._chunks._features(frame)
