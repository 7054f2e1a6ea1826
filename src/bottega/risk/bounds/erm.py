r"""How far above the best of its class an empirical risk minimiser may lie.

All follow from one fact that needs no probability: the excess risk of a minimiser of the
training error is at most twice the largest distance between training error and risk in the class.
Hoeffding's inequality and the union bound do the rest. Each function returns the excess,
the number to be added to the risk of the best predictor of the class. Values above 1 say nothing
about a loss in [0, 1]; they are returned as they are, to show how many rows are missing.
"""

import math
from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.errors import ParameterError
from bottega.core.typing import FloatArray
from bottega.risk.bounds._checks import Numbers, count, level, plain

__all__ = ["erm_boolean_trees", "erm_finite", "erm_trees"]


def _excess(m: Any, log_size: FloatArray, delta: Any) -> Numbers:
    """Return sqrt((2/m) (ln #H + ln(2/delta)))."""
    m, delta = count("m", m), level(delta)
    return plain(np.sqrt(2 / m * (log_size + np.log(2 / delta))))


def erm_finite(m: Any, n_hypotheses: Any, delta: Any = 0.05) -> Numbers:
    r"""Return the excess risk of ERM over a finite class.

    With probability at least :math:`1 - \delta` over m independent training examples, for a loss
    in [0, 1] and a class H fixed before they are seen,

    .. math:: \ell_D(h_S) \le \min_{h \in H} \ell_D(h) + \sqrt{\frac{2}{m} \ln\frac{2\#H}{\delta}}.

    Parameters
    ----------
    m : int or array-like
        Training examples.
    n_hypotheses : int or array-like
        Size of the class, #H (a whole number of any size).
    delta : float or array-like
        Probability with which the claim may fail.

    Examples
    --------
    >>> round(erm_finite(1000, 32), 6)
    0.119621
    >>> round(erm_finite(5, 32), 4)  # says nothing: more than 1
    1.6917
    """
    if isinstance(n_hypotheses, int):  # may be beyond any float
        if n_hypotheses < 1:
            raise ParameterError(f"n_hypotheses={n_hypotheses!r}: a class has at least 1 member.")
        return _excess(m, np.asarray(math.log(n_hypotheses)), delta)
    return _excess(m, np.log(count("n_hypotheses", n_hypotheses)), delta)


@documented_like(erm_finite)
def erm_boolean_trees(m: Any, d: Any, delta: Any = 0.05) -> Numbers:
    r"""Return the excess risk of ERM over all functions of d Boolean columns.

    Trees compute every function of :math:`\{0,1\}^d`, :math:`2^{2^d}` of them, so by `erm_finite`
    the excess is at most :math:`\sqrt{\frac{2}{m}(2^d\ln 2 + \ln\frac{2}{\delta})}`. The
    class contains the Bayes-optimal predictor: this is the excess over the Bayes risk. It needs m
    of the order of :math:`2^d`.

    Parameters
    ----------
    d : int or array-like
        Boolean columns.

    Examples
    --------
    >>> round(erm_boolean_trees(10_000, 10), 6)
    0.377749
    """
    with np.errstate(over="ignore"):  # beyond 1023 columns the answer is infinity
        return _excess(m, np.exp2(count("d", d)) * np.log(2), delta)


@documented_like(erm_boolean_trees)
def erm_trees(m: Any, n_nodes: Any, d: Any, delta: Any = 0.05) -> Numbers:
    r"""Return the excess risk of ERM over binary trees with exactly `n_nodes` nodes.

    There are at most :math:`(2de)^N` of them over d Boolean columns, so by `erm_finite` the
    excess is at most :math:`\sqrt{\frac{2}{m}(N(1 + \ln 2d) + \ln\frac{2}{\delta})}`: m of
    the order of N ln d is enough. Inner nodes have two children, so N is odd. N must be fixed
    before the data are seen; `srm_tree` covers all sizes at once.

    Parameters
    ----------
    n_nodes : int or array-like
        Nodes, inner ones and leaves, N.

    Examples
    --------
    >>> round(erm_trees(10_000, 7, 10), 6)
    0.079573
    """
    return _excess(m, count("n_nodes", n_nodes) * (1 + np.log(2 * count("d", d))), delta)
