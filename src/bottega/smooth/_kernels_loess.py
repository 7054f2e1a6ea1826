"""Kernels of loess: local least squares in given windows.

Symbols
-------
x, X     rows of the inputs on the scale of the distances, ascending in their first column
w        weight of each row (sample weight, times robustness weight)
variance  of each row's y over sigma^2: one over its sample weight
at       points where a local polynomial is fitted
h        radius of the window of each point: rows nearer than h count
u        (x - at) / h, of length at most one
b(u)     1, u, and with degree 2 all u_i u_j, i <= j: k terms
G        sum of t b b', with t = w (1 - |u|^3)^3
C        one row a functional of the local polynomial (value, then slopes or derivatives): row f is
         G^-1 e_f, so that row j of the data enters functional f with t_j b_j' C_f
level    a response of the window, subtracted before the sums and added to the value after: what is
         common to all responses then costs no digits
"""

import numpy as np

from bottega._jit import kernel

__all__ = [
    "fit_line",
    "fit_space",
    "rows_of",
]

# A pivot of the Gram matrix (its diagonal scaled to one) below this has lost half of the digits:
# the window is then solved by singular values instead.
_SMALLEST_PIVOT = 1e-7
# Singular values below this share of the largest count as zero.
_RANK = 100 * 2.220446049250313e-16
_SWEEPS = 60  # of Jacobi rotations, many more than are ever needed


@kernel
def _tricube(u):
    cube = 1.0 - u * u * u
    return cube * cube * cube


