r"""Kernels of support vector machines: sequential minimal optimization on a few rows.

Minimised, over n coefficients b, is

    b'Kb / 2 - z'b + eps sum_i |b_i|    with    low <= b <= high    and    sum_i b_i fixed.

Symbols
-------
K      matrix of the kernel, symmetric
z      responses: -1 and +1 for classes, numbers for a regression, 0 for one class
b      coefficients; a support vector is a row with a coefficient that is not zero
r      z - Kb: the residuals without the bias
eps    half width of the tube in which residuals cost nothing; 0 for classes
up     r - eps if b >= 0, else r + eps: what a step upward gains; rows with b < high
down   r - eps if b > 0, else r + eps: what a step downward costs; rows with b > low

At the minimum no `up` is above a `down`; the largest `up` less the least `down` is the gap. A step
moves the largest `up` against the row that gains most to second order, until one of the two meets
a bound (or zero, where the slope of eps |b| changes).
"""

import numpy as np

from bottega._jit import kernel

_FLAT = 1e-12  # least curvature of a step


@kernel
def descend(K, r, b, low, high, eps, tol, limit):
    """Take steps until the gap is at most `tol`; return their number. `r` and `b` change."""
    n = len(r)
    steps = 0
    top = -np.inf
    i = -1
    diagonal = np.empty(n)
    for k in range(n):
        diagonal[k] = K[k, k]
        if b[k] < high[k]:
            up = r[k] - eps if b[k] >= 0.0 else r[k] + eps
            if up > top:
                top = up
                i = k
    while steps < limit and i >= 0:
        row = K[i]
        own = diagonal[i]
        least = np.inf
        best = 0.0
        j = -1
        for k in range(n):
            if b[k] > low[k]:
                down = r[k] - eps if b[k] > 0.0 else r[k] + eps
                if down < least:
                    least = down
                gain = top - down
                if gain > 0.0:
                    curvature = max(own + diagonal[k] - 2.0 * row[k], _FLAT)
                    gain = gain * gain / curvature
                    if gain > best:
                        best = gain
                        j = k
        if j < 0 or top - least <= tol:
            break
        down = r[j] - eps if b[j] > 0.0 else r[j] + eps
        step = (top - down) / max(own + diagonal[j] - 2.0 * row[j], _FLAT)
        end_i = 0.0 if eps > 0.0 and b[i] < 0.0 else high[i]
        end_j = 0.0 if eps > 0.0 and b[j] > 0.0 else low[j]
        step = min(step, end_i - b[i], b[j] - end_j)
        at_i = step >= end_i - b[i]
        at_j = step >= b[j] - end_j
        b[i] = end_i if at_i else b[i] + step
        b[j] = end_j if at_j else b[j] - step
        other = K[j]
        top = -np.inf
        i = -1
        for k in range(n):
            r[k] -= step * (row[k] - other[k])
            if b[k] < high[k]:
                up = r[k] - eps if b[k] >= 0.0 else r[k] + eps
                if up > top:
                    top = up
                    i = k
        steps += 1
    return steps


@kernel
def slopes(r, b, low, high, eps, up, down):
    """Set `up` (-inf at the upper bound) and `down` (inf at the lower); return their extremes."""
    top = -np.inf
    least = np.inf
    for k in range(len(r)):
        up[k] = -np.inf
        down[k] = np.inf
        if b[k] < high[k]:
            up[k] = r[k] - eps if b[k] >= 0.0 else r[k] + eps
            top = max(top, up[k])
        if b[k] > low[k]:
            down[k] = r[k] - eps if b[k] > 0.0 else r[k] + eps
            least = min(least, down[k])
    return top, least


@kernel
def subtract_rows(store, width, slots, step, r, first, last):
    """Subtract from ``r[first:last]`` the stored rows times their steps."""
    for start in range(first, last, 1024):
        end = min(start + 1024, last)
        part = r[start:end]
        for a in range(len(slots)):
            size = step[a]
            row = store[slots[a] * width + start : slots[a] * width + end]
            for k in range(end - start):
                part[k] -= size * row[k]


@kernel
def keep_columns(store, width, slots, places):
    """Move the kept rows and columns to the front of the store; `slots` and `places` ascend."""
    to = 0
    for slot in slots:
        start = slot * width
        for place in places:
            store[to] = store[start + place]
            to += 1


@kernel
def place_rows(block, store, width, slots, first):
    """Copy the rows of a block into their slots, from column `first` on."""
    for a in range(len(slots)):
        start = slots[a] * width + first
        for k in range(block.shape[1]):
            store[start + k] = block[a, k]
