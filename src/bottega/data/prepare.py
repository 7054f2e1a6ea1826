"""The preprocessing that a method's card asks for, and nothing more."""

from typing import Any

from sklearn.pipeline import Pipeline

from bottega.core.cards import Card
from bottega.data.encoder import Encoder
from bottega.data.table import Table

__all__ = ["encoder_for", "prepare"]


def encoder_for(card: Card, table: Table) -> Encoder | None:
    """Return the encoder that a method needs for this table, or None when it needs none."""
    if card.missing and card.categories:
        return None
    return Encoder(
        standardize=card.standardize,
        one_hot=not card.categories,
        impute=not card.missing,
        kinds=table.kinds,
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
