"""Half a sweep of alternating least squares: one ridge regression per row, solved exactly.

Row x has the entries ``start[x] <= e < start[x + 1]`` of ``column``, ``weight`` and ``right``. Its
factors z minimise the quadratic form

    z' (gram + diag(penalty) + sum_e weight[e] f_e f_e') z - 2 sum_e right[e] f_e' z

in the features f_e, which are row ``column[e]`` of ``features``.

Symbols
-------
A           matrix of the normal equations, lower triangle; then its Cholesky factor
b, z        right side, solution
few         pivot, relative to the diagonal, below which a direction is not determined
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@kernel
def solve_rows(start, column, weight, right, features, gram, penalty, span, found, gain):
    """Solve the rows of ``span``; fill in ``found`` and b'z as ``gain``; return the singular ones.

    A direction that the entries of a row do not determine, and no penalty either, is left at zero.
    """
    size = features.shape[1]
    A, b = np.empty((size, size)), np.empty(size)
    singular = 0
    for x in range(span[0], span[1]):
        normal_equations(start[x], start[x + 1], column, weight, right, features, A, b)
        for j in range(size):
            for k in range(j + 1):
                A[j, k] += gram[j, k]
            A[j, j] += penalty[j]
        singular += factorize(A)
        total = solve(A, b, found[x])
        gain[x] = total
    return singular


@summing_kernel
def normal_equations(first, last, column, weight, right, features, A, b):
    """Sum the outer products of the features of four entries at a time."""
    size = len(b)
    for j in range(size):
        b[j] = 0.0
        for k in range(j + 1):
            A[j, k] = 0.0
    e = first
    while e + 4 <= last:
        f0, f1 = features[column[e]], features[column[e + 1]]
        f2, f3 = features[column[e + 2]], features[column[e + 3]]
        w0, w1, w2, w3 = weight[e], weight[e + 1], weight[e + 2], weight[e + 3]
        r0, r1, r2, r3 = right[e], right[e + 1], right[e + 2], right[e + 3]
        for j in range(size):
            a0, a1, a2, a3 = w0 * f0[j], w1 * f1[j], w2 * f2[j], w3 * f3[j]
            b[j] += r0 * f0[j] + r1 * f1[j] + r2 * f2[j] + r3 * f3[j]
            for k in range(j + 1):
                A[j, k] += a0 * f0[k] + a1 * f1[k] + a2 * f2[k] + a3 * f3[k]
        e += 4
    while e < last:
        f = features[column[e]]
        for j in range(size):
            a = weight[e] * f[j]
            b[j] += right[e] * f[j]
            for k in range(j + 1):
                A[j, k] += a * f[k]
        e += 1


@summing_kernel
def factorize(A):
    """Replace the lower triangle by its Cholesky factor; return 1 if it is singular, else 0."""
    size = A.shape[0]
    few, singular = 1e-12, 0
    for j in range(size):
        diagonal = A[j, j]
        for k in range(j):
            total = A[j, k]
            for i in range(k):
                total -= A[j, i] * A[k, i]
            A[j, k] = total * A[k, k]  # the inverse of the pivot is kept
            diagonal -= A[j, k] * A[j, k]
        if diagonal > few * A[j, j]:
            A[j, j] = 1.0 / np.sqrt(diagonal)
        else:
            A[j, j] = 0.0
            singular = 1
    return singular


@summing_kernel
def solve(L, b, z):
    """Fill in z = (LL')^-1 b, with the inverse of the diagonal in L; return b'z."""
    size = len(b)
    for j in range(size):
        total = b[j]
        for k in range(j):
            total -= L[j, k] * z[k]
        z[j] = total * L[j, j]
    for j in range(size - 1, -1, -1):
        z[j] *= L[j, j]
        for k in range(j):
            z[k] -= L[j, k] * z[j]
    found = 0.0
    for j in range(size):
        found += b[j] * z[j]
    return found
