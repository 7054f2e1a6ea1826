"""Reading inputs of mixed kinds: numbers, categories as codes, missing values as NaN."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import validate_data

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.frames import is_frame, make_frame
from bottega.core.results import term_names
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.core.validate import refuse_doubled_names, refuse_masked
from bottega.data._inspect import convert

__all__ = ["FAMILIES", "MixedInputs", "check_distributions"]

FAMILIES = ("gaussian", "kernel", "bernoulli", "categorical", "poisson")


@stored
class MixedInputs:
    """Reads the inputs of an estimator into one matrix, in fit and ever after.

    Texts and categories of a frame become codes, booleans 0 and 1, dates days since 1970-01-01, and
    so do numbers in columns that are declared categories. A stream may bring further levels; a
    level that no fit has seen is missing.

    Attributes
    ----------
    names : list of str
        Name of each column; ``x0``, ``x1``, ... for an array.
    kinds : list of str
        What each column holds: ``"number"``, ``"boolean"``, ``"date"`` or ``"category"``.
    declared : list of str
        The distribution that the user gives each column, ``"auto"`` for none.
    levels : list
        Levels of each category in the order of their codes, texts or numbers; None for others.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.kinds: list[str] = []
        self.declared: list[str] = []
        self.levels: list[Any] = []

    def fit(self, estimator: Any, X: Any) -> FloatArray:
        """Learn names, kinds and levels from X, set scikit-learn's names on `estimator`, read X."""
        kinds = _kinds(X) if is_frame(X) else ["number"]
        if set(kinds) <= {"number"}:
            matrix = _numbers(estimator, X, reset=True)
            self.start(estimator, ["number"] * matrix.shape[1])
            return self.coded(matrix, learn=True)
        validate_data(estimator, X, reset=True, skip_check_array=True)
        self.start(estimator, kinds)
        return self._from_frame(X, learn=True)

    def start(self, estimator: Any, kinds: list[str]) -> None:
        """Begin with columns of these kinds and no levels."""
        self.names, self.kinds = term_names(estimator, intercept=False), kinds
        self.declared = self._declarations(estimator.distributions)
        self.levels = [
            [] if kind == "category" or family == "categorical" else None
            for kind, family in zip(kinds, self.declared, strict=True)
        ]

    def read(self, estimator: Any, X: Any, *, learn: bool = False) -> FloatArray:
        """Return the matrix of new inputs; with `learn` their levels are added to those known."""
        refuse_masked(X=X)
        refuse_doubled_names(X)
        if set(self.kinds) <= {"number"}:
            return self.coded(_numbers(estimator, X, reset=False), learn=learn)
        if not is_frame(X):
            raise InputError(
                "The model was learnt from a data frame with columns that are not numbers, and is "
                f"given {type(X).__name__}; give a data frame with the same columns."
            )
        validate_data(estimator, X, reset=False, skip_check_array=True)
        return self._from_frame(X, learn=learn)

    def coded(self, matrix: FloatArray, *, learn: bool) -> FloatArray:
        """Return a matrix of numbers with codes in place of the numbers of categories."""
        chosen = [j for j, levels in enumerate(self.levels) if levels is not None]
        if not chosen:
            return matrix
        out = matrix.copy()
        for j in chosen:
            out[:, j] = self._codes(j, matrix[:, j].tolist(), learn)
        return out

    def _from_frame(self, X: Any, *, learn: bool) -> FloatArray:
        frame = nw.from_native(X, eager_only=True)
        out = np.empty((len(frame), len(self.kinds)))
        for j, series in enumerate(frame.iter_columns()):
            kind, levels = self.kinds[j], self.levels[j]
            if kind == "category":
                out[:, j] = self._codes(j, convert.labels(series), learn)
                continue
            values = convert.days(series) if kind == "date" else convert.numbers(series)
            convert.refuse_infinite(values, str(series.name))
            out[:, j] = values if levels is None else self._codes(j, values.tolist(), learn)
        return out

    def _codes(self, j: int, values: list[Any], learn: bool) -> FloatArray:
        """Return the codes of the levels of one column; those that are not known are NaN."""
        levels = self.levels[j]
        known = {level: code for code, level in enumerate(levels)}
        if learn:
            new = {value for value in values if value is not None and value == value} - set(known)
            levels.extend(sorted(new))
            known = {level: code for code, level in enumerate(levels)}
        found = [known.get(value, np.nan) for value in values]
        return np.array(found, dtype=np.float64)

    def _declarations(self, given: Any) -> list[str]:
        """Return the distribution that is given for each column."""
        if isinstance(given, str):
            numbers = "auto" if given == "auto" else given
            return ["auto" if kind == "category" else numbers for kind in self.kinds]
        found = ["auto"] * len(self.kinds)
        for one, family in given.items():
            found[self._number_of(one)] = family
        for kind, family, name in zip(self.kinds, found, self.names, strict=True):
            if kind == "category" and family not in ("auto", "categorical"):
                raise ParameterError(
                    f"distributions: column {name!r} holds categories, and {family!r} is for "
                    "numbers; leave it out, or give 'categorical'."
                )
        return found

    def _number_of(self, one: Any) -> int:
        p = len(self.kinds)
        if isinstance(one, str):
            if one not in self.names:
                raise ParameterError(
                    f"distributions names a column {one!r} that is not there."
                    f"{did_you_mean(one, self.names)}"
                )
            return self.names.index(one)
        if not isinstance(one, int | np.integer) or not -p <= one < p:
            raise ParameterError(
                f"distributions holds {one!r}, which is no column; X has the columns 0 to {p - 1}."
            )
        return int(one) % p

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


def check_distributions(given: Any) -> bool:
    """Return True for a distribution, ``"auto"``, or a mapping of columns to distributions."""
    if isinstance(given, Mapping):
        return all(isinstance(each, str) and each in FAMILIES for each in given.values())
    return isinstance(given, str) and given in ("auto", *FAMILIES)


def _numbers(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    how: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": "allow-nan"}
    return np.asarray(validate_data(estimator, X, reset=reset, **how))


def _kinds(X: Any) -> list[str]:
    """Return what each column of a frame holds, by how it is stored."""
    kinds = {"integer": "number", "number": "number", "empty": "number"}
    kinds |= {"boolean": "boolean", "date": "date"}
    frame = nw.from_native(X, eager_only=True)
    return [kinds.get(convert.storage(series), "category") for series in frame.iter_columns()]
