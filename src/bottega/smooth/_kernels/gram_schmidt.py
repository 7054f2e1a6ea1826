"""Local least squares by making the terms orthogonal row by row, which loses no digits.

Symbols
-------
B        root-weighted terms of a window, one row per term; z root-weighted responses
P        triangle with new row i of B = sum of P[i, j] times old row j
C        one row per functional of the polynomial at the point (value, then slopes or derivatives):
         row f is that of the inverse of sum t b b'
"""

import numpy as np

from bottega._jit import kernel

# A term of which less than this (in length) is left is a combination of the ones before: left out.
_DEPENDENT = 1e-9


@kernel
def _orthogonalize(B, z, P, c):
    """Make the rows of B orthonormal, one after the other (modified Gram-Schmidt).

    P becomes the triangle that does it: new row i = sum of P[i, j] times old row j; rows that
    depend on those before become zero. c gets the coefficients of z, which is left as residuals.
    """
    k = B.shape[0]
    P[:] = 0.0
    c[:] = 0.0
    for i in range(k):
        P[i, i] = 1.0
        before = np.sqrt(np.dot(B[i], B[i]))
        for j in range(i):
            along = np.dot(B[i], B[j])
            B[i] -= along * B[j]
            P[i] -= along * P[j]
        left = np.sqrt(np.dot(B[i], B[i]))
        if not left > _DEPENDENT * before:
            B[i] = 0.0
            P[i] = 0.0
            continue
        B[i] /= left
        P[i] /= left
        c[i] = np.dot(B[i], z)
        z -= c[i] * B[i]


@kernel
def solve_window(B, z, t, spread, level, P, c, C, found, norm):
    """Fill the functionals of one point from root-weighted terms B and responses z."""
    count, k = C.shape
    _orthogonalize(B, z, P, c)
    for f in range(count):
        total = 0.0
        for i in range(k):
            total += P[i, f] * c[i]
        found[f] = total + level if f == 0 else total
        for j in range(k):
            total = 0.0
            for i in range(k):
                total += P[i, f] * P[i, j]
            C[f, j] = total
        total = 0.0
        for r in range(t.size):
            entry = 0.0
            for i in range(k):
                entry += P[i, f] * B[i, r]
            total += t[r] * entry * entry * spread[r]
        norm[f] = total
