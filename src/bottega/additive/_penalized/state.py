r"""The penalised fit at given smoothing parameters: Newton steps on the rows, or on a quadratic.

Symbols
-------
beta    coefficients
S       sum of the penalties, each times its smoothing parameter
H, V    X'WX + S and its inverse
U       derivatives of beta in the logarithms of the smoothing parameters (p, q)
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from bottega.additive._penalized.penalties import Penalties
from bottega.additive._penalized.problem import LeftOut, LikelihoodProblem, Working
from bottega.core.typing import FloatArray

__all__ = ["InverseMatrix", "Quadratic", "State", "inverse", "possible", "solve"]

_STEPS = 100
_HALVINGS = 30
# A Newton decrement below this share of the deviance ends the steps; the last one is still taken.
_DECREMENT = 1e-10
_REPRODUCED = 1e-6  # deviance a row of responses that the inputs determine


@dataclass(frozen=True, eq=False)
class InverseMatrix:
    """The inverse of a positive definite matrix and the logarithm of its determinant."""

    V: FloatArray
    logdet: float


def inverse(H: FloatArray) -> InverseMatrix:
    """Return the inverse of a symmetric matrix; eigenvalues that are not positive are lifted."""
    size = 1 / np.sqrt(np.maximum(np.abs(np.diag(H)), 1e-300))
    scaled = H * size[:, None] * size
    factor, info = lapack.dpotrf(scaled, lower=1, clean=0)
    if info == 0:
        logdet = 2 * float(np.sum(np.log(np.diag(factor)) - np.log(size)))
        V, _ = lapack.dpotri(factor, lower=1)
        V = np.tril(V) + np.tril(V, -1).T
    else:
        values, vectors = np.linalg.eigh(scaled)
        values = np.maximum(values, 1e-12 * max(values[-1], 1e-300))
        logdet = float(np.sum(np.log(values)) - 2 * np.sum(np.log(size)))
        V = (vectors / values) @ vectors.T
    return InverseMatrix(V * size[:, None] * size, logdet)


class Quadratic:
    """A likelihood to second order about some coefficients: exact for least squares.

    Parameters
    ----------
    centre : ndarray of shape (p,)
        Coefficients at which `work` was computed.
    work : Working
        Deviance, pull and gram there.
    n : float
        Number of rows.
    size : float
        About what the deviance of a poor fit is.
    """

    quadratic = True

    def __init__(self, centre: FloatArray, work: Working, n: float, size: float) -> None:
        self.centre, self.work, self.n, self.size, self.passes = centre, work, n, size, 0

    def working(self, beta: FloatArray | None) -> Working:
        """Return deviance, pull and gram at coefficients."""
        move = (np.zeros_like(self.centre) if beta is None else beta) - self.centre
        change = self.work.gram @ move
        deviance = self.work.deviance - 2 * float(self.work.pull @ move) + float(move @ change)
        return Working(max(deviance, 0.0), self.work.pull - change, self.work.gram)

    def trace(self, beta: FloatArray, M: FloatArray) -> FloatArray:
        """Return zeros: the weights do not move."""
        return np.zeros_like(beta)

    def leave_one_out(self, beta: FloatArray, V: FloatArray) -> LeftOut:
        """Refuse: sums over rows do not know what rows say when left out."""
        raise TypeError("Sums over rows do not know what a row would be predicted when left out.")


@dataclass(frozen=True, eq=False)
class State:
    """The fit at some smoothing parameters."""

    rho: FloatArray
    beta: FloatArray
    gram: FloatArray
    S: FloatArray
    V: FloatArray
    logdet: float
    deviance: float
    penalty: float
    pulls: FloatArray  # S_j beta, times the parameters (p, q)
    U: FloatArray
    converged: bool

    @property
    def df(self) -> float:
        """Trace of V X'WX."""
        return float(np.vdot(self.V, self.gram))


def solve(
    problem: LikelihoodProblem,
    penalties: Penalties,
    rho: FloatArray,
    start: FloatArray | None,
    safe: FloatArray | None = None,
) -> State:
    """Return the penalised fit at smoothing parameters, by Newton steps from a start.

    At the coefficients `safe` (zeros by default) all means are possible.
    """
    S = penalties.total(rho)
    beta = start
    work = problem.working(beta)
    found = inverse(work.gram + S)
    if beta is None or problem.quadratic:
        centre = np.zeros(penalties.p) if beta is None else beta
        target = work.pull + work.gram @ centre
        beta = found.V @ target
        # Once more, for the digits that the inverse loses.
        beta = beta + found.V @ (target - (work.gram @ beta + S @ beta))
        work = problem.working(beta)
        if problem.quadratic:
            return _state(penalties, rho, S, beta, work, found, converged=True)
    if not np.isfinite(work.deviance):
        beta, work = possible(problem, beta, safe)
    if beta is not start:
        found = inverse(work.gram + S)
    value = _objective(work, beta, S)
    converged = False
    for _ in range(_STEPS):
        pull = work.pull - S @ beta
        step = found.V @ pull
        decrement = float(pull @ step)
        if decrement <= _DECREMENT * (abs(work.deviance) + 1e-3 * problem.size):
            converged = True
            break
        if work.deviance <= _REPRODUCED * problem.size:  # separated: larger coefficients, no end
            step, converged = np.zeros_like(step), True
            break
        best, before = value, beta
        for _ in range(_HALVINGS):
            beta = before + step
            work = problem.working(beta)
            value = _objective(work, beta, S)
            if value <= best + 1e-12 * abs(best):
                break
            step = step / 2
        else:
            beta, work = before, problem.working(before)
            converged = decrement <= 1e-6 * (abs(work.deviance) + problem.size / problem.n)
            step = np.zeros_like(step)
            break
        found = inverse(work.gram + S)
    else:
        step = np.zeros_like(beta)
    if converged:
        beta = beta + step
    return _state(penalties, rho, S, beta, work, found, converged=converged)


def possible(
    problem: LikelihoodProblem, beta: FloatArray, safe: FloatArray | None
) -> tuple[FloatArray, Working]:
    """Return coefficients on the way to safe ones at which all means are possible."""
    safe = np.zeros_like(beta) if safe is None else safe
    for _ in range(_HALVINGS):
        beta = (beta + safe) / 2
        work = problem.working(beta)
        if np.isfinite(work.deviance):
            return beta, work
    return safe, problem.working(safe)


def _objective(work: Working, beta: FloatArray, S: FloatArray) -> float:
    value = work.deviance + float(beta @ S @ beta)
    return value if np.isfinite(value) else np.inf


def _state(
    penalties: Penalties,
    rho: FloatArray,
    S: FloatArray,
    beta: FloatArray,
    work: Working,
    found: InverseMatrix,
    *,
    converged: bool,
) -> State:
    pulls = penalties.times(rho, beta)
    penalty = float(beta @ S @ beta)
    return State(
        rho=rho,
        beta=beta,
        gram=work.gram,
        S=S,
        V=found.V,
        logdet=found.logdet,
        deviance=work.deviance,
        penalty=penalty,
        pulls=pulls,
        U=-found.V @ pulls,
        converged=converged,
    )
