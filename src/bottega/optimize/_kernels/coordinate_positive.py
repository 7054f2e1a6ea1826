"""Coordinate descent on Gram matrices with coefficients that may not be negative.

Symbols as in `coordinate`: minimise b'(G + diag(l2))b/2 - (c - l1)'b over b >= 0, with q = c - Gb.

Descent finds the columns that are above zero; with these fixed the minimum solves a linear system.
If it is below zero somewhere, the step ends where the first coefficient becomes zero, and that
column leaves.
"""

import numpy as np

from bottega._jit import kernel
from bottega.optimize._kernels.coordinate_factor import solve_factored, update_factor

# Sweeps before a linear solve is tried, and where none is possible (dependent columns).
_SWEEPS = 8
_SWEEPS_SINGULAR = 200


@kernel
def _gradient(G, m, c, b, q):
    """Set q to c - Gb."""
    for i in range(m):
        q[i] = c[i]
    for j in range(m):
        if b[j] != 0.0:
            for i in range(m):
                q[i] -= b[j] * G[j, i]


@kernel
def _sweep(G, m, q, b, l1, l2):
    """One cycle over the columns; return the largest step."""
    largest = 0.0
    for j in range(m):
        size = G[j, j]
        if size <= 0.0:
            continue
        old = b[j]
        new = max((q[j] + size * old - l1[j]) / (size + l2[j]), 0.0)
        step = new - old
        if step != 0.0:
            b[j] = new
            for i in range(m):
                q[i] -= step * G[j, i]
            largest = max(largest, abs(step) * np.sqrt(size))
    return largest


@kernel
def _slide(G, m, c, q, b, l1, l2, R, order, s, j):
    """Drop a column where column j depends on those of the factor; return whether one could be.

    Along the combination of the columns that is zero the fit stays: go downhill to the first
    coefficient that becomes zero.
    """
    z = np.empty(s)
    for a in range(s):
        z[a] = G[j, order[a]]
    solve_factored(R, s, z)
    _gradient(G, m, c, b, q)
    slope = -q[j] + l1[j] + l2[j] * b[j]
    for a in range(s):
        i = order[a]
        slope -= z[a] * (-q[i] + l1[i] + l2[i] * b[i])
    way = -1.0 if slope > 0.0 else 1.0
    reach, first = np.inf, -1
    if way < 0.0:
        reach, first = b[j], j
    for a in range(s):
        step = -way * z[a]
        if step < 0.0 and -b[order[a]] / step < reach:
            reach, first = -b[order[a]] / step, order[a]
    if first < 0:
        return False
    b[j] = max(b[j] + way * reach, 0.0)
    for a in range(s):
        b[order[a]] = max(b[order[a]] - way * reach * z[a], 0.0)
    b[first] = 0.0
    return True


@kernel
def _finish(G, m, c, q, b, l1, l2, floor, R, order, count):
    """Solve on the columns above zero; return 1: at the minimum, 0: others enter, -1: dependent."""
    while True:
        s = 0
        S = np.empty(m, np.intp)
        for j in range(m):
            if b[j] > 0.0:
                S[s] = j
                s += 1
        bad = update_factor(G, S[:s], l2, R, order, count)
        if bad >= 0:
            if not _slide(G, m, c, q, b, l1, l2, R, order, count[0], bad):
                return -1
            continue
        z = np.empty(s)
        for a in range(s):
            z[a] = c[order[a]] - l1[order[a]]
        solve_factored(R, s, z)
        reach, first = 1.0, -1
        for a in range(s):
            old = b[order[a]]
            if z[a] <= 0.0 and old / (old - z[a]) < reach:
                reach, first = old / (old - z[a]), order[a]
        for a in range(s):
            j = order[a]
            b[j] = max(b[j] + reach * (z[a] - b[j]), 0.0)
        if first >= 0:
            b[first] = 0.0
            continue
        _gradient(G, m, c, b, q)
        for j in range(m):
            if b[j] == 0.0 and q[j] - l1[j] > floor:
                return 0
        return 1


@kernel
def solve_positive_on_gram(G, m, c, q, b, l1, l2, floor, small, max_sweeps, R, order, count):
    """Minimise from b, in place; return whether the minimum is exact, and the sweeps taken.

    The arguments are those of `solve_on_gram`.
    """
    count[0] = 0
    for j in range(m):
        b[j] = max(b[j], 0.0)
    _gradient(G, m, c, b, q)
    sweeps, limit = 0, _SWEEPS
    while sweeps < max_sweeps:
        largest = np.inf
        for _ in range(min(limit, max_sweeps - sweeps)):
            largest = _sweep(G, m, q, b, l1, l2)
            sweeps += 1
            if largest <= small:
                break
        state = _finish(G, m, c, q, b, l1, l2, floor, R, order, count)
        if state == 1:
            return True, sweeps
        limit = _SWEEPS_SINGULAR if state == -1 else _SWEEPS
        if largest <= small:
            _gradient(G, m, c, b, q)
            return False, sweeps
    _gradient(G, m, c, b, q)
    return False, sweeps
