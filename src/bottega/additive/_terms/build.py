r"""From terms to blocks: bases for the range of the data, penalties, constraints.

A block is first made without its constraint; the sums of its columns over the rows then say what
an effect of mean zero is. For a term alone with crossproducts G (of the constrained columns) and
penalty S, the degrees of freedom beside the constant are tr{(G + alpha S)^-1 G}.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
from scipy import linalg, optimize

from bottega.additive._terms.bases import (
    CurveBasis,
    IndicatorBasis,
    LevelsBasis,
    MissingBasis,
    RingBasis,
    ValueBasis,
    plate_basis,
    ring_penalty,
    slope_changes,
    to_unit,
    uneven_knots,
    uneven_penalty,
)
from bottega.additive._terms.blocks import Block, Margin
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive._terms.resolve import PlacedTerm
from bottega.additive.terms import (
    FactorTerm,
    LinearTerm,
    LocalTerm,
    OffsetTerm,
    RandomTerm,
    SmoothTerm,
    TensorTerm,
)
from bottega.basis.spline_functions import difference_penalty, even_knots
from bottega.core.errors import DataWarning, InputError, warn_caller
from bottega.core.typing import FloatArray
from bottega.data.mixed_inputs import MixedInputs

__all__ = ["Building", "build_blocks"]

_TENSOR = 5  # B-splines of each column of a tensor term
_PLATE = 30  # functions of a thin-plate term
_MOST = 10_000  # coefficients of a model: their matrices are held whole
_NARROW = 0.25  # of the range: less holds nine tenths of the rows of a skewed column
_WILD = 1e-4  # of the range: nine tenths of the rows in less are lost beside a few wild numbers

# The weighted crossproducts of the columns of a block, the column of ones before them.
Gram = Callable[[Block], FloatArray]
# The distinct (binned) points of some columns, and their weights.
Points = Callable[[tuple[int, ...]], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Building:
    """What the blocks are made of: the columns, and sums over the rows."""

    inputs: MixedInputs
    facts: Sequence[ColumnFacts]
    gram: Gram
    points: Points
    n_splines: int


def build_blocks(terms: Sequence[PlacedTerm], about: Building) -> tuple[Block, ...]:
    """Return the intercept, the blocks of the terms, and indicators of missing values."""
    found = [Block("(Intercept)", "intercept")]
    for number, placed in enumerate(terms):
        if isinstance(placed.term, OffsetTerm):
            continue
        for block in _blocks(placed, about):
            _check_size(placed, sum(each.size for each in (*found, block)))
            found.append(replace(_finished(block, placed, about), term=number))
    return (*found, *_indicators(found, about))


def _check_size(placed: PlacedTerm, size: int) -> None:
    """Refuse a model whose matrices would not fit into memory."""
    if size > _MOST:
        raise InputError(
            f"With {placed.name} the model has {size:,} coefficients, and a fit holds matrices of "
            f"so many rows and columns; {_MOST:,} are the most. Take fewer functions (n_splines=), "
            "or columns of fewer levels."
        )


def _blocks(placed: PlacedTerm, about: Building) -> list[Block]:
    """Return the blocks of a term, without constraints."""
    term, columns, facts = placed.term, placed.columns, about.facts
    if isinstance(term, FactorTerm | RandomTerm):
        block = _levels(placed, about)
    elif isinstance(term, LinearTerm):
        fact = facts[columns[0]]
        margin = Margin(columns, ValueBasis(fact.centre, fact.spread))
        block = Block(placed.name, "linear", (margin,), labels=(about.inputs.names[columns[0]],))
    elif isinstance(term, TensorTerm):
        block = _tensor(placed, about)
    elif isinstance(term, SmoothTerm):
        block = _surface(placed, about) if term.basis == "thin_plate" else _curve(placed, about)
    else:
        assert isinstance(term, LocalTerm)
        raise InputError(
            f"{term!r} is local regression, which only engine='backfitting' fits; use that "
            "engine, or smooth()."
        )
    return _multiplied(block, placed, about)


def _multiplied(block: Block, placed: PlacedTerm, about: Building) -> list[Block]:
    """Return the block times the column in ``by=``, or one block for each of its levels."""
    by = placed.by
    if by is None:
        return [block]
    levels, name = about.inputs.levels[by], about.inputs.names[by]
    if levels is None:
        scale = max(abs(about.facts[by].low), abs(about.facts[by].high)) or 1.0
        margin = Margin((by,), ValueBasis(0.0, scale))
        return [replace(block, margins=(margin, *block.margins))]
    found = []
    for code, level in enumerate(levels):
        margin = Margin((by,), IndicatorBasis(code))
        label = placed.name.replace(f"by={name})", f"{name}={level})")
        found.append(replace(block, name=label, margins=(margin, *block.margins)))
    return found


def _levels(placed: PlacedTerm, about: Building) -> Block:
    (j,) = placed.columns
    levels, gaps = about.inputs.levels[j], about.facts[j].gaps
    assert levels is not None
    basis = LevelsBasis(len(levels), gaps)
    _check_size(placed, basis.size)
    labels = (*map(str, levels), *(("(missing)",) if gaps else ()))
    term = placed.term
    if isinstance(term, FactorTerm):
        return Block(placed.name, "factor", (Margin((j,), basis),), labels=labels)
    assert isinstance(term, RandomTerm)
    fixed = None if term.alpha is None else (float(term.alpha),)
    penalty = (np.eye(basis.size),)
    return Block(placed.name, "random", (Margin((j,), basis),), None, penalty, fixed, None, labels)


def _curve_parts(
    j: int, size: int, degree: int, order: int, knots: str, about: Building
) -> tuple[CurveBasis, FloatArray]:
    """Return B-splines and their penalty, no richer than the distinct values of a column allow."""
    fact = about.facts[j]
    degree = min(degree, fact.distinct - 1)
    size = max(min(size, max(fact.distinct, degree + 1)), degree + 1)
    points, weight = about.points((j,))
    known = ~np.isnan(points[:, 0])
    u, weight = to_unit(points[known, 0], fact.low, fact.high), weight[known]
    bulk = _bulk(u, weight)
    if 0 < bulk < _WILD:
        warn_caller(
            f"Column {str(about.inputs.names[j])!r} goes from {fact.low:.6g} to {fact.high:.6g}, "
            f"and nine tenths of its rows lie in {bulk:.1g} of that range: its curve can hardly "
            "bend there. Correct the wild values, or give the column's logarithm.",
            DataWarning,
        )
    skewed = knots == "auto" and bulk < _NARROW
    if order == 2 and size > degree + 1 and (knots == "quantile" or skewed):
        places = uneven_knots(u, weight, size, degree)
        return CurveBasis(fact.low, fact.high, places, degree), uneven_penalty(places, degree)
    places = even_knots(0.0, 1.0, size, degree)
    basis = CurveBasis(fact.low, fact.high, places, degree)
    return basis, difference_penalty(size, min(order, size - 1))


def _bulk(u: FloatArray, weight: FloatArray) -> float:
    """Return the share of the range of a column in which nine tenths of the rows lie."""
    order = np.argsort(u)
    mass = np.cumsum(weight[order])
    low, high = np.searchsorted(mass, [0.05 * mass[-1], 0.95 * mass[-1]])
    return float(u[order[min(high, len(u) - 1)]] - u[order[low]])


def _size_of(term: SmoothTerm, about: Building) -> int:
    if term.n_splines is not None:
        return term.n_splines
    wanted = 0 if term.df is None else int(np.ceil(term.df)) + 5
    return max(about.n_splines, wanted)


def _curve(placed: PlacedTerm, about: Building) -> Block:
    term, (j,) = placed.term, placed.columns
    assert isinstance(term, SmoothTerm)
    fact, size = about.facts[j], _size_of(term, about)
    if term.n_splines is not None and size <= max(term.degree, term.order):
        raise InputError(
            f"{term!r}: {size} functions are too few for degree {term.degree} and differences of "
            f"order {term.order}; take at least {max(term.degree, term.order) + 1}."
        )
    if term.basis == "cyclic":
        low, high = (fact.low, fact.high) if term.period is None else term.period
        if fact.low < low or fact.high > high:
            raise InputError(
                f"{term!r}: column {about.inputs.names[j]!r} goes from {fact.low:g} to "
                f"{fact.high:g}, beyond the period from {low:g} to {high:g}."
            )
        basis: Any = RingBasis(low, high, max(size, term.degree + 1), term.degree)
        penalty = ring_penalty(basis.size, term.order)
    else:
        basis, penalty = _curve_parts(j, size, term.degree, term.order, term.knots, about)
    fixed = None if term.alpha is None else (float(term.alpha),)
    signs = _shape(term.shape, basis)
    margins = (Margin((j,), basis),)
    return Block(placed.name, "smooth", margins, None, (penalty,), fixed, signs)


def _shape(shape: str | None, basis: Any) -> FloatArray | None:
    """Return what must not be negative for a curve of the shape, of the B-spline coefficients."""
    if shape is None:
        return None
    sign = 1.0 if shape in ("increasing", "convex") else -1.0
    if shape in ("increasing", "decreasing"):
        return sign * np.diff(np.eye(basis.size), axis=0)
    return sign * slope_changes(basis.knots, basis.degree)


def _surface(placed: PlacedTerm, about: Building) -> Block:
    term, columns = placed.term, placed.columns
    assert isinstance(term, SmoothTerm)
    points, weight = about.points(columns)
    known = ~np.any(np.isnan(points), axis=1)
    points, weight = points[known], weight[known]
    one = len(columns) == 1
    wanted = about.n_splines if one else _PLATE
    size = term.n_splines or max(wanted, 0 if term.df is None else int(np.ceil(term.df)) + 5)
    if len(points) <= len(columns) + 1:
        raise InputError(
            f"{term!r}: {len(points)} distinct points make no surface; there must be more than "
            f"{len(columns) + 1}."
        )
    size = min(size, len(points))
    basis = plate_basis(points, weight, max(size, len(columns) + 2))
    fixed = None if term.alpha is None else (float(term.alpha),)
    margins = (Margin(columns, basis),)
    return Block(placed.name, "smooth", margins, None, (basis.penalty(),), fixed)


def _tensor(placed: PlacedTerm, about: Building) -> Block:
    term = placed.term
    assert isinstance(term, TensorTerm)
    count = len(placed.columns)
    sizes = term.n_splines if isinstance(term.n_splines, tuple) else (term.n_splines,) * count
    _check_size(placed, math.prod(size or _TENSOR for size in sizes))  # before anything is made
    margins, penalties = [], []
    for j, size in zip(placed.columns, sizes, strict=True):
        basis, penalty = _curve_parts(j, size or _TENSOR, 3, 2, "auto", about)
        margin = Margin((j,), basis)
        if not term.main:
            Z = _centring(about.gram(Block("", "smooth", (margin,)))[0, 1:])
            margin, penalty = Margin((j,), basis, Z), Z.T @ penalty @ Z
        margins.append(margin)
        penalties.append(penalty)
    _check_size(placed, math.prod(each.size for each in margins))
    made = []
    for k, penalty in enumerate(penalties):
        factors: list[Any] = [
            penalty if i == k else np.eye(each.size) for i, each in enumerate(margins)
        ]
        made.append(reduce(np.kron, factors))
    fixed: tuple[float, ...] | None = None
    if term.alpha is not None:
        given = term.alpha if isinstance(term.alpha, tuple) else (term.alpha,) * count
        fixed = tuple(map(float, given))
    return Block(placed.name, "tensor", tuple(margins), None, tuple(made), fixed)


def _finished(block: Block, placed: PlacedTerm, about: Building) -> Block:
    """Return the block with its constraint absorbed, and the penalty that its df asks for."""
    term = placed.term
    varying = placed.by is not None and about.inputs.levels[placed.by] is None
    pure = isinstance(term, TensorTerm) and not term.main
    df = term.df if isinstance(term, SmoothTerm) else None
    if block.kind in ("linear", "random") or varying or pure:
        Z = None
    else:
        Z = _centring(about.gram(block)[0, 1:])
        penalties = tuple(Z.T @ each @ Z for each in block.penalties)
        signs = None if block.signs is None else block.signs @ Z
        block = replace(block, transform=Z, penalties=penalties, signs=signs)
    if df is not None:
        G = about.gram(block)[1:, 1:]
        block = replace(block, fixed=(_alpha_of(df, G, block.penalties[0], repr(term)),))
    return replace(block, shrink=_null_space(block.penalties))


def _centring(sums: FloatArray) -> FloatArray:
    """Return orthonormal columns Z such that functions ``B Z c`` sum to zero over the rows."""
    if not np.any(sums):
        return np.eye(len(sums))[:, 1:]
    Q, _ = np.linalg.qr((sums / np.abs(sums).max())[:, None], mode="complete")
    return np.asarray(Q[:, 1:])


def _null_space(penalties: Sequence[FloatArray]) -> FloatArray | None:
    """Return a penalty on what the others leave free, or None where that is nothing."""
    if not penalties:
        return None
    total = sum(each / max(np.abs(each).max(), 1e-300) for each in penalties)
    values, vectors = np.linalg.eigh(np.asarray(total))
    free = vectors[:, values < 1e-9 * max(values[-1], 1e-300)]
    return None if free.shape[1] == 0 else np.asarray(free @ free.T)


def _alpha_of(df: float, G: FloatArray, S: FloatArray, term: str) -> float:
    """Return the penalty with which a term alone has the degrees of freedom."""
    seen = np.linalg.eigvalsh(G)
    most = int(np.count_nonzero(seen > 1e-10 * max(seen[-1], 1e-300)))
    free = most - int(np.linalg.matrix_rank(S, tol=1e-9 * max(np.abs(S).max(), 1e-300)))
    if not free < df < most:
        raise InputError(
            f"{term}: df must lie between {max(free, 0)} and {most} for {len(G)} functions; give "
            "another df, or more n_splines."
        )
    scale = np.trace(G) / max(np.trace(S), 1e-300)
    # Where G alone is singular, G + S is not: a basis in which both are diagonal.
    values, _ = linalg.eigh(G, G + scale * S + 1e-12 * np.trace(G) * np.eye(len(G)))
    share = np.clip(values, 0.0, 1.0)

    def excess(log_alpha: float) -> float:
        ratio = np.exp(log_alpha) * (1 - share)
        return float((share / np.maximum(share + ratio, 1e-300)).sum()) - df

    found = optimize.brentq(excess, -40.0, 40.0, xtol=1e-10)
    return float(np.exp(found) * scale)


def _indicators(blocks: Sequence[Block], about: Building) -> list[Block]:
    """Return a column for each input with missing values that is not a factor's."""
    margins = [margin for block in blocks for margin in block.margins]
    levelled = {margin.columns[0] for margin in margins if isinstance(margin.basis, LevelsBasis)}
    used = {column for margin in margins for column in margin.columns} - levelled
    return [
        Block(
            f"{about.inputs.names[j]} missing",
            "linear",
            (Margin((j,), MissingBasis()),),
            labels=(f"{about.inputs.names[j]} missing",),
        )
        for j in sorted(used)
        if about.facts[j].gaps
    ]
