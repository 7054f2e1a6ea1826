"""What nearest neighbours can lose to the best predictor, and how fast risks can come down."""

from typing import Any

import numpy as np

from bottega.risk.bounds._checks import Numbers, at_least, count, plain

__all__ = ["cover_hart", "nn_asymptotic", "nn_lipschitz", "rate"]


def nn_asymptotic(bayes_risk: Any, k: Any = 1) -> Numbers:
    r"""Return the limit of the risk of k nearest neighbours, at most, for a fixed k.

    :math:`\lim_m E\,\ell_D(k\text{-}NN) \le R^* + 2\sqrt{R^*/k}` for two classes, the zero-one
    loss and every distribution. For k = 1 `cover_hart` is sharper.

    Parameters
    ----------
    bayes_risk : float or array-like
        Least possible risk :math:`R^*`, at most 1/2.
    k : int or array-like
        Neighbours.

    Examples
    --------
    >>> nn_asymptotic(0.1, [1, 3, 5, 25, 100]).round(4)
    array([0.7325, 0.4651, 0.3828, 0.2265, 0.1632])
    """
    risk = at_least(0, "bayes_risk", bayes_risk, 0.5)
    return plain(risk + 2 * np.sqrt(risk / count("k", k)))


def cover_hart(bayes_risk: Any, n_classes: Any = 2) -> Numbers:
    r"""Return the limit of the risk of the nearest neighbour, at most.

    :math:`R^*(2 - \frac{K}{K-1}R^*)` for K classes, so less than twice the Bayes risk.

    Parameters
    ----------
    bayes_risk : float or array-like
        Least possible risk, at most (K - 1)/K.
    n_classes : int or array-like
        Number of classes, K.

    References
    ----------
    .. [1] Cover, T. M. and Hart, P. E. (1967). Nearest neighbor pattern classification. IEEE
       Transactions on Information Theory 13, 21-27.

    Examples
    --------
    >>> round(cover_hart(0.1), 6)
    0.18
    """
    classes = count("n_classes", n_classes, 2)
    most = (classes - 1) / classes
    risk = at_least(0, "bayes_risk", bayes_risk, float(np.min(most)))
    return plain(risk * (2 - risk / most))


def nn_lipschitz(bayes_risk: Any, c: Any, d: Any, m: Any) -> Numbers:
    r"""Return the expected risk of the nearest neighbour after m rows, at most.

    :math:`2R^* + 4c\sqrt{d}\,m^{-1/(d+1)}` for two classes and the zero-one loss, if
    :math:`\eta(x) = P(Y = 1 | x)` obeys :math:`|\eta(x) - \eta(x')| \le c\|x - x'\|` and x
    lies in :math:`[-1, 1]^d`, an assumption that the notes do not print.

    Parameters
    ----------
    bayes_risk : float or array-like
        Least possible risk, at most 1/2.
    c : float or array-like
        Lipschitz constant.
    d : int or array-like
        Columns.
    m : int or array-like
        Rows.

    Returns
    -------
    float or ndarray
        The limit; above 1 it says nothing.

    Notes
    -----
    The risk is at most :math:`2R^* + c\,E\|X - X_{nearest}\|`. Cut the cube into :math:`T^d` equal
    boxes: x misses the boxes of the rows with probability at most :math:`T^d/(em)`, and is within
    :math:`2\sqrt{d}/T` of a row otherwise. With :math:`q = m^{1/(d+1)}` the expected distance is
    at most :math:`\frac{2\sqrt{d}}{q}\left(\frac{q}{T} + \frac{1}{e}(T/q)^d\right)`, and for every
    q at least 1 one of the whole numbers T on either side of q makes the bracket at most 2.

    Examples
    --------
    >>> round(nn_lipschitz(0.0, 1, 2, 1000), 5)
    0.56569
    """
    risk = at_least(0, "bayes_risk", bayes_risk, 0.5)
    return plain(2 * risk + lipschitz_term(c, d, m))


def lipschitz_term(c: Any, d: Any, m: Any) -> Any:
    """Return the part of `nn_lipschitz` that goes to zero."""
    columns = count("d", d)
    fall = count("m", m) ** (-1 / (columns + 1))
    return 4 * at_least(0, "c", c) * np.sqrt(columns) * fall


def rate(m: Any, d: Any = None) -> Numbers:
    r"""Return the order in which the excess risk falls with m rows.

    :math:`m^{-1/(d+1)}` towards the Bayes risk when all that is known is that P(Y = 1 | x) is
    Lipschitz in d columns; :math:`m^{-1/2}` towards the best of a finite or parametric class, for
    ``d=None``. Constants are left out, so this is no bound: it compares. An accuracy eps
    needs :math:`\epsilon^{-(d+1)}` rows (``sample_size("rate", eps, d=d)``).

    Parameters
    ----------
    m : int or array-like
        Rows.
    d : int or array-like, optional
        Columns.

    Examples
    --------
    >>> rate(10_000), round(rate(10_000, 9), 6)
    (0.01, 0.398107)
    """
    rows = count("m", m)
    return plain(rows**-0.5 if d is None else rows ** (-1 / (count("d", d) + 1)))
