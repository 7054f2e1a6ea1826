"""The inputs of a table as a method sees them: the preprocessing that its card asks for."""

from collections import OrderedDict
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bottega.core.cards import Card
from bottega.core.frames import take_rows
from bottega.core.matrix_columns import MatrixColumns
from bottega.core.typing import IntArray
from bottega.data import Encoder, Table
from bottega.data.prepare import encoder_for, implied_names
from bottega.risk.estimate.nested_engine import Part
from bottega.workbench.features import ChosenColumns

__all__ = ["EncodedInputs", "encoded_inputs", "features_of", "n_encoded"]

_KEPT_BYTES = 500_000_000  # of encoded rows; what was made first is forgotten first


class _Kept:
    """Encoded rows of several parts, as many as there is room for."""

    def __init__(self, most: int = _KEPT_BYTES) -> None:
        self.most = most
        self._held: OrderedDict[Any, Any] = OrderedDict()
        self._bytes: dict[Any, int] = {}
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return _Kept, (self.most,)  # another process has its own

    def get(self, key: Any) -> Any:
        """Return what was kept, or None."""
        with self._lock:
            if key in self._held:
                self._held.move_to_end(key)
            return self._held.get(key)

    def put(self, key: Any, value: Any) -> None:
        """Keep a value; forget those that were not used for longest if there is no room."""
        with self._lock:
            self._held[key], self._bytes[key] = value, _size(value)
            while len(self._held) > 1 and sum(self._bytes.values()) > self.most:
                old, _ = self._held.popitem(last=False)
                del self._bytes[old]


def _size(value: Any) -> int:
    if isinstance(value, tuple | list):
        return sum(map(_size, value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    shape = getattr(value, "shape", (0, 0))
    return 8 * int(np.prod(shape))


class EncodedInputs:
    """The rows of a table, encoded once per part for all methods with the same needs.

    The encoder is fitted to the training rows of a part alone. Two threads that ask for a part at
    once may both do the work; the answers are equal, so that is cheaper than making one wait. Rows
    of a large table are not kept for long, and encoded again when they are asked for again.
    """

    def __init__(self, table: Table, encoder: Encoder | None, kept: _Kept | None = None) -> None:
        self.table, self.encoder = table, encoder
        self._kept = _Kept() if kept is None else kept
        self._encoders: dict[Any, Encoder] = {}

    def __reduce__(self) -> Any:
        return EncodedInputs, (self.table, self.encoder, self._kept)

    def train(self, part: Part) -> Any:
        """Return the inputs of the training rows."""
        return self._encoded(part)[0]

    def test(self, part: Part, rows: IntArray) -> Any:
        """Return the inputs of a fold left out, encoded as the training rows were."""
        place = next(i for i, test in enumerate(part.tests) if test is rows)
        return self._encoded(part)[1][place]

    def columns(self, part: Part) -> MatrixColumns:
        """Return what the columns of the encoded rows were made of."""
        if self.encoder is None or self.encoder.keep_categories:  # a frame with its own names
            return MatrixColumns()
        encoder = self._fitted(part)
        return MatrixColumns(tuple(encoder.get_feature_names_out()), implied_names(encoder))

    def joined(self, part: Part, model: Any) -> Pipeline:
        """Return the fitted encoder and the fitted model as one procedure for raw frames."""
        if self.encoder is None:
            first: Any = ("columns", features_of(self.table))
        else:
            first = ("encode", self._fitted(part))
        return Pipeline([first, ("model", model)])

    def _fitted(self, part: Part) -> Encoder:
        if part.key not in self._encoders:
            self._encoded(part)
        return self._encoders[part.key]

    def _encoded(self, part: Part) -> tuple[Any, list[Any]]:
        key = (id(self), part.key)
        found = self._kept.get(key)
        if found is not None:
            return found
        X = self.table.X
        train = take_rows(X, part.train) if part.tests else X
        tests = [take_rows(X, rows) for rows in part.tests]
        if self.encoder is not None:
            encoder = self._encoders.get(part.key)
            if encoder is None:
                encoder = clone(self.encoder)
                train = encoder.fit_transform(train)
                self._encoders[part.key] = encoder
            else:
                train = encoder.transform(train)
            tests = [encoder.transform(each) for each in tests]
        self._kept.put(key, (train, tests))
        return train, tests


def encoded_inputs(cards: dict[str, Card], table: Table) -> dict[str, EncodedInputs]:
    """Return the inputs of each method; methods with the same needs share one object."""
    shared: dict[Any, EncodedInputs] = {}
    found, kept = {}, _Kept()
    for name, card in cards.items():
        encoder = encoder_for(card, table)
        needs = None if encoder is None else tuple(map(str, encoder.get_params().values()))
        found[name] = shared.setdefault(needs, EncodedInputs(table, encoder, kept))
    return found


def features_of(table: Table) -> ChosenColumns:
    """Return the first step of a procedure that takes the columns of a table as they are."""
    labels = [name for name, kind in table.kinds.items() if kind in ("category", "text")]
    written = table.decimal or {}  # as people write numbers, which an encoder reads
    kinds = {name: kind for name, kind in table.kinds.items() if name not in written}
    return ChosenColumns(list(table.features), labels, kinds)


def n_encoded(card: Card, table: Table) -> int:
    """Return how many columns a method gets to see: a category may become several."""
    encoder = encoder_for(card, table)
    if encoder is None or card.n_inputs is None or len(table.features) > card.n_inputs:
        return len(table.features)
    return int(encoder.fit_transform(table.X).shape[1])
