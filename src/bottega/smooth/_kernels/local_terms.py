"""The terms of a local polynomial of several inputs.

Symbols
-------
X, rows  inputs of all rows, and the positions of those in the window of a point
u        (x - point) / h
b(u)     1, u, and with degree 2 all u_i u_j, i <= j
"""

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
