"""Points at which the effect of a term is shown: along its columns, all else left out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._terms.bases import IndicatorBasis, LevelsBasis, MissingBasis, ValueBasis
from bottega.additive._terms.blocks import Block, Margin
from bottega.additive._terms.facts import ColumnFacts
from bottega.core.typing import FloatArray

__all__ = ["TermGrid", "even_points", "level_codes", "shown_points", "term_grid"]


@dataclass(frozen=True)
class TermGrid:
    """Where an effect is shown.

    Attributes
    ----------
    columns : tuple of int
        The columns that vary: one or two.
    points : tuple of ndarray or list
        Their values at each point; of a category its levels.
    rows : ndarray of shape (m, size)
        Columns of the block at the points.
    """

    columns: tuple[int, ...]
    points: tuple[Any, ...]
    rows: FloatArray


def term_grid(
    block: Block,
    facts: Sequence[ColumnFacts],
    levels: Sequence[list[Any] | None],
    count: int,
    side: int,
) -> TermGrid | None:
    """Return `count` points along the column of a block, or `side` along each of two.

    A column in ``by=`` is at one (or at the level of the block); a third column of a surface is at
    its mean. None where there is nothing to be shown: intercepts, indicators of missing values.
    """
    if not block.margins or any(isinstance(m.basis, MissingBasis) for m in block.margins):
        return None
    X = np.zeros((1, len(facts)))
    axes: dict[int, FloatArray] = {}
    for place, margin in enumerate(block.margins):
        if isinstance(margin.basis, IndicatorBasis):
            X[0, margin.columns[0]] = margin.basis.code
        elif isinstance(margin.basis, ValueBasis) and not (block.kind == "linear" and place == 0):
            X[0, margin.columns[0]] = 1.0
        else:
            for column in margin.columns:
                axes[column] = np.full(1, facts[column].centre)
    shown = tuple(axes)[:2]
    for column in shown:
        axes[column] = _axis(block, column, facts[column], count if len(shown) == 1 else side)
    mesh = np.meshgrid(*(axes[column] for column in shown), indexing="ij")
    X = np.repeat(X, mesh[0].size, axis=0)
    for column, values in axes.items():
        X[:, column] = values[0]
    for column, values in zip(shown, mesh, strict=True):
        X[:, column] = values.ravel()
    points = tuple(shown_points(X[:, column], levels[column]) for column in shown)
    return TermGrid(shown, points, block.design(X))


def _axis(block: Block, column: int, fact: ColumnFacts, count: int) -> FloatArray:
    margin: Margin = next(m for m in block.margins if column in m.columns)
    basis: Any = margin.basis
    if isinstance(basis, LevelsBasis):
        return level_codes(basis.n_levels, basis.gaps)
    low, high = getattr(basis, "low", fact.low), getattr(basis, "high", fact.high)
    return even_points(low, high, count)


def level_codes(count: int, gaps: bool) -> FloatArray:
    """Return the codes of levels, and NaN where missing values are a level too."""
    return np.array([*range(count), np.nan] if gaps else range(count), dtype=np.float64)


def even_points(low: float, high: float, count: int) -> FloatArray:
    """Return evenly spaced values, also between ends whose difference is too large a number."""
    share = np.linspace(0.0, 1.0, count)
    return np.asarray((1 - share) * low + share * high)


def shown_points(values: FloatArray, levels: list[Any] | None) -> Any:
    """Return numbers as they are, codes as the names of their levels."""
    if levels is None:
        return values
    return ["missing" if np.isnan(code) else str(levels[int(code)]) for code in values]
