r"""Forward selection of inputs that tell classes apart, by Wilks' lambda.

Wilks' lambda of some columns is :math:`\Lambda = |W| / |T|`, with W their scatter within classes
and T that about the common mean. For two classes it is 1 - R^2 of the regression of the class on
the columns, so that this is forward selection in linear regression.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from bottega.classify._generative.gaussian import TOLERANCE
from bottega.classify._generative.moments import ClassMoments
from bottega.core.typing import FloatArray, IntArray

__all__ = ["Selection", "forward_selection"]


@dataclass(frozen=True)
class Selection:
    """The order in which columns enter, and what each adds.

    Attributes
    ----------
    order : ndarray of int, shape (m,)
        Columns, the most useful first.
    partial, wilks : ndarray of shape (m,)
        Lambda of the column given those before it, and of all columns so far.
    statistic, p_value : ndarray of shape (m,)
        F test of what the column adds, as if it had not been chosen from many.
    aic, bic : ndarray of shape (m + 1,)
        Criteria of the first 0, 1, ..., m columns, up to a constant.
    """

    order: IntArray
    partial: FloatArray
    wilks: FloatArray
    statistic: FloatArray
    p_value: FloatArray
    aic: FloatArray
    bic: FloatArray


def forward_selection(moments: ClassMoments) -> Selection:
    """Return the columns in the order in which they enter, until none varies given the others."""
    weight, seen = moments.weight, np.count_nonzero(moments.count)
    n = float(weight.sum())
    gap = moments.mean - weight @ moments.mean / n
    W = moments.within().copy()
    T = W + (gap * weight[:, None]).T @ gap
    scale = np.sqrt(np.where(np.diag(T) > 0, np.diag(T), 1.0))
    W, T = W / np.outer(scale, scale), T / np.outer(scale, scale)
    order: list[int] = []
    partial: list[float] = []
    free = np.diag(W) > TOLERANCE
    while free.any() and len(order) < n - seen:
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(free, np.diag(W) / np.diag(T), np.inf)
        j = int(np.argmin(ratio))
        order.append(j)
        partial.append(float(min(ratio[j], 1.0)))
        W, T = _swept(W, j), _swept(T, j)
        free[j] = False
        free &= np.diag(W) > TOLERANCE
    lam = np.array(partial)
    df = n - seen - np.arange(len(lam))  # of the rows, given the columns before
    statistic = np.full(len(lam), np.nan)
    good = df > 0
    with np.errstate(divide="ignore"):
        statistic[good] = (1 - lam[good]) / lam[good] * df[good] / (seen - 1)
    p_value = np.asarray(stats.f.sf(statistic, seen - 1, np.where(good, df, 1)))
    with np.errstate(divide="ignore"):
        fit = n * np.concatenate([[0.0], np.cumsum(np.log(lam))])
    terms = np.arange(len(lam) + 1) * (seen - 1)
    return Selection(
        np.array(order, dtype=np.intp),
        lam,
        np.cumprod(lam),
        statistic,
        p_value,
        fit + 2 * terms,
        fit + np.log(n) * terms,
    )


def _swept(S: FloatArray, j: int) -> FloatArray:
    """Return the scatter that column j leaves of the others."""
    return np.asarray(S - np.outer(S[:, j], S[j]) / S[j, j])
