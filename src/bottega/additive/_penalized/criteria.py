r"""Criteria that choose smoothing parameters, with derivatives in their logarithms.

All are in units of a log-likelihood, so that one tolerance serves all:

- REML: minus the restricted log-likelihood (by Laplace's method), the scale profiled out;
- GCV: :math:`\frac n2 \log(n D / (n - \tau)^2)`, with D the deviance and :math:`\tau` the df;
- UBRE: :math:`D / 2 + \tau`, for a scale of one;
- LOO: half the deviance of rows left out one at a time (of an unknown scale :math:`\frac n2` times
  its logarithm), each by its leverage.

Gradients are exact, those through the weights of a likelihood too. Hessians leave out what comes
through the weights (they are exact for least squares; LOO has that of GCV or UBRE).

References
----------
.. [1] Wood, S. N. (2011). Fast stable restricted maximum likelihood and marginal likelihood
   estimation of semiparametric generalized linear models. Journal of the Royal Statistical Society
   B 73, 3-36.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bottega.additive._penalized.penalties import Determinant, Penalties
from bottega.additive._penalized.problem import LeftOut, LikelihoodProblem
from bottega.additive._penalized.state import State
from bottega.core.typing import FloatArray

__all__ = ["Evaluation", "Saturated", "Setting", "evaluate"]

# The greatest log-likelihood at a scale, with two derivatives in the logarithm of the scale.
Saturated = Callable[[float], FloatArray]

_TINY = 1e-12


@dataclass(frozen=True, eq=False)
class Setting:
    """What a criterion needs beyond a fit."""

    problem: LikelihoodProblem
    penalties: Penalties
    saturated: Saturated
    scale_known: bool

    def above_zero(self, deviance: float) -> float:
        """Return a deviance that has a logarithm: rows that are reproduced leave a little."""
        return max(deviance, _TINY * self.problem.size / self.problem.n)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A criterion at some smoothing parameters.

    Attributes
    ----------
    value : float
        In units of a log-likelihood.
    score : float
        As it is reported.
    scale : float
        The dispersion that goes with it, 1 where known.
    state : State
        The fit.
    """

    value: float
    score: float
    scale: float
    state: State
    setting: Setting

    squared: ClassVar[bool] = False  # whether the score is in squares of the unit of the response

    @abstractmethod
    def slopes(self) -> tuple[FloatArray, FloatArray]:
        """Return gradient and Hessian in the logarithms of all smoothing parameters."""


def evaluate(method: str, setting: Setting, state: State) -> Evaluation:
    """Return a criterion at a fit; its derivatives cost more and come when asked for."""
    if method == "reml":
        return _reml(setting, state)
    D, df, n = setting.above_zero(state.deviance), state.df, setting.problem.n
    rest = max(n - df, 1e-8 * n)
    scale = 1.0 if setting.scale_known else D / rest
    if method == "gcv":
        score = n * D / rest**2
        return _Gcv(n / 2 * np.log(score), score, scale, state, setting)
    if method == "ubre":
        return _Ubre(D / 2 + df, (D + 2 * df) / n - 1, scale, state, setting)
    left = setting.problem.leave_one_out(state.beta, state.V)
    out = setting.above_zero(left.deviance)
    value = out / 2 if setting.scale_known else n / 2 * np.log(out)
    return _Loo(value, out / n, scale, state, setting, left)


def _reml(setting: Setting, state: State) -> Evaluation:
    total, free = state.deviance + state.penalty, setting.penalties.null_dim
    known, n = setting.scale_known, setting.problem.n
    total = max(
        total, _TINY * setting.problem.size
    )  # rows that are reproduced have no noise to speak of
    scale = 1.0 if known else _reml_scale(total, n, free, setting.saturated)
    det = setting.penalties.determinant(state.rho)
    top = setting.saturated(scale)
    value = total / (2 * scale) - top[0] + (state.logdet - det.value) / 2
    value -= free / 2 * np.log(2 * np.pi * scale)
    return _Reml(float(value), float(value), scale, state, setting, det, float(top[2]))


