"""Numbers out of the pages of a Parquet file that stores them as they are.

A page is a header and what it describes: the levels that say which values are there, unless no
value can be missing, and the values, eight bytes each. The header is in Thrift's compact protocol:
a byte for each field with the step from the number of the one before and its kind, then what the
kind has; a zero ends a structure.

Symbols
-------
b       bytes of the file, from a page (or the values of one) on
at      a place in b
left    values of the current page that were not taken yet
n, N    values of a page; those that are wanted

Anything unusual ends the reading: others read it then. No byte beyond b is looked at.
"""

import numpy as np

from bottega._jit import kernel, summing_kernel

BOOLEANS, BYTE, INTEGERS, DOUBLE, BINARY, STRUCTURE = 2, 3, 6, 7, 8, 12  # kinds, or the last of it
DATA_PAGE, DATA_PAGE_2 = 0, 3  # types of pages
PLAIN, RUNS = 0, 3  # encodings: of the values, and of the levels
OF_PAGE, OF_PAGE_2 = 5, 8  # fields that describe them
MOST = 1 << 31  # what a size may be
PIECE = 512  # values that the fastest cache holds twice
FIELDS = 10  # numbers by depth and field: those beyond are of no interest
UNKNOWN = -1


@kernel
def variable_length(b, at):
    """Return an integer, seven bits a byte, and where it ends; UNKNOWN where b does."""
    value = shift = 0
    while at < b.shape[0] and shift < 63:
        byte = int(b[at])
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    return 0, UNKNOWN


@kernel
def read_header(b, at, found):
    """Write the integers of a header to found (depth, field); return where it ends, or UNKNOWN."""
    found[:] = UNKNOWN
    inside = np.zeros(4, np.int64)  # the fields that structures are in
    depth = field = 0
    while 0 <= at < b.shape[0]:
        byte = int(b[at])
        at += 1
        if byte == 0:
            if depth == 0:
                return at
            depth -= 1
            field = inside[depth]
            continue
        kind = byte & 15
        if byte >> 4 > 0:
            field += byte >> 4
        else:
            number, at = variable_length(b, at)
            field = number >> 1
        if at < 0 or kind == 0 or kind > STRUCTURE or BINARY < kind < STRUCTURE:
            return UNKNOWN
        if kind == STRUCTURE:
            # Depth one and two: the description of the page, and its statistics.
            if depth + 1 == found.shape[0]:
                return UNKNOWN
            inside[depth] = field
            depth += 1
            field = 0
        elif kind == BYTE:
            at += 1
        elif kind == DOUBLE:
            at += 8
        elif kind > BOOLEANS:
            number, at = variable_length(b, at)
            if kind == BINARY:
                at = at + number if at >= 0 and number < MOST else UNKNOWN
            elif 0 <= field < FIELDS and (depth == 0 or inside[0] in (OF_PAGE, OF_PAGE_2)):
                found[depth, field] = number >> 1 if number & 1 == 0 else -1 - (number >> 1)
    return UNKNOWN


@kernel
def all_there(b, at, end, n):
    """Return True if the levels from `at` to `end` say of n values that all are there.

    They are runs: a count and a level, or bits in groups of eight.
    """
    while n > 0:
        head, at = variable_length(b, at)
        if not 0 <= at < end or head >> 1 == 0:
            return False
        if head & 1 == 0:
            if b[at] != 1:
                return False
            n -= head >> 1
            at += 1
            continue
        for _ in range(head >> 1):
            some = min(n, 8)
            if at >= end or int(b[at]) & ((1 << some) - 1) != (1 << some) - 1:
                return False
            n -= some
            at += 1
            if n == 0:
                return True
    return n == 0


@kernel
def first_value(b, at, optional):
    """Return where the values of the page at `at` begin, and how many; UNKNOWN where unusual."""
    found = np.empty((3, FIELDS), np.int64)
    at = read_header(b, at, found)
    if at < 0:
        return UNKNOWN, 0
    kind, size = found[0, 1], found[0, 3]
    n, end = found[1, 1], at + size
    if not (0 <= n < MOST and 0 <= size < MOST and found[0, 2] == size):
        return UNKNOWN, 0
    if kind == DATA_PAGE and found[1, 2] == PLAIN:
        if optional:
            if at + 4 > b.shape[0] or found[1, 3] != RUNS:
                return UNKNOWN, 0
            length = 0
            for i in range(4):
                length |= int(b[at + i]) << (8 * i)
            at += 4
            if at + length > b.shape[0] or not all_there(b, at, at + length, n):
                return UNKNOWN, 0
            at += length
    elif kind == DATA_PAGE_2 and found[1, 4] == PLAIN and found[1, 2] == 0:
        length = found[1, 5]
        if length < 0 or found[1, 6] != 0 or length > b.shape[0] - at:
            return UNKNOWN, 0
        if optional and not all_there(b, at, at + length, n):
            return UNKNOWN, 0
        at += length
    else:
        return UNKNOWN, 0
    return (at, n) if end - at == 8 * n else (UNKNOWN, 0)


@summing_kernel
def copied_values(b, raw, out):
    """Copy bytes to raw, which is where the values of out are; return the sum of these."""
    total = 0.0
    for first in range(0, out.shape[0], PIECE):
        some = out[first : first + PIECE]
        to, of = raw[8 * first : 8 * first + 8 * PIECE], b[8 * first : 8 * first + 8 * PIECE]
        # Values stand at any byte of b: a number can only be taken from its own place.
        for i in range(to.shape[0]):
            to[i] = of[i]
        for i in range(some.shape[0]):
            total += some[i]
    return total


@kernel
def take_values(b, left, optional, out):
    """Copy the values of pages to out; return how many, the place in b, `left`, and their sum.

    Where fewer than wanted were taken, b ends, or what follows is unusual.
    """
    N = out.shape[0]
    raw = out.view(np.uint8)
    at = taken = 0
    total = 0.0
    while taken < N:
        if left == 0:
            start, n = first_value(b, at, optional)
            if start < 0:
                break
            at, left = start, n
        m = min(left, N - taken, (b.shape[0] - at) // 8)
        if m < min(left, 1):  # the values of a page, if it has any, are beyond b
            break
        stop = at + 8 * m
        total += copied_values(b[at:stop], raw[8 * taken : 8 * (taken + m)], out[taken : taken + m])
        at = stop
        left -= m
        taken += m
    return taken, at, left, total
