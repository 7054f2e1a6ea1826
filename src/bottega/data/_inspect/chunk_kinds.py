"""The kinds of columns whose rows come in chunks: the same as of all rows together."""

from collections import Counter
from dataclasses import replace

import numpy as np

from bottega.core.errors import InputError
from bottega.data import convert
from bottega.data.columns import FOREIGN, Profile, is_key, text_profile
from bottega.data.convert import Series

_MANY = 100_000  # distinct values after which a column is looked at for free text


class ChunkedColumn:
    """Infers the kind of a column from chunk after chunk, as `profile` does from the whole.

    Distinct texts are kept, and whole numbers as long as none repeats: they may be keys. What is
    free text once there are 100,000 distinct values stays so, and its values are not kept.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_rows = 0
        self.missing = 0
        self.low, self.high = np.inf, -np.inf
        self.levels: Counter[str] = Counter()
        self._free_text: Profile | None = None
        self._next_look = _MANY
        self._stored: set[str] = set()
        self._keys: list[np.ndarray] | None = []

    def update(self, series: Series) -> None:
        """Take in the values of a chunk."""
        self.n_rows += len(series)
        try:
            stored = convert.storage(series)
        except InputError:  # of a type that no method can use
            self._stored = {FOREIGN}
        if FOREIGN in self._stored:
            return
        if stored == "empty":
            self.missing += len(series)
            return
        self._stored.add({"integer": "number", "mixed": "string"}.get(stored, stored))
        if len(self._stored) > 1:
            raise InputError(
                f"Column {self.name!r} holds {' and '.join(sorted(self._stored))} values in "
                f"different chunks; give kinds={{{self.name!r}: ...}}, or "
                f"{convert.leave_out(self.name)}."
            )
        if stored in ("string", "mixed"):
            texts = convert.labels(series)
            self.missing += texts.count(None)
            if self._free_text is None:
                self.levels.update(text for text in texts if text is not None)
                self._look_for_text()
            return
        values = convert.days(series) if stored == "date" else convert.numbers(series)
        absent = np.isnan(values)
        self.missing += int(absent.sum())
        if not absent.all():
            self.low = min(self.low, float(np.nanmin(values)))
            self.high = max(self.high, float(np.nanmax(values)))
        if self._keys is not None:
            distinct = stored == "integer" and not self.missing and series.n_unique() == len(series)
            self._keys = [*self._keys, series.to_numpy()] if distinct else None

    def _look_for_text(self) -> None:
        if len(self.levels) <= self._next_look:
            return
        self._next_look *= 2
        found = text_profile(self.levels, self.n_rows)
        if found.kind == "text":
            self._free_text = found
            self.levels.clear()

    def profile(self, decimal: str | None = None, usual: str | None = None) -> Profile:
        """Return what the column holds; `distinct` is known for texts only.

        `decimal` and `usual` are decimal signs as `text_profile` takes them.
        """
        if FOREIGN in self._stored:
            return Profile(FOREIGN, 0, 0)
        if self.missing == self.n_rows:
            return Profile("constant", self.missing, 0)
        (stored,) = self._stored
        if self._free_text is not None:
            return replace(self._free_text, missing=self.missing)
        if stored == "string":
            return text_profile(self.levels, self.n_rows, None, decimal, usual)
        return Profile(self._kind(stored), self.missing, 1)

    def _kind(self, stored: str) -> str:
        if self.low == self.high:
            return "constant"
        if stored in ("boolean", "date"):
            return stored
        if self._keys and is_key(self.name, self.n_rows, int(self.low), int(self.high)):
            keys = np.unique(np.concatenate(self._keys))
            return "id" if len(keys) == self.n_rows else "number"
        return "number"
