"""The terms of a local polynomial, and for one input their sums over the window of a point.

Symbols
-------
X, rows  inputs of all rows, and the positions of those in the window of a point
u        (x - point) / h
b(u)     1, u, and with degree 2 all u_i u_j, i <= j
t, z     weight and response (less a level) of the rows in the window
S, Y     sums of t u^r (r up to 4) and of t u^r z (r up to 2), as far as the degree needs them
c        coefficients of a functional: row j enters it with t_j (c_0 + c_1 u_j + c_2 u_j^2)
"""

import numpy as np

from bottega._jit import kernel


@kernel
def count_terms(p, degree):
    """Return the number of terms for p inputs."""
    if degree == 0:
        return 1
    return 1 + p if degree == 1 else 1 + p + p * (p + 1) // 2


@kernel
def fill_terms(X, rows, q, point, inverse, degree, B):
    """Write b(u) of q rows about a point, one row of B per term."""
    p = point.size
    for r in range(q):
        B[0, r] = 1.0
    if degree == 0:
        return
    for c in range(p):
        for r in range(q):
            B[c + 1, r] = (X[rows[r], c] - point[c]) * inverse
    if degree == 2:
        term = p + 1
        for c in range(p):
            for d in range(c + 1):
                for r in range(q):
                    B[term, r] = B[c + 1, r] * B[d + 1, r]
                term += 1


@kernel
def power_sums(u, t, z, degree, S, Y):
    """Fill S and Y."""
    s0 = s1 = s2 = s3 = s4 = y0 = y1 = y2 = 0.0
    if degree == 0:
        for j in range(u.size):
            s0 += t[j]
            y0 += t[j] * z[j]
    elif degree == 1:
        for j in range(u.size):
            tu = t[j] * u[j]
            s0 += t[j]
            s1 += tu
            s2 += tu * u[j]
            y0 += t[j] * z[j]
            y1 += tu * z[j]
    else:
        for j in range(u.size):
            tu = t[j] * u[j]
            tuu = tu * u[j]
            s0 += t[j]
            s1 += tu
            s2 += tuu
            s3 += tuu * u[j]
            s4 += tuu * u[j] * u[j]
            y0 += t[j] * z[j]
            y1 += tu * z[j]
            y2 += tuu * z[j]
    S[0], S[1], S[2], S[3], S[4] = s0, s1, s2, s3, s4
    Y[0], Y[1], Y[2] = y0, y1, y2


@kernel
def squared_length(u, t, spread, c):
    """Return the sum of the squared entries of a functional's row, times `spread`."""
    k = c.size
    c0, c1, c2 = c[0], c[1] if k > 1 else 0.0, c[2] if k > 2 else 0.0
    total = 0.0
    for j in range(u.size):
        entry = t[j] * ((c2 * u[j] + c1) * u[j] + c0)
        total += entry * entry * spread[j]
    return total


@kernel
def fill_roots(u, t, B):
    """Write the root-weighted powers of u, one row of B per power."""
    for j in range(u.size):
        B[0, j] = np.sqrt(t[j])
        for d in range(1, B.shape[0]):
            B[d, j] = B[d - 1, j] * u[j]
