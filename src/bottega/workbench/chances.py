"""How likely each of several methods is the best, as far as the rows can tell.

The method with the least error over the rows at hand is not the best one for sure: other rows would
have put another first. Averaged over such choices, predictions vary less than those of one choice,
and a method that is far behind has no part in them.
"""

import numpy as np

from bottega.core.typing import FloatArray
from bottega.risk.estimate.judged_rows import JudgedRows

__all__ = ["chances_of_best"]

_DRAWS = 2_048  # and as many mirrored ones
_APART = 1e-10  # of the variance: methods that predict the same take turns
_LITTLE = 0.02  # chances below this count as none


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
    The mean losses over other rows are taken as normal around those of these rows, with the
    covariance of a mean of independent units :math:`\sum_i q_i^2 (\ell_i - \bar\ell)(\ell_i -
    \bar\ell)'`, where :math:`q_i` are the shares of the units. The chance is counted over draws
    that are always the same.

    Examples
    --------
    >>> rows = JudgedRows(np.zeros(100), "regression")
    >>> steps = np.linspace(-1, 1, 100)
    >>> near, far = [2 + steps, 2 - steps], [9 + steps]
    >>> chances_of_best(near + far, np.arange(100), rows).tolist()
    [0.5, 0.5, 0.0]
    """
    units = [rows.units(at, each) for each in losses]
    weight = units[0][1]
    L = np.column_stack([each for each, _ in units])
    size = float(np.abs(L).max())
    if size > 0:
        L = L / size
    share = weight / weight.sum()
    mean = share @ L
    away = (L - mean) * share[:, None]
    n, m = L.shape
    C = away.T @ away * (n / max(n - 1, 1))
    noise = _APART * (np.trace(C) / m + np.finfo(float).tiny)
    root = np.linalg.cholesky(C + noise * np.eye(m))
    z = np.random.default_rng(0).normal(size=(_DRAWS, m))
    drawn = mean + np.vstack([z, -z]) @ root.T
    found = np.bincount(np.argmin(drawn, axis=1), minlength=m) / len(drawn)
    found = np.where(found >= min(_LITTLE, found.max()), found, 0.0)
    return np.asarray(found / found.sum())
