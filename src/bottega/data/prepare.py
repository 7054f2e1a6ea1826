"""The preprocessing that a method's card asks for, and nothing more."""

from collections.abc import Mapping
from typing import Any

import narwhals.stable.v2 as nw
from sklearn.pipeline import Pipeline

from bottega.core.cards import Card
from bottega.core.errors import DataWarning, warn_caller
from bottega.data import convert
from bottega.data._inspect.examine import dates_of
from bottega.data.encoder import Encoder
from bottega.data.table import Table

__all__ = ["encoder_for", "implied_names", "prepare", "without_slips"]


MIN_FREQUENCY = 2  # a level of one row says nothing beside that row's own response


def encoder_for(card: Card, table: Table) -> Encoder | None:
    """Return the encoder that a method needs for this table, or None when it needs none.

    Levels of one row are taken together, and levels that are new in the folds, in the locked rows
    or in rows to predict are taken with them: no level stops anything. Dates become parts. Methods
    that take categories and missing values get a frame, where there is something to convert.
    Methods of texts alone get the table as it is; for the others texts become columns of stems.
    """
    if "text" in card.takes and "number" not in card.takes:
        return None
    policy: dict[str, Any] = {
        "kinds": table.kinds,
        "decimal": table.decimal,
        "dates": "parts",
        "handle_unknown": "infrequent_if_exist",
    }
    if card.missing and card.categories:
        if not {"date", "text"} & set(table.kinds.values()) and not table.decimal:
            return None
        return Encoder(keep_categories=True, standardize=False, impute=False, **policy)
    return Encoder(
        standardize=card.standardize,
        one_hot=not card.categories,
        impute=not card.missing,
        min_frequency=MIN_FREQUENCY,
        **policy,
    )


def implied_names(encoder: Encoder) -> list[str]:
    """Return the encoded columns that follow from the others and an intercept.

    They are the last level of each category that has one column per level.

    Parameters
    ----------
    encoder : Encoder
        A fitted encoder.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> implied_names(Encoder().fit(X))
    ['colour=red']
    """
    if not encoder.one_hot or encoder.keep_categories:
        return []
    names = encoder._names_out(encoder._names_in())
    pairs = zip(names, encoder.kinds_, strict=True)
    return [columns[-1] for columns, kind in pairs if kind == "category" and columns]


def prepare(estimator: Any, table: Table) -> Pipeline:
    """Return an estimator of the catalogue behind the preprocessing it needs for a table.

    Methods that take categories and missing values themselves get the table as it is; the others
    get numbers from an `Encoder`, on one scale where their card asks for it.

    Parameters
    ----------
    estimator : Estimator
        An estimator with a card, not fitted.
    table : Table
        The data it will be fitted to.

    Returns
    -------
    Pipeline
        Not fitted; give it ``table.X`` and ``table.y``.

    Examples
    --------
    >>> from bottega.data import read
    >>> from bottega.neighbors import NearestNeighborsClassifier
    >>> table = read("iris")
    >>> model = prepare(NearestNeighborsClassifier(), table).fit(table.X, table.y)
    >>> [name for name, _ in model.steps]
    ['encode', 'model']
    """
    encoder = encoder_for(estimator.card, table)
    steps = [("model", estimator)]
    return Pipeline(steps if encoder is None else [("encode", encoder), *steps])


def without_slips(
    data: Any,
    kinds: Mapping[str, str],
    day_first: Mapping[str, bool] | None = None,
    *,
    warn: bool = True,
) -> Any:
    """Return rows to predict, where words among numbers and dates are missing values.

    Parameters
    ----------
    data : data frame
        New rows.
    kinds : mapping of str to str
        The kind of each column that a model was fitted on.
    day_first : mapping of str to bool, optional
        Of columns with dates like 31/1/2026, whether the day comes first.
    warn : bool
        Whether to warn.

    Warns
    -----
    DataWarning
        What was counted as missing. A column in which nothing can be read is refused.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"area": ["12.5", "large"], "colour": ["red", "blue"]})
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     without_slips(rows, {"area": "number", "colour": "category"})["area"].tolist()
    [12.5, nan]
    >>> str(told[0].message)
    "Column 'area': 1 value is not a number and counted as missing, first 'large' in row 2."
    """
    frame = nw.from_native(data, eager_only=True)
    slips: list[str] = []
    made = []
    for name, kind in kinds.items():
        if kind not in ("number", "date") or name not in frame.columns:
            continue
        series = frame[name]
        if series.dtype not in (nw.String, nw.Object) or convert.storage(series) == "date":
            continue
        found, backend = len(slips), series.implementation
        if kind == "date":
            days = convert.days(series, slips=slips, day_first=(day_first or {}).get(name))
            made.append(nw.new_series(name, dates_of(days), nw.Datetime("us"), backend=backend))
            continue
        values = convert.numbers(series, slips=slips)
        if len(slips) > found:
            made.append(nw.new_series(name, values, nw.Float64(), backend=backend))
    if not made:
        return data
    for told in slips if warn else ():
        warn_caller(told, DataWarning)
    return frame.with_columns(*made).to_native()
