r"""Proportions by maximum likelihood from the probabilities of a classifier.

A probability of class k given a text is proportional to its share among the tagged texts,
:math:`\rho_k`, times the density of the text in the class. Divided by :math:`\rho_k` it stands for
the density, and the proportions :math:`\pi` of the unread texts maximise

.. math:: \sum_i w_i \log \sum_k \pi_k\, \hat p_k(s_i) / \rho_k .
"""

import numpy as np
from scipy import special

from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray, IntArray
from bottega.optimize.em import ascend
from bottega.optimize.extrapolation import Extrapolation
from bottega.optimize.newton import newton

__all__ = ["calibration_of", "maximum_likelihood", "recalibrated", "reweighted"]

_LEAST = 1e-9  # probability below which one is taken as this
_ENDED = 1e-11  # rise of the mean log-likelihood at which expectation-maximisation ends


def reweighted(P: FloatArray, prior: FloatArray, other: FloatArray) -> FloatArray:
    """Return probabilities under a `prior` as they are under another.

    Examples
    --------
    >>> reweighted(np.array([[0.5, 0.5]]), np.array([0.5, 0.5]), np.array([0.9, 0.1])).tolist()
    [[0.9, 0.1]]
    """
    changed = P * (other / prior)
    total = changed.sum(axis=-1, keepdims=True)
    return np.where(total > 0, changed / np.where(total > 0, total, 1.0), other)


def maximum_likelihood(
    P: FloatArray, prior: FloatArray, weight: FloatArray, *, max_iter: int = 10_000
) -> FloatArray:
    """Return the proportions of the classes by expectation-maximisation (Saerens and others).

    Parameters
    ----------
    P : ndarray of shape (N, K)
        Probabilities of the classes, which hold under the `prior`.
    prior : ndarray of shape (K,)
        Shares of the classes where the classifier learned them.
    weight : ndarray of shape (N,)
        Row weights.
    max_iter : int
        The most iterations.

    Returns
    -------
    ndarray of shape (K,)
        Proportions, the maximum of a concave function.

    Examples
    --------
    >>> P = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.1, 0.9]])
    >>> maximum_likelihood(P, np.array([0.5, 0.5]), np.ones(4)).round(3).tolist()
    [0.757, 0.243]
    """
    share = weight / weight.sum()
    density = np.maximum(P, _LEAST) / prior

    def e_step(pi: FloatArray) -> tuple[FloatArray, float]:
        joint = density * pi
        total = joint.sum(axis=1)
        return (share / total) @ joint, float(share @ np.log(total))

    def vector(pi: FloatArray) -> FloatArray:
        return np.log(np.maximum(pi, 1e-300))

    found = ascend(
        prior,
        e_step,
        lambda q: q[0] / q[0].sum(),
        lambda q, _: q[1],
        max_iter=max_iter,
        tol=_ENDED,
        extrapolation=Extrapolation(vector, lambda v: special.softmax(np.minimum(v, 700.0))),
    )
    if not found.converged:
        warn_caller(
            f"Expectation-maximisation still rose after {max_iter} iterations: the classifier "
            "hardly separates the classes. Use more or better stems.",
            ConvergenceWarning,
        )
    return np.asarray(found.parameters)


def calibration_of(P: FloatArray, codes: IntArray, weight: FloatArray) -> FloatArray:
    r"""Return one factor and a shift per class for log probabilities, by maximum likelihood.

    Probabilities become proportional to :math:`e^{b_k} p_k^{a}`, with a and b at the maximum of the
    likelihood of the classes, less :math:`\frac12((a - 1)^2 + \|b\|^2)`, so there is one even where
    the classes are separated. The shift of the last class is zero.

    Returns
    -------
    ndarray of shape (K,)
        The factor a, and the shifts of all classes but the last.
    """
    logs, share = _logs(P), weight / weight.sum()
    n, K = P.shape
    rows, start = np.arange(n), np.eye(K)[0]
    design = np.zeros((n, K, K))
    design[:, :, 0] = logs
    design[:, np.arange(K - 1), np.arange(1, K)] = 1.0

    def value(theta: FloatArray) -> float:
        z = design @ theta
        fit = share @ (special.logsumexp(z, axis=1) - z[rows, codes])
        return float(fit + np.sum((theta - start) ** 2) / (2 * n))

    def slope(theta: FloatArray) -> FloatArray:
        gap = special.softmax(design @ theta, axis=1)
        gap[rows, codes] -= 1.0
        return np.einsum("n,nk,nkj->j", share, gap, design) + (theta - start) / n

    def curvature(theta: FloatArray) -> FloatArray:
        p = special.softmax(design @ theta, axis=1)
        mean = np.einsum("nk,nkj->nj", p, design)
        second = np.einsum("n,nk,nki,nkj->ij", share, p, design, design, optimize=True)
        return second - (mean * share[:, None]).T @ mean + np.eye(K) / n

    found = newton(value, start, gradient=slope, hessian=curvature, trace=False)
    return np.asarray(found.x)


def recalibrated(P: FloatArray, theta: FloatArray) -> FloatArray:
    """Return probabilities (..., K) with the factor and the shifts of `calibration_of`."""
    return np.asarray(special.softmax(theta[0] * _logs(P) + np.append(theta[1:], 0.0), axis=-1))


def _logs(P: FloatArray) -> FloatArray:
    return np.log(np.maximum(P, _LEAST))
