"""The likelihood of factor analysis with the loadings maximised out, and its maximum."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from bottega.core.typing import BoolArray, FloatArray

__all__ = ["FactorSolution", "maximise"]

_STARTED = 0.5  # uniqueness to start from where the correlations have no inverse
_MARGIN = 1e-6  # of the bound: uniquenesses so near are at it


@dataclass(frozen=True)
class FactorSolution:
    """Maximum of the likelihood, on the scale of the correlations.

    `loadings` are along principal axes of the scaled correlations; `discrepancy` is
    log det Sigma + tr(Sigma^-1 R), twice the minus log-likelihood per row less p log 2 pi.
    """

    loadings: FloatArray
    uniquenesses: FloatArray
    discrepancy: float
    at_bound: BoolArray
    n_iter: int
    converged: bool
    trace: tuple[float, ...] = ()  # the discrepancy after each iteration


def maximise(
    R: FloatArray, K: int, *, lower: float, tol: float, max_iter: int, start: Any = None
) -> FactorSolution:
    """Return the maximum of the likelihood with K factors of a correlation matrix R.

    For given uniquenesses u the best loadings are known: with theta and V the eigenvalues and
    eigenvectors of R scaled by 1 / sqrt(u) on both sides, sqrt(u) V_K (theta_K - 1)^(1/2). What is
    left is a function of the p logarithms of u, minimised by L-BFGS between bounds.
    """
    p = len(R)
    if K == 0:
        ones = np.ones(p)
        return FactorSolution(np.zeros((p, 0)), ones, float(p), ones < 0, 1, True, (float(p),))
    known = _start(R, K) if start is None else np.asarray(start, dtype=np.float64)
    known = np.log(np.clip(known, lower, 1.0))

    def objective(x: FloatArray) -> tuple[float, FloatArray]:
        u = np.exp(x)
        theta, loadings = _best_loadings(R, u, K)
        value = _discrepancy(theta, u, K)
        slope = np.sum(loadings**2, axis=1) / u + 1 - np.diag(R) / u
        return value, slope

    trace: list[float] = []

    def keep(intermediate_result: Any) -> None:
        trace.append(float(intermediate_result.fun))

    minimize: Any = optimize.minimize
    found = minimize(
        objective, known, jac=True, method="L-BFGS-B", bounds=[(np.log(lower), 0.0)] * p,
        callback=keep,
        options={"maxiter": max_iter, "maxcor": 20, "gtol": tol, "ftol": 0.0, "maxls": 50},
    )  # fmt: skip
    x = np.asarray(found.x)
    value, slope = objective(x)
    u = np.exp(x)
    at_bound = u <= lower * (1 + _MARGIN)
    free = np.where((at_bound & (slope > 0)) | ((x >= 0) & (slope < 0)), 0.0, slope)
    _, loadings = _best_loadings(R, u, K)
    # Near the minimum rounding ends the line search before the slope is as small as asked.
    converged = bool(np.max(np.abs(free)) <= max(tol, 1e-5))
    n_iter = max(int(found.nit), 1)
    return FactorSolution(
        loadings, u, value, at_bound, n_iter, converged, (*trace[: n_iter - 1], value)
    )


def _start(R: FloatArray, K: int) -> FloatArray:
    """Return Joreskog's start: a part of what the other columns do not explain of each."""
    p = len(R)
    values, vectors = np.linalg.eigh(R)
    if values[0] < 1e-10 * values[-1]:
        return np.full(p, _STARTED)
    return np.asarray((1 - 0.5 * K / p) / np.sum(vectors**2 / values, axis=1))


def _best_loadings(R: FloatArray, u: FloatArray, K: int) -> tuple[FloatArray, FloatArray]:
    root = np.sqrt(u)
    theta, V = np.linalg.eigh(R / np.outer(root, root))
    theta, V = theta[::-1], V[:, ::-1]
    return theta, root[:, None] * V[:, :K] * np.sqrt(np.maximum(theta[:K] - 1, 0.0))


def _discrepancy(theta: FloatArray, u: FloatArray, K: int) -> float:
    top = np.maximum(theta[:K], 1.0)
    # A factor without variance of its own leaves its direction to the uniquenesses.
    return float(np.sum(np.log(u)) + np.sum(np.log(top) + np.minimum(theta[:K], 1.0))
                 + np.sum(theta[K:]))  # fmt: skip
