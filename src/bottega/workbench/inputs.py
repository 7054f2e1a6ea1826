"""The inputs of a table as a method sees them: the preprocessing that its card asks for."""

from typing import Any

from sklearn.pipeline import Pipeline

from bottega.core.cards import Card
from bottega.core.frames import take_rows
from bottega.core.typing import IntArray
from bottega.data import Encoder, Table
from bottega.data.prepare import encoder_for
from bottega.risk.estimate.nested_engine import Part

__all__ = ["EncodedInputs", "encoded_inputs", "n_encoded"]


class EncodedInputs:
    """The rows of a table, encoded once per part for all methods with the same needs.

    The encoder is fitted to the training rows of a part alone. Two threads that ask for a part at
    once may both do the work; the answers are equal, so that is cheaper than making one wait.
    """

    def __init__(self, table: Table, encoder: Encoder | None) -> None:
        self.table, self.encoder = table, encoder
        self._made: dict[Any, tuple[Encoder | None, Any, list[Any]]] = {}

    def train(self, part: Part) -> Any:
        """Return the inputs of the training rows."""
        return self._encoded(part)[1]

    def test(self, part: Part, rows: IntArray) -> Any:
        """Return the inputs of a fold left out, encoded as the training rows were."""
        place = next(i for i, test in enumerate(part.tests) if test is rows)
        return self._encoded(part)[2][place]

    def joined(self, part: Part, model: Any) -> Pipeline:
        """Return the fitted encoder and the fitted model as one procedure."""
        encoder = self._encoded(part)[0]
        steps = [("model", model)] if encoder is None else [("encode", encoder), ("model", model)]
        return Pipeline(steps)

    def _encoded(self, part: Part) -> tuple[Encoder | None, Any, list[Any]]:
        if part.key not in self._made:
            X = self.table.X
            train = take_rows(X, part.train) if part.tests else X
            tests = [take_rows(X, rows) for rows in part.tests]
            encoder = self.encoder
            if encoder is not None:
                # A level that this part's training rows lack is no reason to stop.
                encoder = Encoder(**encoder.get_params()).set_params(handle_unknown="ignore")
                train = encoder.fit_transform(train)
                tests = [encoder.transform(each) for each in tests]
                encoder.set_params(handle_unknown="error")
            self._made[part.key] = encoder, train, tests
        return self._made[part.key]


def encoded_inputs(cards: dict[str, Card], table: Table) -> dict[str, EncodedInputs]:
    """Return the inputs of each method; methods with the same needs share one object."""
    shared: dict[Any, EncodedInputs] = {}
    found = {}
    for name, card in cards.items():
        encoder = encoder_for(card, table)
        needs = None if encoder is None else tuple(map(str, encoder.get_params().values()))
        found[name] = shared.setdefault(needs, EncodedInputs(table, encoder))
    return found


def n_encoded(card: Card, table: Table) -> int:
    """Return how many columns a method gets to see: a category may become several."""
    encoder = encoder_for(card, table)
    if encoder is None or card.n_inputs is None or len(table.features) > card.n_inputs:
        return len(table.features)
    return int(encoder.fit_transform(table.X).shape[1])
