r"""The penalised engine: blocks and binned rows in, coefficients and smoothing parameters out.

.. math:: \min_\beta \; D(\beta) + \sum_j \lambda_j \beta' S_j \beta,

with D the deviance and the :math:`\lambda_j` chosen by REML (or GCV, UBRE, leave-one-out).

Least squares costs one pass over the rows; every step in the smoothing parameters then costs
O(p^3). Other likelihoods cost one pass for each Newton step in the coefficients, and one more for
each exact gradient of the criterion. They start by a performance iteration (smoothing parameters
chosen for each working model), which ends near the optimum in the time of a single fit.
"""

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from bottega.additive._penalized.criteria import Evaluation, Setting, evaluate
from bottega.additive._penalized.design import CodedRows, Design
from bottega.additive._penalized.fit import Fit
from bottega.additive._penalized.gaussian import GaussianRows
from bottega.additive._penalized.identify import check_rows, determined
from bottega.additive._penalized.newton import Optimum, minimise
from bottega.additive._penalized.penalties import Penalties
from bottega.additive._penalized.problem import LikelihoodProblem, RowProblem, null_deviance
from bottega.additive._penalized.restricted import Restricted
from bottega.additive._penalized.rotation import Rotation
from bottega.additive._penalized.state import Quadratic, State, inverse, solve
from bottega.additive._terms.blocks import Block
from bottega.core.errors import ParameterError
from bottega.core.families import Family
from bottega.core.lazy import cached_property
from bottega.core.threads import one_thread
from bottega.core.typing import BoolArray, FloatArray

__all__ = ["METHODS", "RIDGE", "PenalizedEngine", "is_least_squares"]

METHODS = ("reml", "gcv", "ubre", "loo")

# Bounds the coefficients of responses that inputs separate; negligible against what the rows say.
RIDGE = 1e-9
_WARM_PASSES = 25
_FAR = 6.0
_SMALL = 1000  # coefficients
_SEPARATED = 1e-3  # deviance a row


def is_least_squares(family: Family) -> bool:
    """Return True for the family whose deviance is a sum of squares of what is linear."""
    return family.name == "gaussian" and family.the_link.name == "identity"


class _Separated(Exception):
    """The fit at some smoothing parameters separates the classes."""

    def __init__(self, state: State) -> None:
        super().__init__("separated")
        self.state = state


