"""Sums of products of few columns about a centre of each class, in one pass over the rows.

Symbols
-------
X       columns of the rows, one below the other (p, n)
Y       further columns, likewise (q, n)
code    the class of each row (n); empty where there is one class
centre  what is subtracted from the rows of each class (K, p + q)
T       a block of rows: the columns less their centre, then ones in the rows of each class,
        filled up with zeros to a multiple of four (D, BLOCK)
G       sums of products of the rows of T (D, D): those of the columns, the sums of the columns by
        class, the numbers of rows by class

A block stays in the fastest cache while all products of its columns are summed up, four by two at a
time.
"""

import numpy as np

from bottega._jit import summing_kernel

BLOCK = 128


@summing_kernel
def add_block(T, G):
    """Add the products of the rows of a block to G, below the diagonal."""
    for i in range(0, T.shape[0], 4):
        for k in range(0, i + 4, 2):
            g00 = g01 = g10 = g11 = g20 = g21 = g30 = g31 = 0.0
            for r in range(BLOCK):
                a0, a1, a2, a3 = T[i, r], T[i + 1, r], T[i + 2, r], T[i + 3, r]
                b0, b1 = T[k, r], T[k + 1, r]
                g00 += a0 * b0
                g01 += a0 * b1
                g10 += a1 * b0
                g11 += a1 * b1
                g20 += a2 * b0
                g21 += a2 * b1
                g30 += a3 * b0
                g31 += a3 * b1
            G[i, k] += g00
            G[i, k + 1] += g01
            G[i + 1, k] += g10
            G[i + 1, k + 1] += g11
            G[i + 2, k] += g20
            G[i + 2, k + 1] += g21
            G[i + 3, k] += g30
            G[i + 3, k + 1] += g31


@summing_kernel
def fill_rows(X, start, m, centre, place, T, d):
    """Write m rows, less the centres of their classes, to T from row `place` on."""
    K = centre.shape[0]
    for j in range(X.shape[0]):
        i = place + j
        column = X[j, start : start + m]
        # Nothing but its own centre is taken from a row: one that is far away would take digits.
        first = centre[0, i]
        for r in range(m):
            T[i, r] = column[r] - T[d, r] * first
        for k in range(1, K):
            middle = centre[k, i]
            for r in range(m):
                T[i, r] -= T[d + k, r] * middle
        for r in range(m, BLOCK):
            T[i, r] = 0.0


@summing_kernel
def centred_products(X, Y, code, centre, G):
    """Add the products of all rows to G, whose numbers above the diagonal are not looked at."""
    n, p, d, K = X.shape[1], X.shape[0], centre.shape[1], centre.shape[0]
    T = np.zeros((G.shape[0], BLOCK))
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for k in range(K):
            for r in range(m):
                T[d + k, r] = 1.0 if K == 1 or code[start + r] == k else 0.0
            for r in range(m, BLOCK):
                T[d + k, r] = 0.0
        fill_rows(X, start, m, centre, 0, T, d)
        fill_rows(Y, start, m, centre, p, T, d)
        add_block(T, G)
    for i in range(G.shape[0]):
        for k in range(i):
            G[k, i] = G[i, k]
