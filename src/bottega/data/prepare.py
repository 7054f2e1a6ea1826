"""The preprocessing that a method's card asks for, and nothing more."""

from typing import Any

from sklearn.pipeline import Pipeline

from bottega.core.cards import Card
from bottega.data.encoder import Encoder
from bottega.data.table import Table

__all__ = ["encoder_for", "prepare"]


MIN_FREQUENCY = 2  # a level of one row says nothing beside that row's own response


def encoder_for(card: Card, table: Table) -> Encoder | None:
    """Return the encoder that a method needs for this table, or None when it needs none.

    Levels of one row are taken together, and levels that are new in the folds, in the locked rows
    or in rows to predict are taken with them: no level stops anything. Dates become parts. Methods
    that take categories and missing values get a frame, where there is something to convert.
    """
    policy: dict[str, Any] = {
        "kinds": table.kinds,
        "decimal": table.decimal,
        "dates": "parts",
        "handle_unknown": "infrequent_if_exist",
    }
    if card.missing and card.categories:
        if "date" not in table.kinds.values() and not table.decimal:
            return None
        return Encoder(keep_categories=True, standardize=False, impute=False, **policy)
    return Encoder(
        standardize=card.standardize,
        one_hot=not card.categories,
        impute=not card.missing,
        min_frequency=MIN_FREQUENCY,
        **policy,
    )


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
