r"""Means and common covariance of classes that outliers do not spoil.

Maximum likelihood under multivariate t distributions with :math:`\nu` degrees of freedom and one
shape for all classes: a row at Mahalanobis distance :math:`d` from its class counts
:math:`(\nu + p) / (\nu + d^2)` times. The covariance is scaled to be right for normal rows.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import optimize, stats

from bottega.classify._generative.gaussian import FAR, whitened
from bottega.classify._generative.moments import ClassMoments, row_blocks
from bottega.core.added_sums import AddedSums
from bottega.core.errors import ConvergenceWarning, warn_caller
from bottega.core.typing import FloatArray

__all__ = ["DEGREES", "robust_moments"]

DEGREES = 5.0
_MOST = 200
_TOLERANCE = 1e-9  # change of means and covariance, against unit variances


def robust_moments(
    start: ClassMoments, reduce: Callable[[Callable[..., Any]], Any], kept: Any
) -> ClassMoments:
    """Return moments with robust means, and a scatter that gives a robust covariance.

    `start` are the plain moments, `reduce` gives what a function makes of inputs, codes of classes
    and weights, merged over all rows; `kept` are the columns that vary within classes.
    """
    K, _ = start.mean.shape
    p = int(np.sum(kept))
    scale = np.sqrt(np.diag(start.within())[kept] / start.divisor())
    mean = start.mean[:, kept] / scale
    shape = start.within()[np.ix_(kept, kept)] / np.outer(scale, scale) / start.divisor()
    for _ in range(_MOST):
        reweighed = partial(_reweighed, K, kept, scale, mean, whitened(shape)[0])
        moments, weight = reduce(reweighed).values
        # Divided by the weights of the rows, not their number: the same limit, reached sooner.
        new, new_mean = moments.within() / weight, moments.mean
        unit = np.sqrt(np.diag(new))
        moved = np.abs(new_mean - mean)[start.count > 0] / unit
        change = max(np.max(np.abs(new - shape) / np.outer(unit, unit)), np.max(moved))
        shape, mean = new, np.where((start.count > 0)[:, None], new_mean, 0.0)
        if change <= _TOLERANCE:
            break
    else:
        warn_caller(
            f"The robust covariance has not converged in {_MOST} steps (last change {change:.1e} "
            "against unit variances); look at the rows with the largest outlier_score.",
            ConvergenceWarning,
        )
    moments = ClassMoments(K, len(kept), pooled=True)
    moments.count, moments.weight = start.count, start.weight
    moments.mean = start.mean.copy()
    moments.mean[:, kept] = mean * scale
    normal = shape / _at_normal_rows(p) * np.outer(scale, scale) * moments.divisor()
    moments.scatter[0][np.ix_(kept, kept)] = normal
    return moments


def _reweighed(
    K: int, kept: Any, scale: FloatArray, mean: FloatArray, root: FloatArray,
    X: FloatArray, y: Any, w: Any,
) -> AddedSums:  # fmt: skip
    """Return moments of rows that count less the farther they are, and the sum of their weights."""
    p = len(scale)
    moments, weight = ClassMoments(K, p, pooled=True), 0.0
    for part in row_blocks(len(X), p):
        Z = np.clip(X[part][:, kept] / scale, -FAR, FAR)
        U = (Z - mean[y[part]]) @ root
        given = 1.0 if w is None else w[part]
        v = given * (DEGREES + p) / (DEGREES + np.einsum("ij,ij->i", U, U))
        moments.update(Z, y[part], np.maximum(v, 1e-250))
        weight += float(v.sum())
    return AddedSums((moments, weight))


def _at_normal_rows(p: int) -> float:
    """Return the factor by which the shape of normal rows is too small."""
    grid = stats.chi2.ppf((np.arange(4096) + 0.5) / 4096, p)

    def excess(factor: float) -> float:
        weight = (DEGREES + p) / (DEGREES + grid / factor)
        return float(np.mean(weight * grid)) / p - factor

    return float(optimize.brentq(excess, 1e-3, 2.0))
