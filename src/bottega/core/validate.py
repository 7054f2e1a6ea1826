"""What is refused wherever rows are read: masks, names that stand twice, numbers out of range."""

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.frames import is_frame
from bottega.core.sparse import is_sparse
from bottega.core.typing import Array, FloatArray

__all__ = [
    "check_columns",
    "check_response",
    "naming_encoded",
    "naming_texts",
    "refuse_doubled_names",
    "refuse_masked",
    "refuse_missing_labels",
    "refuse_paths",
    "refuse_texts",
    "refuse_vanishing",
    "size_told",
    "with_warning",
]

# Sizes whose squares, and the squares of what a good fit leaves of them, are ordinary numbers.
_SMALLEST, _LARGEST = 1e-145, 1e145


def refuse_masked(**tables: Any) -> None:
    """Refuse tables with masked values: what stands under the mask is not to be learnt from.

    Examples
    --------
    >>> refuse_masked(X=np.ma.masked_equal([1.0, 2.0], 2.0))
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: X has 1 masked value; fill masked values in (as missing: \
X.filled(np.nan)), or leave those rows out.
    """
    for name, table in tables.items():
        if isinstance(table, np.ma.MaskedArray) and np.ma.is_masked(table):
            count = int(np.sum(np.ma.getmaskarray(table)))
            raise InputError(
                f"{name} has {count} masked value{'s' * (count > 1)}; fill masked values in (as "
                f"missing: {name}.filled(np.nan)), or leave those rows out."
            )


def refuse_doubled_names(X: Any) -> None:
    """Refuse a data frame in which two columns have one name."""
    names = getattr(X, "columns", None)
    if names is None or getattr(names, "is_unique", True):
        return
    seen: set[Any] = set()
    for name in names:
        if name in seen:
            raise InputError(
                f"X has more than one column named {name!r}; give every column a name of its own."
            )
        seen.add(name)


def refuse_paths(X: Any) -> None:
    """Refuse the name of a file in the place of its rows.

    Examples
    --------
    >>> refuse_paths("sale/")
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: X is 'sale/', and rows are wanted: bottega.data.read('sale/') \
reads them, and bottega.scale.source('sale/', target=...) gives them in chunks.
    """
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        raise InputError(
            f"X is {path!r}, and rows are wanted: bottega.data.read({path!r}) reads them, and "
            f"bottega.scale.source({path!r}, target=...) gives them in chunks."
        )


@contextmanager
def naming_encoded() -> Iterator[None]:
    """Say what takes rows as they are stored where encoded columns are missed inside the block."""
    try:
        yield
    except ValueError as error:
        _, _, missing = str(error).partition("yet now missing:")
        if "=" not in missing:
            raise
        raise InputError(
            f"{str(error).strip()}\nNames such as 'town=Rome' are those of encoded columns: the "
            "pipeline of a source, source.pipeline(model), takes rows as they are stored."
        ) from error


@contextmanager
def naming_texts(X: Any, without_y: str | None = None) -> Iterator[None]:
    """Name the column of a data frame that cannot be read as numbers inside the block.

    `without_y` names a method without responses: what it cannot take has other cures, and missing
    values are refused with them instead of scikit-learn's advice for predictions.
    """
    try:
        with naming_encoded():
            yield
    except ValueError as error:
        if without_y is not None and "contains NaN" in str(error):
            raise InputError(
                f"Input X contains NaN, and {without_y} takes no missing values: ProbabilisticPCA "
                "and GaussianMixture take them as they are, and impute them; or leave such rows "
                "out."
            ) from error
        cure = (
            "or use a method that takes categories, such as trees and forests."
            if without_y is None
            else "or leave it out; bottega.describe takes columns of all kinds."
        )
        if "could not convert" in str(error) and is_frame(X):
            for series in nw.from_native(X, eager_only=True).iter_columns():
                try:
                    series.to_numpy().astype(np.float64)
                except (TypeError, ValueError) as why:
                    raise InputError(
                        f"Column {series.name!r} of X does not hold numbers: {why}. Encode it "
                        f"(bottega.data.Encoder does), {cure}"
                    ) from error
        elif "could not convert" in str(error) and np.ndim(X) == 1:
            raise InputError(
                f"X holds texts such as {str(np.ravel(X)[0])[:40]!r}, and rows of numbers are "
                "wanted: bottega.text.StemMatrix().fit_transform(texts) makes them of texts."
            ) from error
        raise
    except TypeError as error:  # NumPy's, of dates beside numbers
        if is_frame(X):
            for series in nw.from_native(X, eager_only=True).iter_columns():
                if series.dtype.is_temporal():
                    raise InputError(
                        f"Column {series.name!r} of X holds dates or times beside columns of "
                        "numbers: make numbers of them (bottega.data.Encoder does), or leave it "
                        "out."
                    ) from error
        raise
    except OverflowError as error:  # a whole number of Python's, of any length
        raise InputError(
            f"X holds a number beyond the largest one, {np.finfo(np.float64).max:.3g}; correct it, "
            "or take it as missing."
        ) from error