def _reml_scale(total: float, n: float, free: int, saturated: Saturated) -> float:
    """Return the scale of the greatest restricted likelihood."""
    log_scale = np.log(max(total, 1e-300) / max(n - free, 1))
    for _ in range(50):
        scale = float(np.exp(log_scale))
        top = saturated(scale)
        slope = -total / (2 * scale) - top[1] - free / 2
        bend = total / (2 * scale) - top[2]
        move = -slope / bend if bend > 0 else np.sign(-slope)
        log_scale += float(np.clip(move, -2.0, 2.0))
        if abs(move) < 1e-11:
            break
    return float(np.exp(log_scale))


@dataclass(frozen=True, eq=False)
class _Reml(Evaluation):
    det: Determinant
    bend: float  # of the greatest log-likelihood in the logarithm of the scale

    def slopes(self) -> tuple[FloatArray, FloatArray]:
        state, penalties, scale = self.state, self.setting.penalties, self.scale
        rho, V = state.rho, state.V
        rough = np.einsum("pq,p->q", state.pulls, state.beta)  # lambda_j beta' S_j beta
        ends = penalties.traces(rho, V)
        moved = self.setting.problem.trace(state.beta, V) @ state.U
        gradient = rough / (2 * scale) + (ends + moved - self.det.gradient) / 2
        hessian = (np.diag(rough) / 2 + state.pulls.T @ state.U) / scale
        hessian += (np.diag(ends) - penalties.products(rho, V, V) - self.det.hessian) / 2
        if not self.setting.scale_known:
            bend = (state.deviance + state.penalty) / (2 * scale) - self.bend
            hessian -= np.outer(rough / scale, rough / scale) / (4 * bend)
        return gradient, _symmetric(hessian)


def _error_slopes(at: Evaluation) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return first and second derivatives of the deviance, and of the df."""
    state, penalties = at.state, at.setting.penalties
    rho, V, U = state.rho, state.V, state.U
    pull = state.S @ state.beta
    K = V @ state.gram @ V
    moved = penalties.times(rho, V @ pull).T @ U
    D1 = -2 * (pull @ U)
    D2 = 2 * (U.T @ state.gram @ U) - 2 * (np.diag(pull @ U) - moved - moved.T)
    ends = penalties.traces(rho, K)
    df1 = -ends + at.setting.problem.trace(state.beta, V @ state.S @ V) @ U
    df2 = -np.diag(ends) + 2 * penalties.products(rho, V, K)
    return D1, D2, df1, df2


def _gcv_slopes(at: Evaluation) -> tuple[FloatArray, FloatArray]:
    D1, D2, df1, df2 = _error_slopes(at)
    n, D = at.setting.problem.n, at.setting.above_zero(at.state.deviance)
    rest = max(n - at.state.df, 1e-8 * n)
    hessian = n / 2 * (D2 / D - np.outer(D1 / D, D1 / D))
    hessian += n * (df2 / rest + np.outer(df1, df1) / rest**2)
    return n / 2 * D1 / D + n * df1 / rest, _symmetric(hessian)


def _ubre_slopes(at: Evaluation) -> tuple[FloatArray, FloatArray]:
    D1, D2, df1, df2 = _error_slopes(at)
    return D1 / 2 + df1, _symmetric(D2 / 2 + df2)


class _Gcv(Evaluation):
    squared = True

    def slopes(self) -> tuple[FloatArray, FloatArray]:
        return _gcv_slopes(self)


class _Ubre(Evaluation):
    def slopes(self) -> tuple[FloatArray, FloatArray]:
        return _ubre_slopes(self)


@dataclass(frozen=True, eq=False)
class _Loo(Evaluation):
    left: LeftOut

    squared = True

    def slopes(self) -> tuple[FloatArray, FloatArray]:
        state, problem, penalties = self.state, self.setting.problem, self.setting.penalties
        V, U, n = state.V, state.U, problem.n
        hessian = (_ubre_slopes if self.setting.scale_known else _gcv_slopes)(self)[1]
        M = V @ self.left.gram @ V
        change = self.left.direct @ U - penalties.traces(state.rho, M)
        change -= problem.trace(state.beta, M) @ U
        half = change / 2
        if self.setting.scale_known:
            return half, hessian
        return n * half / self.setting.above_zero(self.left.deviance), hessian


def _symmetric(M: FloatArray) -> FloatArray:
    return (M + M.T) / 2