@kernel
def _invert(G, k, count, C, L):
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
def _pseudo_invert(A, count, C):
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
def fit_line(x, y, w, variance, at, h, degree, count):
    """Fit the local polynomials of one input.

    Returns the first `count` functionals at each point (value, first, second derivative, without
    their factors 1/h and 2/h^2), their C, and the squared length of the value's row of the
    smoother, its entries times the roots of `variance`.
    """
    m, k = at.size, degree + 1
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.empty(m)
    G, L = np.empty((3, 3)), np.empty((3, 3))
    u_all, t_all, z_all = np.empty(x.size), np.empty(x.size), np.empty(x.size)
    for i in range(m):
        start = np.searchsorted(x, at[i] - h[i], side="right")
        stop = np.searchsorted(x, at[i] + h[i], side="left")
        q = stop - start
        # Slices, not offsets: the compiler then sees loops it can do several rows at a time.
        xs, ys, ws = x[start:stop], y[start:stop], w[start:stop]
        u, t, z, spread = u_all[:q], t_all[:q], z_all[:q], variance[start:stop]
        point, inverse = at[i], 1.0 / h[i]
        level = ys[q // 2]
        for j in range(q):
            v = (xs[j] - point) * inverse
            u[j] = v
            t[j] = ws[j] * _tricube(abs(v))
            z[j] = ys[j] - level
        s0 = s1 = s2 = s3 = s4 = y0 = y1 = y2 = 0.0
        if degree == 0:
            for j in range(q):
                s0 += t[j]
                y0 += t[j] * z[j]
        elif degree == 1:
            for j in range(q):
                tu = t[j] * u[j]
                s0 += t[j]
                s1 += tu
                s2 += tu * u[j]
                y0 += t[j] * z[j]
                y1 += tu * z[j]
        else:
            for j in range(q):
                v = u[j]
                tu = t[j] * v
                tuu = tu * v
                s0 += t[j]
                s1 += tu
                s2 += tuu
                s3 += tuu * v
                s4 += tuu * v * v
                y0 += t[j] * z[j]
                y1 += tu * z[j]
                y2 += tuu * z[j]
        G[0, 0] = s0
        G[1, 0] = s1
        G[1, 1] = G[2, 0] = s2
        G[2, 1] = s3
        G[2, 2] = s4
        if _invert(G, k, count, C[i], L):
            for f in range(count):
                total = C[i, f, 0] * y0
                if k > 1:
                    total += C[i, f, 1] * y1
                if k > 2:
                    total += C[i, f, 2] * y2
                found[i, f] = total + level if f == 0 else total
        else:
            A = np.empty((k, q))
            for j in range(q):
                A[0, j] = np.sqrt(t[j])
                for c in range(1, k):
                    A[c, j] = A[c - 1, j] * u[j]
            _pseudo_invert(A, count, C[i])
            for f in range(count):
                total = 0.0
                for j in range(q):
                    total += t[j] * ys[j] * _horner(C[i, f], u[j], k)
                found[i, f] = total
        c0 = C[i, 0, 0]
        c1 = C[i, 0, 1] if k > 1 else 0.0
        c2 = C[i, 0, 2] if k > 2 else 0.0
        total = 0.0
        for j in range(q):
            entry = t[j] * ((c2 * u[j] + c1) * u[j] + c0)
            total += entry * entry * spread[j]
        norm[i] = total
    return found, C, norm


@kernel
def _horner(c, u, k):
    total = c[k - 1]
    for i in range(k - 2, -1, -1):
        total = total * u + c[i]
    return total


@kernel
def _fill_basis(X, rows, q, point, inverse, degree, B):
    """Write b(u) of q rows about a point, one row of B a term."""
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
def _find_window(X, w, start, stop, point, radius, rows, t):
    """List the rows within the radius of a point, with their weights; return how many."""
    inverse = 1.0 / radius
    q = 0
    for j in range(start, stop):
        total = 0.0
        for c in range(point.size):
            gap = (X[j, c] - point[c]) * inverse
            total += gap * gap
        if total < 1.0 and w[j] > 0:
            rows[q] = j
            t[q] = w[j] * _tricube(np.sqrt(total))
            q += 1
    return q


@kernel
def fit_space(X, y, w, variance, at, h, degree, count):
    """Fit the local polynomials of several inputs; returns what `fit_line` does.

    The first ``1 + p`` functionals are the value and the slopes (without their factor 1/h).
    """
    n, p = X.shape
    m = at.shape[0]
    k = 1
    if degree > 0:
        k += p
    if degree == 2:
        k += p * (p + 1) // 2
    first = np.ascontiguousarray(X[:, 0])
    found = np.empty((m, count))
    C = np.zeros((m, count, k))
    norm = np.empty(m)
    L = np.empty((k, k))
    rows, t_all = np.empty(n, dtype=np.int64), np.empty(n)
    terms, weighted = np.empty(n * (k + 1)), np.empty(n * k)
    for i in range(m):
        start = np.searchsorted(first, at[i, 0] - h[i], side="right")
        stop = np.searchsorted(first, at[i, 0] + h[i], side="left")
        q = _find_window(X, w, start, stop, at[i], h[i], rows, t_all)
        t = t_all[:q]
        # The terms, and the responses as a last row: one product gives G and the sums of t b y.
        B = terms[: q * (k + 1)].reshape(k + 1, q)
        _fill_basis(X, rows, q, at[i], 1.0 / h[i], degree, B)
        level = y[rows[q // 2]]
        for r in range(q):
            B[k, r] = y[rows[r]] - level
        TB = weighted[: q * k].reshape(k, q)
        for c in range(k):
            for r in range(q):
                TB[c, r] = t[r] * B[c, r]
        G = np.dot(TB, B.T)
        if _invert(G, k, count, C[i], L):
            for f in range(count):
                total = 0.0
                for c in range(k):
                    total += C[i, f, c] * G[c, k]
                found[i, f] = total + level if f == 0 else total
            entries = np.dot(C[i], TB)
        else:
            _pseudo_invert(B[:k] * np.sqrt(t), count, C[i])
            entries = np.dot(C[i], TB)
            for f in range(count):
                found[i, f] = np.sum(entries[f] * (B[k] + level))
        total = 0.0
        for r in range(q):
            total += entries[0, r] * entries[0, r] * variance[rows[r]]
        norm[i] = total
    return found, C, norm


@kernel
def rows_of(X, w, at, h, degree, C):
    """Return how each row of the data enters each functional of each point: (points, count, rows).

    Entry (i, f, j) is ``t_j b_j' C_f`` for point i.
    """
    m, count, k = C.shape
    n, p = X.shape
    found = np.zeros((m, count, n))
    first = np.ascontiguousarray(X[:, 0])
    rows, t = np.empty(n, dtype=np.int64), np.empty(n)
    terms = np.empty(n * k)
    for i in range(m):
        if p == 1:
            _rows_of_line(first, w, at[i, 0], 1.0 / h[i], C[i], found[i])
            continue
        q = _find_window(X, w, 0, n, at[i], h[i], rows, t)
        B = terms[: q * k].reshape(k, q)
        _fill_basis(X, rows, q, at[i], 1.0 / h[i], degree, B)
        entries = np.dot(C[i], B)
        for f in range(count):
            for r in range(q):
                found[i, f, rows[r]] = t[r] * entries[f, r]
    return found


@kernel
def _rows_of_line(x, w, point, inverse, C, found):
    count, k = C.shape
    for f in range(count):
        c0 = C[f, 0]
        c1 = C[f, 1] if k > 1 else 0.0
        c2 = C[f, 2] if k > 2 else 0.0
        row = found[f]
        for j in range(x.size):
            u = (x[j] - point) * inverse
            row[j] = w[j] * _tricube(min(abs(u), 1.0)) * ((c2 * u + c1) * u + c0)
