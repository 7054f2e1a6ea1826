"""How fast the risk can come down: the curse of dimensionality in one line."""

from typing import Any

from bottega.risk.bounds._checks import Numbers, count, plain

__all__ = ["rate"]


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
