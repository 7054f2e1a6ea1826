"""Crossproducts of binned designs: rows are codes of bins, and bins have few non-zeros.

Symbols
-------
codes           bin of each row in a block
index, values   columns and values of the non-zeros of each bin (m, z)
w               weight of each row, with the multipliers of both blocks in it
T               sums over rows of w times the row of the second block, by bin of the first (m, k)
"""

import numpy as np

from bottega._jit import kernel


@kernel
def bin_sums(codes, w, m):
    """Return the sum of w over the rows of each bin."""
    found = np.zeros(m)
    for i in range(len(codes)):
        found[codes[i]] += w[i]
    return found


@kernel
def add_gathered(total, codes, f):
    """Add to each row the value of its bin."""
    for i in range(len(codes)):
        total[i] += f[codes[i]]


@kernel
def table(codes, m, others, first, values, w, k):
    """Return T for a second block whose bins have neighbouring non-zeros, from `first` on."""
    z = values.shape[1]
    T = np.zeros(m * k)
    flat = values.ravel()
    if z == 4:  # cubic B-splines; unsigned places need no check for negative ones
        one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
        for i in range(len(codes)):
            b = np.uint64(others[i])
            at, v = np.uint64(codes[i]) * np.uint64(k) + np.uint64(first[b]), b * four
            T[at] += w[i] * flat[v]
            T[at + one] += w[i] * flat[v + one]
            T[at + two] += w[i] * flat[v + two]
            T[at + three] += w[i] * flat[v + three]
        return T.reshape((m, k))
    for i in range(len(codes)):
        b = others[i]
        at, v = codes[i] * k + first[b], b * z
        for c in range(z):
            T[at + c] += w[i] * flat[v + c]
    return T.reshape((m, k))


@kernel
def scattered_table(codes, m, others, index, values, w, k):
    """Return T for a second block whose bins have non-zeros anywhere."""
    z = values.shape[1]
    T = np.zeros((m, k))
    for i in range(len(codes)):
        a, b = codes[i], others[i]
        for c in range(z):
            T[a, index[b, c]] += w[i] * values[b, c]
    return T


@kernel
def from_table(index, values, T, k):
    """Return B'T of the first block's bins B."""
    m, z = values.shape
    width = T.shape[1]
    G = np.zeros((k, width))
    for a in range(m):
        for c in range(z):
            row, value = index[a, c], values[a, c]
            if value != 0.0:
                for j in range(width):
                    G[row, j] += value * T[a, j]
    return G


@kernel
def row_by_row(codes, index, values, k, others, other_index, other_values, other_k, w):
    """Return the crossproduct of two blocks without a table: where there are many bins."""
    G = np.zeros((k, other_k))
    for i in range(len(codes)):
        a, b = codes[i], others[i]
        for c in range(values.shape[1]):
            row, share = index[a, c], w[i] * values[a, c]
            for d in range(other_values.shape[1]):
                G[row, other_index[b, d]] += share * other_values[b, d]
    return G


@kernel
def form_from_table(P, codes, others, first, values):
    """Return for each row P[bin of the first block] times the row of the second.

    The non-zeros of the second block's bins are neighbours, from `first` on.
    """
    n, k, z = len(codes), P.shape[1], values.shape[1]
    found = np.empty(n)
    table, flat = P.ravel(), values.ravel()
    if z == 4:
        one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
        for i in range(n):
            b = np.uint64(others[i])
            at, v = np.uint64(codes[i]) * np.uint64(k) + np.uint64(first[b]), b * four
            low = table[at] * flat[v] + table[at + one] * flat[v + one]
            high = table[at + two] * flat[v + two] + table[at + three] * flat[v + three]
            found[i] = low + high
        return found
    for i in range(n):
        b = others[i]
        at, v = codes[i] * k + first[b], b * z
        total = 0.0
        for c in range(z):
            total += table[at + c] * flat[v + c]
        found[i] = total
    return found


@kernel
def scattered_form(P, codes, others, index, values):
    """As `form_from_table`, where the non-zeros of the second block's bins may be anywhere."""
    n = len(codes)
    found = np.empty(n)
    for i in range(n):
        a, b = codes[i], others[i]
        total = 0.0
        for c in range(values.shape[1]):
            total += P[a, index[b, c]] * values[b, c]
        found[i] = total
    return found


@kernel
def form_row_by_row(M, codes, index, values, others, other_index, other_values):
    """Return for each row the bilinear form of the rows of two blocks in M."""
    n = len(codes)
    found = np.empty(n)
    for i in range(n):
        a, b = codes[i], others[i]
        total = 0.0
        for c in range(values.shape[1]):
            row, value = index[a, c], values[a, c]
            for d in range(other_values.shape[1]):
                total += value * M[row, other_index[b, d]] * other_values[b, d]
        found[i] = total
    return found
