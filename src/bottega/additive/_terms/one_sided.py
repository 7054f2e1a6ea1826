"""Levels of factors whose effect has no maximum of the likelihood: all their rows are alike."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive.terms import FactorTerm
from bottega.core.added_sums import AddedSums
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["OneSided", "one_sided_levels"]

_SHOWN = 3
# What the mean of a response cannot go beyond.
_ENDS = {"binomial": [0.0, 1.0], "poisson": [0.0], "negative_binomial": [0.0]}


@dataclass(frozen=True)
class OneSided:
    """Levels all of whose rows are at one end of what the response can be.

    Attributes
    ----------
    columns, levels, told : tuple of str
        Of each: its column, the level, and what its rows have in common.
    """

    columns: tuple[str, ...]
    levels: tuple[str, ...]
    told: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.levels)

    def __str__(self) -> str:
        found = zip(self.columns, self.levels, self.told, strict=True)
        each = [f"{column} = {level!r} ({told})" for column, level, told in found]
        more = len(each) - _SHOWN
        shown = "; ".join(each[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")
        terms = " and ".join(f"random({name!r})" for name in dict.fromkeys(self.columns))
        return (
            f"The likelihood has no maximum in the effects of these levels, so that standard "
            f"errors and tests of their factors mean nothing: {shown}. Join them with other "
            f"levels, or use {terms}, which draws levels together."
        )


def one_sided_levels(
    terms: Sequence[PlacedTerm],
    inputs: MixedInputs,
    reduce: Callable[[Callable[..., Any]], Any],
    family: Any,
    classes: Sequence[Any] | None = None,
) -> OneSided:
    """Return the levels of factors that the likelihood drives to infinity.

    Parameters
    ----------
    terms : sequence of PlacedTerm
        The terms of the model.
    inputs : MixedInputs
        The columns and their levels.
    reduce : callable
        Returns what a function of (X, y, weight) gives for the rows, or for each chunk, merged;
        called once, and only where there are factors.
    family : family or int
        Of the response, or the number of classes.
    classes : sequence, optional
        Names of the classes that the responses are codes of.
    """
    name = "multinomial" if isinstance(family, int) else family.name
    ends = [float(k) for k in range(family)] if isinstance(family, int) else _ENDS.get(name, [])
    factors = [
        placed.columns[0]
        for placed in terms
        if isinstance(placed.term, FactorTerm) and placed.by is None
    ]
    if not factors or not ends:
        return OneSided((), (), ())
    sizes = [len(inputs.levels[j] or ()) for j in factors]

    def of_rows(X: FloatArray, y: FloatArray, weight: FloatArray | None) -> AddedSums:
        # The end that each response is at; the last column is for those in between.
        place = np.searchsorted(ends, y)
        at_end = np.asarray(ends)[np.minimum(place, len(ends) - 1)] == y
        place = np.where(at_end, place, len(ends))
        used = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        each = []
        for j, levels in zip(factors, sizes, strict=True):
            count = np.zeros((levels + 1, len(ends) + 1))
            code = np.where(np.isnan(X[:, j]), levels, X[:, j]).astype(np.intp)
            np.add.at(count, (np.minimum(code, levels)[used], place[used]), 1.0)
            each.append(count)
        return AddedSums(tuple(each))

    counts = dict(zip(factors, reduce(of_rows).values, strict=True))
    found = [
        (str(inputs.names[j]), str(level), told)
        for j in factors
        for level, row in zip((*(inputs.levels[j] or ()), "missing"), counts[j], strict=True)
        if (told := _told(row, ends, name, classes))
    ]
    columns, names, words = ([each[k] for each in found] for k in range(3))
    return OneSided(tuple(columns), tuple(names), tuple(words))


def _told(
    counts: FloatArray, ends: Sequence[float], name: str, classes: Sequence[Any] | None
) -> str:
    """Return what the rows of a level have in common; nothing where they determine its effect."""
    total = counts.sum()
    if not total:
        return ""
    names = [f"{end:g}" if classes is None else repr(classes[int(end)]) for end in ends]
    of = "have response" if classes is None else "are of class"
    for end, count in zip(names, counts[:-1], strict=True):
        if count == total:
            return f"all {total:,.0f} rows {of} {end}"
    if name != "multinomial":
        return ""
    absent = [end for end, count in zip(names, counts[:-1], strict=True) if not count]
    return f"no row of class {' or '.join(absent)}" if absent else ""
