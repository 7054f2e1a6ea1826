"""A sum of stumps read as an additive model: one step function per input."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.core.frames import make_frame
from bottega.core.typing import FloatArray
from bottega.ensemble._boosting.learners import Stumps
from bottega.tree._grow.column_reader import ColumnReader


@dataclass(frozen=True)
class StumpEffects:
    """What each input adds to the log-odds of the second class.

    Attributes
    ----------
    names : list of str
        The inputs.
    intercept : float
        What the stumps that look at no input add.
    cuts : list of ndarray
        For each number, the values at which its effect steps, ascending; empty for a category.
    steps : list of ndarray
        For each number, its effect up to each cut and beyond the last (one more than cuts); for
        a category, the effect of each level in the order of `levels`.
    missing : ndarray of shape (p,)
        Effect of each input where it is missing (or a level not seen in training).
    levels : list
        Names of the levels of each category; None for a number.
    """

    names: list[str]
    intercept: float
    cuts: list[FloatArray]
    steps: list[FloatArray]
    missing: FloatArray
    levels: list[Any]
    model: Any

    def evaluate(self, X: Any) -> FloatArray:
        """Return the effect of each input at each row of X: (rows, inputs).

        Their sum and the intercept are the model's decision function.
        """
        matrix = self.model.columns_in_.read(self.model, X)
        found = np.empty(matrix.shape)
        for j, (cuts, steps) in enumerate(zip(self.cuts, self.steps, strict=True)):
            x = matrix[:, j]
            known = ~np.isnan(x)
            at = (
                x[known].astype(np.intp)
                if self.levels[j] is not None
                else cuts.searchsorted(x[known])
            )
            found[:, j] = self.missing[j]
            found[known, j] = steps[at]
        return found

    def to_frame(self, like: Any = None) -> Any:
        """Return the effects as a data frame: one row per step, level or group of missing values.

        `low` and `high` bound a step (low exclusive, high inclusive); `level` names a level.
        Inputs that no stump looks at have no rows.
        """
        rows: dict[str, list[Any]] = {
            name: [] for name in ("term", "low", "high", "level", "effect")
        }

        def add(*cells: Any) -> None:
            for column, cell in zip(rows.values(), cells, strict=True):
                column.append(cell)

        for j, name in enumerate(self.names):
            steps, cuts = self.steps[j], self.cuts[j]
            levels = self.levels[j]
            if not np.any(steps) and not self.missing[j]:
                continue
            if levels is None:
                edges = [-np.inf, *cuts.tolist(), np.inf]
                for s, effect in enumerate(steps.tolist()):
                    add(name, edges[s], edges[s + 1], "", effect)
            else:
                for level, effect in zip(levels, steps.tolist(), strict=True):
                    add(name, np.nan, np.nan, str(level), effect)
            add(name, np.nan, np.nan, "(missing)", float(self.missing[j]))
        return make_frame(rows, like)


def stump_effects(
    stumps: Stumps, alphas: FloatArray, reader: ColumnReader, model: Any
) -> StumpEffects:
    """Sort the stumps by the input they look at and add up their steps."""
    p = len(reader.names)
    sign = np.array([-1.0, 1.0])
    cuts: list[FloatArray] = []
    steps: list[FloatArray] = []
    missing = np.zeros(p)
    for j in range(p):
        own = np.flatnonzero(stumps.feature == j)
        missing[j] = np.sum(alphas[own] * sign[stumps.other[own]])
        levels = reader.levels[j]
        if levels is not None:
            cuts.append(np.zeros(0))
            steps.append(_level_effects(stumps, alphas, own, len(levels), sign))
            continue
        low = alphas[own] * sign[stumps.low[own]]
        high = alphas[own] * sign[stumps.high[own]]
        at, place = np.unique(stumps.threshold[own], return_inverse=True)
        # Crossing a cut trades the low vote of its stumps for their high one.
        rise = np.bincount(place, weights=high - low, minlength=len(at))
        cuts.append(at)
        steps.append(np.concatenate([[low.sum()], low.sum() + np.cumsum(rise)]))
    none = stumps.feature < 0
    intercept = float(np.sum(alphas[none] * sign[stumps.other[none]]))
    return StumpEffects(
        list(reader.names), intercept, cuts, steps, missing, list(reader.levels), model
    )


def _level_effects(
    stumps: Stumps, alphas: FloatArray, own: Any, count: int, sign: FloatArray
) -> FloatArray:
    effects = np.zeros(count)
    for b in own:
        vote = np.full(count, stumps.other[b])
        some = slice(stumps.level_start[b], stumps.level_stop[b])
        vote[stumps.levels[some]] = stumps.level_vote[some]
        effects += alphas[b] * sign[vote]
    return effects
