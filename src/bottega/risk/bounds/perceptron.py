"""How often a perceptron errs, and what that says about its risk."""

from typing import Any

import numpy as np

from bottega.core.errors import ParameterError
from bottega.risk.bounds._checks import Numbers, at_least, count, level, plain, positive

__all__ = [
    "kernel_perceptron",
    "perceptron_compression",
    "perceptron_convergence",
    "perceptron_mistakes",
]


def perceptron_convergence(norm2_u: Any, max_norm2_x: Any) -> Numbers:
    r"""Return how many updates a perceptron can need at most on separable rows.

    :math:`M \le \|u\|^2 \max_t \|x_t\|^2` for every u with :math:`y_t u^\top x_t \ge 1` on all
    rows. It counts updates, over all epochs; one further epoch without any shows the end.

    Parameters
    ----------
    norm2_u : float or array-like
        Squared norm of a separator with margin at least 1; the least one, by
        `bottega.risk.hard_margin`, gives the best bound.
    max_norm2_x : float or array-like
        Largest squared norm of a row.

    Examples
    --------
    >>> perceptron_convergence(9, 3)  # the logical OR of two columns, with a constant 1
    27.0
    """
    return plain(positive("norm2_u", norm2_u) * positive("max_norm2_x", max_norm2_x))


def perceptron_mistakes(hinge_sum: Any, norm_u: Any, max_norm_x: Any) -> Numbers:
    r"""Return how many mistakes a perceptron can make at most on any stream.

    .. math:: M \le H + (\|u\|X)^2 + \|u\|X\sqrt{H}, \qquad H = \sum_t \max(0, 1 - y_t u^\top x_t),

    for every u at once, with :math:`X = \max_t\|x_t\|`. Nothing is assumed of the stream.
    The sum may run over the rounds with a mistake only, which makes the bound smaller.

    Parameters
    ----------
    hinge_sum : float or array-like
        Sum of the hinge losses of u over the stream, H.
    norm_u : float or array-like
        Norm of u (not squared).
    max_norm_x : float or array-like
        Largest norm of a row (not squared).

    Examples
    --------
    >>> perceptron_mistakes(4.0, 2.0, 1.0)
    12.0
    """
    hinge = at_least(0, "hinge_sum", hinge_sum)
    size = at_least(0, "norm_u", norm_u) * at_least(0, "max_norm_x", max_norm_x)
    return plain(hinge + size**2 + size * np.sqrt(hinge))


def perceptron_compression(
    error_outside: Any, n_updated: Any, m: Any, delta: Any = 0.05
) -> Numbers:
    r"""Return an upper limit for the risk of a perceptron from the rows it never updated on.

    With probability at least :math:`1 - \delta` over m independent rows,

    .. math:: er(h_w) \le \widetilde{er}(h_w) +
        \sqrt{\frac{1}{m}\left((M + 1)\ln m + \ln\frac{e}{\delta}\right)}.

    The final weights are those of a run on the updated rows alone, so the others are test rows.
    Assumes that the order of the rows and the number of epochs do not depend on the labels.

    Parameters
    ----------
    error_outside : float or array-like
        Share of errors on the m - M rows that never caused an update.
    n_updated : int or array-like
        Distinct rows that caused an update, M (not updates); at most m/2.
    m : int or array-like
        Training rows.
    delta : float or array-like
        Probability with which the claim may fail.

    Returns
    -------
    float or ndarray
        The limit; above 1 it says nothing.

    Notes
    -----
    For each set of M rows the others, at least m/2, are independent of the weights: Hoeffding's
    inequality leaves at most :math:`e^{-m\epsilon^2}` of doubt. There are at most :math:`m^M` sets
    of M rows and no more than m values of M, which the union bound pays for.

    Examples
    --------
    >>> round(perceptron_compression(0.0, 10, 1000), 6)
    0.282809
    """
    error = at_least(0, "error_outside", error_outside, 1)
    updated, m, delta = count("n_updated", n_updated, 0), count("m", m), level(delta)
    if np.any(2 * updated > m):
        raise ParameterError(
            f"n_updated={updated.tolist()!r} of m={m.tolist()!r} rows: the bound holds where at "
            "most half of the rows caused an update. Use more rows, or judge on a test set."
        )
    return plain(error + np.sqrt(((updated + 1) * np.log(m) + 1 - np.log(delta)) / m))


def kernel_perceptron(norm2_f: Any, max_k: Any) -> Numbers:
    r"""Return how many updates a kernel perceptron can need at most.

    :math:`M \le \|f\|_K^2 \max_t K(x_t, x_t)` for every f of the kernel's space with
    :math:`y_t f(x_t) \ge 1` on all rows.

    Parameters
    ----------
    norm2_f : float or array-like
        Squared norm, :math:`\alpha^\top K\alpha` for :math:`f = \sum_i \alpha_i K(x_i, \cdot)`.
    max_k : float or array-like
        Largest K(x, x); 1 for the Gaussian kernel.

    Examples
    --------
    >>> kernel_perceptron(12.5, 1.0)
    12.5
    """
    return plain(positive("norm2_f", norm2_f) * positive("max_k", max_k))
