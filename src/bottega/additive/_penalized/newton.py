"""A safeguarded Newton method for a few smoothing parameters."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bottega.additive._penalized.criteria import Evaluation
from bottega.additive._penalized.penalties import LARGEST
from bottega.core.typing import BoolArray, FloatArray, IntArray

__all__ = ["Optimum", "minimise"]

_LONGEST = 5.0  # step in the logarithm of a smoothing parameter
_HALVINGS = 15
_PATIENCE = 8  # steps before a Hessian to the first order is mended
_FLAT = 5e-4
_ROUNDING = 1e-11
_AT_BOUND = 1e-5  # gradient at a bound that does not lead away from it
_NOTHING = 2e-3  # what a parameter that goes to its bound may cost, of a log-likelihood


@dataclass(frozen=True, eq=False)
class Optimum:
    """Where a criterion is least.

    Attributes
    ----------
    rho : ndarray
        Logarithms of the free smoothing parameters.
    at : Evaluation
        The criterion there.
    hessian : ndarray
        Of the criterion in the free parameters.
    gradient : float
        Largest entry of the gradient, of parameters not at a bound.
    converged : bool
    """

    rho: FloatArray
    at: Evaluation
    hessian: FloatArray
    gradient: float
    converged: bool

    def uncertainty(self, free: IntArray) -> FloatArray:
        """Return what the covariance of the coefficients lacks where parameters are chosen.

        To first order, in the logarithms of the parameters; `free` are those chosen among all.
        """
        values, vectors = np.linalg.eigh(self.hessian)
        # A normal prior of variance 10 on the logarithms: a flat criterion says little about them.
        J = self.at.state.U[:, free] @ vectors / np.sqrt(np.maximum(values, 0.0) + 0.1)
        return J @ J.T


def minimise(
    evaluate: Callable[[FloatArray, Evaluation | None], Evaluation],
    rho: FloatArray,
    free: IntArray,
    upper: FloatArray,
    *,
    tol: float = 1e-7,
    max_iter: int = 60,
    polish: int = 0,
    snap: bool = True,
    secant: bool = False,
) -> Optimum:
    """Return the least value of a criterion in the logarithms of its smoothing parameters.

    A parameter that wants to grow without end, for next to nothing, goes to its bound: where it
    stops on the way there would hang on rounding.

    Parameters
    ----------
    evaluate : callable
        Takes the free parameters and the evaluation before (to start from); returns the next one.
    rho : ndarray
        Free parameters to start from.
    free : ndarray of int
        Which of all parameters they are.
    upper : ndarray
        Largest values of the free parameters.
    tol : float
        The decrease still to be had, in units of a log-likelihood, at which to stop.
    max_iter : int
        Newton steps.
    polish : int
        Further steps after that, for the last digits.
    snap : bool
        Whether parameters may be sent to their bounds.
    secant : bool
        Whether the Hessian is one to the first order only, and is to be mended along the last step
        by the change of the gradient.
    """
    at = evaluate(rho, None)
    if not len(rho):
        return Optimum(rho, at, np.zeros((0, 0)), 0.0, True)
    before: tuple[FloatArray, FloatArray] | None = None
    for count in range(max_iter):
        every, bends = at.slopes()
        gradient, hessian = every[free], bends[np.ix_(free, free)]
        if secant and before is not None and count >= _PATIENCE:
            hessian = _mended(hessian, rho - before[0], gradient - before[1])
        before = rho, gradient
        up = (rho >= upper) & (gradient < _AT_BOUND)
        inner = ~(up | ((rho <= -LARGEST) & (gradient > -_AT_BOUND)))
        largest = float(np.max(np.abs(gradient[inner]), initial=0.0))
        step, left = _step(gradient, hessian, inner, tol)
        if left <= tol:
            endless = inner & (gradient < 0) & (gradient > -1e-3) & (rho > 0)
            endless &= np.diag(hessian) < 3 * np.abs(gradient)
            to_bound = snap and bool(endless.any())
            found = evaluate(np.where(endless, upper, rho), at) if to_bound else None
            if found is not None and found.value <= at.value + _NOTHING:
                rho, at = np.where(endless, upper, rho), found
                continue
            if not polish:
                return Optimum(rho, at, hessian, largest, True)
            polish -= 1
            rho = np.clip(rho + step, -LARGEST, upper)
            at = evaluate(rho, at)
            continue
        better = None
        for _ in range(_HALVINGS):
            new = np.clip(rho + step, -LARGEST, upper)
            found = evaluate(new, at)
            if found.value <= at.value + _ROUNDING * abs(at.value):
                better = found
                break
            step = step / 2 if np.max(np.abs(step)) < 1 else step / 4
        if better is None:  # rounding hides what is left
            return Optimum(rho, at, hessian, largest, left <= 1e-3 * (1 + 1e-6 * abs(at.value)))
        rho, at = new, better
    return Optimum(rho, at, hessian, largest, False)


def _mended(hessian: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """Return a Hessian that explains how the gradient changed along a step (BFGS)."""
    along, own = float(step @ change), hessian @ step
    size = float(step @ own)
    if not (along > 1e-8 * np.linalg.norm(step) * np.linalg.norm(change) and size > 0):
        return hessian
    return hessian - np.outer(own, own) / size + np.outer(change, change) / along


def _step(
    gradient: FloatArray, hessian: FloatArray, inner: BoolArray, tol: float
) -> tuple[FloatArray, float]:
    """Return a step downhill and the decrease that a quadratic promises along it."""
    step = np.zeros_like(gradient)
    values, vectors = np.linalg.eigh(hessian[np.ix_(inner, inner)])
    if not len(values):
        return step, 0.0
    curves = np.maximum(np.abs(values), 1e-7 * max(float(np.max(np.abs(values))), 1e-3))
    along = vectors.T @ gradient[inner]
    step[inner] = -vectors @ (along / curves)
    longest = float(np.max(np.abs(step)))
    share = min(1.0, _LONGEST / longest) if longest > 0 else 1.0
    # In a flat direction only as much can be had as the longest step gives.
    left = np.minimum(along**2 / (2 * curves), np.abs(along) * _LONGEST)
    # Far from the end of a flat direction (a term all but straight) little is still to be had:
    # there the tolerance is larger.
    far = np.abs(along) > 0.3 * curves
    near = float(np.max(left[~far], initial=0.0))
    return step * share, max(near, float(np.max(left[far], initial=0.0)) * tol / max(tol, _FLAT))
