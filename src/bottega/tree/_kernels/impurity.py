"""Impurity of class counts: how mixed a node is, times its weight.

W       weight of the node
W psi   weight times impurity, the unit of all gains
"""

import numpy as np

from bottega._jit import kernel

# SUMS: squared error, which needs two sums; Gini's index of two classes is twice that of 0 and 1.
SUMS, GINI, ENTROPY, DEVIANCE, SQRT, ERROR = range(6)
TIE = 1e-12  # gains nearer than this, relative to the node's W psi, are equal
LIGHT = 1e-13  # a child with less of the node's weight is lost in rounding, and not made


@kernel
def xlogx(c, table):
    """Return c log2 c, from the table of whole numbers if there is one."""
    if c <= 0.0:
        return 0.0
    if table.size:
        return table[int(c)]
    return c * np.log2(c)


@kernel
def total_of(a):
    """Return the sum of an array."""
    out = 0.0
    for v in a:
        out += v
    return out


@kernel
def impurity(counts, total, criterion, table):
    """Return W psi of class counts."""
    out = 0.0
    if criterion == ERROR:
        most = 0.0
        for c in counts:
            most = max(most, c)
        return total - most
    if criterion == GINI:
        for c in counts:
            out += c * (total - c)
        return out / total if total > 0.0 else 0.0
    if criterion == SQRT:
        for c in counts:
            if TIE * total < c < (1.0 - TIE) * total:  # the root would blow up what rounding left
                out += np.sqrt(c * (total - c))
        return 0.5 * out
    for c in counts:
        out += xlogx(c, table)
    out = xlogx(total, table) - out
    return 2.0 * np.log(2.0) * out if criterion == DEVIANCE else out


@kernel
def impurity_of_part(criterion, class_sums, part, W):
    """Return W psi of the class sums in class_sums[part], in which rounding has left traces."""
    found = 0.0
    largest = 0.0
    for k in range(class_sums.shape[1]):
        v = class_sums[part, k]
        if v > LIGHT * W:  # less is what rounding leaves of a class that is gone
            if criterion == GINI:
                found += v * (W - v) / W
            elif criterion == ENTROPY:
                found -= v * np.log2(v / W)
            elif criterion == DEVIANCE:
                found -= 2.0 * v * np.log(v / W)
            elif criterion == SQRT:
                found += 0.5 * np.sqrt(v * (W - v)) if W - v > LIGHT * W else 0.0
            largest = max(largest, v)
    return W - largest if criterion == ERROR else found
