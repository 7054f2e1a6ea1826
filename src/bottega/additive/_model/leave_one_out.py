r"""What the working model says of a row that is left out, without fitting again.

With V the inverse of the penalised information and x_i the columns of row i, leaving the row out
moves its predictor, to first order (exactly for the gaussian with the identity link), from eta_i to

    eta_i - a_i g_i / (1 - a_i w_i),        a_i = x_i' V x_i

where g_i is the derivative of the log-likelihood of the row in eta and w_i minus the second one
(expected). Several predictors (classes) have a matrix in place of each.
"""

import numpy as np
from scipy.special import softmax

from bottega.additive._penalized.fit import Fit
from bottega.core.likelihood import Family
from bottega.core.typing import FloatArray, IntArray

__all__ = ["class_shares", "left_out", "left_out_classes", "pulls"]

_MOST = 1 - 1e-9  # leverage of a row that alone decides its own fit


def pulls(rows: FloatArray, fit: Fit) -> FloatArray:
    """Return x'Vx of each row of the design, or the matrix of it for several predictors."""
    V = fit.covariance / fit.scale if fit.scale > 0 else fit.covariance
    D, p = fit.n_predictors, rows.shape[1]
    if D == 1:
        return np.einsum("ij,ij->i", rows @ V, rows)
    found = np.empty((len(rows), D, D))
    for a in range(D):
        for b in range(D):
            part = V[a * p : (a + 1) * p, b * p : (b + 1) * p]
            found[:, a, b] = np.einsum("ij,ij->i", rows @ part, rows)
    return found


def left_out(
    y: FloatArray, eta: FloatArray, pull: FloatArray, weight: FloatArray, family: Family
) -> FloatArray:
    """Return the predictor of each row when it is left out."""
    score, bend = family.scores(eta, y, weight)
    return eta - pull * score / (1 - np.minimum(pull * bend, _MOST))


def class_shares(eta: FloatArray) -> FloatArray:
    """Return the probabilities (n, K) of classes from predictors (n, K - 1) against the first."""
    return np.asarray(softmax(np.column_stack([np.zeros(len(eta)), eta]), axis=1))


def left_out_classes(
    codes: IntArray, eta: FloatArray, pull: FloatArray, weight: FloatArray
) -> FloatArray:
    """Return the predictors (n, D) of each row of classes when it is left out."""
    D = eta.shape[1]
    share = class_shares(eta)[:, 1:]
    score = weight[:, None] * ((codes[:, None] == np.arange(1, D + 1)) - share)
    bend = -share[:, :, None] * share[:, None, :]
    bend[:, np.arange(D), np.arange(D)] += share
    left = np.eye(D) - weight[:, None, None] * (bend @ pull)
    left += 1e-9 * np.eye(D)
    moved = np.linalg.solve(left, score[:, :, None])
    return eta - (pull @ moved)[:, :, 0]
