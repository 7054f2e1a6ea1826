"""Crossproducts of binned designs: rows are codes of bins, and bins have few non-zeros.

Symbols
-------
codes           bin of each row in a block
index, values   columns and values of the non-zeros of each bin (m, z)
w               weight of each row, with the multipliers of both blocks in it
T               sums over rows of w times the row of the second block, by bin of the first (m, k)
"""

import numpy as np

from bottega._jit import kernel, neighbours_kernel


@kernel
def bin_sums(codes, w, m):
    """Return the sum of w over the rows of each bin."""
    found = np.zeros(m)
    for i in range(len(codes)):
        found[codes[i]] += w[i]
    return found


@kernel
def from_bins(index, values, sums, k):
    """Return the products of the columns of a block with sums by bin; bins without any are void."""
    found = np.zeros(k)
    for a in range(len(sums)):
        if sums[a] != 0.0:
            for c in range(values.shape[1]):
                found[index[a, c]] += values[a, c] * sums[a]
    return found


@kernel
def own_crossproduct(index, values, sums, k):
    """Return the crossproduct of a block with itself, from sums of weights by bin."""
    G = np.zeros((k, k))
    z = values.shape[1]
    for a in range(len(sums)):
        if sums[a] != 0.0:
            for c in range(z):
                row, share = index[a, c], sums[a] * values[a, c]
                for d in range(z):
                    G[row, index[a, d]] += share * values[a, d]
    return G


@kernel
def add_gathered(total, codes, f):
    """Add to each row the value of its bin."""
    for i in range(len(codes)):
        total[i] += f[codes[i]]


@neighbours_kernel
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
            # Read before written: neighbours may then be added as one vector.
            v1, v2, v3, v4 = flat[v], flat[v + one], flat[v + two], flat[v + three]
            v1, v2, v3, v4 = w[i] * v1, w[i] * v2, w[i] * v3, w[i] * v4
            t1, t2, t3, t4 = T[at], T[at + one], T[at + two], T[at + three]
            T[at] = t1 + v1
            T[at + one] = t2 + v2
            T[at + two] = t3 + v3
            T[at + three] = t4 + v4
        return T.reshape((m, k))
    for i in range(len(codes)):
        b = others[i]
        at, v = codes[i] * k + first[b], b * z
        for c in range(z):
            T[at + c] += w[i] * flat[v + c]
    return T.reshape((m, k))


@kernel
def two_tables(codes, m, more_codes, more_m, others, first, values, w, k):
    """Return `table` of two first blocks, one below the other, for cubic B-splines.

    Reading and writing is all that it costs: what is read of the second block serves both.
    """
    T = np.zeros((m + more_m) * k)
    flat = values.ravel()
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    width, start = np.uint64(k), np.uint64(m * k)
    for i in range(len(codes)):
        b = np.uint64(others[i])
        place, v = np.uint64(first[b]), b * four
        v1, v2, v3, v4 = flat[v], flat[v + one], flat[v + two], flat[v + three]
        v1, v2, v3, v4 = w[i] * v1, w[i] * v2, w[i] * v3, w[i] * v4
        at = np.uint64(codes[i]) * width + place
        t1, t2, t3, t4 = T[at], T[at + one], T[at + two], T[at + three]
        T[at] = t1 + v1
        T[at + one] = t2 + v2
        T[at + two] = t3 + v3
        T[at + three] = t4 + v4
        at = start + np.uint64(more_codes[i]) * width + place
        t1, t2, t3, t4 = T[at], T[at + one], T[at + two], T[at + three]
        T[at] = t1 + v1
        T[at + one] = t2 + v2
        T[at + two] = t3 + v3
        T[at + three] = t4 + v4
    return T.reshape((m + more_m, k))


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


@neighbours_kernel
def two_crossproducts(
    codes, index, part, k, more_codes, more_index, more_part, more_k,
    others, first, values, width, w,
):  # fmt: skip
    """Return the crossproducts of two blocks with a third one, of `width` cubic B-splines.

    The values of the two are `part` and `more_part`. All is done in one call: between calls threads
    that work on other rows wait for one another.
    """
    m, more_m = len(part), len(more_part)
    T = two_tables(codes, m, more_codes, more_m, others, first, values, w, width)
    return from_table(index, part, T[:m], k), from_table(more_index, more_part, T[m:], more_k)


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
