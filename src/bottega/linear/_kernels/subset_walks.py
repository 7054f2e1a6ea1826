"""Compiled walks over subsets of columns: forward, hybrid and backward.

Symbols
-------
M, z     rows by p inputs and their response: a QR factor of the data does as well as the data
S        the subset at hand, RSS(S) its residual sum of squares
C, b     inverse of the Gram matrix of S and the coefficients of S
rho      least RSS found for each size
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bottega._jit import kernel

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

# A column whose part outside the span of the subset is shorter than this share of its length is
# taken to lie in the span: to enter would explain rounding.
COLLINEAR = 1e-8
# A gain below this share of RSS is rounding.
GAIN = 1e-12


@kernel
def _enter(W: Floats, r: Floats, v: int, R: Floats, qz: Floats, m: int, active: Ints) -> None:
    """Let column v into the subset as its m-th: W and r keep what lies outside the span."""
    k, p = W.shape
    q = W[:, v] / np.sqrt(np.sum(W[:, v] ** 2))
    # How much of column j lies along q: column j of R for every j that is in or may come in.
    along = np.zeros(p)
    for i in range(k):
        for j in range(p):
            along[j] += q[i] * W[i, j]
    for i in range(k):
        for j in range(p):
            W[i, j] -= q[i] * along[j]
    R[m], W[:, v] = along, 0.0
    qz[m], active[m] = np.sum(q * r), v
    r -= q * qz[m]


@kernel
def _most_useful(W: Floats, r: Floats, length: Floats, inside: Ints) -> int:
    """Return the column outside the subset whose entry lowers RSS most, or -1."""
    k, p = W.shape
    square, product = np.zeros(p), np.zeros(p)
    for i in range(k):
        for j in range(p):
            square[j] += W[i, j] * W[i, j]
            product[j] += W[i, j] * r[i]
    best, gain = -1, -1.0
    for j in range(p):
        if inside[j] or square[j] <= (COLLINEAR * length[j]) ** 2:
            continue
        found = product[j] * product[j] / square[j]
        if found > gain:
            best, gain = j, found
    return best


@kernel
def _least_useful(R: Floats, qz: Floats, m: int, active: Ints) -> tuple[int, float]:
    """Return the position in the subset whose leaving costs least, and what it costs."""
    inverse = np.zeros((m, m))  # of the triangle R over the columns of the subset
    for c in range(m):
        inverse[c, c] = 1.0 / R[c, active[c]]
        for a in range(c - 1, -1, -1):
            total = 0.0
            for t in range(a + 1, c + 1):
                total += R[a, active[t]] * inverse[t, c]
            inverse[a, c] = -total / R[a, active[a]]
    best, cost = -1, np.inf
    for a in range(m):
        coef, variance = 0.0, 0.0
        for c in range(a, m):
            coef += inverse[a, c] * qz[c]
            variance += inverse[a, c] * inverse[a, c]
        found = coef * coef / variance
        if found < cost:
            best, cost = a, found
    return best, cost


@kernel
def walk_forward(
    M: Floats, z: Floats, outside: float, n: int, most: int, floating: bool
) -> tuple[Ints, Floats, int]:
    """Add the most useful column again and again; `floating`: let useless ones go in between.

    After an addition the least useful column leaves for as long as n log(RSS) + 2 |S| falls and
    the smaller subset beats the best of its size so far (so the walk ends). `outside` is the part
    of RSS that no column can explain.

    Returns the best subset met of each size, one row of 0/1 per size, their RSS, and the largest
    size reached.
    """
    p = M.shape[1]
    W, r = M.copy(), z.copy()
    length = np.sqrt(np.sum(M * M, axis=0))
    R, qz = np.zeros((most, p)), np.zeros(most)
    active, inside = np.zeros(most, dtype=np.intp), np.zeros(p, dtype=np.intp)
    chosen = np.zeros((most + 1, p), dtype=np.intp)
    rho = np.full(most + 1, np.inf)
    rho[0] = outside + np.sum(r * r)
    m, reached = 0, 0
    while m < most:
        v = _most_useful(W, r, length, inside)
        if v < 0:
            break
        _enter(W, r, v, R, qz, m, active)
        inside[v] = 1
        m += 1
        rss = outside + np.sum(r * r)
        if rss < rho[m]:
            rho[m] = rss
            chosen[m] = inside
        reached = max(reached, m)
        while floating and m > 1:
            u, cost = _least_useful(R, qz, m, active)
            smaller = rss + cost
            # Written so that a perfect fit (rss = 0) never lets a column go.
            falls = n * np.log(smaller) - 2.0 < n * np.log(rss) if rss > 0 else False
            if not falls or not smaller < rho[m - 1] * (1 - GAIN):
                break
            inside[active[u]] = 0
            kept = np.delete(active[:m], u)
            W, r = M.copy(), z.copy()
            for a in range(m - 1):
                _enter(W, r, kept[a], R, qz, a, active)
            m -= 1
            rss = outside + np.sum(r * r)
            rho[m] = rss
            chosen[m] = inside
    return chosen[: reached + 1], rho[: reached + 1], reached


@kernel
def walk_backward(C: Floats, b: Floats, rss: float) -> tuple[Ints, Floats]:
    """Drop the least useful column again and again, from all of them.

    Returns the order in which the columns leave, and RSS of each size.
    """
    p = len(b)
    order, rho = np.zeros(p, dtype=np.intp), np.zeros(p + 1)
    C, b = C.copy(), b.copy()
    present = np.ones(p, dtype=np.intp)
    rho[p] = rss
    for step in range(p):
        v, cost = -1, np.inf
        for j in range(p):
            if present[j] and b[j] * b[j] / C[j, j] < cost:
                v, cost = j, b[j] * b[j] / C[j, j]
        rss += cost
        pivot = 1.0 / C[v, v]
        column, value = C[:, v].copy(), b[v]
        present[v] = 0
        for i in range(p):
            if present[i]:
                share = column[i] * pivot
                b[i] -= share * value
                for j in range(p):
                    C[i, j] -= share * column[j]
        order[step] = v
        rho[p - step - 1] = rss
    return order, rho
