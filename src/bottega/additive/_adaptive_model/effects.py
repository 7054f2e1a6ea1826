"""Effects of inputs, one and two at a time, as the terms of adaptive splines add them up."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bottega.additive._adaptive.basis import HINGE, Basis
from bottega.additive._adaptive_model.anatomy import Anatomy
from bottega.additive.effects import TermEffect
from bottega.core.typing import FloatArray
from bottega.smooth._surface.hull import inside_hull

_CELLS = 40  # per side of a surface


@dataclass(frozen=True)
class HingeEffects:
    """The chosen terms with one column of coefficients, evaluated over one or two inputs."""

    basis: Basis
    coef: FloatArray  # (m,)
    anatomy: Anatomy
    names: Sequence[str]
    levels: Sequence[Any]
    df_per_term: float
    response: str = ""

    def all(self) -> list[TermEffect]:
        """Return the effects of single inputs, and of pairs that some product has."""
        found = [self._main(group[0]) for group in self.anatomy.groups if len(group) == 1]
        products = {tuple(group) for group in self.anatomy.groups if len(group) == 2}
        for (a, b), outline in zip(self.anatomy.pairs, self.anatomy.outline, strict=True):
            if (a, b) in products and len(outline):
                found += self._pair(a, b, outline)
        return found

    def _main(self, j: int) -> TermEffect:
        if self.levels[j] is not None:
            codes = np.arange(len(self.levels[j]), dtype=np.float64)
            levels = self._named(j, codes)
            return self._effect([j], self.names[j], "factor", (levels,), codes[:, None])
        x = self._knots([j], j, *self.anatomy.shown[j])
        return self._effect([j], self.names[j], "smooth", (x,), x[:, None])

    def _pair(self, a: int, b: int, outline: FloatArray) -> list[TermEffect]:
        """Return a surface inside the hull, or of a category a curve for each of its levels."""
        name = f"{self.names[a]}:{self.names[b]}"
        category = self.levels[a] is not None, self.levels[b] is not None
        if all(category):
            both = [", ".join(pair) for pair in zip(*self._labels(a, b, outline), strict=True)]
            return [self._effect([a, b], name, "factor", (both,), outline, columns=(name,))]
        if any(category):
            return [
                self._curve_of_level(a, b, category.index(True), outline, code)
                for code in np.unique(outline[:, category.index(True)])
            ]
        axes = [
            self.anatomy.low[j]
            + (self.anatomy.high[j] - self.anatomy.low[j]) * (np.arange(_CELLS) + 0.5) / _CELLS
            for j in (a, b)
        ]
        grid = np.column_stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")])
        grid = grid[inside_hull(outline, grid)]
        return [self._effect([a, b], name, "tensor", (grid[:, 0], grid[:, 1]), grid)]

    def _curve_of_level(
        self, a: int, b: int, place: int, outline: FloatArray, code: float
    ) -> TermEffect:
        number = (a, b)[1 - place]
        ends = outline[outline[:, place] == code, 1 - place]
        x = self._knots([a, b], number, ends.min(), ends.max())
        points = np.empty((len(x), 2))
        points[:, place], points[:, 1 - place] = code, x
        level = self.levels[(a, b)[place]][int(code)]
        name = f"{self.names[number]}, {self.names[(a, b)[place]]} {level}"
        return self._effect([a, b], name, "smooth", (x,), points, columns=(self.names[number],))

    def _labels(self, a: int, b: int, codes: FloatArray) -> tuple[list[str], list[str]]:
        return self._named(a, codes[:, 0]), self._named(b, codes[:, 1])

    def _named(self, j: int, codes: FloatArray) -> list[str]:
        return [str(self.levels[j][int(code)]) for code in codes]

    def _knots(self, inputs: list[int], j: int, low: float, high: float) -> FloatArray:
        """Return the ends of a stretch and the knots between, from one to the next a line."""
        knots = [
            factor.knot
            for term in self.basis
            for factor in term.factors
            if set(term.variables) <= set(inputs) and factor.variable == j and factor.kind == HINGE
        ]
        return np.unique([low, *(knot for knot in knots if low < knot < high), high])

    def _effect(
        self,
        inputs: list[int],
        name: str,
        kind: str,
        points: tuple[Any, ...],
        at: FloatArray,
        columns: tuple[str, ...] | None = None,
    ) -> TermEffect:
        """Return what the terms of these inputs alone add at points of them, less its mean."""
        chosen = [
            k
            for k, term in enumerate(self.basis)
            if term.factors and set(term.variables) <= set(inputs)
        ]
        X = np.zeros((len(at), len(self.names)))
        X[:, inputs] = at
        effect = (self.basis.take(chosen).matrix(X) - self.anatomy.mean[chosen]) @ self.coef[chosen]
        unknown = np.full(len(at), np.nan)
        return TermEffect(
            name,
            kind,
            tuple(self.names[j] for j in inputs) if columns is None else columns,
            points,
            effect,
            unknown,
            unknown,
            unknown,
            self.df_per_term * len(chosen),
            np.nan,
            np.nan,
            self.response,
        )
