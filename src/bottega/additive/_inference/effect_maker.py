"""Makes the effects of a fitted additive model: grids, standard errors, critical values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from bottega.additive._inference.grids import TermGrid, term_grid
from bottega.additive._inference.term_table import scale_df, term_rows
from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.additive._terms.facts import ColumnFacts
from bottega.additive.effects import AdditiveEffects, TermEffect
from bottega.core.errors import InputError, did_you_mean
from bottega.core.results import check_level
from bottega.core.seeds import seed_of
from bottega.core.typing import FloatArray
from bottega.smooth.bands import simultaneous_critical

__all__ = ["TermEffectMaker"]

BANDS = ("pointwise", "simultaneous")
_CURVE, _SIDE = 100, 30  # points along a curve, along each side of a surface
_SIMULATIONS = 10_000


@dataclass(frozen=True)
class TermEffectMaker:
    """Makes the effects of a fitted model.

    Attributes
    ----------
    fit : Fit
    blocks : sequence of Block
    facts : sequence of ColumnFacts
        Range and centre of each column.
    names : sequence of str
        Name of each column.
    levels : sequence
        Levels of each category, None for numbers.
    responses : sequence of str
        Names of several predictors, one empty name for a single one.
    """

    fit: Fit
    blocks: Sequence[Block]
    facts: Sequence[ColumnFacts]
    names: Sequence[str]
    levels: Sequence[list[Any] | None]
    responses: Sequence[str] = ("",)
    like: Any = None

    def make(
        self,
        terms: Any,
        *,
        level: float,
        band: str,
        with_mean: bool,
        corrected: bool,
        random_state: Any,
    ) -> AdditiveEffects:
        """Return the effects of all terms, or of those named."""
        check_level(level)
        if band not in BANDS:
            raise InputError(f"band={band!r} is not allowed; use 'pointwise' or 'simultaneous'.")
        wanted = self._wanted(terms)
        seed = seed_of(random_state, "effects")
        covariance = self.fit.covariance
        if corrected and self.fit.covariance_corrected is not None:
            covariance = self.fit.covariance_corrected
        tests = {
            (row.predictor, row.name): row.test.p_value
            for row in term_rows(self.fit, self.blocks)
            if row.kind != "level"
        }
        found = []
        for place, part in enumerate(self.fit.slices):
            predictor, which = divmod(place, len(self.blocks))
            block = self.blocks[which]
            grid = term_grid(block, self.facts, self.levels, _CURVE, _SIDE)
            if grid is None or (wanted is not None and block.name not in wanted):
                continue
            rows, spread = grid.rows, covariance[part, part]
            if with_mean and block.centred:
                rows = np.column_stack([np.ones(len(rows)), rows])
                spread = self._with_mean(covariance, part, predictor)
            found.append(
                self._effect(
                    block,
                    grid,
                    grid.rows @ self.fit.coef[part],
                    (rows, spread),
                    (level, band, seed),
                    edf=float(self.fit.edf[part].sum()),
                    p_value=tests.get((predictor, block.name), np.nan),
                    response=self.responses[predictor],
                )
            )
        return AdditiveEffects(tuple(found), level, band, self.like)

    def _with_mean(self, covariance: FloatArray, part: slice, predictor: int) -> FloatArray:
        """Return the covariance of the mean predictor without a term, and of its coefficients."""
        size = sum(self.fit.sizes)
        a = np.zeros(len(covariance))
        slices = self.fit.slices[predictor * len(self.blocks) :]
        for block, own in zip(self.blocks, slices, strict=False):
            if block.kind == "intercept":
                here = slice(predictor * size, (predictor + 1) * size)
                total = self.fit.gram[own.start, own.start]
                # The products of the columns with ones are their sums over the rows.
                a[here] = self.fit.gram[own.start, here] / (total if total > 0 else 1.0)
        a[part] = 0.0
        cross = covariance[part, :] @ a
        top = np.array([[a @ covariance @ a]])
        return np.block([[top, cross[None, :]], [cross[:, None], covariance[part, part]]])

    def _wanted(self, terms: Any) -> set[str] | None:
        if terms is None:
            return None
        wanted = [terms] if isinstance(terms, str) else list(terms)
        known = [block.name for block in self.blocks if block.kind != "intercept"]
        for name in wanted:
            if name not in known:
                raise InputError(
                    f"No term is called {name!r}; the terms are {', '.join(known)}."
                    f"{did_you_mean(str(name), known)}"
                )
        return set(wanted)

    def _effect(
        self,
        block: Block,
        grid: TermGrid,
        effect: FloatArray,
        noise: tuple[FloatArray, FloatArray],
        about: tuple[float, str, int],
        **more: Any,
    ) -> TermEffect:
        rows, covariance = noise
        level, band, seed = about
        df = scale_df(self.fit)
        error = np.sqrt(np.maximum(np.einsum("ij,ij->i", rows @ covariance, rows), 0.0))
        critical = float(stats.t.ppf(0.5 + level / 2, df))
        if band == "simultaneous" and np.all(np.isfinite(error)):
            values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
            root = rows @ (vectors * np.sqrt(np.maximum(values, 0.0)))
            critical = simultaneous_critical(root, df, level, _SIMULATIONS, seed)
        columns = tuple(self.names[column] for column in grid.columns)
        half = critical * error
        return TermEffect(
            block.name,
            block.kind,
            columns,
            grid.points,
            effect,
            error,
            effect - half,
            effect + half,
            critical=critical,
            **more,
        )
