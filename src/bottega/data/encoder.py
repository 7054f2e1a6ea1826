"""From a frame of mixed columns to the matrix of numbers most methods need."""

from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.stored import stored
from bottega.data._encode.statistics import NumberStatistics
from bottega.data._inspect import convert
from bottega.data._inspect.convert import Frame
from bottega.data._inspect.examine import as_numbers, choose_kinds
from bottega.data.columns import refuse_levels

__all__ = ["Encoder"]


@stored
class Encoder(TransformerMixin, BaseEstimator):
    """Turn numbers, booleans, dates and categories into one float64 matrix.

    Numbers and dates (as days since 1970-01-01) have missing values replaced by the median, then
    mean 0 and standard deviation 1, or the range 0 to 1. Booleans become 0 and 1, the commoner
    value where missing. Each column that had missing values in `fit` adds a 0/1 column that marks
    them, after all others. Categories become one 0/1 column per level, in sorted order; missing is
    a level of its own if it was seen in `fit`. Columns come in the order of `fit`, whatever the
    order at `transform`; other columns are ignored there.

    Cost: one pass over the data, and for each category a hash of each value. Methods that take
    categories and missing values themselves (trees) do better without it.

    Parameters
    ----------
    standardize : bool or "min-max"
        True gives numbers and dates mean 0 and standard deviation 1, ``"min-max"`` maps the range
        seen in `fit` to [0, 1], False leaves them as they are.
    one_hot : bool
        False gives one column of integer codes per category, NaN where missing.
    impute : bool
        False leaves missing numbers NaN and adds no marks.
    kinds : dict of str to str, optional
        The kind of each column, as `Table.kinds` has it; inferred for columns not named. Columns of
        kind id, text and constant are refused: a table leaves them out.
    handle_unknown : {"error", "ignore"}
        What to do with a level that `fit` has not seen; ``"ignore"`` codes it as all zeros
        (NaN with ``one_hot=False``).

    Attributes
    ----------
    kinds_ : list of str
        The kind of each input column.
    fill_, center_, scale_ : ndarray
        What replaces missing values, is subtracted and divided by, for each column that is not a
        category.
    marked_ : ndarray of int
        Which of these columns have a column that marks missing values.
    levels_ : list of list of str
        The levels of each category, without the missing one.
    missing_level_ : list of bool
        Whether missing is a level, for each category.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})
    >>> encoder = Encoder(standardize=False).fit(X)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'colour=blue', 'colour=red', 'size is missing']
    >>> encoder.transform(X).tolist()
    [[1.0, 0.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]]
    """

    def __init__(
        self,
        *,
        standardize: bool | str = True,
        one_hot: bool = True,
        impute: bool = True,
        kinds: Mapping[str, str] | None = None,
        handle_unknown: str = "error",
    ) -> None:
        self.standardize = standardize
        self.one_hot = one_hot
        self.impute = impute
        self.kinds = kinds
        self.handle_unknown = handle_unknown

    def fit(self, X: Any, y: Any = None) -> "Encoder":
        """Learn levels, medians and scales; `y` is not used."""
        self._learn(X)
        return self

    def fit_chunks(self, chunks: Iterable[Any]) -> "Encoder":
        """Learn from frame after frame what `fit` learns from all of them together.

        Parameters
        ----------
        chunks : iterable of frames
            Can be iterated more than once. `kinds` must name the kind of every column that is not
            stored as numbers: one chunk does not show what a column holds as a whole.
        """
        self._check_params()
        statistics = NumberStatistics()
        levels: list[set[str | None]] = []
        for number, chunk in enumerate(chunks):
            frame = convert.as_frame(chunk)
            if not number:
                self._read_names(frame)
                levels = [set() for kind in self.kinds_ if kind == "category"]
            matrix, labels = self._read(frame)
            statistics.update(matrix)
            for seen, values in zip(levels, labels, strict=True):
                seen.update(values)
        if not statistics.rows:
            raise InputError("There are no rows to learn from.")
        names = self._names_in()
        self._learn_numbers(
            statistics,
            lambda: (self._read_numbers(convert.as_frame(chunk), names) for chunk in chunks),
        )
        self._learn_levels(levels)
        return self

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:
        """Learn from `X` and encode it, reading it once."""
        return self._encode(*self._learn(X))

    def transform(self, X: Any) -> np.ndarray:
        """Encode the columns of `X` that `fit` has seen."""
        check_is_fitted(self)
        frame = _frame_or_none(X)
        if frame is None:
            return self._encode(self._read_array(X, reset=False), [])
        return self._encode(*self._read(frame))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the matrix."""
        check_is_fitted(self)
        names = self._names_in()
        if input_features is not None:
            given = [str(name) for name in input_features]
            if len(given) != len(names):
                raise InputError(
                    f"input_features should have length equal to the number of features "
                    f"({len(names)}), got {len(given)}."
                )
            if hasattr(self, "feature_names_in_") and given != names:
                raise InputError("input_features is not equal to feature_names_in_.")
            names = given
        numeric = [n for n, kind in zip(names, self.kinds_, strict=True) if kind != "category"]
        result = [name for columns in self._names_out(names) for name in columns]
        result += [f"{numeric[i]} is missing" for i in self.marked_]
        return np.array(result, dtype=object)

    def _names_out(self, names: list[str]) -> list[list[str]]:
        """Return the names of the columns that each input column becomes, marks left out."""
        categories = iter(zip(self.levels_, self.missing_level_, strict=True))
        found = []
        for name, kind in zip(names, self.kinds_, strict=True):
            if kind != "category" or not self.one_hot:
                found.append([name])
                continue
            levels, gaps = next(categories)
            # A level may itself be called "missing".
            word = "(missing)" if "missing" in levels else "missing"
            found.append([f"{name}={level}" for level in (*levels, *[word] * gaps)])
        return found

    def _check_params(self) -> None:
        if self.handle_unknown not in ("error", "ignore"):
            raise ParameterError(
                f"handle_unknown is 'error' or 'ignore', not {self.handle_unknown!r}."
            )
        if not isinstance(self.standardize, bool) and self.standardize != "min-max":
            raise ParameterError(
                f"standardize is True, False or 'min-max', not {self.standardize!r}."
            )

    def _learn(self, X: Any) -> tuple[np.ndarray, list[list[str | None]]]:
        self._check_params()
        frame = _frame_or_none(X)
        if frame is None:
            if self.kinds:
                raise InputError("kinds needs a data frame; the columns of an array are numbers.")
            matrix = self._read_array(X, reset=True)
            self.kinds_ = ["number"] * matrix.shape[1]
            labels: list[list[str | None]] = []
        else:
            if not len(frame) or not frame.columns:
                raise InputError(
                    f"Found a frame with {len(frame)} rows and {len(frame.columns)} columns; a "
                    "minimum of 1 of each is required."
                )
            self._read_names(frame)
            matrix, labels = self._read(frame)
        self._learn_numbers(NumberStatistics().update(matrix))
        self._learn_levels([set(values) for values in labels])
        return matrix, labels

    def _read_names(self, frame: Frame) -> None:
        self.kinds_ = choose_kinds(frame, self.kinds)
        self.feature_names_in_ = np.array(frame.columns, dtype=object)
        self.n_features_in_ = len(frame.columns)

    def _learn_numbers(self, statistics: NumberStatistics, passes: Any = None) -> None:
        kinds = [kind for kind in self.kinds_ if kind != "category"]
        boolean = np.array([kind == "boolean" for kind in kinds], dtype=bool)
        self.fill_ = np.full(len(kinds), np.nan)
        self.marked_ = np.arange(0)
        if self.impute:
            medians = statistics.medians(passes)
            self.fill_ = np.where(boolean, statistics.mean > 0.5, medians).astype(np.float64)
            self.marked_ = np.flatnonzero(statistics.seen < statistics.rows)
        self.center_ = np.zeros(len(kinds))
        self.scale_ = np.ones(len(kinds))
        if not self.standardize or not kinds:
            return
        scaled = ~boolean & (statistics.seen > 0)
        if self.standardize == "min-max":
            center, width = statistics.low, statistics.high - statistics.low
            steady = width == 0
        else:
            center, width = statistics.filled_moments(self.fill_)
            # Rounding leaves a constant column a tiny deviation: it must not be blown up.
            steady = ~(width > 10 * np.finfo(float).eps * np.abs(center))
        self.center_[scaled] = center[scaled]
        self.scale_[scaled & ~steady] = width[scaled & ~steady]

    def _learn_levels(self, seen: list[set[str | None]]) -> None:
        names = [
            n for n, kind in zip(self._names_in(), self.kinds_, strict=True) if kind == "category"
        ]
        self.missing_level_ = [None in values and self.one_hot for values in seen]
        self.levels_ = [sorted(level for level in values if level is not None) for values in seen]
        if self.one_hot:  # codes are one column, however many levels there are
            for name, levels in zip(names, self.levels_, strict=True):
                refuse_levels(name, len(levels))

    def _encode(self, matrix: np.ndarray, labels: list[list[str | None]]) -> np.ndarray:
        absent = np.isnan(matrix) if self.impute else None
        if absent is not None and absent.any():
            matrix = np.where(absent, self.fill_, matrix)
        numeric = (matrix - self.center_) / self.scale_
        if not labels and not self.marked_.size:
            return numeric
        names = self._names_in()
        starts = np.cumsum([0, *map(len, self._names_out(names))])
        of_numbers = [s for s, k in zip(starts, self.kinds_, strict=False) if k != "category"]
        out = np.zeros((len(matrix), starts[-1] + self.marked_.size))
        out[:, of_numbers] = numeric
        places = [j for j, kind in enumerate(self.kinds_) if kind == "category"]
        for category, j in enumerate(places):
            codes = self._codes(names[j], category, labels[category])
            if self.one_hot:
                seen = np.flatnonzero(codes >= 0)
                out[seen, starts[j] + codes[seen]] = 1.0
            else:
                out[:, starts[j]] = np.where(codes < 0, np.nan, codes)
        if absent is not None and self.marked_.size:
            out[:, starts[-1] :] = absent[:, self.marked_]
        return out

    def _codes(self, name: str, category: int, values: list[str | None]) -> np.ndarray:
        """Return the place of each value among the levels, -1 for a new one."""
        levels = self.levels_[category]
        known: dict[str | None, int] = {level: i for i, level in enumerate(levels)}
        if self.missing_level_[category]:
            known[None] = len(levels)
        # A hash of each value: measured twice as fast as a binary search among the levels.
        codes = np.fromiter(map(known.get, values, repeat(-1)), dtype=np.int64, count=len(values))
        new = np.flatnonzero(codes < 0)
        if new.size and self.handle_unknown == "error":
            self._refuse_new(name, category, [values[i] for i in new], int(new[0]))
        return codes

    def _refuse_new(self, name: str, category: int, values: list[str | None], row: int) -> None:
        present = [value for value in values if value is not None]
        if present:
            distinct = len(set(present))
            raise InputError(
                f"Column {name!r} holds {distinct:,} "
                f"categor{'y' if distinct == 1 else 'ies'} never seen when the model was learnt, "
                f"{convert.short(present[0])} among them, in {len(present):,} "
                f"row{'' if len(present) == 1 else 's'}"
                f"; correct them, or give handle_unknown='ignore'."
                f"{did_you_mean(present[0], self.levels_[category])}"
            )
        if self.one_hot:
            raise InputError(
                f"Column {name!r} is missing in {len(values):,} rows, first in row {row + 1}, and "
                "had no missing value when the model was learnt; fill it in, or give "
                "handle_unknown='ignore'."
            )

    def _names_in(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _read_array(self, X: Any, *, reset: bool) -> np.ndarray:
        if reset and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        matrix = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return np.asarray(matrix)

    def _read(self, frame: Frame) -> tuple[np.ndarray, list[list[str | None]]]:
        """Return the numbers of a frame, and the labels of its categories."""
        names = self._names_in()
        if frame.columns != names:
            gone = [name for name in names if name not in frame.columns]
            if gone:
                raise InputError(
                    f"The column {gone[0]!r} is missing: the model was learnt with it."
                    f"{did_you_mean(gone[0], frame.columns)}"
                )
        labels = [
            convert.labels(frame[name])
            for name, kind in zip(names, self.kinds_, strict=True)
            if kind == "category"
        ]
        return self._read_numbers(frame, names), labels

    def _read_numbers(self, frame: Frame, names: list[str]) -> np.ndarray:
        chosen = [(n, k) for n, k in zip(names, self.kinds_, strict=True) if k != "category"]
        if not chosen:
            return np.empty((len(frame), 0))
        if all(kind == "number" for _, kind in chosen):
            wanted = [name for name, _ in chosen]
            part = frame if frame.columns == wanted else frame.select(wanted)
            matrix = part.to_numpy()
            if matrix.dtype.kind in "fiu":  # every column was stored as numbers
                matrix = np.asarray(matrix, dtype=np.float64)
                if not np.isinf(matrix).any():
                    return matrix
        columns = []
        for name, kind in chosen:
            values = as_numbers(frame[name], kind)
            convert.refuse_infinite(values, name)
            columns.append(values)
        return np.column_stack(columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _frame_or_none(X: Any) -> Frame | None:
    if isinstance(X, np.ndarray):
        return None
    return convert.frame_or_none(X)
