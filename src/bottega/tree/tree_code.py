r"""Trees as words of a prefix code, and the risk bound that follows from their length.

A word is the number N of nodes in Elias' gamma code, then the nodes in preorder and an end mark,
each as a symbol of fixed width: one of d tests, one of K labels, or the mark. No word begins
another, so by Kraft's inequality :math:`\sum_h 2^{-len(h)} \le 1` and :math:`2^{-len}` is a weight
that may be dealt over all trees before the data are seen. With probability at least
:math:`1 - \delta`, for all trees h at once,

.. math:: |\ell_D(h) - \ell_S(h)| \le \sqrt{\frac{len(h) \ln 2 + \ln(2/\delta)}{2m}}

for the misclassification on m independent training rows and on the distribution they come from.

References
----------
.. [1] Shalev-Shwartz, S. and Ben-David, S. (2014). Understanding Machine Learning, sections 7.3
   and 18.1. Cambridge University Press.
.. [2] Elias, P. (1975). Universal codeword sets and representations of the integers. IEEE
   Transactions on Information Theory 21, 194-203.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bottega.core.errors import InputError
from bottega.core.typing import BoolArray, IntArray
from bottega.risk.bounds.structural import code_length, srm_code, symbol_width
from bottega.tree._grow.structure import Tree

__all__ = ["Alphabet", "code_length", "decode", "encode", "preorder", "srm_margin", "srm_objective"]

_DOUBLES = 1 << 64


def srm_margin(length: int, m: int, delta: float = 0.05) -> float:
    """Return how far training and true error may differ for a tree of `length` bits.

    Examples
    --------
    >>> round(srm_margin(code_length(7, 10), 10_000), 6)
    0.038298
    """
    return float(srm_code(m, length, delta))


def srm_objective(train_error: float, length: int, m: int, delta: float = 0.05) -> float:
    """Return the bound that structural risk minimisation makes small: error plus margin."""
    return train_error + srm_margin(length, m, delta)


def encode(symbols: Sequence[int], n_tests: int, n_classes: int = 2) -> str:
    """Return the code word of a binary tree given by its symbols in preorder.

    A symbol below `n_classes` is the label of a leaf; the test number j of an inner node is the
    symbol ``n_classes + 1 + j`` (`n_classes` itself is the end mark).

    Examples
    --------
    >>> encode([3, 0, 1], n_tests=1)  # one test, a leaf of each label
    '01111000110'
    """
    nodes, width = len(symbols), symbol_width(n_tests, n_classes)
    gamma = format(nodes, "b")
    words = (format(int(symbol), f"0{width}b") for symbol in (*symbols, n_classes))
    return "0" * (len(gamma) - 1) + gamma + "".join(words)


def decode(bits: str, n_tests: int, n_classes: int = 2) -> tuple[list[int], str]:
    """Return the symbols of the first code word in a string of bits, and the rest of the string.

    Examples
    --------
    >>> decode("01111000110" + "0", n_tests=1)
    ([3, 0, 1], '0')
    """
    width = symbol_width(n_tests, n_classes)
    zeros = len(bits) - len(bits.lstrip("0"))
    start = 2 * zeros + 1
    stop = start
    if len(bits) >= start and "1" in bits:
        stop += (int(bits[zeros:start], 2) + 1) * width
    if stop == start or len(bits) < stop:
        raise InputError(f"The bits end within a code word ({len(bits)} bits); give all of them.")
    symbols = [int(bits[at : at + width], 2) for at in range(start, stop, width)]
    open_places = 1
    for symbol in symbols[:-1]:
        if open_places == 0 or symbol == n_classes or symbol > n_classes + n_tests:
            break
        open_places += 1 if symbol > n_classes else -1
    else:
        if open_places == 0 and symbols[-1] == n_classes:
            return symbols[:-1], bits[stop:]
    raise InputError(
        f"The bits are no tree over {n_tests} tests and {n_classes} labels; give the numbers of "
        "tests and labels that they were coded with."
    )


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The tests that a tree over given columns may ask, numbered.

    The bound needs their number fixed before the data are seen. A column that is 0 or 1 by
    definition has one test; any other number one for each float64 threshold, 2^64; a category with
    L levels one for each set of levels that goes to the first child, 2^L. Where values may be
    missing each test comes twice, once for each child that the missing ones may go to.

    Attributes
    ----------
    boolean, missing : ndarray of bool, one entry per column
        Which columns are 0 or 1, and which may have missing values.
    n_levels : ndarray of int
        Levels of a category; 0 for numbers.
    """

    boolean: BoolArray
    missing: BoolArray
    n_levels: IntArray

    def sizes(self) -> list[int]:
        """Return the number of tests on each column (whole numbers of any size)."""
        return [
            (1 if boolean else 1 << int(levels) if levels else _DOUBLES) * (2 if missing else 1)
            for boolean, missing, levels in zip(
                self.boolean, self.missing, self.n_levels, strict=True
            )
        ]

    @property
    def n_tests(self) -> int:
        """Number of tests on all columns together, d."""
        return sum(self.sizes())

    def number(self, tree: Tree, node: int) -> int:
        """Return the number of the test that a node asks."""
        sizes = self.sizes()
        s = int(tree.test_start[node])
        j = int(tree.feature[s])
        if self.boolean[j]:
            within = 0
        elif self.n_levels[j]:
            here = slice(int(tree.level_start[s]), int(tree.level_stop[s]))
            first = np.full(int(self.n_levels[j]), tree.default_child[node] == 0)
            first[tree.levels[here]] = tree.level_child[here] == 0
            within = sum(1 << int(level) for level in np.flatnonzero(first))
        else:
            within = int(np.float64(tree.threshold[s]).view(np.uint64))
        if self.missing[j]:
            within = 2 * within + int(tree.default_child[node])
        return sum(sizes[:j]) + within


def preorder(tree: Tree, label: IntArray, alphabet: Alphabet, n_classes: int) -> list[int]:
    """Return the symbols of a tree in preorder, as `encode` takes them."""
    if np.any(tree.n_children > 2) or np.any(tree.test_stop - tree.test_start > 1):
        raise InputError(
            "The code is one of binary trees without surrogates; grow the tree with "
            "multiway=False and missing='direction'."
        )
    symbols, stack = [], [0]
    while stack:
        node = stack.pop()
        if tree.n_children[node]:
            symbols.append(n_classes + 1 + alphabet.number(tree, node))
            stack.extend(reversed(tree.children(node)))
        else:
            symbols.append(int(label[node]))
    return symbols
