"""From a frame of mixed columns to the matrix of numbers most methods need."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import joblib
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bottega.core.errors import InputError, ParameterError, did_you_mean
from bottega.core.frames import default_names
from bottega.core.parts import refuse_source
from bottega.core.stored import stored
from bottega.data import convert
from bottega.data._encode.dates import part_names
from bottega.data._encode.layout import IN_WORDS, Layout
from bottega.data._encode.levels import Category, Seen, check_policy, split_levels
from bottega.data._encode.numbers import read_numbers
from bottega.data._encode.side_by_side import side_by_side
from bottega.data._encode.statistics import NumberStatistics
from bottega.data._encode.stem_columns import ColumnTexts, StemColumns
from bottega.data._inspect.examine import choose_kinds
from bottega.data.columns import refuse_levels
from bottega.data.convert import Frame

__all__ = ["Encoder"]

Labels = list[list[str | None]]


@stored
class Encoder(TransformerMixin, BaseEstimator):
    """Turn numbers, booleans, dates, categories and free texts into one float64 matrix.

    Numbers and dates (as days since 1970-01-01) have missing values replaced by the median, then
    mean 0 and standard deviation 1, or the range 0 to 1. Booleans become 0 and 1, the commoner
    value where missing. Each of these that had missing values in `fit` adds a 0/1 column that marks
    them, after all others. Categories become one 0/1 column per level, in sorted order; missing is
    a level of its own if it was seen in `fit`. Texts become one column per stem, its tf-idf weight:
    the commonest stems, at most 200 and one per four rows. Columns come in the order of `fit`,
    whatever the order at `transform`; other columns are ignored there.

    Cost: one pass over the data, and for each category a hash of each value. Methods that take
    categories and missing values themselves (trees) do better without it.

    Parameters
    ----------
    standardize : bool or "min-max"
        True gives numbers and dates mean 0 and standard deviation 1, ``"min-max"`` maps the range
        seen in `fit` to [0, 1], False leaves them as they are (but divides a column beyond 1e100
        or below 1e-100 by a power of two: squares would be lost).
    one_hot : bool
        False gives one column of integer codes per category, NaN where missing.
    impute : bool
        False leaves missing numbers NaN and adds no marks.
    kinds : dict of str to str, optional
        The kind of each column, as `Table.kinds` has it; inferred for columns not named. Columns of
        kind id and constant are refused: a table leaves them out.
    handle_unknown : {"error", "ignore", "infrequent_if_exist"}
        What to do with a level that `fit` has not seen: ``"ignore"`` codes it as all zeros (NaN
        with ``one_hot=False``), ``"infrequent_if_exist"`` as the rare levels, and as all zeros
        where there are none. Unless it is ``"error"``, infinite numbers of a frame are missing
        values.
    min_frequency : int or float, optional
        Levels with fewer rows (a share of them, for a float below 1) are rare: they are taken
        together as one level "other". Missing is never rare.
    dates : {"days", "parts"}
        ``"parts"`` adds year, month, weekday (0 for Monday) and hour to the day, each if it varies
        in `fit`.
    decimal : dict of str to str, optional
        The decimal sign of columns whose numbers are written as text, as `Table.decimal` has it;
        inferred with the kind of columns not named in `kinds`. Currency, percent and thousands are
        understood there, and words are missing values.
    day_first : dict of str to bool, optional
        Whether the day comes first in the dates of a column, as `Table.day_first` has it: how those
        like 3/1/2026 are read where the rows themselves do not tell.
    keep_categories : bool
        True gives a data frame in which categories and missing values stay as they are, for methods
        that take them: dates, booleans, texts and numbers written as text become numbers.

    Attributes
    ----------
    kinds_ : list of str
        The kind of each input column.
    decimal_ : dict of str to str
        The decimal sign of columns whose numbers are written as text.
    date_parts_ : dict of str to list of str
        What each date becomes.
    fill_, center_, scale_ : ndarray
        What replaces missing values, is subtracted and divided by, for each column that is not a
        category.
    marked_ : ndarray of int
        Which of these columns have a column that marks missing values.
    levels_, infrequent_levels_ : list of list of str
        The levels of each category, without the missing one: those with a column of their own, and
        the rare ones.
    missing_level_ : list of bool
        Whether missing is a level, for each category.
    stems_ : list of StemColumns
        What each column of texts becomes.
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
    >>> rare = Encoder(min_frequency=2, handle_unknown="infrequent_if_exist").fit(X[["colour"]])
    >>> rare.get_feature_names_out().tolist()
    ['colour=red', 'colour=other']
    >>> rare.transform(pd.DataFrame({"colour": ["green"]})).tolist()
    [[0.0, 1.0]]
    """

    def __init__(
        self,
        *,
        standardize: bool | str = True,
        one_hot: bool = True,
        impute: bool = True,
        kinds: Mapping[str, str] | None = None,
        handle_unknown: str = "error",
        min_frequency: float | None = None,
        dates: str = "days",
        decimal: Mapping[str, str] | None = None,
        day_first: Mapping[str, bool] | None = None,
        keep_categories: bool = False,
    ) -> None:
        self.standardize = standardize
        self.one_hot = one_hot
        self.impute = impute
        self.kinds = kinds
        self.handle_unknown = handle_unknown
        self.min_frequency = min_frequency
        self.dates = dates
        self.decimal = decimal
        self.day_first = day_first
        self.keep_categories = keep_categories

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
        levels: list[Seen] = []
        for number, chunk in enumerate(chunks):
            frame = convert.as_frame(chunk)
            if not number:
                self._read_names(frame)
                levels = [Counter() for kind in self.kinds_ if kind == "category"]
            matrix, labels = self._read(frame)
            statistics.update(matrix)
            own = [values for kind, values in self._by_kind(labels) if kind == "category"]
            for seen, values in zip(levels, own, strict=True):
                seen.update(values)
        if not statistics.rows:
            raise InputError("There are no rows to learn from.")
        self._learn_again(statistics, chunks, levels)
        return self

    def fit_numbers(self, names: list[str], known: NumberStatistics, chunks: Any) -> "Encoder":
        """Learn from known statistics of columns of numbers; `chunks` as in `fit_chunks`."""
        self._check_params()
        self._name(names, ["number"] * len(names), {})
        self._learn_again(known, chunks, [])
        return self

    def _learn_again(self, known: NumberStatistics, chunks: Any, levels: list[Seen]) -> None:
        read = self._read_numbers
        self._learn_numbers(known, lambda: (read(convert.as_frame(each)) for each in chunks))
        self._learn_levels(levels)
        texts = [ColumnTexts(chunks, name) for name in self._layout().named("text")]
        self.stems_ = [StemColumns.learn(each) for each in texts]

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Learn from `X` and encode it, reading it once."""
        return self._encode(*self._learn(X))

    def transform(self, X: Any) -> Any:
        """Encode the columns of `X` that `fit` has seen."""
        check_is_fitted(self)
        refuse_source(X)
        frame = convert.frame_or_none(X)
        if frame is None:
            return self._encode(self._read_array(X, reset=False), [], None)
        return self._encode(*self._read(frame), frame)

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
        result = [name for columns in self._names_out(names) for name in columns]
        numeric = self._numeric_names(names)
        result += [f"{numeric[i]} is missing" for i in self.marked_]
        return np.array(result, dtype=object)

    @property
    def changed_units(self) -> dict[str, float]:
        """By how much columns of numbers are divided, where they are, by their names."""
        check_is_fitted(self)
        names = self._numeric_names(self._names_in())
        scales = zip(names, self.scale_.tolist(), strict=True)
        return {name: scale for name, scale in scales if scale != 1}

    @property
    def digest(self) -> str | None:
        """What rows that are encoded alike share; None where numbers stay as they are."""
        check_is_fitted(self)
        moved = self.center_.any() or np.any(self.scale_ != 1)
        if set(self.kinds_) == {"number"} and not self.marked_.size and not moved:
            return None
        learnt = {name: value for name, value in vars(self).items() if name.endswith("_")}
        if "date" not in self.kinds_:  # the others stand in for nothing
            learnt["fill_"] = self.fill_[self.marked_]
        return str(joblib.hash(_plain(learnt)))

    @property
    def text_columns(self) -> list[str]:
        """The columns to read from a text file as they are written: labels, written numbers."""
        check_is_fitted(self)
        kinds = zip(self._names_in(), self.kinds_, strict=True)
        return [name for name, kind in kinds if kind in IN_WORDS or name in self.decimal_]

    def _numeric_names(self, names: list[str]) -> list[str]:
        return self._layout().numeric(self._names_out(names))

    def _names_out(self, names: list[str]) -> list[list[str]]:
        """Return the names of the columns that each input column becomes, marks left out."""
        categories, stems = iter(self._categories()), iter(self.stems_)
        found = []
        for name, kind in zip(names, self.kinds_, strict=True):
            category = next(categories) if kind == "category" else None
            if kind == "date" and self.dates == "parts":
                found.append(part_names(name, self.date_parts_[name], names))
            elif kind == "text":
                found.append(next(stems).names(name, names))
            elif category is None or not self.one_hot or self.keep_categories:
                found.append([name])
            else:
                found.append([f"{name}={title}" for title in category.titles])
        return found

    def _layout(self) -> Layout:
        return Layout(self._names_in(), self.kinds_, self.dates == "parts")

    def _categories(self) -> list[Category]:
        names = self._layout().named("category")
        learnt = (self.levels_, self.infrequent_levels_, self.missing_level_)
        return [Category(*each) for each in zip(names, *learnt, strict=True)]

    def _check_params(self) -> None:
        check_policy(self.handle_unknown, self.min_frequency)
        if not isinstance(self.standardize, bool) and self.standardize != "min-max":
            raise ParameterError(
                f"standardize is True, False or 'min-max', not {self.standardize!r}."
            )
        if self.dates not in ("days", "parts"):
            raise ParameterError(f"dates is 'days' or 'parts', not {self.dates!r}.")

    def _learn(self, X: Any) -> tuple[np.ndarray, Labels, Frame | None]:
        self._check_params()
        frame = convert.frame_or_none(X)
        if frame is None:
            if self.kinds:
                raise InputError("kinds needs a data frame; the columns of an array are numbers.")
            matrix = self._read_array(X, reset=True)
            self.kinds_ = ["number"] * matrix.shape[1]
            self.decimal_: dict[str, str] = {}
            labels: Labels = []
        else:
            if not len(frame) or not frame.columns:
                raise InputError(
                    f"Found a frame with {len(frame)} rows and {len(frame.columns)} columns; a "
                    "minimum of 1 of each is required."
                )
            self._read_names(frame)
            matrix, labels = self._read(frame)
        self._learn_numbers(NumberStatistics().update(matrix))
        in_words = self._by_kind(labels)
        self._learn_levels([Counter(values) for kind, values in in_words if kind == "category"])
        self.stems_ = [StemColumns.learn(texts) for kind, texts in in_words if kind == "text"]
        return matrix, labels, frame

    def _by_kind(self, labels: Labels) -> list[tuple[str, list[str | None]]]:
        return list(zip((k for k in self.kinds_ if k in IN_WORDS), labels, strict=True))

    def _read_names(self, frame: Frame) -> None:
        self._name(frame.columns, *choose_kinds(frame, self.kinds, self.decimal))

    def _name(self, names: list[str], kinds: list[str], decimal: dict[str, str]) -> None:
        self.kinds_, self.decimal_ = kinds, decimal
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)

    def _learn_numbers(self, statistics: NumberStatistics, passes: Any = None) -> None:
        layout = self._layout()
        self.date_parts_ = layout.varying_parts(statistics)
        kept = layout.kept(self.date_parts_)
        kinds = layout.numeric_kinds
        boolean = np.array([kind == "boolean" for kind in kinds], dtype=bool)[kept]
        self.fill_ = np.full(len(kept), np.nan)
        self.marked_ = np.arange(0)
        seen = statistics.seen[kept]
        if self.impute and not self.keep_categories:
            medians = statistics.medians(passes)[kept]
            self.fill_ = np.where(boolean, statistics.mean[kept] > 0.5, medians).astype(np.float64)
            # A date is missing with all its parts: one column marks it.
            first = np.array([kind != "part" for kind in kinds], dtype=bool)[kept]
            self.marked_ = np.flatnonzero((seen < statistics.rows) & first)
        self.center_ = np.zeros(len(kept))
        self.scale_ = statistics.unit[kept]
        if not self.standardize or not kinds or self.keep_categories:
            return
        fill = np.full(len(statistics.seen), np.nan)
        fill[kept] = self.fill_
        center, width, steady = statistics.center_and_width(fill, self.standardize == "min-max")
        scaled = ~boolean & (seen > 0)
        varies = scaled & ~steady[kept]
        self.center_[scaled], self.scale_[varies] = center[kept][scaled], width[kept][varies]

    def _learn_levels(self, seen: list[Seen]) -> None:
        self.missing_level_ = [None in values and self.one_hot for values in seen]
        split = [split_levels(values, self.min_frequency) for values in seen]
        self.levels_ = [levels for levels, _ in split]
        self.infrequent_levels_ = [rare for _, rare in split]
        if self.one_hot and not self.keep_categories:  # codes are one column, whatever the levels
            for name, levels in zip(self._layout().named("category"), self.levels_, strict=True):
                refuse_levels(name, len(levels))

    def _encode(self, matrix: np.ndarray, labels: Labels, frame: Frame | None) -> Any:
        if self.date_parts_:
            matrix = matrix[:, self._layout().kept(self.date_parts_)]
        if self.keep_categories and frame is not None:
            names_out, stems = self._names_out(self._names_in()), iter(self.stems_)
            pairs = self._by_kind(labels)
            words = [next(stems).values(v) if kind == "text" else v for kind, v in pairs]
            return self._layout().frame(names_out, matrix, words, frame.implementation)
        absent = np.isnan(matrix) if self.impute else None
        if absent is not None and absent.any():
            matrix = np.where(absent, self.fill_, matrix)
        numeric = matrix
        if np.any(self.center_ != 0) or np.any(self.scale_ != 1):
            numeric = (matrix - self.center_) / self.scale_
        if not labels and not self.marked_.size:
            return numeric
        widths = [len(columns) for columns in self._names_out(self._names_in())]
        marks = None if absent is None else absent[:, self.marked_]
        return side_by_side(self._layout(), widths, numeric, self._words(labels), marks)

    def _words(self, labels: Labels) -> Iterator[np.ndarray]:
        """Yield what each column of texts or levels becomes, as `side_by_side` takes it."""
        categories, stems = iter(self._categories()), iter(self.stems_)
        for kind, values in self._by_kind(labels):
            if kind == "text":
                yield next(stems).values(values)
                continue
            codes = next(categories).codes(values, self.handle_unknown, self.one_hot)
            yield codes if self.one_hot else np.where(codes < 0, np.nan, codes)[:, None]

    def _names_in(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return [str(name) for name in self.feature_names_in_]
        return default_names(self.n_features_in_)

    def _read_array(self, X: Any, *, reset: bool) -> np.ndarray:
        if reset and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if np.ma.isMaskedArray(X):  # what is under the mask is missing
            X = np.ma.filled(X.astype(np.float64), np.nan)
        matrix = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return np.asarray(matrix)

    def _read(self, frame: Frame) -> tuple[np.ndarray, Labels]:
        """Return the numbers of a frame, and the labels of its categories."""
        names = self._names_in()
        if frame.columns != names:
            gone = [name for name in names if name not in frame.columns]
            if gone:
                raise InputError(
                    f"The column {gone[0]!r} is missing: the model was learnt with it."
                    f"{did_you_mean(gone[0], set(frame.columns) - set(names))}"
                )
        labels = [
            convert.labels(frame[name])
            for name, kind in zip(names, self.kinds_, strict=True)
            if kind in IN_WORDS
        ]
        return self._read_numbers(frame), labels

    def _read_numbers(self, frame: Frame) -> np.ndarray:
        named = zip(self._names_in(), self.kinds_, strict=True)
        chosen = [(name, kind) for name, kind in named if kind not in IN_WORDS]
        strict, in_parts = self.handle_unknown == "error", self.dates == "parts"
        return read_numbers(
            frame,
            chosen,
            self.decimal_,
            in_parts=in_parts,
            strict=strict,
            day_first=self.day_first,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _plain(value: Any) -> Any:
    """Return lists in the place of arrays, whose digest depends on how they lie in memory."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray) else value