class PenalizedEngine:
    """Fits of one set of blocks to one set of rows.

    Parameters
    ----------
    design : Design
        Blocks on binned inputs.
    parts : iterable of CodedRows
        All rows (a list of one), or chunks that can be iterated over again.
    family : Family
        Distribution of the responses, with its link.
    shrink : bool
        Whether blocks have their penalty on null spaces too, which selects terms.
    ridge : float
        A penalty on every coefficient of a likelihood, as a share of what rows say about it: bounds
        the coefficients of responses that inputs separate.
    """

    def __init__(
        self,
        design: Design,
        parts: Iterable[CodedRows],
        family: Family,
        *,
        shrink: bool = False,
        ridge: float = RIDGE,
    ) -> None:
        self.parts, self.family, self.shrink, self.ridge = parts, family, shrink, ridge
        self.rotation = Rotation(design.blocks)
        self.design = design = design.with_blocks(self.rotation.blocks)
        self.blocks = design.blocks
        self.least_squares = is_least_squares(family)
        self.n_predictors = 1
        with self._threads():
            self.rows: Any = self._make_rows()
            self._begin()

    def _make_rows(self) -> Any:
        if self.least_squares:
            return GaussianRows(self.design, self.parts, self._intercept())
        return RowProblem(self.design, self.parts, self.family)

    @cached_property
    def _turn(self) -> FloatArray:
        """Coefficients as they are given of those that are kept inside."""
        return self.rotation.matrix(self.n_predictors)[:, self.kept]

    def _intercept(self) -> int | None:
        for block, here in zip(self.blocks, self.design.slices, strict=True):
            if block.kind == "intercept":
                return here.start
        return None

    def _begin(self) -> None:
        first = self.rows.working(None)
        every = self._every_block()
        self.kept = self._determined(first.gram)
        self.problem: LikelihoodProblem = (
            self.rows if self.kept.all() else Restricted(self.rows, self.kept)
        )
        small = first if self.kept.all() else Restricted.of(first, self.kept)
        self._first = small
        self._safe = self._constant()[self.kept]
        ridge = 0.0 if self.least_squares else self.ridge
        self.penalties = Penalties(every, self.kept, small.gram, shrink=self.shrink, ridge=ridge)
        check_rows(self.family, self.rows, self.penalties.null_dim)

    def _determined(self, gram: FloatArray) -> BoolArray:
        return determined(self.blocks, gram, shrink=self.shrink)

    def _constant(self) -> FloatArray:
        """Return the coefficients of a constant predictor: all means are possible there."""
        found = np.zeros(len(self.kept))
        where = self._intercept()
        if where is not None and isinstance(self.rows, RowProblem):
            found[where] = self.rows.constant()
        return found

    def _every_block(self) -> Sequence[Block]:
        """Return the blocks with the coefficients of all predictors."""
        return self.blocks

    def lost(self) -> list[int]:
        """Return how many coefficients of each block neither rows nor penalties determine."""
        ends = np.cumsum([block.size for block in self._every_block()])[:-1]
        return [int(np.count_nonzero(~part)) for part in np.split(self.kept, ends)]

    # ---- fits ----

    def choose(self, method: str = "reml", start: Fit | None = None) -> Fit:
        """Return the fit whose smoothing parameters a criterion chose.

        Parameters
        ----------
        method : str
            One of `METHODS`.
        start : Fit, optional
            A fit of the same blocks to start from.
        """
        self._check(method)
        with self._threads():
            rho, beta = self._start(start)
            if not self.least_squares and len(rho):
                rho, beta, separated = self._warm(method, rho, beta)
                if separated:
                    return self._fit(self._stay(method, rho, beta), method)
            polish = 3 if self.least_squares and method != "loo" else 0
            secant = not self.least_squares
            try:
                found = self._minimise(
                    self.problem, method, rho, beta, polish=polish, secant=secant
                )
            except _Separated as stopped:
                found = self._stay(
                    method, stopped.state.rho[self.penalties.free], stopped.state.beta
                )
            return self._fit(found, method)

    def _separated(self, deviance: float) -> bool:
        """Return whether the inputs all but determine the classes: no criterion is then of use."""
        binary = self.family.name in ("binomial", "multinomial")
        return binary and deviance < _SEPARATED * self.rows.weight

    def _threads(self) -> AbstractContextManager[None]:
        """Keep small linear algebra to one thread."""
        return one_thread() if self.design.p <= _SMALL else nullcontext()

    def at(self, alphas: Sequence[Any] | None = None, start: Fit | None = None) -> Fit:
        """Return the fit at given smoothing parameters, those of each block after another."""
        beta = None if start is None else self._inside(start)
        rho = self.penalties.full(np.zeros(len(self.penalties.free)))
        if alphas is not None:
            flat = self._flat(alphas)
            with np.errstate(divide="ignore"):
                rho = np.log(flat / np.array(self.penalties.balance))
        with self._threads():
            state = solve(self.problem, self.penalties, rho, beta, self._safe)
            at = self._evaluate(self.problem, "reml" if np.all(np.isfinite(rho)) else "gcv", state)
            return self._fit(Optimum(rho, at, np.zeros((0, 0)), 0.0, state.converged), "given")

    def _flat(self, alphas: Sequence[Any]) -> FloatArray:
        """Return one smoothing parameter for each penalty; that of a null space may be left out."""
        found = []
        for each, members in zip(alphas[: len(self.blocks)], self.penalties.of_block, strict=True):
            given = np.atleast_1d(np.asarray(each, dtype=np.float64))
            found.append(np.append(given, given[-1:]) if len(given) == len(members) - 1 else given)
        return np.concatenate(found)

    def _check(self, method: str) -> None:
        if method not in METHODS:
            raise ParameterError(
                f"method={method!r} is not known; choose one of {', '.join(METHODS)}."
            )
        if method == "ubre" and not self.family.known_scale:
            raise ParameterError(
                f"method='ubre' needs a known scale, and family={self.family.name!r} has to "
                "estimate it; choose 'reml' or 'gcv'."
            )

    def _start(self, start: Fit | None) -> tuple[FloatArray, FloatArray | None]:
        free = self.penalties.free
        if start is None:
            return np.zeros(len(free)), None
        rho = np.log(self._flat(start.alphas) / np.array(self.penalties.balance))[free]
        # From a bound no gradient leads back: start where a term can still bend.
        return np.clip(rho, -_FAR, _FAR), self._inside(start)

    def _warm(
        self, method: str, rho: FloatArray, beta: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Choose smoothing parameters for each working model until they settle.

        Also returns whether the classes turned out to be separated.
        """
        working = "gcv" if method == "loo" and not self.family.known_scale else method
        working = "ubre" if method == "loo" and self.family.known_scale else working
        work, p = self._first if beta is None else self.problem.working(beta), self.penalties.p
        best, size = np.inf, self.problem.size
        row = size / self.problem.n
        for _ in range(_WARM_PASSES):
            # The first pass is at no coefficients: its pull is that of the working responses.
            quadratic = Quadratic(np.zeros(p) if beta is None else beta, work, self.problem.n, size)
            found = self._minimise(quadratic, working, rho, None, tol=1e-3, max_iter=8, snap=False)
            new, step = found.at.state.beta, np.inf
            if beta is not None:
                step = float(np.max(np.abs(found.rho - rho), initial=0.0))
            rho, before, beta = found.rho, beta, new
            work = self.problem.working(beta)
            S = found.at.state.S
            value = work.deviance + float(beta @ S @ beta)
            for _ in range(20):
                if np.isfinite(value) and (before is None or value <= 1.5 * best + 1e-3 * row):
                    break
                beta = (beta + (self._safe if before is None else before)) / 2
                work = self.problem.working(beta)
                value = work.deviance + float(beta @ S @ beta)
            if step < 0.1 and abs(value - best) < 1e-4 * (abs(value) + row):
                break
            if self._separated(work.deviance):
                break
            best = value
        done = np.zeros(p) if beta is None else beta
        return rho, done, self._separated(work.deviance)

    def _stay(self, method: str, rho: FloatArray, beta: FloatArray) -> Optimum:
        """Return the fit at smoothing parameters that are not judged any further."""
        state = solve(self.problem, self.penalties, self.penalties.full(rho), beta)
        at = self._evaluate(self.problem, method, state)
        return Optimum(rho, at, np.eye(len(rho)), 0.0, True)

    def _minimise(
        self,
        problem: LikelihoodProblem,
        method: str,
        rho: FloatArray,
        beta: FloatArray | None,
        **settings: Any,
    ) -> Optimum:
        def value(free: FloatArray, before: Evaluation | None) -> Evaluation:
            full = self.penalties.full(free)
            start = beta
            if before is not None:
                state = before.state
                finite = np.isfinite(full)
                move = np.subtract(full, state.rho, out=np.zeros_like(full), where=finite)
                # Where the coefficients go to first order: steps are short near the end.
                ahead = state.U @ move if np.max(np.abs(move), initial=0.0) < 1 else 0.0
                start = state.beta + ahead
            state = solve(problem, self.penalties, full, start, self._safe)
            if problem is self.problem and self._separated(state.deviance):
                raise _Separated(state)
            return self._evaluate(problem, method, state)

        upper = self.penalties.upper
        return minimise(value, rho, self.penalties.free, upper, **settings)

    def _evaluate(self, problem: LikelihoodProblem, method: str, state: State) -> Evaluation:
        known = self.family.known_scale
        return evaluate(method, Setting(problem, self.penalties, self.rows.saturated, known), state)

    # ---- what is returned ----

    def _fit(self, found: Optimum, method: str) -> Fit:
        at, state, family = found.at, found.at.state, self.family
        unit = self.rows.unit if self.least_squares else 1.0
        # Smoothing parameters that end at given zeros have no logarithm.
        alphas = self.penalties.alphas(state.rho)
        again = inverse(state.gram + state.S).V
        scale = self._scale(at, method)
        coef = self._spread(state.beta) * unit
        score = at.score
        if self.least_squares:
            where = self._intercept()
            if where is not None:
                coef[where] += self.rows.middle
            rest = self.rows.n - self.penalties.null_dim
            score = score * unit**2 if at.squared else score + rest * float(np.log(unit))
        deviance = state.deviance * unit**2
        gram, V = self._spread_both(state.gram), self._spread_both(again)
        edf = np.einsum("ij,ji->i", V, gram)
        corrected = None
        if method == "reml" and len(self.penalties.free):
            more = found.uncertainty(self.penalties.free) * unit**2
            corrected = V * scale + self._spread_both(more)
        return Fit(
            coef=coef,
            sizes=self.design.sizes,
            family=family,
            alphas=tuple(alphas) * (self.n_predictors * len(self.blocks) // len(alphas)),
            penalty=self._spread_both(state.S - np.diag(self.penalties.ridge)),
            gram=gram,
            covariance=V * scale,
            covariance_freq=V @ gram @ V * scale,
            edf=edf,
            scale=scale,
            scale_known=family.known_scale,
            method=method,
            score=score,
            deviance=deviance,
            null_deviance=self._null_deviance(),
            loglik=self._loglik(deviance, scale),
            n=self.rows.rows,
            weight=self.rows.weight,
            n_iter=self.rows.passes,
            converged=bool(found.converged and state.converged),
            gradient=found.gradient,
            dropped=np.diag(V) == 0,
            covariance_corrected=corrected,
            n_predictors=self.n_predictors,
        )

    def _scale(self, at: Evaluation, method: str) -> float:
        """Return the dispersion: residual, or (of a chosen REML) where the criterion is least."""
        if self.family.known_scale:
            return 1.0
        state, n = at.state, self.rows.rows
        rest = max(n - state.df, 1e-8 * n)
        if self.least_squares:
            return state.deviance * self.rows.unit**2 / rest
        if method == "reml" and n == self.rows.n:
            return at.scale
        return self.rows.pearson(self._full(state.beta)) / rest

    def _loglik(self, deviance: float, scale: float) -> float:
        if self.family.name == "gaussian":
            # The scale of most likelihood: criteria count it as a parameter.
            scale = max(deviance / self.rows.rows, 1e-300)
        return float(self.rows.greatest(scale) - deviance / (2 * scale))

    def _null_deviance(self) -> float:
        if self.least_squares:
            return self.rows.null_deviance()
        with np.errstate(all="ignore"):
            return null_deviance(self.parts, self.family)

    def _inside(self, fit: Fit) -> FloatArray:
        return self._inside_of(fit.coef.copy())

    def _inside_of(self, coef: FloatArray) -> FloatArray:
        """Return coefficients in the engine's coordinates and unit; changes those given."""
        if self.least_squares:
            where = self._intercept()
            if where is not None:
                coef[where] -= self.rows.middle
            coef /= self.rows.unit
        return self._turn.T @ coef

    def _full(self, kept: FloatArray) -> FloatArray:
        found = np.zeros(len(self.kept))
        found[self.kept] = kept
        return found

    def _spread(self, kept: FloatArray) -> FloatArray:
        return self._turn @ kept

    def _spread_both(self, kept: FloatArray) -> FloatArray:
        found = self._turn @ kept @ self._turn.T
        return (found + found.T) / 2
