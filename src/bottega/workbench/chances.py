"""How likely each of several methods is the best, as far as the rows can tell.

The method with the least error over the rows at hand is not the best one for sure: other rows would
have put another first. Averaged over such choices, predictions vary less than those of one choice,
and a method that is far behind has no part in them.
"""

import numpy as np

from bottega.core.typing import FloatArray
from bottega.risk.estimate.judged_rows import JudgedRows

__all__ = ["chances_of_best"]

_DRAWS = 2_048
_EQUAL = 1e-9  # of the least loss: methods that are so near share the place
_LITTLE = 0.02  # chances below this count as none
_MANY = 2_000  # units of which the mean is normal, so that no samples of them are needed


def chances_of_best(losses: list[FloatArray], at: FloatArray, rows: JudgedRows) -> FloatArray:
    r"""Return the chance of each method to have the least mean loss over other such rows.

    Parameters
    ----------
    losses : list of ndarray of shape (n,)
        Losses of each method on the same rows.
    at : ndarray of int
        Which of the judged rows they are.
    rows : JudgedRows
        Weights and groups of the rows.

    Returns
    -------
    ndarray of shape (M,)
        They sum to one; chances below 0.02 are zero.

    Notes
    -----
    Samples of the independent units, drawn with replacement, stand for other rows: the chance is
    the share of the samples in which the method is the best. They depend on what the losses are,
    not on the order of the rows. Of more than 2,000 units the mean losses are taken as normal, with
    the covariance :math:`\sum_i q_i^2 (\ell_i - \bar\ell)(\ell_i - \bar\ell)'`, where
    :math:`q_i` are the shares of the units.

    Examples
    --------
    >>> rows = JudgedRows(np.zeros(100), "regression")
    >>> steps = np.linspace(-1, 1, 100)
    >>> near, far = [2 + steps, 2 - steps], [9 + steps]
    >>> chances_of_best(near + far, np.arange(100), rows).round(1).tolist()
    [0.5, 0.5, 0.0]
    """
    units = [rows.units(at, each) for each in losses]
    weight = units[0][1]
    L = np.column_stack([each for each, _ in units])
    size = float(np.abs(L).max())
    if size > 0:
        L = L / size
    share = weight / weight.sum()
    drawn = _sampled(L, share) if len(L) <= _MANY else _normal(L, share)
    least = drawn.min(axis=1, keepdims=True)
    first = drawn <= least + _EQUAL * np.abs(least)
    found = np.mean(first / first.sum(axis=1, keepdims=True), axis=0)
    found = np.where(found >= min(_LITTLE, found.max()), found, 0.0)
    return np.asarray(found / found.sum())


def _sampled(L: FloatArray, share: FloatArray) -> FloatArray:
    """Return the mean losses in samples of the units, whatever order these come in."""
    order = np.lexsort((share, *L.T))
    L, share = L[order], share[order]
    n = len(L)
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=_DRAWS) * share
    return np.asarray(times @ L / times.sum(axis=1, keepdims=True))


def _normal(L: FloatArray, share: FloatArray) -> FloatArray:
    """Return mean losses drawn from their normal distribution."""
    mean = share @ L
    away = (L - mean) * share[:, None]
    n, m = L.shape
    C = away.T @ away * (n / (n - 1))
    noise = 1e-10 * np.trace(C) / m + np.finfo(float).tiny
    root = np.linalg.cholesky(C + noise * np.eye(m))
    return np.asarray(mean + np.random.default_rng(0).normal(size=(_DRAWS, m)) @ root.T)
