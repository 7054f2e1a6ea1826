r"""Structural risk minimisation: one delta dealt over all predictors by weights fixed beforehand.

With weights :math:`w(h) \ge 0`, :math:`\sum_h w(h) \le 1`, chosen before the data are seen, with
probability at least :math:`1 - \delta` for all predictors h at once

.. math:: |\ell_D(h) - \ell_S(h)| \le
    \sqrt{\frac{1}{2m}\left(\ln\frac{1}{w(h)} + \ln\frac{2}{\delta}\right)}

for a loss in [0, 1] on m independent examples. The words of a prefix code give such weights,
:math:`w(h) = 2^{-len(h)}`, by Kraft's inequality; SRM picks the predictor whose training
error plus this margin is least. A margin above 1 says nothing and is returned as it is.

References
----------
.. [1] Shalev-Shwartz, S. and Ben-David, S. (2014). Understanding Machine Learning, sections 7.2,
   7.3 and 18.1. Cambridge University Press.
.. [2] Elias, P. (1975). Universal codeword sets and representations of the integers. IEEE
   Transactions on Information Theory 21, 194-203.
"""

from typing import Any

import numpy as np

from bottega.core.documents import documented_like
from bottega.core.errors import InputError, ParameterError
from bottega.core.typing import FloatArray
from bottega.risk.bounds._checks import Numbers, at_least, count, level, plain
from bottega.risk.bounds.candidates import check_weights

__all__ = ["code_length", "srm", "srm_code", "srm_tree", "symbol_width"]


def _margin(m: Any, log_inverse_weight: FloatArray, delta: Any) -> Numbers:
    m, delta = count("m", m), level(delta)
    return plain(np.sqrt((log_inverse_weight + np.log(2 / delta)) / (2 * m)))


def srm(m: Any, weight: Any, delta: Any = 0.05) -> Numbers:
    r"""Return how far training error and risk may differ for predictors with given weights.

    :math:`\sqrt{(\ln(1/w) + \ln(2/\delta)) / (2m)}`, on both sides and for all predictors at
    once. Assumes a loss in [0, 1], m independent examples, and weights fixed before they are seen
    whose sum over ALL predictors is at most 1.

    Parameters
    ----------
    m : int or array-like
        Training examples.
    weight : float or array-like
        Weight of a predictor, or the weights of several (along the last axis): refused where they
        sum to more than 1. A weight of 0 gives an infinite margin.
    delta : float or array-like
        Probability with which the claim may fail for any of the predictors.

    Examples
    --------
    >>> round(srm(1000, 0.01), 6)
    0.064397
    """
    with np.errstate(divide="ignore"):
        return _margin(m, -np.log(check_weights(weight)), delta)


@documented_like(srm)
def srm_code(m: Any, length: Any, delta: Any = 0.05, *, form: str = "exact") -> Numbers:
    r"""Return the margin of `srm` for predictors that are words of a prefix code.

    Parameters
    ----------
    length : int or array-like
        Bits of the word, in a code in which no word begins another.
    form : {"exact", "printed"}
        ``ln(1/w) = len * ln 2`` for the weight :math:`2^{-len}`. The notes print `len` without
        the factor, which is also right, and wider.

    Examples
    --------
    >>> round(srm_code(10_000, 37), 6), round(srm_code(10_000, 37, form="printed"), 6)
    (0.038298, 0.045105)
    """
    if form not in ("exact", "printed"):
        raise ParameterError(f"form={form!r} is not allowed; choose 'exact' or 'printed'.")
    bits = at_least(0, "length", length)
    return _margin(m, bits * (np.log(2) if form == "exact" else 1.0), delta)


@documented_like(srm_code)
def srm_tree(
    m: Any, n_nodes: Any, d: Any, delta: Any = 0.05, *, n_classes: int = 2, form: str = "exact"
) -> Numbers:
    r"""Return how far training error and risk may differ for a binary tree of any size.

    The margin of `srm_code` for the length of `code_length`. Assumes that the d tests a
    tree may ask were fixed before the data were seen: one per column for Boolean columns.

    Parameters
    ----------
    n_nodes : int or array-like
        Nodes of the tree.
    d : int or array-like
        Number of different tests.
    n_classes : int
        Number of labels.

    Examples
    --------
    >>> round(srm_tree(10_000, 7, 10), 6)
    0.038298
    """
    lengths = np.frompyfunc(code_length, 3, 1)(n_nodes, d, n_classes)
    return srm_code(m, np.asarray(lengths, dtype=np.float64), delta, form=form)


def code_length(n_nodes: int, n_tests: int, n_classes: int = 2) -> int:
    """Return the bits of a binary tree: (N + 1) ceil(log2(d + K + 1)) + 2 floor(log2 N) + 1.

    A word of the code (`bottega.tree.tree_code` writes and reads it) is N in Elias' gamma code,
    then the N nodes in preorder and an end mark, each as a symbol of fixed width: one of d tests,
    one of K labels, or the mark. Numbers may be of any size.

    Examples
    --------
    >>> code_length(7, 10), code_length(15, 13)
    (37, 71)
    """
    if n_nodes < 1 or n_tests < 0 or n_classes < 1:
        raise InputError(
            f"A tree has at least one node and one class, and no negative number of tests; got "
            f"n_nodes={n_nodes}, n_tests={n_tests}, n_classes={n_classes}."
        )
    return (int(n_nodes) + 1) * symbol_width(n_tests, n_classes) + 2 * int(n_nodes).bit_length() - 1


def symbol_width(n_tests: int, n_classes: int) -> int:
    """Return the bits of a symbol of `code_length`: a test, a label or the end mark."""
    return (int(n_tests) + int(n_classes)).bit_length()
