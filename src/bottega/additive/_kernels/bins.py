"""Values of a column: the distinct ones while they are few, a sample by hashes, codes of bins.

Symbols
-------
slots       a table of hashes with open addressing: place of a value in `found`, or -1
bits        the numbers of a column as integers
"""

import numpy as np

from bottega._jit import kernel, summing_kernel


@kernel
def few_distinct(x, bits, most):
    """Return the distinct values of x in order of appearance, or one more than `most` of them.

    Missing values (NaN) are left out, and zeros have one sign.
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
        key = bits[i] if value != 0.0 else 0
        key ^= key >> 32
        key *= 0x9E3779B1
        key ^= key >> 29
        place = key & mask
        while slots[place] >= 0 and found[slots[place]] != value:
            place = (place + 1) & mask
        if slots[place] < 0:
            slots[place] = count
            found[count] = value + 0.0
            count += 1
            if count > most:
                break
    return found[:count]


@kernel
def small_keys(bits, limit, room):
    """Return the hashes of numbers, each a number of its own, that are below a limit.

    More than `room` of them are not all returned.
    """
    step = 1024
    found = np.empty(room + step, dtype=np.uint64)
    keys = np.empty(step, dtype=np.uint64)
    count = 0
    for start in range(0, len(bits), step):
        if count > room:
            break
        some = bits[start : start + step]
        for i in range(len(some)):  # by itself, so that it is done with vectors
            key = some[i] * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(29)
            keys[i] = key * np.uint64(0xBF58476D1CE4E5B9)
        for key in keys[: len(some)]:
            found[count] = key
            count += key < limit
    return found[:count].copy()


@kernel
def even_codes(x, low, step, last):
    """Return the place of each value on an even grid; `last` + 1 for a missing one."""
    codes = np.empty(len(x), dtype=np.int32)
    large = step >= 1.0  # differences of the largest numbers are not finite
    shift = low / step if large else low
    for i in range(len(x)):
        place = x[i] / step - shift if large else (x[i] - shift) / step
        place = np.rint(min(max(place, 0.0), float(last)))
        codes[i] = np.int32(place) if x[i] == x[i] else last + 1
    return codes


@kernel
def bin_counts(codes, m):
    """Return the number of rows of each bin."""
    found = np.zeros(m)
    for i in range(len(codes)):
        found[codes[i]] += 1.0
    return found


@summing_kernel
def column_facts(columns):
    """Return the least and the largest number, the mean and the sum of squares about it of each.

    All is done in one call: between calls threads that work on other rows wait for one another. The
    mean of a column with missing values is missing.
    """
    lanes = 32
    found = np.empty((len(columns), 4))
    low, high = np.empty(lanes), np.empty(lanes)
    for j in range(len(columns)):
        x = columns[j]
        low[:], high[:] = x[0], x[0]
        for start in range(0, len(x), lanes):
            some = x[start : start + lanes]
            for i in range(len(some)):
                low[i] = some[i] if some[i] < low[i] else low[i]
                high[i] = some[i] if some[i] > high[i] else high[i]
        found[j, 0], found[j, 1] = low.min(), high.max()
        found[j, 2], found[j, 3] = mean_and_squares(x)
    return found


@summing_kernel
def mean_and_squares(x):
    """Return the mean of numbers, and their sum of squares about it."""
    total = 0.0
    for i in range(len(x)):
        total += x[i]
    mean = total / len(x)
    squares = 0.0
    for i in range(len(x)):
        squares += (x[i] - mean) ** 2
    return mean, squares
