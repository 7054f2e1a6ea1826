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
            known = ~np.isnan(matrix[:, j])
            x = matrix[known, j]
            at = cuts.searchsorted(x) if self.levels[j] is None else x.astype(np.intp)
            found[:, j] = self.missing[j]
            found[known, j] = steps[at]
        return found

    def to_frame(self, like: Any = None) -> Any:
        """Return the effects as a data frame: one row per step, level or group of missing values.

        `low` and `high` bound a step (low exclusive, high inclusive); `level` names a level.
        Inputs that no stump looks at have no rows.
        """
        rows: list[tuple[Any, ...]] = []
        for j, name in enumerate(self.names):
            steps, missing, levels = self.steps[j].tolist(), float(self.missing[j]), self.levels[j]
            if not any(steps) and not missing:
                continue
            if levels is None:
                edges = [-np.inf, *self.cuts[j].tolist(), np.inf]
                spans = zip(edges, edges[1:], steps, strict=False)
                rows += [(name, low, high, "", effect) for low, high, effect in spans]
            else:
                of_levels = zip(levels, steps, strict=True)
                rows += [(name, np.nan, np.nan, str(level), effect) for level, effect in of_levels]
            rows.append((name, np.nan, np.nan, "(missing)", missing))
        columns = ("term", "low", "high", "level", "effect")
        return make_frame({key: [row[c] for row in rows] for c, key in enumerate(columns)}, like)


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
