"""Rows and effects of a backfitted model, whose terms have degrees of freedom but no covariance."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bottega.additive._backfitting.engine import BackfittedFit
from bottega.additive._backfitting.work import BackfittedTerms
from bottega.additive._inference.grids import even_points, level_codes, shown_points
from bottega.additive._inference.term_table import TermRow
from bottega.additive._inference.term_tests import NO_TEST
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive.effects import TermEffect
from bottega.core.typing import FloatArray

__all__ = ["backfitted_effects", "backfitted_rows"]

_CURVE, _SIDE = 100, 30


def backfitted_rows(
    fit: BackfittedFit, made: BackfittedTerms, terms: Sequence[PlacedTerm], n_columns: int
) -> list[TermRow]:
    """Return the intercept and one row per term with its degrees of freedom, without tests."""
    _, owners = made.columns(np.zeros((1, n_columns)), fit.pieces)
    found = [TermRow("(Intercept)", "intercept", 0, float(fit.beta[0]), np.nan, np.nan, NO_TEST)]
    for number, placed in enumerate(terms):
        if placed.term.word == "offset":
            continue
        curved = [
            piece.curved_df
            for owner, piece in zip(made.of_curves, fit.pieces, strict=True)
            if owner == number
        ]
        df = owners.count(number) + sum(curved)
        if placed.term.word == "factor":
            df -= 1  # its levels have mean zero
        found.append(TermRow(placed.name, placed.term.word, 0, np.nan, np.nan, df, NO_TEST))
    return found


def backfitted_effects(
    rows: Sequence[TermRow],
    terms: Sequence[PlacedTerm],
    facts: Sequence[ColumnFacts],
    names: Sequence[str],
    levels: Sequence[list[Any] | None],
    effects: Callable[[FloatArray], FloatArray],
) -> tuple[TermEffect, ...]:
    """Return the effect of each term along its columns, without a band.

    `effects` gives the effects (m, terms) at rows of inputs.
    """
    df = {row.name: row.edf for row in rows}
    found = []
    for number, placed in enumerate(terms):
        if placed.term.word == "offset":
            continue
        shown = placed.columns[:2]
        axes = [_axis(facts[j], levels[j], _CURVE if len(shown) == 1 else _SIDE) for j in shown]
        mesh = np.meshgrid(*axes, indexing="ij")
        X = np.tile([fact.centre for fact in facts], (mesh[0].size, 1))
        for j, values in zip(shown, mesh, strict=True):
            X[:, j] = values.ravel()
        points = tuple(shown_points(X[:, j], levels[j]) for j in shown)
        columns, unknown = tuple(names[j] for j in shown), np.full(len(X), np.nan)
        curves = _values_of_by(placed, names, levels)
        for name, value in curves:
            if placed.by is not None:
                X[:, placed.by] = value
            effect = effects(X)[:, number]
            about = (name, placed.term.word, columns, points)
            band = (effect, unknown, unknown, unknown)
            found.append(TermEffect(*about, *band, df[placed.name] / len(curves), np.nan, np.nan))
    return tuple(found)


def _values_of_by(
    placed: PlacedTerm, names: Sequence[str], levels: Sequence[list[Any] | None]
) -> list[tuple[str, float]]:
    """Return the names of the curves of a term, and the value of ``by=`` of each."""
    own = None if placed.by is None else levels[placed.by]
    if placed.by is None or own is None:
        return [(placed.name, 1.0)]
    start = placed.name[: placed.name.rindex(", by=")]
    return [(f"{start}, {names[placed.by]}={level})", float(k)) for k, level in enumerate(own)]


def _axis(fact: ColumnFacts, levels: list[Any] | None, count: int) -> FloatArray:
    if levels is not None:
        return level_codes(len(levels), fact.gaps)
    return even_points(fact.low, fact.high, count)