def with_warning(predicted: FloatArray) -> FloatArray:
    """Return predictions, with a warning where they are beyond the largest number."""
    wrong = int(np.count_nonzero(~np.isfinite(predicted)))
    if wrong:
        warn_caller(
            f"{wrong} of {predicted.size} predictions are beyond the largest number, "
            f"{np.finfo(np.float64).max:.3g}; look at the rows, which are far from the data.",
            DataWarning,
        )
    return predicted


def check_columns(*squares: Any, mean: Any = None) -> None:
    """Refuse columns whose (mean) squares overflow, or vanish although their `mean` is not zero."""
    if not all(np.all(np.abs(each) <= _LARGEST**2) for each in squares):
        raise InputError(
            "The squares of these numbers overflow: bring inputs and response to a smaller scale."
        )
    if mean is not None:
        size = np.abs(mean)
        lost = (squares[0] < _SMALLEST**2) & (size > 0) & (size < _SMALLEST)
        if np.any(lost):
            raise InputError(
                f"The squares of the numbers in column {int(np.argmax(lost))} of X (counted from "
                "0) vanish: bring it to a larger scale."
            )


def refuse_missing_labels(y: Any) -> None:
    """Refuse labels of which some are None, NaN or NA.

    Examples
    --------
    >>> refuse_missing_labels(["a", None])
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: y has 1 missing label (None, NaN or NA), the first in row 1 \
(counted from 0); leave such rows out, or give them a class of their own.
    """
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise InputError(
            "The rows of y have different numbers of labels; give one label per row, or a matrix "
            "with a column of 0 and 1 per label (MultiLabelBinarizer of scikit-learn makes it)."
        ) from error
    if labels.dtype != object or labels.ndim == 0:
        return
    missing = [_is_missing(each) for each in labels.ravel()]
    count = sum(missing)
    if count:
        row = missing.index(True) // (labels.size // len(labels))
        raise InputError(
            f"y has {count} missing label{'s' if count > 1 else ''} (None, NaN or NA), the first "
            f"in row {row} (counted from 0); leave such rows out, or give them a class of their "
            "own."
        )


def _is_missing(label: Any) -> bool:
    if isinstance(label, float):
        return math.isnan(label)
    return label is None or type(label).__name__ == "NAType"  # which compares with nothing


def refuse_texts(y: Any) -> None:
    """Refuse texts as the response of a regression.

    Examples
    --------
    >>> refuse_texts(["yes", "no"])
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: y holds texts such as 'yes', and the response of a regression \
is a number; for classes use a classifier.
    """
    values = np.asarray(y)
    if values.dtype.kind not in "OUT":
        return
    for value in values.ravel():
        try:
            float(value)
        except ValueError:
            raise InputError(
                f"y holds texts such as {str(value)!r}, and the response of a regression is a "
                "number; for classes use a classifier."
            ) from None
        except TypeError:
            return  # neither number nor text: told where it is read


def check_response(y: FloatArray) -> None:
    """Refuse responses of a regression whose squares vanish or overflow."""
    size = float(np.max(np.abs(y), initial=0.0))
    refuse_vanishing(size)
    if size > _LARGEST:
        raise InputError(
            f"y is up to {size:.3g} in size, and the squares of these numbers overflow: measure it "
            "in larger units."
        )


def refuse_vanishing(size: float) -> None:
    """Refuse responses that are at most of this size where their squares vanish; zeros may be.

    Examples
    --------
    >>> refuse_vanishing(1e-150)
    Traceback (most recent call last):
        ...
    bottega.core.errors.InputError: y is at most 1e-150 in size, and the squares of these numbers \
vanish: measure it in smaller units.
    """
    if 0 < size < _SMALLEST:
        raise InputError(
            f"y is at most {size:.3g} in size, and the squares of these numbers vanish: measure it "
            "in smaller units."
        )


def size_told(y: Any) -> float:
    """Return the largest size among the responses of a regression, or one whose square is a number.

    The first one tells it as a rule, and nothing is left to look at; labels have none.
    """
    if y is None or y.dtype.kind != "f" or not y.size:
        return 0.0
    first = abs(float(y.flat[0]))
    return first if first >= _SMALLEST else float(np.max(np.abs(y)))


def read_response(estimator: Any, y: Any) -> Array:
    """Return the responses, checked. Comes before the inputs: it forgets the names of columns."""
    if is_sparse(y):
        raise TypeError("y is a sparse matrix, and an array is needed; use y.toarray().")
    if is_classifier(estimator):
        refuse_missing_labels(y)
    elif is_regressor(estimator):
        refuse_texts(y)
    several = get_tags(estimator).target_tags.multi_output
    how = {"y_numeric": is_regressor(estimator), "multi_output": several}
    y = validate_data(estimator, X="no_validation", y=y, **how)
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if is_classifier(estimator):
        check_classification_targets(y)
        return np.asarray(y)
    return np.asarray(y, dtype=np.float64)
