r"""Shapes: monotone and convex terms, as coefficients in a cone.

At given smoothing parameters the fit is a quadratic programme (a sequence of them for a
likelihood). Its constraints that hold with equality leave a smaller model, for which the smoothing
parameters are chosen again, until both agree.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import linalg

from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.engine import PenalizedEngine
from bottega.additive._penalized.fit import Fit
from bottega.additive._terms.blocks import Block
from bottega.core.families import Family, NegativeBinomial
from bottega.core.typing import BoolArray, FloatArray, IntArray
from bottega.optimize.nonnegative import nonnegative_least_squares

__all__ = ["ShapedEngine"]

_ROUNDS = 12
_STEPS = 50
_HALVINGS = 30


class ShapedEngine:
    """Fits of blocks some of which have a shape: ``signs @ coef >= 0``.

    Parameters
    ----------
    design : Design
        Blocks on binned inputs.
    parts : iterable of CodedRows
        All rows, or chunks.
    family : Family
        Distribution of the responses.
    make : callable
        The engine without shapes.
    settings : Any
        What else it takes.
    """

    n_predictors = 1

    def __init__(
        self,
        design: Design,
        parts: Iterable[CodedRows],
        family: Family,
        *,
        make: Callable[..., PenalizedEngine] = PenalizedEngine,
        **settings: Any,
    ) -> None:
        self.design, self.parts, self.make, self.settings = design, parts, make, settings
        self.free = make(design, parts, family, **settings)
        self.rows = self.free.rows

    @property
    def family(self) -> Family:
        """Distribution of the responses."""
        return self.free.family

    def choose(self, method: str = "reml", start: Fit | None = None) -> Fit:
        """Return the fit whose smoothing parameters a criterion chose."""
        fit = self.free.choose(method, start)
        active = self._none()
        if self._holds(fit.coef):
            return replace(fit, active=self._split(active))
        for _ in range(_ROUNDS):
            found = self._programme(fit)
            if np.array_equal(found, active):
                break
            active = found
            engine, N = self._restricted(active, fit.family)
            fit = self._whole(engine.choose(method), N, active)
        if not self._holds(fit.coef):  # the two never agreed: the programme decides
            return replace(self.at(fit.alphas, fit), method=method, score=fit.score)
        return fit

    def at(self, alphas: Sequence[Any] | None = None, start: Fit | None = None) -> Fit:
        """Return the fit at given smoothing parameters."""
        fit = self.free.at(alphas, start if start is None or not len(start.active) else None)
        if self._holds(fit.coef):
            return replace(fit, active=self._split(self._none()))
        active = self._programme(fit)
        engine, N = self._restricted(active, fit.family)
        return self._whole(engine.at(fit.alphas), N, active)

    # ---- the programme ----

    def _signs(self) -> FloatArray:
        """Return the constraints on all coefficients, as they are given."""
        return np.asarray(
            linalg.block_diag(
                *(
                    np.zeros((0, block.size)) if block.signs is None else block.signs
                    for block in self.design.blocks
                )
            )
        )

    def _none(self) -> BoolArray:
        return np.zeros(len(self._signs()), dtype=bool)

    def _split(self, active: BoolArray) -> tuple[IntArray, ...]:
        counts = [0 if b.signs is None else len(b.signs) for b in self.design.blocks]
        parts = np.split(active, np.cumsum(counts)[:-1])
        return tuple(np.flatnonzero(part) for part in parts)

    def _holds(self, coef: FloatArray) -> bool:
        slack = self._signs() @ coef
        return bool(np.all(slack >= -1e-9 * max(float(np.max(np.abs(coef), initial=0.0)), 1e-300)))

    def _programme(self, fit: Fit) -> BoolArray:
        """Return which constraints hold with equality at the smoothing parameters of a fit."""
        free = self.free
        if isinstance(fit.family, NegativeBinomial):
            free._set_theta(fit.family.theta)  # type: ignore[attr-defined]
        A = self._signs() @ free._turn
        flat = np.concatenate([*fit.alphas, np.zeros(0)])
        with np.errstate(divide="ignore"):
            S = free.penalties.total(np.log(flat / np.array(free.penalties.balance)))
        beta, value, active = np.zeros(free.penalties.p), np.inf, self._none()
        work = free._first if not free.least_squares else free.problem.working(None)
        target = work.pull  # of working responses at first
        for _ in range(_STEPS):
            new, multipliers = _cone(work.gram + S, target, A)
            before, best = beta, value
            active = multipliers > 0
            for _ in range(_HALVINGS):
                work = free.problem.working(new)
                value = work.deviance + float(new @ S @ new)
                if value <= best * (1 + 1e-12) + 1e-12:
                    break
                new = (new + before) / 2
            beta = new
            if free.least_squares or best - value <= 1e-9 * (abs(value) + 1):
                break
            target = work.pull + work.gram @ beta
        return active

    # ---- the smaller model ----

    def _restricted(self, active: BoolArray, family: Family) -> tuple[PenalizedEngine, FloatArray]:
        """Return the engine of the coefficients that equalities leave free, and their columns."""
        blocks, columns, start = [], [], 0
        for block in self.design.blocks:
            if block.signs is None:
                blocks.append(block)
                columns.append(np.eye(block.size))
                continue
            rows = block.signs[active[start : start + len(block.signs)]]
            start += len(block.signs)
            N = linalg.null_space(rows) if len(rows) else np.eye(block.size)
            columns.append(N)
            blocks.append(_narrowed(block, N))
        design = self.design.with_blocks(blocks)
        engine = self.make(design, self.parts, family, **self.settings)
        return engine, np.asarray(linalg.block_diag(*columns))

    def _whole(self, fit: Fit, N: FloatArray, active: BoolArray) -> Fit:
        """Return a fit of the smaller model in the coefficients of the given one."""
        corrected = fit.covariance_corrected
        covariance, coef = N @ fit.covariance @ N.T, N @ fit.coef
        gram = self.free._spread_both(
            self.free.problem.working(self.free._inside_of(coef.copy())).gram
        )
        V = covariance / fit.scale
        return replace(
            fit,
            coef=coef,
            sizes=self.design.sizes,
            penalty=N @ fit.penalty @ N.T,
            gram=gram,
            covariance=covariance,
            covariance_freq=N @ fit.covariance_freq @ N.T,
            covariance_corrected=None if corrected is None else N @ corrected @ N.T,
            edf=np.einsum("ij,ji->i", V, gram),
            dropped=np.diag(covariance) == 0,
            active=self._split(active),
        )


def _narrowed(block: Block, N: FloatArray) -> Block:
    """Return a block in fewer coefficients, ``coef = N coef_new``."""
    return replace(
        block,
        transform=N if block.transform is None else block.transform @ N,
        penalties=tuple(N.T @ S @ N for S in block.penalties),
        shrink=None if block.shrink is None else N.T @ block.shrink @ N,
        signs=None,
    )


def _cone(H: FloatArray, target: FloatArray, A: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least of ``x'Hx / 2 - target'x`` where ``A x >= 0``, and the multipliers."""
    size = 1 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    factor = linalg.cholesky(H * size[:, None] * size, lower=True)
    E = linalg.solve_triangular(factor, (A * size).T, lower=True)
    f = linalg.solve_triangular(factor, size * target, lower=True)
    length = np.maximum(np.linalg.norm(E, axis=0), 1e-300)
    multipliers = nonnegative_least_squares(E / length, -f) / length
    x = size * linalg.solve_triangular(factor, f + E @ multipliers, lower=True, trans="T")
    return np.asarray(x), np.asarray(multipliers)
