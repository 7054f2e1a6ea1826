"""Means of columns and squares about them, and keys of rows: one look at rows in chunks.

Symbols: X (n, p) rows in either layout, w their weights (empty: ones). Loops run down the columns
of a block of rows that the fastest cache holds, so that both layouts are read once. The first row
of a block has an unsigned number: the compiler need not look for rows counted from the end.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel

BLOCK = 256
MINUS_ZERO = np.uint64(1 << 63)


@summing_kernel
def add_block(X, w, start, size, before, out):
    """Take the rows of a block into `out`; return their weight."""
    mass = float(size)
    if w.shape[0] > 0:
        mass = 0.0
        for r in range(size):
            mass += w[start + r]
    share = mass / (before + mass)
    for j in range(X.shape[1]):
        # About a number of the block: equal numbers have no squares, and few digits are lost.
        pivot = X[start, j]
        total = squares = 0.0
        if w.shape[0] > 0:
            for r in range(size):
                gap = X[start + r, j] - pivot
                total += w[start + r] * gap
                squares += w[start + r] * gap * gap
        else:
            for r in range(size):
                gap = X[start + r, j] - pivot
                total += gap
                squares += gap * gap
        mean = total / mass
        gap = pivot - out[0, j] + mean
        out[0, j] += gap * share
        out[1, j] += max(squares - total * mean, 0.0) + gap * gap * before * share
    return mass


@kernel
def add_moments(X, w, before, out):
    """Take rows into out (2, p): means of the columns, and squares about them.

    `before` is the weight of the rows that are in it; the weight of all is returned.
    """
    n = X.shape[0]
    for block in range((n + BLOCK - 1) // BLOCK):
        start = np.uint32(block * BLOCK)
        before += add_block(X, w, start, min(n - start, BLOCK), before, out)
    return before


@kernel
def add_bits(bits, odd, key):
    """Add the bits of the numbers of each row, times an odd number by column, to its key."""
    n, p = bits.shape
    for block in range((n + BLOCK - 1) // BLOCK):
        start = np.uint32(block * BLOCK)
        for j in range(p):
            for r in range(min(n - start, BLOCK)):
                some = bits[start + r, j]
                # There is one zero.
                key[start + r] += (np.uint64(0) if some == MINUS_ZERO else some) * odd[j]
