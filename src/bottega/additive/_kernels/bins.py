"""Distinct values of a column, counted only as far as they are few.

Symbols
-------
slots       a table of hashes with open addressing: place of a value in `found`, or -1
"""

import numpy as np

from bottega._jit import kernel


@kernel
def few_distinct(x, bits, most):
    """Return the distinct values of x in order of appearance, or one more than `most` of them.

    `bits` are the same numbers as integers; missing values (NaN) are left out, and zeros must have
    one sign.
    """
    size = 64
    while size < 4 * most:
        size *= 2
    slots = np.full(size, -1, dtype=np.int64)
    found = np.empty(most + 1)
    count = 0
    mask = size - 1
    for i in range(len(x)):
        value = x[i]
        if value != value:
            continue
        key = bits[i]
        key ^= key >> 32
        key *= 0x9E3779B1
        key ^= key >> 29
        place = key & mask
        while slots[place] >= 0 and found[slots[place]] != value:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = count
            found[count] = value
            count += 1
            if count > most:
                break
    return found[:count]
