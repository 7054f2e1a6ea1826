"""The prepared work of the backfitting engine: lines, levels and curves of the terms."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bottega.additive._backfitting.engine import SEPARATED, BackfittedFit, backfit
from bottega.additive._backfitting.pieces import CurvePiece
from bottega.additive._terms.bases import IndicatorBasis, LevelsBasis, MissingBasis, ValueBasis
from bottega.additive._terms.blocks import Block, Margin
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive._terms.one_sided import OneSided
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive.terms import (
    FactorTerm,
    LinearTerm,
    LocalTerm,
    RandomTerm,
    SmoothTerm,
    TensorTerm,
)
from bottega.core.errors import InputError, ParameterError
from bottega.core.likelihood import Family
from bottega.core.rows import Rows
from bottega.core.stored import stored
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs
from bottega.smooth import Loess, SmoothingSpline, ThinPlateSpline

__all__ = ["BackfittedTerms", "BackfittedWork"]

_DF = 4.0  # of a smooth term beside the constant, where none is asked for


@stored
@dataclass(frozen=True, eq=False)
class BackfittedTerms:
    """What each term is made of: columns fitted together, and curves.

    Attributes
    ----------
    flats : tuple of Block
        Lines, levels and indicators of missing values; the intercept first.
    curves : tuple of CurvePiece
        The curves, unfitted.
    of_flats, of_curves : tuple of int
        The term that each belongs to; -1 for the intercept and for indicators.
    """

    flats: tuple[Block, ...]
    curves: tuple[CurvePiece, ...]
    of_flats: tuple[int, ...]
    of_curves: tuple[int, ...]

    def columns(self, X: FloatArray, pieces: Sequence[CurvePiece]) -> tuple[FloatArray, list[int]]:
        """Return the columns that are fitted together, and the term of each."""
        tables = [block.design(X) for block in self.flats]
        owners = [*self.of_flats]
        tables += [piece.fixed_columns(X) for piece in pieces]
        owners += self.of_curves
        numbers = [
            one for one, table in zip(owners, tables, strict=True) for _ in range(table.shape[1])
        ]
        return np.hstack(tables), numbers


@dataclass(frozen=True)
class BackfittedWork:
    """All that a fit needs."""

    terms: tuple[PlacedTerm, ...]
    made: BackfittedTerms
    family: Family
    inputs: MixedInputs
    rows: Rows
    options: dict[str, Any]
    offset: Any
    one_sided: Callable[[], OneSided]  # returns levels whose rows are all alike
    kept: dict[float, BackfittedFit] = field(default_factory=dict)

    def fit(self, multiplier: float = 1.0) -> BackfittedFit:
        """Return the fit."""
        if multiplier != 1.0:
            raise ParameterError(
                "The path along a multiplier is that of engine='penalized'; with "
                "engine='backfitting' give df or span of the terms."
            )
        if 1.0 not in self.kept:
            X = self.rows.X
            P, _ = self.made.columns(X, self.made.curves)
            found = backfit(
                X,
                np.asarray(self.rows.y, dtype=np.float64),
                self.rows.weights,
                self.offset,
                P,
                list(self.made.curves),
                self.family,
                **self.options,
            )
            _, effects = term_effects(self.made, found, X, len(self.terms))
            varying = [self._varies(placed) for placed in self.terms]
            centres = self.rows.weights @ effects / self.rows.total_weight
            self.kept[1.0] = replace(found, centres=np.where(varying, 0.0, centres))
        return self.kept[1.0]

    @property
    def separated(self) -> bool:
        """Whether the terms separate 0 from 1, so that only a bound ends the fit."""
        found = self.fit()
        return self.family.name == "binomial" and found.deviance < SEPARATED * found.null_deviance

    def undetermined(self) -> list[str]:
        """Return no names: effects that say the same share what they say."""
        return []

    def _varies(self, placed: PlacedTerm) -> bool:
        """Return whether a term is a coefficient that varies: it has no centre to take off."""
        return placed.by is not None and self.inputs.levels[placed.by] is None


def term_effects(made: BackfittedTerms, fit: BackfittedFit, X: FloatArray, n_terms: int) -> Any:
    """Return intercept and indicators together (n,), and the effect of each term (n, terms)."""
    P, owners = made.columns(X, fit.pieces)
    found = np.zeros((len(X), n_terms + 1))  # the last column: what belongs to no term
    np.add.at(found.T, owners, (P * fit.beta).T)
    for number, piece in zip(made.of_curves, fit.pieces, strict=True):
        found[:, number] += piece.at(X)
    rest, effects = found[:, -1], found[:, :-1]
    if fit.centres is None:
        return rest, effects
    return rest + fit.centres.sum(), effects - fit.centres


def make_terms(
    terms: Sequence[PlacedTerm], inputs: MixedInputs, facts: Sequence[ColumnFacts]
) -> BackfittedTerms:
    """Return lines, levels and curves of the terms."""
    flats: list[Block] = [Block("(Intercept)", "intercept")]
    of_flats, curves, of_curves = [-1], [], []
    for number, placed in enumerate(terms):
        if placed.term.word == "offset":
            continue
        if isinstance(placed.term, LinearTerm | FactorTerm):
            made = _flat(placed, inputs, facts)
            flats += made
            of_flats += [number] * len(made)
        else:
            pieces = _pieces(placed, inputs, facts)
            curves += pieces
            of_curves += [number] * len(pieces)
    gaps = {j for placed in terms for j in (*placed.columns, *_by(placed)) if facts[j].gaps}
    for j in sorted(gaps):
        if inputs.levels[j] is None:
            flats.append(
                Block(f"{inputs.names[j]} missing", "linear", (Margin((j,), MissingBasis()),))
            )
            of_flats.append(-1)
    return BackfittedTerms(tuple(flats), tuple(curves), tuple(of_flats), tuple(of_curves))


def _by(placed: PlacedTerm) -> tuple[int, ...]:
    return () if placed.by is None else (placed.by,)


def _flat(placed: PlacedTerm, inputs: MixedInputs, facts: Sequence[ColumnFacts]) -> list[Block]:
    (j,) = placed.columns
    if isinstance(placed.term, FactorTerm):
        levels = inputs.levels[j]
        assert levels is not None
        return [
            Block(placed.name, "factor", (Margin((j,), LevelsBasis(len(levels), facts[j].gaps)),))
        ]
    margin = Margin((j,), ValueBasis(facts[j].centre, facts[j].spread))
    if placed.by is None:
        return [Block(placed.name, "linear", (margin,))]
    levels = inputs.levels[placed.by]
    if levels is None:
        by = Margin((placed.by,), ValueBasis(0.0, facts[placed.by].spread))
        return [Block(placed.name, "linear", (by, margin))]
    marks = [Margin((placed.by,), IndicatorBasis(code)) for code in range(len(levels))]
    return [Block(placed.name, "linear", (mark, margin)) for mark in marks]


def _pieces(
    placed: PlacedTerm, inputs: MixedInputs, facts: Sequence[ColumnFacts]
) -> list[CurvePiece]:
    term, columns = placed.term, placed.columns
    smoother, degree = _smoother(placed, facts)
    centre = np.array([facts[j].centre for j in columns])
    scale = np.array([facts[j].spread for j in columns])
    piece = CurvePiece(columns, centre, scale, degree, smoother, placed.by)
    if placed.by is None or inputs.levels[placed.by] is None:
        return [piece]
    count = len(inputs.levels[placed.by] or ())
    return [
        CurvePiece(columns, centre, scale, degree, smoother, placed.by, float(code))
        for code in range(count)
        if not isinstance(term, RandomTerm)
    ]


def _smoother(placed: PlacedTerm, facts: Sequence[ColumnFacts]) -> tuple[Any, int]:
    """Return what smooths the partial residuals of a term, and the degree of its polynomial."""
    term = placed.term
    if isinstance(term, LocalTerm):
        return Loess(span=term.span, degree=term.degree, surface="interpolate"), term.degree
    if isinstance(term, SmoothTerm):
        if term.smoother is not None:
            return term.smoother, 1
        if term.shape is not None or term.basis == "cyclic":
            raise InputError(
                f"{term!r}: cyclic curves and curves of a given shape are for engine='penalized'."
            )
        if len(term.columns) > 1:
            return ThinPlateSpline(**_knob(term.alpha)), 1
        if term.alpha is not None:
            return SmoothingSpline(alpha=term.alpha), 1
        distinct = facts[placed.columns[0]].distinct
        df = min(_DF, distinct - 1.5) if term.df is None else term.df
        return SmoothingSpline(df=df + 1), 1
    word = "random effects" if isinstance(term, RandomTerm) else "tensor products"
    assert isinstance(term, RandomTerm | TensorTerm)
    raise InputError(
        f"{term!r}: {word} are for engine='penalized'; with engine='backfitting' use factor(), or "
        "smooth(..., smoother=)."
    )


def _knob(alpha: float | None) -> dict[str, Any]:
    return {"alpha": "auto" if alpha is None else alpha}
