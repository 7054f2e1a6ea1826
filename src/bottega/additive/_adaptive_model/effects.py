"""Effects of inputs, one and two at a time, as the terms of adaptive splines add them up."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._adaptive.basis import HINGE, Basis
from bottega.additive._adaptive_model.anatomy import Anatomy
from bottega.core.frames import make_frame
from bottega.core.typing import Array, BoolArray, FloatArray
from bottega.plot import hinge_effects_chart
from bottega.smooth._surface.hull import inside_hull

_CELLS = 40  # per side of a surface


@dataclass(frozen=True)
class MainEffect:
    """What the terms of one input alone add, less its mean over the rows.

    Attributes
    ----------
    name : str
        The input.
    values : ndarray
        Ends of the data and knots, between which the effect is a line; levels of a category.
    effect : ndarray
        The effect there.
    category : bool
        Whether the input is a category.
    """

    name: str
    values: Array
    effect: FloatArray
    category: bool


@dataclass(frozen=True)
class PairEffect:
    """What the terms of two inputs, of each and of both, add on a grid, less its mean.

    Attributes
    ----------
    names : tuple of str
        The two inputs.
    values : tuple of ndarray
        Values of each: middles of even cells, or levels of a category.
    effect : ndarray of shape (first, second)
        The effect; NaN outside the convex hull of the data.
    category : tuple of bool
        Which of them are categories.
    """

    names: tuple[str, str]
    values: tuple[Array, Array]
    effect: FloatArray
    category: tuple[bool, bool]


@dataclass(frozen=True)
class AdaptiveEffects:
    """Effects of single inputs and of pairs, on the scale of the sum of the terms.

    Attributes
    ----------
    mains : list of MainEffect
        One for each input with terms of its own, the widest first.
    pairs : list of PairEffect
        One for each pair of inputs in a product, the widest first.
    title : str
        What the effects are on.
    beyond : int
        Terms of three and more inputs, which no picture shows.
    """

    mains: list[MainEffect]
    pairs: list[PairEffect]
    title: str
    beyond: int
    frame: Any = None

    def tidy(self) -> Any:
        """Return all values as a data frame: term, inputs, where, and the effect.

        Returns
        -------
        data frame
            Columns term (the input, or both with a colon), x and level of the first input, and
            x2 and level2 of the second; effect. What does not apply is missing.
        """
        rows: list[tuple[Any, ...]] = []
        for one in self.mains:
            for value, effect in zip(one.values, one.effect, strict=True):
                rows.append((one.name, *_shown(value, one.category), np.nan, None, float(effect)))
        for two in self.pairs:
            name = ":".join(two.names)
            for i, first in enumerate(two.values[0]):
                for j, second in enumerate(two.values[1]):
                    if not np.isnan(two.effect[i, j]):
                        a, b = _shown(first, two.category[0]), _shown(second, two.category[1])
                        rows.append((name, *a, *b, float(two.effect[i, j])))
        names = ("term", "x", "level", "x2", "level2", "effect")
        columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        return make_frame(columns, self.frame)

    def plot(self, *, most: int = 12, columns: int = 3) -> Any:
        """Draw single inputs as curves and pairs as surfaces, inside the hull of the data.

        Parameters
        ----------
        most : int
            Of more inputs, or pairs, those with the widest effects are drawn.
        columns : int
            Panels side by side.

        Returns
        -------
        altair.VConcatChart
            The curves are on one scale of heights, the surfaces on one scale of colours.
        """
        return hinge_effects_chart(self, most=most, columns=columns)


def _shown(value: Any, category: bool) -> tuple[float, Any]:
    return (np.nan, str(value)) if category else (float(value), None)


@dataclass(frozen=True)
class EffectMaker:
    """The chosen terms with one column of coefficients, evaluated over one or two inputs."""

    basis: Basis
    coef: FloatArray  # (m,)
    anatomy: Anatomy
    names: list[str]
    levels: list[Any]

    def effects(self, title: str, frame: Any) -> AdaptiveEffects:
        """Return the effects of all inputs and pairs."""
        single = sorted({group[0] for group in self.anatomy.groups if len(group) == 1})
        mains = [self._main(j) for j in single]
        together = {tuple(group) for group in self.anatomy.groups if len(group) == 2}
        pairs = [
            self._pair(pair[0], pair[1], outline)
            for pair, outline in zip(self.anatomy.pairs, self.anatomy.outline, strict=True)
            if tuple(pair) in together
        ]
        mains.sort(key=_narrowness)
        pairs.sort(key=_narrowness)
        beyond = sum(term.degree > 2 for term in self.basis)
        return AdaptiveEffects(mains, pairs, title, beyond, frame)

    def _main(self, j: int) -> MainEffect:
        levels = self.levels[j]
        if levels is not None:
            codes = np.arange(len(levels), dtype=np.float64)
            names = np.array([str(level) for level in levels], dtype=object)
            return MainEffect(self.names[j], names, self._sum([j], codes[:, None]), True)
        knots = [
            factor.knot
            for term in self.basis
            for factor in term.factors
            if term.variables == (j,) and factor.kind == HINGE
        ]
        x = np.unique([self.anatomy.low[j], *knots, self.anatomy.high[j]])
        return MainEffect(self.names[j], x, self._sum([j], x[:, None]), False)

    def _pair(self, a: int, b: int, outline: FloatArray) -> PairEffect:
        axes, shown = zip(*(self._axis(j) for j in (a, b)), strict=True)
        grid = np.column_stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")])
        effect = self._sum([a, b], grid)
        category = self.levels[a] is not None, self.levels[b] is not None
        effect[~_inside(outline, grid, category)] = np.nan
        names = self.names[a], self.names[b]
        return PairEffect(names, shown, effect.reshape(len(axes[0]), len(axes[1])), category)

    def _axis(self, j: int) -> tuple[FloatArray, Array]:
        levels = self.levels[j]
        if levels is not None:
            names = np.array([str(level) for level in levels], dtype=object)
            return np.arange(len(levels), dtype=np.float64), names
        low, high = self.anatomy.low[j], self.anatomy.high[j]
        x = low + (high - low) * (np.arange(_CELLS) + 0.5) / _CELLS
        return x, x

    def _sum(self, inputs: list[int], points: FloatArray) -> FloatArray:
        """Return what the terms of these inputs alone add at points of them, less its mean."""
        chosen = [
            k
            for k, term in enumerate(self.basis)
            if term.factors and set(term.variables) <= set(inputs)
        ]
        X = np.zeros((len(points), len(self.names)))
        X[:, inputs] = points
        columns = self.basis.take(chosen).matrix(X) - self.anatomy.mean[chosen]
        return np.asarray(columns @ self.coef[chosen])


def _narrowness(effect: MainEffect | PairEffect) -> float:
    known = effect.effect[~np.isnan(effect.effect)]
    return -float(np.ptp(known)) if len(known) else 0.0


def _inside(outline: FloatArray, grid: FloatArray, category: tuple[bool, bool]) -> BoolArray:
    """Return which points of a grid lie where the data are."""
    if not len(outline):
        return np.zeros(len(grid), dtype=bool)
    if not any(category):
        return inside_hull(outline, grid)
    if all(category):
        seen = {tuple(pair) for pair in outline.tolist()}
        return np.array([tuple(pair) in seen for pair in grid.tolist()], dtype=bool)
    k = category.index(True)
    inside = np.zeros(len(grid), dtype=bool)
    for level in np.unique(outline[:, k]):
        ends = outline[outline[:, k] == level, 1 - k]
        here = (grid[:, 1 - k] >= ends.min()) & (grid[:, 1 - k] <= ends.max())
        inside |= (grid[:, k] == level) & here
    return inside
