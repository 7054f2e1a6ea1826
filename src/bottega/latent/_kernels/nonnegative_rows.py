"""Least squares without negative numbers, row by row, each row with the entries that it has.

The gaps of row i are the columns ``gaps[starts[i]:starts[i + 1]]``, in increasing order.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@summing_kernel
def _add_outer(own, Z, j, sign):
    """Add the products of row j of Z with itself."""
    for s in range(own.shape[0]):
        c = sign * Z[j, s]
        for r in range(own.shape[0]):
            own[s, r] += c * Z[j, r]


@kernel
def _own_gram(own, G, Z, gaps, start, stop):
    """Set `own` to the Gram matrix of the rows of Z that are not among the gaps."""
    k, p = own.shape[0], Z.shape[0]
    if 2 * (stop - start) <= p:
        for s in range(k):
            for r in range(k):
                own[s, r] = G[s, r]
        for t in range(start, stop):
            _add_outer(own, Z, gaps[t], -1.0)
        return
    for s in range(k):  # what is left is little: summed afresh, it loses no digits
        for r in range(k):
            own[s, r] = 0.0
    t = start
    for j in range(p):
        if t < stop and gaps[t] == j:
            t += 1
        else:
            _add_outer(own, Z, j, 1.0)


@summing_kernel
def _slope(F, i, P, own, s):
    """Return the derivative for coordinate s of row i."""
    total = -P[i, s]
    for r in range(own.shape[0]):
        total += own[s, r] * F[i, r]
    return total


@kernel
def solve_rows(F, P, G, ridge, Z, starts, gaps, sweeps, tol):
    """Change the rows of F by at most `sweeps` sweeps each.

    A row is done when no coordinate changes by more than `tol` times the row's largest. Return the
    violation that the first sweeps found, and how many rows were not done.
    """
    m, k = F.shape
    own = np.empty((k, k))
    violation = 0.0
    left = 0
    for i in range(m):
        _own_gram(own, G, Z, gaps, starts[i], starts[i + 1])
        for s in range(k):
            own[s, s] += ridge
        done = False
        for sweep in range(sweeps):
            change = 0.0
            largest = 0.0
            for s in range(k):
                if own[s, s] <= 1e-14 * (G[s, s] + ridge):  # nothing of it can be seen
                    if P[i, s] <= 0.0:
                        F[i, s] = 0.0
                    continue
                slope = _slope(F, i, P, own, s)
                old = F[i, s]
                if sweep == 0:
                    violation += abs(slope) if old > 0.0 else max(0.0, -slope)
                new = max(0.0, old - slope / own[s, s])
                F[i, s] = new
                change = max(change, abs(new - old))
                largest = max(largest, new)
            if change <= tol * largest:
                done = True
                break
        if not done:
            left += 1
    return violation, left
