"""From what a user gives as terms to terms of known columns: formulas, defaults, checks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bottega.additive._terms.facts import MOST_DISTINCT, ColumnFacts
from bottega.additive.formula import parse_formula
from bottega.additive.terms import (
    AdditiveTerm,
    BareTerm,
    FactorTerm,
    LinearTerm,
    LocalTerm,
    OffsetTerm,
    RandomTerm,
    SmoothTerm,
    TensorTerm,
)
from bottega.core.errors import DataWarning, InputError, ParameterError, warn_caller
from bottega.core.stored import stored
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["PlacedTerm", "check_terms", "declared_levels", "place_terms", "placed_term"]

_MANY_LEVELS = 20  # a category with more is given random effects by default
_MOST_LEVELS = 1000  # and one with still more none
_MOST = 600  # coefficients of curves by default: with more their number of functions is smaller
_LEAST = 5  # but not than this; then lines are fitted instead


@stored
@dataclass(frozen=True)
class PlacedTerm:
    """A term whose columns are known by their positions.

    Attributes
    ----------
    term : AdditiveTerm
        The term.
    columns : tuple of int
        Positions of its columns.
    by : int or None
        Position of the column in ``by=``.
    name : str
        Its name in results.
    """

    term: AdditiveTerm
    columns: tuple[int, ...]
    by: int | None
    name: str


def check_terms(terms: Any) -> tuple[AdditiveTerm, ...] | None:
    """Return the terms that a user gives as objects, a formula, or a list of both; None: default.

    Examples
    --------
    >>> check_terms(["smooth(age) + region", LinearTerm(("dose",))])
    (smooth(age), region, linear(dose))
    """
    if terms is None:
        return None
    if isinstance(terms, str):
        return parse_formula(terms)
    if isinstance(terms, AdditiveTerm):
        return (terms,)
    if not isinstance(terms, Sequence) or not terms:
        raise ParameterError(
            f"terms={terms!r} is not allowed; give a formula such as 'smooth(x1) + x2', or a list "
            "of terms such as [smooth('x1'), linear('x2')]."
        )
    found: list[AdditiveTerm] = []
    for one in terms:
        if isinstance(one, str):
            found.extend(parse_formula(one))
        elif isinstance(one, AdditiveTerm):
            found.append(one)
        else:
            raise ParameterError(
                f"terms holds {one!r}, which is no term; terms are made by smooth(), local(), "
                "tensor(), factor(), random(), linear() and offset(), or written as text."
            )
    return tuple(found)


def declared_levels(terms: tuple[AdditiveTerm, ...] | None, inputs: MixedInputs) -> list[int]:
    """Return the positions of columns whose values are levels because a term says so."""
    levelled = [one for one in terms or () if isinstance(one, FactorTerm | RandomTerm)]
    return [inputs.number_of(one.columns[0], repr(one)) for one in levelled]


def place_terms(
    terms: tuple[AdditiveTerm, ...] | None,
    inputs: MixedInputs,
    facts: Sequence[ColumnFacts],
    *,
    n_splines: int = 10,
    n_predictors: int = 1,
) -> tuple[PlacedTerm, ...]:
    """Return the terms with the positions of their columns, each checked against the data."""
    if terms is None:
        return _default_terms(inputs, facts, n_splines, n_predictors)
    found: list[PlacedTerm] = []
    for one in terms:
        columns = tuple(inputs.number_of(column, repr(one)) for column in one.columns)
        if isinstance(one, BareTerm):
            made = _default_term(columns[0], inputs, facts[columns[0]])
            if made is None:
                _check_distinct(one, columns[0], inputs, facts)
                raise AssertionError
            one = made
        by = None if one.by is None else inputs.number_of(one.by, repr(one))
        placed = placed_term(one, columns, by, inputs)
        _check_placed(placed, inputs, facts)
        if any(placed.name == other.name for other in found):
            raise ParameterError(f"The term {placed.name} is given twice; leave one out.")
        found.append(placed)
    return tuple(found)


def placed_term(
    term: AdditiveTerm, columns: tuple[int, ...], by: int | None, inputs: MixedInputs
) -> PlacedTerm:
    """Return a term with the positions of its columns and its name."""
    names = [inputs.names[j] for j in columns]
    name = term.label(names)
    if by is not None:
        name = f"{name[:-1]}, by={inputs.names[by]})"
    return PlacedTerm(term, columns, by, name)


def _default_terms(
    inputs: MixedInputs, facts: Sequence[ColumnFacts], n_splines: int, n_predictors: int
) -> tuple[PlacedTerm, ...]:
    made = [_default_term(j, inputs, fact) for j, fact in enumerate(facts)]
    curves = n_predictors * sum(isinstance(term, SmoothTerm) for term in made)
    if curves * n_splines > _MOST:
        size = _MOST // curves
        made = [_smaller(term, size) for term in made]
    found, empty, full = [], [], []
    for j, term in enumerate(made):
        levels = inputs.levels[j]
        if levels is not None and len(levels) > _MOST_LEVELS:
            full.append(inputs.names[j])
        elif term is not None:
            found.append(placed_term(term, (j,), None, inputs))
        elif facts[j].distinct == 0:
            empty.append(inputs.names[j])
    _warn_left_out(empty, "no value but missing ones, and no term")
    _warn_left_out(full, f"more than {_MOST_LEVELS} levels and no term; name random() for it")
    return tuple(found)


def _smaller(term: AdditiveTerm | None, size: int) -> AdditiveTerm | None:
    """Return a curve of fewer functions, or a line."""
    if not isinstance(term, SmoothTerm):
        return term
    return replace(term, n_splines=size) if size >= _LEAST else LinearTerm(term.columns)


def _warn_left_out(names: list[str], why: str) -> None:
    if names:
        one = len(names) == 1
        warn_caller(
            f"The column{'' if one else 's'} {', '.join(names)} ha{'s' if one else 've'} {why}.",
            DataWarning,
        )


def _default_term(j: int, inputs: MixedInputs, fact: ColumnFacts) -> AdditiveTerm | None:
    """Return the term that suits a column; None where it is constant or empty."""
    name, levels = inputs.names[j], inputs.levels[j]
    if fact.distinct < 2 and not (levels is not None and fact.distinct and fact.gaps):
        return None
    if levels is not None:
        return RandomTerm((name,)) if len(levels) > _MANY_LEVELS else FactorTerm((name,))
    return LinearTerm((name,)) if fact.distinct == 2 else SmoothTerm((name,))


def _check_placed(placed: PlacedTerm, inputs: MixedInputs, facts: Sequence[ColumnFacts]) -> None:
    term = placed.term
    for j in placed.columns:
        _check_distinct(term, j, inputs, facts)
        if isinstance(term, SmoothTerm | LocalTerm | TensorTerm | LinearTerm | OffsetTerm):
            _refuse_levels(term, j, inputs)
        if isinstance(term, SmoothTerm | LocalTerm | TensorTerm) and facts[j].distinct == 2:
            raise InputError(
                f"{term!r}: column {inputs.names[j]!r} has two distinct values, through which "
                "only a line goes; use linear() or factor() for it."
            )
        if isinstance(term, OffsetTerm) and facts[j].gaps:
            raise InputError(
                f"{term!r}: column {inputs.names[j]!r} has missing values, which cannot be added; "
                "fill them in, or leave the rows out."
            )
    if placed.by is not None:
        if placed.by in placed.columns:
            raise ParameterError(f"{term!r}: by= names a column of the term itself.")
        _check_distinct(term, placed.by, inputs, facts)
        if isinstance(term, RandomTerm):
            _refuse_levels(term, placed.by, inputs)
    if isinstance(term, SmoothTerm) and term.df is not None:
        _check_df(term, placed.columns[0], inputs, facts)


def _check_distinct(
    term: AdditiveTerm, j: int, inputs: MixedInputs, facts: Sequence[ColumnFacts]
) -> None:
    name = inputs.names[j]
    if facts[j].distinct == 0:
        raise InputError(
            f"{term!r}: column {name!r} has no value but missing ones; leave the term out."
        )
    if facts[j].distinct == 1 and not isinstance(term, OffsetTerm):
        raise InputError(
            f"{term!r}: column {name!r} has one value only, {facts[j].low:g}, and no effect can "
            "be seen; leave the term out."
        )


def _refuse_levels(term: AdditiveTerm, j: int, inputs: MixedInputs) -> None:
    if inputs.levels[j] is not None:
        raise InputError(
            f"{term!r}: column {inputs.names[j]!r} holds categories; use factor() or random()."
        )


def _check_df(term: SmoothTerm, j: int, inputs: MixedInputs, facts: Sequence[ColumnFacts]) -> None:
    assert term.df is not None
    distinct, name = facts[j].distinct, inputs.names[j]
    if len(term.columns) == 1 and distinct - 1 < min(term.df, MOST_DISTINCT - 1):
        raise InputError(
            f"{term!r}: column {name!r} has {distinct} distinct values, which leave at most "
            f"{distinct - 1} degrees of freedom beside the constant; give a smaller df."
        )
