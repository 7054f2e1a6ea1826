"""The small linear systems of loess: by Cholesky, and by singular values where that is not safe.

Symbols
-------
G        sum of t b b' over a window, k by k (its lower triangle)
C        one row per functional of the local polynomial: row f is G^-1 e_f
"""

import numpy as np

from bottega._jit import kernel

# A pivot of the Gram matrix (its diagonal scaled to one) below this has lost half of the digits:
# the window is then solved by singular values instead.
_SMALLEST_PIVOT = 1e-7
# Singular values below this share of the largest count as zero.
_RANK = 100 * 2.220446049250313e-16
_SWEEPS = 60  # of Jacobi rotations, many more than are ever needed


@kernel
def invert(G, k, count, C, L):
    """Fill the first `count` rows of C with those of the inverse of G; False: not safely done."""
    for i in range(k):
        if not G[i, i] > 0:
            return False
    for i in range(k):
        for j in range(i + 1):
            # The Gram matrix with its diagonal scaled to one.
            total = G[i, j] / np.sqrt(G[i, i] * G[j, j])
            for c in range(j):
                total -= L[i, c] * L[j, c]
            if i == j:
                if total < _SMALLEST_PIVOT:
                    return False
                L[i, i] = np.sqrt(total)
            else:
                L[i, j] = total / L[j, j]
    for f in range(count):
        for i in range(k):
            total = 1.0 / np.sqrt(G[f, f]) if i == f else 0.0
            for c in range(i):
                total -= L[i, c] * C[f, c]
            C[f, i] = total / L[i, i]
        for i in range(k - 1, -1, -1):
            total = C[f, i]
            for c in range(i + 1, k):
                total -= L[c, i] * C[f, c]
            C[f, i] = total / L[i, i]
        for i in range(k):
            C[f, i] /= np.sqrt(G[i, i])
    return True


@kernel
def _make_orthogonal(A, V, c, d):
    """Rotate rows c and d of A until their product is zero; False where it was already."""
    cc = dd = cd = 0.0
    for r in range(A.shape[1]):
        cc += A[c, r] * A[c, r]
        dd += A[d, r] * A[d, r]
        cd += A[c, r] * A[d, r]
    if abs(cd) <= 1e-15 * np.sqrt(cc * dd):
        return False
    ratio = (dd - cc) / (2.0 * cd)
    tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    if ratio < 0:
        tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = cosine * tangent
    for M in (A, V):
        for r in range(M.shape[1]):
            first, second = M[c, r], M[d, r]
            M[c, r] = cosine * first - sine * second
            M[d, r] = sine * first + cosine * second
    return True


@kernel
def pseudo_invert(A, count, C):
    """Fill C by the pseudo-inverse of AA', the rows of A (root weight times a term) scaled alike.

    One-sided Jacobi: rotations V make the rows of A orthogonal; their lengths are then the
    singular values. A is overwritten.
    """
    k, q = A.shape
    length = np.empty(k)
    for c in range(k):
        total = 0.0
        for r in range(q):
            total += A[c, r] * A[c, r]
        length[c] = np.sqrt(total) if total > 0 else 1.0
        for r in range(q):
            A[c, r] /= length[c]
    V = np.eye(k)
    for _ in range(_SWEEPS):
        turned = False
        for c in range(k):
            for d in range(c):
                turned = _make_orthogonal(A, V, c, d) or turned
        if not turned:
            break
    squared = np.zeros(k)  # singular values, squared
    for c in range(k):
        for r in range(q):
            squared[c] += A[c, r] * A[c, r]
    limit = _RANK * _RANK * squared.max()
    for f in range(count):
        for c in range(k):
            total = 0.0
            for i in range(k):
                if squared[i] > limit:
                    total += V[i, f] * V[i, c] / squared[i]
            C[f, c] = total / (length[f] * length[c])
