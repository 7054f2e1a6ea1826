"""Reading inputs of mixed kinds: numbers, categories as codes, missing values as NaN."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import validate_data

from bottega.core.errors import InputError
from bottega.core.frames import is_frame, make_frame
from bottega.core.results import term_names
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.core.validate import naming_texts, refuse_doubled_names, refuse_masked
from bottega.data import convert
from bottega.data.chosen_columns import chosen_columns, column_number

__all__ = ["MixedInputs"]


@stored
class MixedInputs:
    """Reads the inputs of an estimator into one matrix, in fit and ever after.

    Texts and categories of a frame become codes of their levels, booleans 0 and 1, dates days since
    1970-01-01; numbers in columns that are declared categories become codes too. Chunks and streams
    may bring further levels; a level that no fit has seen is missing.

    Parameters
    ----------
    categorical : "auto" or sequence of str, int or bool
        Columns of numbers that are categories, besides the texts and categories of a frame.

    Attributes
    ----------
    names : list of str
        Name of each column; ``x0``, ``x1``, ... for an array.
    kinds : list of str
        What each column holds: ``"number"``, ``"boolean"``, ``"date"`` or ``"category"``.
    levels : list
        Levels of each category in the order of their codes, texts or numbers; None for others.
    """

    def __init__(self, categorical: str | Sequence[Any] = "auto") -> None:
        self.categorical = categorical
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.levels: list[Any] = []

    def fit(self, estimator: Any, X: Any) -> FloatArray:
        """Learn names, kinds and levels from X, set scikit-learn's names on `estimator`, read X."""
        refuse_masked(X=X)
        refuse_doubled_names(X)
        kinds = _stored_kinds(X) if is_frame(X) else ["number"]
        if set(kinds) <= {"number"}:
            matrix = _numbers(estimator, X, reset=True)
            self.start(estimator, ["number"] * matrix.shape[1])
            return self.coded(matrix, learn=True)
        validate_data(estimator, X, reset=True, skip_check_array=True)
        self.start(estimator, kinds)
        return self._from_frame(X, learn=True)

    def read(self, estimator: Any, X: Any, *, learn: bool = False) -> FloatArray:
        """Return the matrix of new inputs; with `learn` their levels are added to those known."""
        refuse_masked(X=X)
        refuse_doubled_names(X)
        if set(self.kinds) <= {"number"} or self._plain(X):
            return self.coded(_numbers(estimator, X, reset=False), learn=learn)
        if not is_frame(X):
            raise InputError(
                "The model was learnt from a data frame with columns that are not numbers, and is "
                f"given {type(X).__name__}; give a data frame with the same columns."
            )
        with naming_texts(X):
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return self._from_frame(X, learn=learn)

    def reader(self, estimator: Any) -> Callable[[Any], FloatArray] | None:
        """Return what reads further inputs and learns their levels; None where all are numbers."""
        if set(self.kinds) <= {"number"} and all(levels is None for levels in self.levels):
            return None
        return partial(self.read, estimator, learn=True)

    def _plain(self, X: Any) -> bool:
        """Return whether X has numbers alone, as codes of booleans and dates are."""
        return not is_frame(X) and "category" not in self.kinds

    def number_of(self, one: Any, owner: str) -> int:
        """Return the position of a column that is named or numbered; `owner` says where."""
        return column_number(one, self.names, owner)

    def declare(self, positions: Sequence[int], X: FloatArray) -> FloatArray:
        """Take columns of numbers for categories from now on; return X with their codes."""
        new = [j for j in positions if self.levels[j] is None]
        if not new:
            return X
        out = X.copy()
        for j in new:
            self.levels[j] = []
            out[:, j] = self._codes(j, X[:, j].tolist(), learn=True)
        return out

    def start(self, estimator: Any, kinds: list[str]) -> None:
        """Begin with columns of these kinds and no levels."""
        self.names, self.kinds = term_names(estimator, intercept=False), kinds
        self.levels = [[] if kind == "category" else None for kind in kinds]
        for j in chosen_columns(self.categorical, self.names, "categorical_features"):
            self.levels[j] = []

    def coded(self, matrix: FloatArray, *, learn: bool) -> FloatArray:
        """Return a matrix of numbers with codes in place of the numbers of categories."""
        chosen = [j for j, levels in enumerate(self.levels) if levels is not None]
        if not chosen:
            return matrix
        out = matrix.copy()
        for j in chosen:
            out[:, j] = self._codes(j, matrix[:, j].tolist(), learn=learn)
        return out

    def _from_frame(self, X: Any, *, learn: bool) -> FloatArray:
        frame = nw.from_native(X, eager_only=True)
        out = np.empty((len(frame), len(self.kinds)))
        for j, series in enumerate(frame.iter_columns()):
            kind, levels = self.kinds[j], self.levels[j]
            if kind == "category":
                out[:, j] = self._codes(j, convert.labels(series), learn=learn)
                continue
            values = convert.days(series) if kind == "date" else convert.numbers(series)
            convert.refuse_infinite(values, str(series.name))
            out[:, j] = values if levels is None else self._codes(j, values.tolist(), learn=learn)
        return out

    def _codes(self, j: int, values: list[Any], *, learn: bool) -> FloatArray:
        """Return the codes of the levels of one column; those that are not known are NaN."""
        levels = self.levels[j]
        known = {level: code for code, level in enumerate(levels)}
        if learn:
            new = {value for value in values if value is not None and value == value} - set(known)
            levels.extend(sorted(new))
            known = {level: code for code, level in enumerate(levels)}
        return np.array([known.get(value, np.nan) for value in values], dtype=np.float64)

    def written(self, matrix: FloatArray, like: str | None) -> Any:
        """Return a matrix as rows that a user reads: an array, or a frame of the library `like`."""
        if like is None:
            out = matrix.copy()
            for j, levels in enumerate(self.levels):
                if levels is not None:
                    out[:, j] = [levels[int(code)] for code in matrix[:, j]]
            return out
        columns: dict[str, Any] = {}
        for j, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            values, levels = matrix[:, j], self.levels[j]
            if levels is not None:
                columns[name] = [levels[int(code)] for code in values]
            elif kind == "boolean":
                columns[name] = values > 0.5
            elif kind == "date":
                columns[name] = (values * convert.MICROSECONDS_A_DAY).astype("M8[us]").tolist()
            else:
                columns[name] = values
        return make_frame(columns, like)


def _numbers(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    how: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
    with naming_texts(X):
        return np.asarray(validate_data(estimator, X, reset=reset, **how))


def _stored_kinds(X: Any) -> list[str]:
    """Return what each column of a frame holds, by how it is stored."""
    kinds = {"integer": "number", "number": "number", "empty": "number"}
    kinds |= {"boolean": "boolean", "date": "date"}
    frame = nw.from_native(X, eager_only=True)
    return [kinds.get(convert.storage(series), "category") for series in frame.iter_columns()]
