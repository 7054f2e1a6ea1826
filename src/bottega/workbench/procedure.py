"""A whole procedure: the preprocessing that a method's card asks for, then the method itself."""

from typing import Any

from sklearn.pipeline import Pipeline

from bottega.core.base import Estimator
from bottega.core.cards import Card
from bottega.core.frames import take_rows
from bottega.data import Encoder, Table
from bottega.data.prepare import encoder_for

__all__ = ["Encoded", "as_pipeline", "make_model"]


def make_model(estimator_class: type[Estimator], select: str) -> Estimator:
    """Return an unfitted estimator that tunes its own knob by the rule `select`."""
    model = estimator_class()
    if "select" in model.get_params(deep=False):
        model.set_params(select=select)
    return model


class Encoded:
    """The train and test rows of one fold, encoded once for all methods with the same needs."""

    def __init__(self, table: Table, train: Any, test: Any) -> None:
        self.table, self.train, self.test = table, train, test
        self._made: dict[tuple[bool, ...] | None, tuple[Encoder | None, Any, Any]] = {}

    def get(self, card: Card) -> tuple[Encoder | None, Any, Any]:
        """Return the fitted encoder and the two encoded parts.

        Two threads that ask at once may both do the work; the answers are equal, so that is
        cheaper than making one wait.
        """
        encoder = encoder_for(card, self.table)
        needs = None
        if encoder is not None:
            needs = (encoder.standardize, encoder.one_hot, encoder.impute)
        if needs not in self._made:
            X_train = take_rows(self.table.X, self.train)
            X_test = take_rows(self.table.X, self.test)
            if encoder is None:
                self._made[needs] = (None, X_train, X_test)
            else:
                # A level that this fold's training rows lack is no reason to stop.
                encoder.set_params(new_categories="ignore")
                Z_train = encoder.fit_transform(X_train)
                Z_test = encoder.transform(X_test) if len(self.test) else Z_train[:0]
                encoder.set_params(new_categories="error")
                self._made[needs] = (encoder, Z_train, Z_test)
        return self._made[needs]


def as_pipeline(encoder: Encoder | None, model: Estimator) -> Pipeline:
    """Join a fitted encoder and a fitted model into one procedure."""
    steps = [("model", model)] if encoder is None else [("encode", encoder), ("model", model)]
    return Pipeline(steps)
