"""Reading inputs for a tree: numbers as they are, categories as codes, missing values as NaN."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, validate_data

from bottega.core.chunks import is_empty, parts_of
from bottega.core.errors import InputError
from bottega.core.frames import is_frame
from bottega.core.parts import RowSource
from bottega.core.results import term_names
from bottega.core.sparse import is_sparse
from bottega.core.stored import stored
from bottega.core.typing import Array, BoolArray, FloatArray, IntArray
from bottega.core.validate import (
    naming_encoded,
    naming_texts,
    read_response,
    refuse_doubled_names,
    refuse_masked,
)
from bottega.data.chosen_columns import chosen_columns
from bottega.data.encoder import Encoder
from bottega.tree._grow.bins import Bins
from bottega.tree._grow.columns import Columns, by_column


def read_columns(
    estimator: Any, X: Any, y: Any, *, as_given: bool = False
) -> tuple[Columns, Array]:
    """Return inputs and responses, and leave on the estimator what reads new inputs.

    With `as_given` numbers stay where they are in memory, instead of column by column in a copy.
    """
    y = read_response(estimator, y)
    estimator.columns_in_ = ColumnReader(estimator.categorical_features)
    columns = estimator.columns_in_.fit(estimator, X, as_given=as_given)
    check_consistent_length(columns.X, y)
    return columns, y


@stored
class ColumnReader:
    """Reads the inputs of an estimator into the matrix its trees know, in fit and ever after.

    Texts and categories of a frame become codes of their sorted levels, booleans 0 and 1, dates
    days since 1970-01-01. Columns named in `categorical_features` become codes too, whatever they
    hold. A level that `fit` has not seen is missing.

    Parameters
    ----------
    categorical_features : "auto" or sequence of str or int
        Columns that are categories besides the texts and categories of a frame.

    Attributes
    ----------
    names : list of str
        Name of each column; ``x0``, ``x1``, ... for an array.
    levels : list
        Names of the levels of each category, in the order of their codes; None for numbers.
    bins : Bins or None
        Bins that new inputs are rounded to, where a model was fitted to bins of its rows.
    """

    bins: Bins | None = None

    def __init__(self, categorical_features: str | Sequence[Any] = "auto") -> None:
        self.categorical_features = categorical_features
        self.names: list[str] = []
        self.levels: list[list[str] | None] = []
        self.values: list[FloatArray | None] = []  # sorted values of a category that holds numbers
        self.encoder: Encoder | None = None  # for a frame with columns that are not numbers

    def fit(self, estimator: Any, X: Any, *, as_given: bool = False) -> Columns:
        """Learn names and levels from X, set scikit-learn's names on `estimator`, read X."""
        matrix = self._learn(estimator, X)
        for j in self._chosen_numbers():
            self._take_levels(j, matrix[:, j])
        return Columns(self._coded(matrix, as_given), *self.kinds_of_columns())

    def kinds_of_columns(self) -> tuple[BoolArray, IntArray]:
        """Return which columns are categories, and how many levels they have."""
        n_levels = np.array([0 if one is None else len(one) for one in self.levels], dtype=np.int64)
        return np.array([one is not None for one in self.levels]), n_levels

    def fit_chunks(self, chunks: Iterable[Any]) -> None:
        """Learn names and levels from the inputs of all chunks, which may be frames or arrays."""
        first = next((X for X in inputs_of(chunks)), None)
        if first is None or np.ndim(first) != 2:
            return  # which is refused when the rows are read
        self.encoder = None
        self.names = [f"x{j}" for j in range(np.shape(first)[1])]
        if is_frame(first):
            self.names = [str(name) for name in nw.from_native(first, eager_only=True).columns]
            kinds = _kinds(first)
            if kinds is not None or not isinstance(chunks, RowSource):  # whose chunks are alike
                kinds = _kinds_of_chunks(chunks, self.names)
            if kinds is not None:
                self.encoder = _as_it_is(kinds)
                self.encoder.fit_chunks(_FramesInOrder(chunks, self.names))
        chosen = self._chosen_numbers()
        if chosen:
            seen = {j: np.zeros(0) for j in chosen}
            for X in inputs_of(_FramesInOrder(chunks, self.names)):
                matrix = self._numbers(X)
                for j in chosen:
                    seen[j] = np.union1d(seen[j], matrix[:, j])
            for j in chosen:
                self._take_levels(j, seen[j])

    def read_chunk(self, X: Any) -> FloatArray:
        """Return the matrix of a chunk, in the codes of `fit_chunks`."""
        return self._coded(self._numbers(X), as_given=True)

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers that stay as they are."""
        return self.encoder is None and all(values is None for values in self.values)

    def _numbers(self, X: Any) -> FloatArray:
        with naming_texts(X):
            if self.encoder is None:
                return np.asarray(X, dtype=np.float64)
            return np.asarray(self.encoder.transform(X), dtype=np.float64)

    def _chosen_numbers(self) -> list[int]:
        """Take the levels of texts, and return the other columns that are to be categories."""
        p = len(self.names)
        self.levels, self.values = [None] * p, [None] * p
        if self.encoder is not None:
            texts = [j for j, kind in enumerate(self.encoder.kinds_) if kind == "category"]
            for j, levels in zip(texts, self.encoder.levels_, strict=True):
                self.levels[j] = list(levels)
        chosen = chosen_columns(self.categorical_features, self.names, "categorical_features")
        return [j for j in chosen if self.levels[j] is None]

    def _take_levels(self, j: int, column: FloatArray) -> None:
        values = np.unique(column)
        self.values[j] = values = values[~np.isnan(values)]
        self.levels[j] = [f"{value:.12g}" for value in values]

    def read(self, estimator: Any, X: Any, *, as_given: bool = False) -> FloatArray:
        """Return the matrix of new inputs, in the codes of `fit`; not to be written to."""
        refuse_masked(X=X)
        refuse_doubled_names(X)
        if self.encoder is None:
            with naming_encoded():
                matrix = _validated(estimator, X, reset=False)
        else:
            if not is_frame(X):
                raise InputError(
                    "The model was learnt from a data frame with columns that are not numbers, "
                    f"and is given {type(X).__name__}; give a data frame with the same columns."
                )
            validate_data(estimator, X, reset=False, skip_check_array=True)
            matrix = self.encoder.transform(X)
        found = self._coded(matrix, as_given)
        return found if self.bins is None else self.bins.decode(self.bins.encode(found))

    def _learn(self, estimator: Any, X: Any) -> FloatArray:
        self.encoder = None
        kinds = _kinds(X) if is_frame(X) else None
        if kinds is None:
            matrix = _validated(estimator, X, reset=True)
        else:
            validate_data(estimator, X, reset=True, skip_check_array=True)
            self.encoder = _as_it_is(kinds)
            matrix = self.encoder.fit_transform(X)
        self.names = term_names(estimator, intercept=False)
        return matrix

    def _coded(self, matrix: FloatArray, as_given: bool) -> FloatArray:
        """Replace the numbers of categories by codes."""
        if matrix.shape[1] != len(self.values):  # kernels take the width as it was in `fit`
            raise InputError(
                f"The inputs have {matrix.shape[1]} columns, and the model knows "
                f"{len(self.values)}; give the columns of the fit."
            )
        plain = all(values is None for values in self.values)
        if plain and as_given:
            return np.asarray(matrix, dtype=np.float64)
        # A read-only array is another type to compiled code, which would be compiled once more.
        out = np.require(by_column(np.asarray(matrix, dtype=np.float64)), requirements=["W"])
        if plain:
            return out
        if out is matrix:
            out = out.copy(order="F")
        for j, values in enumerate(self.values):
            if values is not None:
                known = np.append(values, np.nan)  # missing, or not seen in `fit`
                place = np.searchsorted(values, out[:, j])
                out[:, j] = np.where(known[place] == out[:, j], place, np.nan)
        return out


def _as_it_is(kinds: dict[str, str]) -> Encoder:
    """Return what makes codes of levels, and leaves the rest as it is."""
    as_is: dict[str, Any] = {"standardize": False, "one_hot": False, "impute": False}
    return Encoder(**as_is, kinds=kinds, handle_unknown="ignore")


class _FramesInOrder:
    """The inputs of chunks; of frames the columns of the first one, in its order.

    Frames that lack one are left out: they are refused when the rows are read.
    """

    def __init__(self, chunks: Iterable[Any], names: list[str]) -> None:
        self._chunks, self._names = chunks, names

    def __iter__(self) -> Iterator[Any]:
        for X in inputs_of(self._chunks):
            if not is_frame(X):
                yield X
                continue
            frame = nw.from_native(X, eager_only=True)
            if set(self._names) <= set(frame.columns):
                yield frame.select(self._names).to_native()


def inputs_of(chunks: Iterable[Any]) -> Iterator[Any]:
    """Yield the inputs of chunks that have rows."""
    for chunk in chunks:
        X = parts_of(chunk)[0]
        if not is_empty(X):
            yield X


def _kinds_of_chunks(chunks: Iterable[Any], names: list[str]) -> dict[str, str] | None:
    """Return the kinds of the columns of all chunks; None if all hold numbers."""
    found: dict[str, str] = {}
    for X in _FramesInOrder(chunks, names):
        if not is_frame(X):
            return None
        for series in nw.from_native(X, eager_only=True).iter_columns():
            name = str(series.name)
            if series.is_null().all():
                continue
            kind = _kind(series)
            if found.setdefault(name, kind) != kind:
                raise InputError(
                    f"Column {name!r} holds a {found[name]} in one chunk and a {kind} in another; "
                    "give all chunks columns of the same types."
                )
    kinds = {name: found.get(name, "number") for name in names}
    return None if set(kinds.values()) <= {"number"} else kinds


def _validated(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """Return the matrix of numbers; a sparse one, which may not miss values, is filled up."""
    sparse = is_sparse(X)
    found = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=np.float64,
        accept_sparse=get_tags(estimator).input_tags.sparse and ("csc", "csr", "coo"),
        ensure_all_finite=True if sparse else "allow-nan",
    )
    return found.toarray(order="F") if sparse else found


def _kinds(X: Any) -> dict[str, str] | None:
    """Return the kind of each column by how it is stored; None if all hold numbers."""
    frame = nw.from_native(X, eager_only=True)
    kinds = {str(series.name): _kind(series) for series in frame.iter_columns()}
    return None if set(kinds.values()) <= {"number"} else kinds


def _kind(series: nw.Series[Any]) -> str:
    dtype = series.dtype
    if dtype == nw.Boolean:
        return "boolean"
    if dtype.is_numeric():
        return "number"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if dtype not in (nw.Object, nw.Unknown):
        return "category"
    absent = series.is_null().to_numpy()
    first = next((v for v, gone in zip(series.to_list(), absent, strict=True) if not gone), None)
    if isinstance(first, bool | np.bool_):
        return "boolean"
    if first is None or isinstance(first, int | float | np.number):
        return "number"
    return "date" if hasattr(first, "toordinal") else "category"
