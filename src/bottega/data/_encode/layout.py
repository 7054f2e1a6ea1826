"""Which columns of numbers the input columns become: one each, and five for a date in parts."""

from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from bottega.core.typing import FloatArray, IntArray
from bottega.data._encode.dates import PARTS
from bottega.data._encode.statistics import NumberStatistics

T = TypeVar("T")

IN_WORDS = ("category", "text")  # kinds of columns that are not read as numbers


@dataclass(frozen=True)
class Layout:
    """The input columns of an encoder.

    Attributes
    ----------
    names, kinds : list of str
        Name and kind of each.
    in_parts : bool
        Whether dates are read in parts.
    """

    names: list[str]
    kinds: list[str]
    in_parts: bool

    def named(self, kind: str) -> list[str]:
        """Return the names of the columns of one kind."""
        return [name for name, its in zip(self.names, self.kinds, strict=True) if its == kind]

    def numeric(self, parts: list[list[T]]) -> list[T]:
        """Return what belongs to columns of numbers, of what belongs to each input column."""
        pairs = zip(parts, self.kinds, strict=True)
        return [each for part, kind in pairs if kind not in IN_WORDS for each in part]

    @property
    def numeric_kinds(self) -> list[str]:
        """The kind of each column of numbers as read; "part" for the later parts of a date."""
        date = ["date", *["part"] * (len(PARTS) - 1)] if self.in_parts else ["date"]
        return self.numeric([date if kind == "date" else [kind] for kind in self.kinds])

    def varying_parts(self, statistics: NumberStatistics) -> dict[str, list[str]]:
        """Return the parts of each date that vary; the day is always among them."""
        if not self.in_parts:
            return {}
        kinds = np.array(self.numeric_kinds)
        varies = (statistics.high > statistics.low) | (kinds != "part")
        found = {}
        for name, start in zip(self.named("date"), np.flatnonzero(kinds == "date"), strict=True):
            here = varies[start : start + len(PARTS)]
            found[name] = [part for part, kept in zip(PARTS, here, strict=True) if kept]
        return found

    def kept(self, date_parts: dict[str, list[str]]) -> IntArray:
        """Return which of the columns of numbers as read are kept."""
        marks = [
            [part in date_parts[name] for part in PARTS] if name in date_parts else [True]
            for name in self.names
        ]
        return np.flatnonzero(np.array(self.numeric(marks), dtype=bool))

    def frame(
        self,
        names_out: list[list[str]],
        matrix: FloatArray,
        words: list[Any],
        library: Any,
    ) -> Any:
        """Return columns of numbers, labels and the numbers of stems as one frame of a library."""
        numbers, others = iter(np.asfortranarray(matrix).T), iter(words)
        make: Any = nw.new_series
        columns = []
        for names, kind in zip(names_out, self.kinds, strict=True):
            stems = iter(np.asfortranarray(next(others)).T) if kind == "text" else numbers
            for name in names:
                values = next(others) if kind == "category" else next(stems)
                dtype = nw.String if kind == "category" else nw.Float64
                columns.append(make(name, values, dtype, backend=library))
        return columns[0].to_frame().with_columns(*columns[1:]).to_native()
